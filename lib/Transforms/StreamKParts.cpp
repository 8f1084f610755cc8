//===- StreamKParts.cpp - What CTAs that split an item leave --------------===//
#include "StreamKParts.h"
#include "mkernel/Dialect/Tile/Target.h"
#include "mkernel/Transforms/Reductions.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"

using namespace mlir;
using namespace mlir::mk;

BlockArgument StreamKParts::addScratch(const Twine &name, MemRefType type) {
  Builder &builder = m.b;
  auto append = [&](ArrayAttr list, Attribute last) {
    SmallVector<Attribute> values(list.begin(), list.end());
    values.push_back(last);
    return builder.getArrayAttr(values);
  };
  std::string unique = name.str();
  for (unsigned i = 1; llvm::is_contained(kernel.getArgNames(), builder.getStringAttr(unique)); ++i)
    unique = (name + "_" + Twine(i)).str();
  SmallVector<AffineExpr> shape;
  for (int64_t extent : type.getShape())
    shape.push_back(builder.getAffineConstantExpr(extent));
  auto map =
      AffineMap::get(kernel.getNumDims(), kernel.getSizeAxes().size(), shape, builder.getContext());
  kernel.setArgNamesAttr(append(kernel.getArgNames(), builder.getStringAttr(unique)));
  kernel.setArgKindsAttr(
      append(kernel.getArgKinds(), builder.getStringAttr(stringifyArgKind(ArgKind::Scratch))));
  kernel.setArgShapesAttr(append(kernel.getArgShapes(), AffineMapAttr::get(map)));
  kernel.setArgSplitsAttr(append(kernel.getArgSplits(), builder.getArrayAttr({})));
  kernel.setArgTypesAttr(append(kernel.getArgTypes(), TypeAttr::get(type)));
  return kernel.getBody().addArgument(type, m.loc);
}

void StreamKParts::declare(RoleOp role, int64_t ctas) {
  std::string name = role.getSymName().str() + "_parts";
  for (Type type : fold.getResultTypes()) {
    auto tile = cast<RankedTensorType>(type);
    SmallVector<int64_t> shape{ctas};
    llvm::append_range(shape, tile.getShape());
    scratch.push_back(addScratch(name, MemRefType::get(shape, tile.getElementType())));
  }
  OpBuilder top(role);
  auto type = SignalType::get(m.b.getContext(), {ctas}, Scope::GPU, /*arrivals=*/1);
  ready = SignalsOp::create(top, m.loc, type, ValueRange(), Value(),
                            top.getStringAttr(name + "_ready"));
}

/// Where a tile lies in `buffer` whose first indices are `place`.
static SmallVector<Value> placeOf(ValueRange place, Value zero, Value buffer) {
  SmallVector<Value> result(place);
  result.resize(cast<MemRefType>(buffer.getType()).getRank(), zero);
  return result;
}

/// A scalar that changes no sum.
Value StreamKParts::makeNeutral(Type type) {
  Type element = getElementTypeOrSelf(type);
  Reduction kind = cast<ReductionAttr>(fold.getCombineAttr()).getValue();
  return arith::getIdentityValue(getReductionKind(kind, element), element, m.b, m.loc);
}

SmallVector<Value> StreamKParts::load(ValueRange place, TypeRange types) {
  Value zero = m.index(0);
  SmallVector<Value> tiles;
  for (auto [buffer, type] : llvm::zip(scratch, types))
    tiles.push_back(LoadOp::create(m.b, m.loc, type, buffer, placeOf(place, zero, buffer),
                                   /*rows=*/Value(), /*rows_at=*/Value(), /*valid=*/ValueRange(),
                                   /*pad=*/Value(), /*once=*/false, /*own=*/false, /*staged=*/false,
                                   /*spread=*/false,
                                   /*unseen=*/DenseI64ArrayAttr()));
  return tiles;
}

void StreamKParts::store(Value w, ValueRange part) {
  Value zero = m.index(0);
  for (auto [tile, buffer] : llvm::zip(part, scratch))
    StoreOp::create(m.b, m.loc, tile, buffer, placeOf(w, zero, buffer),
                    /*valid=*/ValueRange(), /*peer=*/Value(), /*signal=*/Value(),
                    /*signal_index=*/ValueRange(), /*strong=*/false, ReductionAttr(),
                    /*inside=*/true);
  SignalOp::create(m.b, m.loc, ready, ValueRange{w}, /*peer=*/Value());
}

int64_t StreamKParts::countAhead(TypeRange types, int64_t most) {
  int64_t bytes = 0;
  for (Type type : types)
    bytes += cast<RankedTensorType>(type).getNumElements() *
             llvm::divideCeil(getElementTypeOrSelf(type).getIntOrFloatBitWidth(), 8);
  int64_t ahead = getSm(kernel).getThresholds().getPartsAhead();
  return std::clamp<int64_t>(ahead / std::max<int64_t>(bytes, 1), 1, most);
}

