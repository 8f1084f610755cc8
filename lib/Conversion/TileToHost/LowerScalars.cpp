//===- LowerScalars.cpp - Ranks, and dispatch over ops --------------------===//
#include "HostLowering.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"

using namespace mlir;
using namespace mlir::mk;

LogicalResult HostLowering::replace(Operation *op, ValueRange values) {
  op->replaceAllUsesWith(values);
  op->erase();
  return success();
}

LogicalResult HostLowering::lower(Operation *op) {
  b.setInsertionPoint(op);
  loc = op->getLoc();
  if (isa<LoadOp, StoreOp, PutOp, SignalOp, WaitOp, FenceOp, SettleOp, CountOp, PushOp>(op))
    recordLine(loc);
  return llvm::TypeSwitch<Operation *, LogicalResult>(op)
      // Of others, mk-expand-ranks makes arithmetic.
      .Case([&](RankOp) { return replace(op, getRank()); })
      .Case([&](CoordOp coord) { return replace(op, getCoord(mesh_.findAxis(coord.getAxis()))); })
      .Case([&](CtasOfOp ctas) { return replace(op, index(ctasOfRole.lookup(ctas.getRole()))); })
      .Case([&](SelectOp choice) {
        return replace(
            op, select(choice.getCondition(), choice.getTrueValue(), choice.getFalseValue()));
      })
      .Case<mk_sm::ItemsOp, mk_sm::AtItemOp, mk_sm::TicketOp, mk_sm::PopOp, LoadOp, StoreOp, DotOp,
            ReduceOp, BroadcastOp, TransposeOp, MaskOp, IotaOp, PutOp, SignalOp, WaitOp, CountOp,
            PushOp>([&](auto concrete) { return lower(concrete); })
      .Case<FenceOp, SettleOp>([&](Operation *order) {
        call(isa<FenceOp>(order) ? "mkrt_fence" : "mkrt_settle", getCta());
        return replace(order);
      })
      // Declarations are read by the ops that use them and go last.
      .Case<SignalsOp, CountersOp, QueueOp>([](auto) { return success(); })
      .Default([](Operation *other) {
        return other->emitOpError() << "cannot be lowered for the host target yet";
      });
}

LogicalResult HostLowering::run() {
  // Inner ops first: a loop moves its body as it is.
  SmallVector<Operation *> ops, accesses;
  function_.walk<WalkOrder::PostOrder>([&](Operation *op) {
    if (isa_and_nonnull<MkDialect, mk_sm::MkSMDialect>(op->getDialect()))
      ops.push_back(op);
    else if (isa<memref::LoadOp, memref::StoreOp>(op))
      accesses.push_back(op);
  });
  // They are lowered by upstream's passes as they are.
  for (Operation *op : accesses)
    recordScalar(op);
  for (Operation *op : ops)
    if (failed(lower(op)))
      return failure();
  for (Operation *op : accesses)
    checkScalarAccess(op);
  SmallVector<Operation *> declarations;
  function_.walk([&](Operation *op) {
    if (isa<SignalsOp, CountersOp, QueueOp>(op))
      declarations.push_back(op);
  });
  for (Operation *op : declarations)
    op->erase();
  return success();
}
