//===- UnrollFragments.cpp - Fragments become elements --------------------===//
//
// One fragment becomes as many values as a thread holds elements. The order of elements decides
// what is in registers at a time: elementwise ops go on from one element to the next, ops on demand
// are computed where elements are taken, so that MLIR's conversion of types, op by op, would not
// do.
//
//===----------------------------------------------------------------------===//
#include "Expand.h"
#include "mkernel/Dialect/SM/SM.h"
#include "mkernel/Dialect/Thread/Places.h"
#include "mkernel/Dialect/Tile/Target.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/IR/IRMapping.h"
#include <numeric>

namespace mlir::mk_thread {
#define GEN_PASS_DEF_UNROLLFRAGMENTSPASS
#include "mkernel/Transforms/Thread/Passes.h.inc"
} // namespace mlir::mk_thread

using namespace mlir;
using namespace mlir::mk_thread;

using Fragments = DenseMap<Value, SmallVector<Value>>;

namespace {
/// What takes elements of fragments one by one. Those that are computed on demand are computed
/// then, each once in a block and those in it.
class Taker {
public:
  Taker(Emitter &e, Fragments &fragments) : e(e), fragments(fragments) {}

  Value take(Value tile, unsigned i);
  /// Of an op whose elements have no values yet, and which `tile` stands for.
  Value take(Operation *op, Value tile, unsigned i);
  SmallVector<Value> takeAll(Value tile);
  /// Loads what the elements are computed from.
  void load(Value tile, ArrayRef<unsigned> elements);
  /// The op that computes elements on demand, which nobody has asked for as a whole.
  Operation *getDemanded(Value tile);

private:
  Value find(Value tile, unsigned i);
  /// Two elements at once where there is an instruction for it.
  bool takePair(Operation *op, Value tile, unsigned i);
  Value invert(Value x);

  Emitter &e;
  Fragments &fragments;
  DenseMap<std::pair<Value, unsigned>, Value> known;
  DenseMap<Value, Value> inverses;
};
} // namespace

static RankedTensorType getTile(Value value) { return dyn_cast<RankedTensorType>(value.getType()); }

/// The element of the source that each element of a spread fragment is.
static SmallVector<unsigned> getSources(SpreadOp op) {
  RankedTensorType from = op.getSource().getType(), to = op.getFragment().getType();
  if (auto slice = dyn_cast_or_null<mk_sm::SliceAttr>(from.getEncoding()))
    return getSliceElements(to, slice.getAxis());
  SmallVector<unsigned> same(mk_sm::getNumElements(to), 0);
  if (from.getRank())
    std::iota(same.begin(), same.end(), 0);
  return same;
}

//===----------------------------------------------------------------------===//
// Elements that are taken
//===----------------------------------------------------------------------===//

Operation *Taker::getDemanded(Value tile) {
  auto op = tile.getDefiningOp<OnDemandOp>();
  return op && !fragments.contains(tile) ? op.getOp() : nullptr;
}

Value Taker::find(Value tile, unsigned i) {
  Value value = known.lookup({tile, i});
  Region *here = e.b.getInsertionBlock()->getParent();
  return value && value.getParentRegion()->isAncestor(here) ? value : Value();
}

void Taker::load(Value tile, ArrayRef<unsigned> elements) {
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
  if (!isa<LoadElementsOp, ReloadElementsOp>(op))
    return;
  SmallVector<int32_t> missing;
  int64_t run = isa<ReloadElementsOp>(op) ? 4 : 1; // what comes at once
  for (unsigned i : elements)
    for (int64_t first = i / run * run, k = first; !find(tile, i) && k != first + run; ++k)
      if (!llvm::is_contained(missing, k))
        missing.push_back(k);
  if (missing.empty())
    return;
  llvm::sort(missing);
  IRMapping map;
  for (Operation &inner : llvm::make_range(op->getBlock()->begin(), op->getIterator()))
    e.b.clone(inner, map);
  auto at = [&](Value value) { return map.lookupOrDefault(value); };
  auto all = [&](ValueRange values) { return llvm::map_to_vector(values, at); };
  SmallVector<Type> types(missing.size(), op->getResult(0).getType());
  Operation *loaded;
  if (auto load = dyn_cast<LoadElementsOp>(op)) {
    run = getRun(load.getTile());
    bool whole = missing.size() % run == 0;
    for (auto [k, i] : llvm::enumerate(missing))
      whole &= i % run == int64_t(k % run) && i == missing[k - k % run] + int32_t(k % run);
    loaded = e.create<LoadElementsOp>(
        types, missing, load.getTile(), at(load.getStart()), all(load.getStrides()),
        all(load.getOffsets()), all(load.getLimits()), load.getPad() ? at(load.getPad()) : Value(),
        whole && load.getTogether() ? at(load.getTogether()) : Value(), at(load.getThread()));
  } else {
    auto reload = cast<ReloadElementsOp>(op);
    loaded = e.create<ReloadElementsOp>(types, missing, reload.getTile(), at(reload.getAddress()),
                                        reload.getStep(), at(reload.getExists()));
  }
  // What comes with others may be there.
  for (auto [i, value] : llvm::zip(missing, loaded->getResults()))
    if (!find(tile, i))
      known[{tile, i}] = value;
}

