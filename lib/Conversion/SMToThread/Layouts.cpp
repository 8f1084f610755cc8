//===- Layouts.cpp - Which thread holds which element ---------------------===//
#include "Lowering.h"
#include "mlir/Dialect/Affine/Utils.h"
#include "mlir/IR/AffineExprVisitor.h"

using namespace mlir;
using namespace mlir::mk;
using namespace mlir::mk::sm;
using namespace mlir::mk_sm;
using Predicate = arith::CmpIPredicate;

//===----------------------------------------------------------------------===//
// Places
//===----------------------------------------------------------------------===//

/// Offsets of register `i` within what a thread holds of accumulators.
static std::pair<int64_t, int64_t> mmaOffset(int64_t columns, int64_t i) {
  int64_t rows = i / (columns / 2), r = i % (columns / 2); // which 64 rows, and which register of them
  return {64 * rows + 8 * (r / 2 % 2), 8 * (r / 4) + r % 2};
}

void Lowering::enterPlaces(bool here) {
  Value number = readNumber(here);
  placeLane = and_(number, 31);
  placeThread = isOneWarp()                ? placeLane
                : partition.getTeams() > 1 ? and_(number, partition.getNumThreads() - 1)
                                           : sub(number, 128);
  placeWarp = shr(number, 5);
  placeGroup = sub(shr(number, 7), 1);
}

Place Lowering::place(RankedTensorType type, unsigned i) {
  Attribute layout = type.getEncoding();
  ArrayRef<int64_t> shape = type.getShape();
  if (auto transposed = dyn_cast<TransposedAttr>(layout)) {
    Place result = place(
        RankedTensorType::get({shape[1], shape[0]}, type.getElementType(), transposed.getOf()), i);
    std::swap(result.base[0], result.base[1]);
    std::swap(result.offset[0], result.offset[1]);
    return result;
  }
  auto slice = dyn_cast<SliceAttr>(layout);
  auto mma = dyn_cast<MmaAttr>(slice ? slice.getOf() : layout);
  Place result;
  if (mma) {
    auto rowBase = [&](int64_t rows) {
      Value inGroup = add(shl(and_(placeWarp, 3), 4), shr(placeLane, 2));
      if (mma.getWarpgroups() > 1)
        inGroup = add(inGroup, mul(placeGroup, rows / mma.getWarpgroups()));
      return resize(inGroup, i64);
    };
    auto columnBase = [&] { return resize(shl(and_(placeLane, 3), 1), i64); };
    if (!slice) {
      auto [row, column] = mmaOffset(shape[1], i);
      result.base = {rowBase(shape[0]), columnBase()};
      result.offset = {row, column};
    } else if (slice.getAxis() == 1) {
      result.base = {rowBase(shape[0])};
      result.offset = {64 * (i / 2) + 8 * (i % 2)};
    } else {
      result.base = {columnBase()};
      result.offset = {8 * (i / 2) + i % 2};
    }
    return result;
  }
  // Runs of the tile in row-major order, dealt out to threads.
  auto blocked = cast<BlockedAttr>(layout);
  int64_t vector = blocked.getVector(), round = blocked.getThreads() * vector;
  int64_t start = i / vector * round, inRun = i % vector;
  Value first = mul(placeThread, vector);
  int64_t total = type.getNumElements();
  // A tile of one element: all have it.
  if (shape.empty())
    return result;
  if (start + round > total)
    result.exists = cmp(Predicate::slt, add(first, start), total);
  int64_t columns = shape.empty() ? 1 : shape.back();
  result.base.assign(shape.size(), c64(0));
  result.offset.assign(shape.size(), 0);
  if (columns % round == 0) {
    // A round stays within a row.
    result.base.back() = resize(first, i64);
    result.offset.back() = start % columns + inRun;
    int64_t row = start / columns;
    for (int64_t d = shape.size() - 2; d >= 0; --d, row /= shape[d + 1])
      result.offset[d] = row % shape[d];
    return result;
  }
  // A round is whole rows: all of a thread's runs are in the same columns.
  if (shape.size() == 2 && round % columns == 0 && columns % vector == 0) {
    result.base = {divU(resize(first, i64), columns), remU(resize(first, i64), columns)};
    result.offset = {start / columns, inRun};
    return result;
  }
  Value linear = resize(add(first, start + (columns % vector ? inRun : 0)), i64);
  result.base.back() = remU(linear, columns);
  result.offset.back() = columns % vector ? 0 : inRun;
  Value row = divU(linear, columns);
  for (int64_t d = shape.size() - 2; d >= 0; --d) {
    result.base[d] = d ? remU(row, shape[d]) : row;
    row = d ? divU(row, shape[d]) : row;
  }
  return result;
}

Value Lowering::isOwner(RankedTensorType type) {
  if (type.getRank() == 0)
    return eq(placeThread, 0);
  auto slice = dyn_cast<SliceAttr>(type.getEncoding());
  if (!slice)
    return {};
  // Four lanes hold the same rows; 8 lanes of every warp the same columns.
  if (slice.getAxis() == 1)
    return eq(and_(placeLane, 3), 0);
  return cmp(Predicate::ult, placeThread, 4);
}

SmallVector<unsigned> Lowering::sliceElements(RankedTensorType type, int64_t axis) {
  SmallVector<unsigned> result;
  for (int64_t i = 0, e = getNumElements(type); i != e; ++i) {
    auto [row, column] = mmaOffset(type.getDimSize(1), i);
    result.push_back(axis == 1 ? row / 64 * 2 + row / 8 % 2
                               : column / 8 * 2 + column % 2);
  }
  return result;
}

