//===- RoleSplitter.h - Which partition does what --------------*- C++ -*-===//
#ifndef MKERNEL_LIB_CONVERSION_TILETOSM_ROLESPLITTER_H
#define MKERNEL_LIB_CONVERSION_TILETOSM_ROLESPLITTER_H

#include "Rebuilder.h"
#include "llvm/ADT/SetVector.h"

namespace mlir::mk_sm {

/// Splits one role, or mk.prepare.
class RoleSplitter {
public:
  explicit RoleSplitter(Operation *op)
      : plan(op), producer(op, [this](Operation *op) { return producerOperands(op); }),
        consumer(op, [this](Operation *op) { return consumerOperands(op); }) {}

  RolePlan plan;

  /// Layouts and registers. To be called when the number of warpgroups that the kernel has is
  /// known.
  LogicalResult measure(int64_t warpgroups);
  /// What each partition does. `mayWait`: the producer has registers to wait for signals, though it
  /// need not.
  LogicalResult prepare(bool mayWait);
  LogicalResult split(mk::RegisterSplitAttr registers);
  /// Whether the producer waits for signals. To be called behind `prepare`.
  bool waitsInProducer() const;

private:
  FailureOr<SmallVector<Value>> producerOperands(Operation *op);
  FailureOr<SmallVector<Value>> consumerOperands(Operation *op);
  LogicalResult sliceProducer(bool mayWait);
  /// Whether the producer waits before it draws the next item, though it needs nothing that is
  /// waited for.
  bool holdsBackDraw(mk::WaitOp wait);
  LogicalResult checkOverwritten(memref::LoadOp load);
  LogicalResult sliceConsumer();
  /// Whether the consumer gets what the op gives from the producer.
  bool isReceived(Operation *op) { return hasProducer && (isDraw(op) || plan.sent.contains(op)); }
  bool mustWaitInConsumer(mk::WaitOp wait);
  bool isCovered(Operation *wait, Operation *op, bool alsoWithoutItems);
  Channels createChannels(OpBuilder &b);

  Slice producer, consumer;
  SmallVector<Operation *> ops;                     // all, in program order
  llvm::SmallSetVector<Operation *, 2> beforeDraws; // waits for which holdsBackDraw
  bool hasProducer = false;
};

} // namespace mlir::mk_sm

#endif // MKERNEL_LIB_CONVERSION_TILETOSM_ROLESPLITTER_H