Value Taker::take(Value tile, unsigned i) {
  if (Operation *op = getDemanded(tile))
    return take(op, tile, i);
  return getTile(tile) ? fragments[tile][i] : tile;
}

SmallVector<Value> Taker::takeAll(Value tile) {
  SmallVector<Value> all;
  for (int64_t i = 0, n = mk_sm::getNumElements(getTile(tile)); i != n; ++i)
    all.push_back(take(tile, i));
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

Value Taker::take(Operation *op, Value tile, unsigned i) {
  if (Value value = find(tile, i))
    return value;
  if (isa<LoadElementsOp, ReloadElementsOp>(op))
    load(tile, i);
  else if (auto spread = dyn_cast<SpreadOp>(op))
    known[{tile, i}] = take(spread.getSource(), getSources(spread)[i]);
  else if (!takePair(op, tile, i)) {
    SmallVector<Value> operands;
    for (Value operand : op->getOperands())
      operands.push_back(take(operand, i));
    // A row's divisor is inverted once.
    bool isShared =
        isa<arith::DivFOp>(op) && operands[0].getType().isF32() && isBroadcast(op->getOperand(1));
    known[{tile, i}] = isShared ? Value(e.create<LLVM::FMulOp>(operands[0], invert(operands[1])))
                                : compute(e, op, operands);
  }
  return known.lookup({tile, i});
}

bool Taker::takePair(Operation *op, Value tile, unsigned i) {
  auto truncation = dyn_cast<arith::TruncFOp>(op);
  if (!truncation)
    return false;
  Value source = truncation.getIn();
  Type to = getElementTypeOrSelf(tile.getType());
  unsigned first = i & ~1u;
  if (!getElementTypeOrSelf(source.getType()).isF32() ||
      first + 1 >= mk_sm::getNumElements(getTile(tile)) ||
      !(to.isBF16() || to.isF16() || isFp8(to)))
    return false;
  Value low = take(source, first), high = take(source, first + 1), pair;
  if (isFp8(to))
    pair = e.create<LLVM::BitcastOp>(VectorType::get(2, e.i8), e.create<ToFp8Op>(to, low, high));
  else // The first operand becomes the upper half.
    pair = e.intrinsic(to.isBF16() ? "llvm.nvvm.ff2bf16x2.rn" : "llvm.nvvm.ff2f16x2.rn",
                       VectorType::get(2, to), {high, low});
  for (unsigned k : {0u, 1u})
    known[{tile, first + k}] = e.create<LLVM::ExtractElementOp>(pair, e.c32(k));
  return true;
}

Value Taker::invert(Value x) {
  Value &inverse = inverses[x];
  if (!inverse || inverse.getParentBlock() != e.b.getInsertionBlock())
    inverse = e.create<ApproximateOp>(Approximation::Rcp, x);
  return inverse;
}

//===----------------------------------------------------------------------===//
// Ops of fragments
//===----------------------------------------------------------------------===//

namespace {
class Unroller {
public:
  Unroller(KernelOp kernel, Emitter &e)
      : thresholds(mk::getSm(kernel).getThresholds()), e(e), taker(e, fragments) {}

  void unroll(Block &block) {
    for (Operation &op : llvm::make_early_inc_range(block)) {
      e.loc = op.getLoc();
      e.b.setInsertionPoint(&op);
      if (visit(&op))
        dead.push_back(&op);
      else
        for (Region &region : op.getRegions())
          for (Block &inner : region)
            unroll(inner);
    }
  }
  void eraseOps() {
    for (Operation *op : llvm::reverse(dead))
      op->erase();
  }

private:
  /// Whether nothing is left to do for the op.
  bool visit(Operation *op);
  /// All elements, computed here if nobody has asked for them.
  ArrayRef<Value> getAll(Value tile) {
    if (taker.getDemanded(tile))
      fragments[tile] = Taker(e, fragments).takeAll(tile);
    return fragments[tile];
  }
  SmallVector<Value> compute(Operation *op);
  Value makeConstant(arith::ConstantOp op);

  mk::ThresholdsAttr thresholds;
  Emitter &e;
  Fragments fragments;
  Taker taker; // of elements that are taken one by one
  SmallVector<Operation *> dead;
};
} // namespace

Value Unroller::makeConstant(arith::ConstantOp op) {
  auto value = cast<TypedAttr>(cast<DenseElementsAttr>(op.getValue()).getSplatValue<Attribute>());
  Type type = getRegisterType(value.getType());
  if (isa<IndexType, IntegerType>(value.getType()))
    value = e.b.getIntegerAttr(type, cast<IntegerAttr>(value).getInt());
  else if (type != value.getType()) // fp8: its bits
    value = e.b.getIntegerAttr(type, cast<FloatAttr>(value).getValue().bitcastToAPInt());
  return e.constant(value);
}

SmallVector<Value> Unroller::compute(Operation *op) {
  bool takes = false, reloads = false;
  for (Value operand : op->getOperands()) {
    Operation *demanded = taker.getDemanded(operand);
    takes |= demanded && !isa<arith::CmpFOp, arith::CmpIOp>(demanded);
    reloads |= isa_and_nonnull<ReloadElementsOp>(demanded);
  }
  int64_t n = mk_sm::getNumElements(getTile(op->getResult(0)));
  int64_t part = reloads ? thresholds.getGroupedElements() : thresholds.getLoadedElements();
  Taker own(e, fragments);
  SmallVector<Value> made;
  for (int64_t first = 0; first < n; first += part) {
    // Loads that have waited for this, some at a time.
    int64_t end = std::min(n, first + part);
    if (takes)
      for (Value operand : op->getOperands())
        own.load(operand, llvm::to_vector(llvm::seq<unsigned>(first, end)));
    for (int64_t i = first; i < end; ++i)
      made.push_back(own.take(op, op->getResult(0), i));
    // Or LLVM would take all of them at the end, and what was loaded would stay.
    auto latest = MutableArrayRef(made).drop_front(first);
    if (takes && (latest[0].getType().isF32() || latest[0].getType().isInteger(32)))
      llvm::copy(e.create<PinOp>(TypeRange(ValueRange(latest)), latest).getResults(),
                 latest.begin());
  }
  return made;
}

bool Unroller::visit(Operation *op) {
  // What a value of these types stands for.
  auto isPacked = [](ValueRange values, Type element) {
    return getPerWord(element) > 1 && !values.empty() && values.front().getType().isInteger(32);
  };
  if (auto take = dyn_cast<TakeElementsOp>(op)) {
    Type element = getRegisterType(take.getFragment().getType().getElementType());
    SmallVector<Value> taken;
    if (auto which = take.getWhich())
      taken =
          llvm::map_to_vector(*which, [&](int32_t i) { return taker.take(take.getFragment(), i); });
    else
      llvm::append_range(taken, getAll(take.getFragment()));
    take->replaceAllUsesWith(isPacked(take.getElements(), element) ? e.pack(taken) : taken);
    return true;
  }
  if (auto ahead = dyn_cast<LoadAheadOp>(op)) {
    taker.load(ahead.getFragment(), SmallVector<unsigned>(ahead.getWhich()));
    return true;
  }
  if (isa<OnDemandOp>(op))
    return true;
  if (op->getNumResults() != 1 || !getTile(op->getResult(0)))
    return false;
  Value result = op->getResult(0);
  int64_t n = mk_sm::getNumElements(getTile(result));
  Type element = getRegisterType(getTile(result).getElementType());
  SmallVector<Value> made;
  if (auto held = dyn_cast<HoldElementsOp>(op)) {
    made.assign(held.getElements().begin(), held.getElements().end());
    if (isPacked(made, element))
      made = e.unpack(made, element, n);
  } else if (auto constant = dyn_cast<arith::ConstantOp>(op)) {
    made.assign(n, makeConstant(constant));
  } else if (auto spread = dyn_cast<SpreadOp>(op)) {
    ArrayRef<Value> source = getAll(spread.getSource());
    for (unsigned i : getSources(spread))
      made.push_back(source[i]);
  } else {
    made = compute(op);
  }
  fragments[result] = std::move(made);
  return true;
}

/// Whether fragments of the op, if it has any, can be unrolled.
static bool isKnown(Operation *op) {
  auto isTile = [](Value value) { return static_cast<bool>(getTile(value)); };
  for (Region &region : op->getRegions())
    if (llvm::any_of(region.getArguments(), isTile))
      return false;
  if (!llvm::any_of(op->getOperands(), isTile) && !llvm::any_of(op->getResults(), isTile))
    return true;
  if (auto constant = dyn_cast<arith::ConstantOp>(op))
    return cast<ElementsAttr>(constant.getValue()).isSplat();
  return isa<TakeElementsOp, LoadAheadOp, HoldElementsOp, OnDemandOp, SpreadOp>(op) || hasCode(op);
}

namespace {
struct UnrollFragmentsPass : mk_thread::impl::UnrollFragmentsPassBase<UnrollFragmentsPass> {
  void runOnOperation() override {
    for (auto kernel : getOperation().getOps<KernelOp>()) {
      WalkResult checked = kernel.walk([](Operation *op) -> WalkResult {
        return isKnown(op) ? WalkResult::advance()
                           : op->emitOpError(
                                 "has a fragment, of which there is no code for single elements");
      });
      if (checked.wasInterrupted())
        return signalPassFailure();
      Emitter e(&getContext(), kernel.getLoc());
      e.enter(kernel);
      Unroller unroller(kernel, e);
      unroller.unroll(kernel.getBody().front());
      unroller.eraseOps();
    }
  }
};
} // namespace