//===----------------------------------------------------------------------===//
// Broadcasts and masks
//===----------------------------------------------------------------------===//

LogicalResult Lowering::emitBroadcast(BroadcastOp op) {
  auto from = cast<RankedTensorType>(op.getSource().getType());
  auto to = cast<RankedTensorType>(op.getType());
  // One value is the same everywhere.
  if (from.getRank() == 0 || matchPattern(op.getSource(), m_Constant())) {
    set(op, SmallVector<Value>(count(to), element(op.getSource(), 0)));
    return success();
  }
  auto slice = dyn_cast_or_null<SliceAttr>(from.getEncoding());
  ArrayRef<int64_t> dims = op.getDims();
  if (!slice || slice.getOf() != to.getEncoding() || dims.size() != 1 ||
      dims[0] != slice.getAxis())
    return exchange(op, op.getSource(), op.getResult(), dims);
  SmallVector<unsigned> map = sliceElements(to, dims[0]);
  if (op->hasAttr(kDeferredAttr)) {
    values[op.getResult()].assign(map.size(), Value());
    putOff.insert(op.getResult());
    return success();
  }
  SmallVector<Value> source(elements(op.getSource()));
  SmallVector<Value> result;
  for (unsigned i : map)
    result.push_back(source[i]);
  set(op, result);
  return success();
}

/// `expr` = rest + factor * d(dim), if it is of that form.
static std::optional<int64_t> linearFactor(AffineExpr expr, unsigned dim) {
  if (!expr.isFunctionOfDim(dim))
    return 0;
  if (isa<AffineDimExpr>(expr))
    return 1;
  auto binary = dyn_cast<AffineBinaryOpExpr>(expr);
  if (!binary)
    return std::nullopt;
  if (expr.getKind() == AffineExprKind::Add) {
    auto x = linearFactor(binary.getLHS(), dim), y = linearFactor(binary.getRHS(), dim);
    if (x && y)
      return *x + *y;
  }
  if (expr.getKind() == AffineExprKind::Mul)
    if (auto factor = dyn_cast<AffineConstantExpr>(binary.getRHS()))
      if (auto x = linearFactor(binary.getLHS(), dim))
        return *x * factor.getValue();
  return std::nullopt;
}

// A constraint is linear in the column, as a rule: what does not depend on the
// register is computed once, and an element takes one comparison.
LogicalResult Lowering::emitMask(MaskOp op) {
  auto type = cast<RankedTensorType>(op.getType());
  SmallVector<Value> source(elements(op.getSource()));
  IntegerSet set_ = op.getSet();
  enterPlaces();
  unsigned last = type.getRank() - 1;
  SmallVector<Value> symbols = scalars(op.getSymbols());
  Value otherwise = scalar(op.getOtherwise());
  // Values of a constraint by all but the constant offset in the last dimension.
  DenseMap<std::pair<unsigned, Attribute>, Value> known;
  SmallVector<Value> result;
  for (unsigned i = 0; i != source.size(); ++i) {
    Place where = place(type, i);
    Value inside;
    for (unsigned c = 0; c != set_.getNumConstraints(); ++c) {
      AffineExpr expr = set_.getConstraint(c);
      std::optional<int64_t> factor = linearFactor(expr, last);
      SmallVector<int64_t> offsets(where.offset.begin(), where.offset.end());
      int64_t constant = 0;
      if (factor) {
        constant = *factor * offsets.back();
        offsets.back() = 0;
      }
      // The bases of a blocked layout differ between registers.
      SmallVector<int64_t> key(offsets);
      if (isa<BlockedAttr>(type.getEncoding()))
        key.push_back(i);
      Value &value = known[{c, b.getDenseI64ArrayAttr(key)}];
      if (!value) {
        SmallVector<Value> operands;
        for (auto [base, offset] : llvm::zip(where.base, offsets))
          operands.push_back(add(base, offset));
        operands.append(symbols);
        value = affineValue(expr, set_.getNumDims(), operands);
        // Constants of a tile are small; so may the rest be.
        value = resize(minS(maxS(value, c64(-(1 << 30))), c64(1 << 30)), i32);
      }
      Value holds = cmp(set_.isEq(c) ? Predicate::eq : Predicate::sge, value,
                        -constant);
      inside = inside ? and_(inside, holds) : holds;
    }
    result.push_back(inside ? select(inside, source[i], otherwise) : source[i]);
  }
  set(op, result);
  return success();
}

Value Lowering::affineValue(AffineExpr expr, unsigned numDims,
                            ArrayRef<Value> operands) {
  if (auto constant = dyn_cast<AffineConstantExpr>(expr))
    return c64(constant.getValue());
  if (auto dim = dyn_cast<AffineDimExpr>(expr))
    return operands[dim.getPosition()];
  if (auto symbol = dyn_cast<AffineSymbolExpr>(expr))
    return operands[numDims + symbol.getPosition()];
  auto binary = cast<AffineBinaryOpExpr>(expr);
  Value x = affineValue(binary.getLHS(), numDims, operands);
  Value y = affineValue(binary.getRHS(), numDims, operands);
  switch (expr.getKind()) {
  case AffineExprKind::Add:
    return add(x, y);
  case AffineExprKind::Mul:
    return mul(x, y);
  case AffineExprKind::FloorDiv:
    return b.createOrFold<arith::FloorDivSIOp>(loc, x, y);
  case AffineExprKind::CeilDiv:
    return b.createOrFold<arith::CeilDivSIOp>(loc, x, y);
  default: { // Mod: never negative
    Value rest = b.createOrFold<arith::RemSIOp>(loc, x, y);
    return select(cmp(Predicate::slt, rest, 0), add(rest, y), rest);
  }
  }
}
