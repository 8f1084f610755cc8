//===- UnrollFragments.cpp - Fragments become elements --------------------===//
//
// One fragment becomes as many values as a thread holds elements. The order of elements decides
// what is in registers at a time: elementwise ops go on from one element to the next, ops on demand
// are computed where elements are taken, so that MLIR's conversion of types, op by op, would not
// do.
//
//===----------------------------------------------------------------------===//
#include "ElementEvaluator.h"
#include "mkernel/Dialect/SM/SM.h"

namespace mlir::mk_thread {
#define GEN_PASS_DEF_UNROLLFRAGMENTSPASS
#include "mkernel/Transforms/Thread/Passes.h.inc"
} // namespace mlir::mk_thread

using namespace mlir;
using namespace mlir::mk_thread;

namespace {
class Unroller {
public:
  Unroller(KernelOp kernel, Emitter &e)
      : thresholds(mk::getSm(kernel).getThresholds()), e(e), evaluator(e, fragments) {}

  void unroll(Block &block) {
    for (Operation &op : llvm::make_early_inc_range(block)) {
      e.setLoc(op.getLoc());
      e.setInsertionPoint(&op);
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
    if (evaluator.getDemanded(tile))
      fragments[tile] = ElementEvaluator(e, fragments).evaluateAll(tile);
    return fragments[tile];
  }
  SmallVector<Value> compute(Operation *op);
  /// Whether elements on demand are computed from some that quads share.
  bool loadsInQuads(Value tile) {
    Operation *op = evaluator.getDemanded(tile);
    if (auto load = dyn_cast_or_null<LoadElementsOp>(op))
      return static_cast<bool>(load.getWide());
    return op &&
           llvm::any_of(op->getOperands(), [&](Value operand) { return loadsInQuads(operand); });
  }

  mk::ThresholdsAttr thresholds;
  Emitter &e;
  Fragments fragments;
  ElementEvaluator evaluator; // of elements that are taken one by one
  SmallVector<Operation *> dead;
};
} // namespace

SmallVector<Value> Unroller::compute(Operation *op) {
  bool takes = false, few = false; // few: addresses that loads need
  for (Value operand : op->getOperands()) {
    Operation *demanded = evaluator.getDemanded(operand);
    takes |= demanded && !isa<arith::CmpFOp, arith::CmpIOp>(demanded);
    few |= isa_and_nonnull<ReloadElementsOp>(demanded) || loadsInQuads(operand);
  }
  int64_t n = mk_sm::getNumElements(getTile(op->getResult(0)));
  int64_t part = few ? thresholds.getGroupedElements() : thresholds.getLoadedElements();
  ElementEvaluator own(e, fragments);
  SmallVector<Value> made;
  for (int64_t first = 0; first < n; first += part) {
    // Loads that have waited for this, some at a time.
    int64_t end = std::min(n, first + part);
    if (takes)
      for (Value operand : op->getOperands())
        own.load(operand, llvm::to_vector(llvm::seq<unsigned>(first, end)));
    for (int64_t i = first; i < end; ++i)
      made.push_back(own.evaluate(op, op->getResult(0), i));
    // Or LLVM would take all of them at the end, and what was loaded would stay.
    auto latest = MutableArrayRef(made).drop_front(first);
    if (takes && (latest[0].getType().isF32() || latest[0].getType().isInteger(32)))
      llvm::copy(PinOp::create(e, TypeRange(ValueRange(latest)), latest).getResults(),
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
      taken = llvm::map_to_vector(
          *which, [&](int32_t i) { return evaluator.evaluate(take.getFragment(), i); });
    else
      llvm::append_range(taken, getAll(take.getFragment()));
    take->replaceAllUsesWith(isPacked(take.getElements(), element) ? pack(e, taken) : taken);
    return true;
  }
  if (auto ahead = dyn_cast<LoadAheadOp>(op)) {
    evaluator.load(ahead.getFragment(), SmallVector<unsigned>(ahead.getWhich()));
    return true;
  }
  if (isa<OnDemandOp>(op))
    return true;
  if (auto load = dyn_cast<LoadElementsOp>(op); load && load.getWide() && !load.getQuads()) {
    SmallVector<Value> elements(load.getNumResults());
    for (LoadElementsOp part :
         loadInQuads(e, load, load.getWhich(), [](Value value) { return value; }))
      for (auto [i, value] :
           llvm::zip(part.getWhich(),
                     part.getQuads() ? exchange(e, part) : SmallVector<Value>(part.getElements())))
        elements[llvm::find(load.getWhich(), i) - load.getWhich().begin()] = value;
    load->replaceAllUsesWith(elements);
    return true;
  }
  if (op->getNumResults() != 1 || !getTile(op->getResult(0)))
    return false;
  Value result = op->getResult(0);
  int64_t n = mk_sm::getNumElements(getTile(result));
  Type element = getRegisterType(getTile(result).getElementType());
  SmallVector<Value> made;
  if (auto held = dyn_cast<HoldElementsOp>(op)) {
    made.assign(held.getElements().begin(), held.getElements().end());
    if (isPacked(made, element))
      made = unpack(e, made, element, n);
  } else if (auto constant = dyn_cast<arith::ConstantOp>(op)) {
    auto splat = cast<DenseElementsAttr>(constant.getValue());
    made.assign(n, e.constant(cast<TypedAttr>(splat.getSplatValue<Attribute>())));
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
