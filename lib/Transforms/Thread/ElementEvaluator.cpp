//===- ElementEvaluator.cpp - Elements of fragments, as they are asked for ----===//
#include "ElementEvaluator.h"
#include "mkernel/Dialect/SM/SM.h"
#include "mkernel/Dialect/Thread/Places.h"
#include "mlir/IR/IRMapping.h"
#include <numeric>

using namespace mlir;
using namespace mlir::mk_thread;

SmallVector<unsigned> mk_thread::getSources(SpreadOp op) {
  RankedTensorType from = op.getSource().getType(), to = op.getFragment().getType();
  if (auto slice = dyn_cast_or_null<mk_sm::SliceAttr>(from.getEncoding()))
    return getSliceElements(to, slice.getAxis());
  SmallVector<unsigned> same(mk_sm::getNumElements(to), 0);
  if (from.getRank())
    std::iota(same.begin(), same.end(), 0);
  return same;
}

SmallVector<LoadElementsOp> mk_thread::loadInQuads(Emitter &e, LoadElementsOp op,
                                                   ArrayRef<int32_t> which,
                                                   function_ref<Value(Value)> at) {
  RankedTensorType tile = op.getTile();
  auto all = [&](ValueRange values) { return llvm::map_to_vector(values, at); };
  auto optional = [&](Value value) { return value ? at(value) : Value(); };
  SmallVector<LoadElementsOp> loads;
  auto load = [&](ArrayRef<int32_t> which, IntegerAttr quads, bool together) {
    if (!which.empty())
      loads.push_back(LoadElementsOp::create(
          e, SmallVector<Type>(which.size(), op->getResult(0).getType()), which, quads, tile,
          at(op.getStart()), all(op.getStrides()), all(op.getOffsets()), all(op.getLimits()),
          optional(op.getPad()), together ? optional(op.getTogether()) : Value(),
          quads ? optional(op.getWide()) : Value(), optional(op.getList()),
          optional(op.getListStride()), optional(op.getEntriesFrom()),
          optional(op.getEntriesBelow()), at(op.getThread())));
  };
  SmallVector<int32_t> left(which);
  for (int64_t blocks : op.getWide() ? getQuadBlocks(tile) : SmallVector<int64_t>()) {
    SmallVector<int32_t> groups, others;
    for (ArrayRef<int32_t> rest = left; !rest.empty();) {
      bool whole = isQuadGroup(tile, rest, blocks);
      size_t count = whole ? 4 * blocks : 1;
      llvm::append_range(whole ? groups : others, rest.take_front(count));
      rest = rest.drop_front(count);
    }
    load(groups, e.getI64IntegerAttr(blocks), /*together=*/true);
    left = others;
  }
  int64_t run = getRun(tile);
  bool whole = left.size() % run == 0;
  for (auto [k, i] : llvm::enumerate(left))
    whole &= i % run == int64_t(k % run) && i == left[k - k % run] + int32_t(k % run);
  load(left, /*quads=*/{}, whole);
  return loads;
}

SmallVector<Value> mk_thread::exchange(Emitter &e, LoadElementsOp load) {
  return ExchangeQuadsOp::create(e, load.getResultTypes(), *load.getQuads(), load.getElements())
      .getResults();
}

LoadElementsOp ElementEvaluator::findShared(Value tile, unsigned i) {
  LoadElementsOp load = shared.lookup({tile, i});
  Region *region = e.getInsertionBlock()->getParent();
  return load && load->getParentRegion()->isAncestor(region) ? load : nullptr;
}

Operation *ElementEvaluator::getDemanded(Value tile) {
  auto op = tile.getDefiningOp<OnDemandOp>();
  return op && !fragments.contains(tile) ? op.getOp() : nullptr;
}

Value ElementEvaluator::find(Value tile, unsigned i) {
  Value value = known.lookup({tile, i});
  Region *region = e.getInsertionBlock()->getParent();
  return value && value.getParentRegion()->isAncestor(region) ? value : Value();
}