void StreamKParts::await(Value first, Value count) {
  OpBuilder::InsertionGuard guard(m.b);
  Value one = m.index(1);
  auto waits = scf::ForOp::create(m.b, m.loc, m.index(0), count, one);
  m.b.setInsertionPointToStart(waits.getBody());
  Value other = m.add(first, waits.getInductionVar());
  WaitOp::create(m.b, m.loc, ready, ValueRange{other}, one);
}

SmallVector<Value> StreamKParts::combine(ValueRange left, ValueRange right) {
  if (auto name = dyn_cast<FlatSymbolRefAttr>(fold.getCombineAttr())) {
    auto function = kernel->getParentOfType<ModuleOp>().lookupSymbol<func::FuncOp>(name.getAttr());
    SmallVector<Value> operands(left.begin(), left.end());
    operands.append(right.begin(), right.end());
    return SmallVector<Value>(func::CallOp::create(m.b, m.loc, function, operands).getResults());
  }
  SmallVector<Value> results;
  Reduction kind = cast<ReductionAttr>(fold.getCombineAttr()).getValue();
  for (auto [x, y] : llvm::zip(left, right)) {
    Type element = getElementTypeOrSelf(x.getType());
    results.push_back(arith::getReductionOp(getReductionKind(kind, element), m.b, m.loc, x, y));
  }
  return results;
}

/// Adds those that lie `from` to `to` parts before part `w`, but for the last, in front of `sums`,
/// so many at a time. From the last to the first: what is held besides the sum are these.
SmallVector<Value> StreamKParts::addBefore(Value w, Value from, Value to, int64_t together,
                                           ValueRange sums) {
  auto loop = scf::ForOp::create(m.b, m.loc, from, to, m.index(together), sums);
  OpBuilder::InsertionGuard guard(m.b);
  m.b.setInsertionPointToStart(loop.getBody());
  SmallVector<SmallVector<Value>> loaded(together);
  for (auto [i, tiles] : llvm::enumerate(loaded)) {
    Value back = m.add(loop.getInductionVar(), m.index(i + 1));
    Value other = m.sub(w, back);
    tiles = load(other, fold.getResultTypes());
  }
  SmallVector<Value> result(loop.getRegionIterArgs());
  for (const SmallVector<Value> &tiles : loaded)
    result = combine(tiles, result);
  scf::YieldOp::create(m.b, m.loc, result);
  return SmallVector<Value>(loop.getResults());
}

SmallVector<Value> StreamKParts::sumBefore(Value w, Value count, ValueRange part) {
  Value zero = m.index(0);
  int64_t together =
      countAhead(fold.getResultTypes(), getSm(kernel).getThresholds().getPartsTogether());
  if (together == 1)
    return addBefore(w, zero, count, 1, part);
  Value rest = m.rem(count, m.index(together));
  Value most = m.sub(count, rest);
  SmallVector<Value> sums = addBefore(w, zero, most, together, part);
  return addBefore(w, most, count, 1, sums);
}

/// Adds up the rows of all parts from `row` on, from the last part to the first, so many at a time.
SmallVector<Value> StreamKParts::sumRows(Value first, Value count, Value row, ArrayRef<Type> types,
                                         int64_t most) {
  int64_t together = countAhead(types, most);
  SmallVector<Value> none;
  for (Type type : types)
    none.push_back(
        tensor::SplatOp::create(m.b, m.loc, makeNeutral(type), cast<RankedTensorType>(type)));
  auto sum = scf::ForOp::create(m.b, m.loc, m.index(0), count, m.index(together), none);
  OpBuilder::InsertionGuard guard(m.b);
  m.b.setInsertionPointToStart(sum.getBody());
  Value last = m.sub(m.add(first, count), m.index(1));
  SmallVector<SmallVector<Value>> loaded;
  SmallVector<Value> exists;
  for (int64_t i = 0; i != together; ++i) {
    Value back = m.add(sum.getInductionVar(), m.index(i));
    // Where there are fewer the first one is read once more, and not added.
    exists.push_back(m.less(back, count));
    Value other = m.max(m.sub(last, back), first);
    loaded.push_back(load({other, row}, types));
  }
  SmallVector<Value> sums(sum.getRegionIterArgs());
  for (auto [isPart, tiles] : llvm::zip(exists, loaded))
    for (auto [sum, next] : llvm::zip(sums, combine(tiles, sums)))
      sum = m.select(isPart, next, sum);
  scf::YieldOp::create(m.b, m.loc, sums);
  return SmallVector<Value>(sum.getResults());
}
