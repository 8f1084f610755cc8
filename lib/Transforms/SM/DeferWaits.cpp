//===- DeferWaits.cpp - Dots in flight over iterations --------------------===//
//
// Turns
//   for k: slot = wait; acc = mma_wait 0 (mma x, y, fence acc); release
// into
//   if there is an iteration:
//     for k: slot = wait; fence; acc = mma x, y, acc accumulate(k is not first)
//            mma_wait N (the previous iteration's); if k is not first: release
//     acc = mma_wait 0 acc; release
// Work on tiles that takes nothing of the dots, as sums of what they multiply, goes behind their
// start, and runs beside them.
//
//===----------------------------------------------------------------------===//
#include "Functions.h"
#include "Loops.h"
#include "mkernel/Analysis/Remarks.h"
#include "mlir/Dialect/UB/IR/UBOps.h"

using namespace mlir;
using namespace mlir::mk_sm;

static constexpr StringRef kDeferWaits = "mk-sm-defer-waits";

namespace {
/// The dots that one iteration adds to one carried accumulator, in order.
struct Chain {
  unsigned carried; // which iter_arg
  SmallVector<MmaOp> dots;
};

struct Accumulation {
  SmallVector<Chain> chains;
  SmallVector<Operation *> fences, waits;
  SmallVector<Operation *> work; // on tiles, in order
  SmallVector<ReleaseOp> releases;
  unsigned numDots = 0;
};

/// Says what keeps the loop as it is.
std::nullopt_t giveUp(Operation *op, StringRef why) {
  missed(op, kDeferWaits) << why;
  return std::nullopt;
}

/// Whether dots add to what the loop carries as its argument `arg`.
bool isAccumulator(scf::ForOp loop, BlockArgument arg) {
  return loop.getTiedLoopYieldedValue(arg)->get().getDefiningOp<MmaWaitOp>() ||
         llvm::any_of(arg.getUsers(), [&](Operation *user) {
           auto dot = dyn_cast<MmaOp>(user);
           return isa<MmaFenceOp>(user) || (dot && dot.getAcc() == arg);
         });
}

/// Recognises a loop whose dots only accumulate.
std::optional<Accumulation> analyse(scf::ForOp loop) {
  // Other passes have moved waits already.
  if (llvm::any_of(loop.getBody()->getOps<MmaWaitOp>(),
                   [](MmaWaitOp wait) { return wait.getPending() != 0; }))
    return std::nullopt;
  Accumulation found;
  auto yield = cast<scf::YieldOp>(loop.getBody()->getTerminator());
  llvm::SmallPtrSet<Operation *, 16> chained;
  for (auto [i, arg] : llvm::enumerate(loop.getRegionIterArgs())) {
    if (!isa<RankedTensorType>(arg.getType()) || !isAccumulator(loop, arg))
      continue;
    Chain chain{static_cast<unsigned>(i), {}};
    Value current = arg;
    while (true) {
      // acc -> fence -> mma -> wait -> acc
      if (!current.hasOneUse())
        return giveUp(loop, "carries a tile that its iterations use besides adding to it");
      OpOperand *use = &*current.use_begin();
      if (use->getOwner() == yield) {
        if (use->getOperandNumber() != i)
          return giveUp(loop, "carries an accumulator on in the place of another one");
        break;
      }
      if (auto fence = dyn_cast<MmaFenceOp>(use->getOwner())) {
        chained.insert(fence);
        current = fence.getResults()[use->getOperandNumber()];
        if (!current.hasOneUse())
          return giveUp(fence, "fences an accumulator for several dots");
        use = &*current.use_begin();
      }
      auto dot = dyn_cast<MmaOp>(use->getOwner());
      if (!dot || dot->getBlock() != loop.getBody() || dot.getAccumulate() ||
          dot.getAcc() != current)
        return giveUp(use->getOwner(), "takes what the loop accumulates, which then has to be "
                                       "complete: move it behind the loop");
      if (!isa<StagedType>(dot.getLhs().getType()))
        return giveUp(dot, "has a left operand in registers, which the next iteration overwrites: "
                           "load it from memory");
      unsigned result;
      MmaWaitOp wait = getFullWait(dot.getResult(), result);
      if (!wait)
        return giveUp(dot, "is not waited for at once, so it has been moved already");
      chained.insert(dot);
      chained.insert(wait);
      chain.dots.push_back(dot);
      current = wait.getResults()[result];
    }
    found.numDots += chain.dots.size();
    found.chains.push_back(std::move(chain));
  }
  for (Operation &op : *loop.getBody()) {
    bool touches = llvm::any_of(op.getOperandTypes(), llvm::IsaPred<RankedTensorType>) ||
                   llvm::any_of(op.getResultTypes(), llvm::IsaPred<RankedTensorType>);
    if (auto release = dyn_cast<ReleaseOp>(op))
      found.releases.push_back(release);
    else if (isa<MmaFenceOp>(op))
      found.fences.push_back(&op);
    else if (isa<MmaWaitOp>(op))
      found.waits.push_back(&op);
    else if (op.getNumRegions())
      return giveUp(&op, "is control flow in a loop of dots: move it out of the loop");
    if (!touches || chained.contains(&op) || &op == yield)
      continue;
    // What dots give goes to dots, so that nothing else takes it.
    if (isa<MmaOp>(op) || !onlyReads(&op))
      return giveUp(&op, "works on tiles in registers between dots, which are waited for: use "
                         "several warpgroups or two teams");
    found.work.push_back(&op);
  }
  if (found.chains.empty())
    return std::nullopt;
  if (!found.work.empty() && !hasRoomToKeep(loop))
    return giveUp(loop, "would keep a slot while work on tiles runs beside its dot, and rings have "
                        "too few: use smaller tiles");
  if (int64_t most = mk::getSm(loop).getMatrixUnit().getPending(); found.numDots > most)
    return giveUp(loop, ("has more dots than the " + Twine(most) +
                         " that can be waited for apart: use larger tiles")
                            .str());
  return found;
}

/// Forwards what ops with as many operands as results pass through.
void forward(Operation *op) {
  for (auto [result, operand] : llvm::zip(op->getResults(), op->getOperands()))
    result.replaceAllUsesWith(operand);
  op->erase();
}

/// A slot that is given back; threads may have read it.
struct Slot {
  Value ring;
  bool isRead;
};

void release(OpBuilder &b, Location loc, ArrayRef<Slot> slots) {
  for (Slot slot : slots)
    ReleaseOp::create(b, loc, slot.ring, ValueRange(), slot.isRead);
}

/// The releases of one iteration, if `condition`.
void releaseIf(OpBuilder &b, Location loc, Value condition, ArrayRef<Slot> slots) {
  if (slots.empty())
    return;
  scf::IfOp::create(b, loc, condition, [&](OpBuilder &inner, Location) {
    release(inner, loc, slots);
    scf::YieldOp::create(inner, loc);
  });
}

void transform(scf::ForOp loop, Accumulation &found) {
  Location loc = loop.getLoc();
  passed(loop, kDeferWaits) << remark::add(
      "keeps {0} dots in flight until those of the next iteration have begun", found.numDots);
  SmallVector<Slot> slots;
  for (ReleaseOp release : found.releases) {
    slots.push_back({release.getRing(), release.getRead()});
    release.erase();
  }
  for (Operation *op : found.fences)
    forward(op);
  for (Operation *op : found.waits)
    forward(op);

  MmaOp first = found.chains.front().dots.front();
  MmaOp last = first;
  for (Chain &chain : found.chains)
    for (MmaOp dot : chain.dots) {
      if (dot->isBeforeInBlock(first))
        first = dot;
      if (last->isBeforeInBlock(dot))
        last = dot;
    }
  OpBuilder b(first);
  Value notFirst = arith::CmpIOp::create(b, loc, arith::CmpIPredicate::ne, loop.getInductionVar(),
                                         loop.getLowerBound());
  MmaFenceOp::create(b, loc, ValueRange());
  b.setInsertionPointAfter(last);
  for (Operation *op : found.work)
    if (op->isBeforeInBlock(last) && (isa<ReadOp>(op) || isMemoryEffectFree(op))) {
      op->remove();
      b.insert(op);
    }
  // Threads that wait for the dots before do not work meanwhile.
  if (!found.work.empty())
    b.setInsertionPoint(loop.getBody()->getTerminator());
  MmaWaitOp::create(b, loc, found.numDots, ValueRange());
  releaseIf(b, loc, notFirst, slots);

  // Behind the loop everything is complete; without an iteration the carried
  // values are what they were before.
  b.setInsertionPoint(loop);
  scf::IfOp branch = branchOnIterations(b, loop);
  loop.replaceAllUsesWith(branch.getResults());
  for (Chain &chain : found.chains) {
    OpOperand &init = loop.getInitArgsMutable()[chain.carried];
    if (isZero(init.get())) {
      // No need to fill registers with zeros.
      chain.dots.front().getAccumulateMutable().assign(notFirst);
      init.set(ub::PoisonOp::create(b, loc, init.get().getType()));
    } else {
      init.set(MmaFenceOp::create(b, loc, ValueRange(init.get())).getResult(0));
    }
  }
  loop->moveBefore(branch.thenBlock(), branch.thenBlock()->end());
  b.setInsertionPointAfter(loop);
  SmallVector<Value> results(loop.getResults()), waited;
  for (Chain &chain : found.chains)
    waited.push_back(loop.getResult(chain.carried));
  auto wait = MmaWaitOp::create(b, loc, 0, waited);
  for (auto [chain, value] : llvm::zip(found.chains, wait.getResults()))
    results[chain.carried] = value;
  release(b, loc, slots);
  scf::YieldOp::create(b, loc, results);
}
} // namespace

void mk_sm::deferWaits(ModuleOp module) {
  for (scf::ForOp loop : getDotLoops(module))
    if (std::optional<Accumulation> found = analyse(loop))
      transform(loop, *found);
}