void ElementEvaluator::load(Value tile, ArrayRef<unsigned> elements) {
  Operation *op = getDemanded(tile);
  if (!op)
    return;
  SmallVector<unsigned> needed(elements);
  if (auto spread = dyn_cast<SpreadOp>(op)) {
    SmallVector<unsigned> sources = getSources(spread);
    for (unsigned &i : needed)
      i = sources[i];
  }
  for (Value operand : op->getOperands())
    load(operand, needed);
  if (!isa<LoadElementsOp, ReadElementsOp, ReloadElementsOp>(op))
    return;
  SmallVector<int32_t> missing;
  // What comes at once.
  int64_t run = 1;
  if (auto read = dyn_cast<ReadElementsOp>(op))
    run = getReadRun(read.getTile());
  else if (isa<ReloadElementsOp>(op))
    run = 4;
  for (unsigned i : elements)
    for (int64_t first = i / run * run, k = first;
         !find(tile, i) && !findShared(tile, i) && k != first + run; ++k)
      if (!llvm::is_contained(missing, k))
        missing.push_back(k);
  if (missing.empty())
    return;
  llvm::sort(missing);
  IRMapping map;
  for (Operation &inner : llvm::make_range(op->getBlock()->begin(), op->getIterator()))
    e.clone(inner, map);
  auto at = [&](Value value) { return map.lookupOrDefault(value); };
  // What comes with others may be there.
  auto note = [&](ArrayRef<int32_t> which, ValueRange values) {
    for (auto [i, value] : llvm::zip(which, values))
      if (!find(tile, i))
        known[{tile, i}] = value;
  };
  if (auto load = dyn_cast<LoadElementsOp>(op)) {
    for (LoadElementsOp loaded : loadInQuads(e, load, missing, at))
      if (!loaded.getQuads())
        note(loaded.getWhich(), loaded.getElements());
      else // Exchanged where one of them is asked for: that waits for what has been loaded.
        for (int32_t i : loaded.getWhich())
          shared[{tile, i}] = loaded;
    return;
  }
  SmallVector<Type> types(missing.size(), op->getResult(0).getType());
  if (auto read = dyn_cast<ReadElementsOp>(op)) {
    auto again = ReadElementsOp::create(e, types, missing, read.getTile(),
                                        llvm::map_to_vector(read.getSources(), at),
                                        read.getColumns(), at(read.getThread()));
    return note(missing, again.getElements());
  }
  auto reload = cast<ReloadElementsOp>(op);
  auto loaded =
      ReloadElementsOp::create(e, types, missing, reload.getTile(), at(reload.getAddress()),
                               reload.getStep(), at(reload.getExists()));
  note(missing, loaded.getElements());
}

Value ElementEvaluator::evaluate(Value tile, unsigned i) {
  if (Operation *op = getDemanded(tile))
    return evaluate(op, tile, i);
  return getTile(tile) ? fragments[tile][i] : tile;
}

SmallVector<Value> ElementEvaluator::evaluateAll(Value tile) {
  SmallVector<Value> all;
  for (int64_t i = 0, n = mk_sm::getNumElements(getTile(tile)); i != n; ++i)
    all.push_back(evaluate(tile, i));
  return all;
}

/// Whether elements of a row or a column are one.
static bool isBroadcast(Value tile) {
  Operation *op = tile.getDefiningOp();
  if (auto demanded = dyn_cast_or_null<OnDemandOp>(op))
    op = demanded.getOp();
  if (auto held = dyn_cast_or_null<HoldElementsOp>(op))
    if (auto exchange = held.getElements().front().getDefiningOp<ExchangeElementsOp>())
      return llvm::is_contained(exchange.getStrides(), 0);
  return isa_and_nonnull<SpreadOp>(op);
}

Value ElementEvaluator::evaluate(Operation *op, Value tile, unsigned i) {
  if (Value value = find(tile, i))
    return value;
  if (isa<LoadElementsOp, ReadElementsOp, ReloadElementsOp>(op)) {
    load(tile, i);
    if (!find(tile, i)) {
      LoadElementsOp loaded = findShared(tile, i);
      for (auto [k, value] : llvm::zip(loaded.getWhich(), exchange(e, loaded)))
        known[{tile, k}] = value;
    }
  } else if (auto spread = dyn_cast<SpreadOp>(op))
    known[{tile, i}] = evaluate(spread.getSource(), getSources(spread)[i]);
  else if (!evaluatePair(op, tile, i)) {
    SmallVector<Value> operands;
    for (Value operand : op->getOperands())
      operands.push_back(evaluate(operand, i));
    // A row's divisor is inverted once.
    bool isShared =
        isa<arith::DivFOp>(op) && operands[0].getType().isF32() && isBroadcast(op->getOperand(1));
    known[{tile, i}] = isShared ? Value(LLVM::FMulOp::create(e, operands[0], invert(operands[1])))
                                : compute(e, op, operands);
  }
  return known.lookup({tile, i});
}

bool ElementEvaluator::evaluatePair(Operation *op, Value tile, unsigned i) {
  auto truncation = dyn_cast<arith::TruncFOp>(op);
  if (!truncation)
    return false;
  Value source = truncation.getIn();
  Type to = getElementTypeOrSelf(tile.getType());
  unsigned first = i & ~1u;
  if (!getElementTypeOrSelf(source.getType()).isF32() ||
      first + 1 >= mk_sm::getNumElements(getTile(tile)) ||
      !(to.isBF16() || to.isF16() || mk::isFp8(to)))
    return false;
  Value low = evaluate(source, first), high = evaluate(source, first + 1), pair;
  if (mk::isFp8(to))
    pair = LLVM::BitcastOp::create(e, VectorType::get(2, e.i8), ToFp8Op::create(e, to, low, high));
  else // The first operand becomes the upper half.
    pair = intrinsic(e, to.isBF16() ? "llvm.nvvm.ff2bf16x2.rn" : "llvm.nvvm.ff2f16x2.rn",
                     VectorType::get(2, to), {high, low});
  for (unsigned k : {0u, 1u})
    known[{tile, first + k}] = LLVM::ExtractElementOp::create(e, pair, e.c32(k));
  return true;
}

Value ElementEvaluator::invert(Value x) {
  Value &inverse = inverses[x];
  if (!inverse || inverse.getParentBlock() != e.getInsertionBlock())
    inverse = ApproximateOp::create(e, Approximation::Rcp, x);
  return inverse;
}
