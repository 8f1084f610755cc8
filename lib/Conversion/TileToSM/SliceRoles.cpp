//===- SliceRoles.cpp - Which partition does what -------------------------===//
//
// The producer gets what it takes to fetch tiles and items, the consumer
// everything that acts. Both have the control flow and the scalars for it.
//
//===----------------------------------------------------------------------===//
#include "RoleSplitter.h"
#include "mkernel/Analysis/Remarks.h"
#include "mkernel/Analysis/Resources.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"
#include "mlir/Interfaces/LoopLikeInterface.h"

using namespace mlir;
using namespace mlir::mk_sm;

FailureOr<SmallVector<Value>> RoleSplitter::producerOperands(Operation *op) {
  SmallVector<Value> operands(op->getOperands());
  if (plan.staged.contains(op) || isa<mk::WaitOp>(op) || isDraw(op) || isScalar(op))
    return operands;
  InFlightDiagnostic diag =
      op->emitOpError()
      << "decides which tiles come next, for a mk.dot or as items of a loop, but for "
      << mk::getSmTarget(op).getName()
      << " they are fetched ahead of everything that computes: let the choice depend on scalars "
         "that are read or computed without tiles and counters, or put the work behind it into a "
         "role of its own that a queue or a signal starts";
  return diag;
}

FailureOr<SmallVector<Value>> RoleSplitter::consumerOperands(Operation *op) {
  if (plan.staged.contains(op) || isReceived(op))
    return SmallVector<Value>();
  SmallVector<Value> operands;
  for (Value operand : op->getOperands())
    if (!plan.getStaged(operand))
      operands.push_back(operand);
  return operands;
}

/// The producer draws the next item as soon as the loads of this one are under way. Where the
/// consumer waits for others at the end of an item, the next one would go to a CTA that is late
/// already, while others have nothing left to do. So the producer waits, too, where nothing is
/// loaded behind the wait. Teams are not held up: another one works on the next item.
bool RoleSplitter::holdsBackDraw(mk::WaitOp wait) {
  if (plan.teams > 1 || producer.contains(wait.getOperation()))
    return false;
  bool inDrawn = llvm::any_of(ops, [&](Operation *op) {
    auto loop = op->getParentOfType<LoopLikeOpInterface>();
    return isa<TicketOp>(op) && loop && loop->isProperAncestor(wait) &&
           llvm::none_of(llvm::make_range(llvm::find(ops, wait.getOperation()), ops.end()),
                         [&](Operation *load) {
                           return plan.staged.contains(load) && loop->isProperAncestor(load);
                         });
  });
  if (!inDrawn)
    return false;
  // Its place and its conditions are scalars that the producer computes without reading more than
  // it does.
  bool reads = false;
  Slice trial(plan.op, [&](Operation *op) -> FailureOr<SmallVector<Value>> {
    if (!isa<mk::WaitOp>(op) && !isDraw(op) && !isScalar(op))
      return failure();
    reads |= isa<memref::LoadOp>(op) && !producer.contains(op);
    return SmallVector<Value>(op->getOperands());
  });
  return succeeded(trial.add(wait)) && !reads;
}

LogicalResult RoleSplitter::sliceProducer(bool mayWait) {
  // Where there is nothing to fetch the consumer draws its items itself, when it gets to them: one
  // that is drawn ahead waits until the one before is done, however many CTAs have nothing to do.
  if (plan.staged.empty()) {
    analysis(plan.op, kSplitRoles) << "stages no tiles: it has no producer";
    return success();
  }
  for (Operation *op : ops) {
    if (!plan.staged.contains(op) && !isDraw(op))
      continue;
    hasProducer = true;
    if (failed(producer.add(op)))
      return failure();
  }
  // Where the producer has none of a loop, what its items are decided by may be for the consumer
  // alone to wait for.
  for (Operation *op : ops)
    if (isa<ForwardOp>(op) && producer.contains(op->getParentOp())) {
      if (failed(producer.add(op)))
        return failure();
      plan.sent.insert(op);
    }
  // A wait guards whatever is read behind it, also what its own operands and
  // conditions are read from.
  for (bool changed = true; changed;) {
    changed = false;
    for (Operation *wait : ops) {
      if (!isa<mk::WaitOp>(wait) || producer.contains(wait))
        continue;
      bool guards = llvm::any_of(ops, [&](Operation *op) {
        return producer.contains(op) && !isDraw(op) && !isa<mk::WaitOp>(op) && readsResults(op) &&
               mayPrecede(wait, op, plan.op);
      });
      if (!guards)
        continue;
      if (failed(producer.add(wait)))
        return failure();
      changed = true;
    }
  }
  for (Operation *op : ops)
    if (auto wait = dyn_cast<mk::WaitOp>(op); wait && holdsBackDraw(wait)) {
      if (!mayWait) {
        missed(op, kSplitRoles)
            << "does not hold back the next item, which waits as well: the producer has too few "
               "registers to wait, since the kernel's tiles take them: use smaller tiles";
        continue;
      }
      beforeDraws.insert(op);
      passed(op, kSplitRoles)
          << "is waited for by the producer, too, before it draws the next item";
    }
  for (Operation *wait : beforeDraws)
    if (failed(producer.add(wait)))
      return failure();
  for (Operation *op : ops)
    if (auto load = dyn_cast<memref::LoadOp>(op); load && producer.contains(op)) {
      if (failed(checkOverwritten(load)))
        return failure();
      if (readsResults(op))
        plan.sent.insert(op);
    }
  return success();
}

LogicalResult RoleSplitter::checkOverwritten(memref::LoadOp load) {
  Operation *op = findOverwriting(load, plan.op);
  if (!op)
    return success();
  InFlightDiagnostic diag = load.emitOpError()
                            << "is read to find the tiles that are loaded ahead, while another "
                               "part of the role writes to the same buffer behind it: keep what "
                               "is written in a buffer of its own, or write it in another role";
  diag.attachNote(op->getLoc()) << "written here";
  return diag;
}

/// Whether a loop is known to be executed.
static bool hasIterations(Operation *op) {
  auto loop = dyn_cast<scf::ForOp>(op);
  std::optional<int64_t> from, to;
  if (loop) {
    from = getConstantIntValue(loop.getLowerBound());
    to = getConstantIntValue(loop.getUpperBound());
  }
  return from && to && *from < *to;
}

/// Whether between the wait and the op the consumer takes a slot that the
/// producer fills behind its own wait, and waits for it in front of the op. Loops count as executed
/// unless `alsoWithoutItems`; those over an epilogue's tiles, as of peers, where they have
/// iterations.
bool RoleSplitter::isCovered(Operation *wait, Operation *op, bool alsoWithoutItems) {
  auto from = llvm::find(ops, wait), to = llvm::find(ops, op);
  return from < to && std::any_of(from, to, [&](Operation *load) {
           if (!plan.staged.contains(load))
             return false;
           const Site &site = plan.sites[plan.staged.lookup(load).site];
           Operation *beside = site.getBlock()->findAncestorOpInBlock(*op);
           if (beside && site.waitBefore && beside->isBeforeInBlock(site.waitBefore))
             return false;
           bool isRead = !site.parts.empty();
           for (Operation *up = load->getParentOp(); up != plan.op; up = up->getParentOp()) {
             bool certain = isa<LoopLikeOpInterface>(up) && !alsoWithoutItems &&
                            (!isRead || hasIterations(up));
             if (!certain && !up->isAncestor(op) && !up->isAncestor(wait))
               return false;
           }
           return true;
         });
}

/// A wait that the producer executes need not be repeated if slots that come
/// behind it hold back whatever the consumer reads and does.
bool RoleSplitter::mustWaitInConsumer(mk::WaitOp wait) {
  if (!producer.contains(wait) || beforeDraws.contains(wait))
    return true;
  return llvm::any_of(ops, [&](Operation *op) {
    if (!consumer.contains(op) || plan.staged.contains(op) || isReceived(op) ||
        isa<mk::WaitOp>(op) || op->getNumRegions())
      return false;
    bool reads = readsResults(op);
    return (reads || hasOtherEffects(op)) && mayPrecede(wait, op, plan.op) &&
           !isCovered(wait, op, /*alsoWithoutItems=*/reads);
  });
}

LogicalResult RoleSplitter::sliceConsumer() {
  for (Operation *op : ops) {
    bool acts = !op->getNumRegions() && hasOtherEffects(op);
    if (isa<mk::WaitOp>(op) || (!acts && !plan.staged.contains(op)))
      continue;
    if (failed(consumer.add(op)))
      return failure();
  }
  for (bool changed = true; changed;) {
    changed = false;
    for (Operation *op : ops) {
      auto wait = dyn_cast<mk::WaitOp>(op);
      if (!wait || consumer.contains(op) || !mustWaitInConsumer(wait))
        continue;
      if (producer.contains(op) && !beforeDraws.contains(op))
        missed(op, kSplitRoles)
            << "is waited for by both partitions: what the consumer reads or does behind it is not "
               "held back by slots that are filled behind it";
      if (failed(consumer.add(op)))
        return failure();
      changed = true;
    }
  }
  // What the consumer does not need is not sent.
  for (Operation *op : ops)
    if (!consumer.contains(op))
      plan.sent.erase(op);
  return success();
}
