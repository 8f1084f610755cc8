//===- LowerScalars.cpp - Ranks, and dispatch over ops --------------------===//
#include "HostLowering.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"

using namespace mlir;
using namespace mlir::mk;

LogicalResult HostLowering::lower(Operation *op) {
  b_.setInsertionPoint(op);
  loc_ = op->getLoc();
  if (isa<LoadOp, StoreOp, PutOp, SignalOp, WaitOp, FenceOp, SettleOp, CountOp,
          PushOp>(op))
    recordLine(loc_);
  auto replace = [&](Value value) {
    op->getResult(0).replaceAllUsesWith(value);
    op->erase();
    return success();
  };
  return llvm::TypeSwitch<Operation *, LogicalResult>(op)
      // Of others, mk-expand-ranks makes arithmetic.
      .Case([&](RankOp) { return replace(getRank()); })
      .Case([&](CoordOp coord) {
        return replace(getCoord(mesh_.findAxis(coord.getAxis())));
      })
      .Case([&](CtasOfOp ctas) {
        return replace(index(ctasOfRole.lookup(ctas.getRole())));
      })
      .Case([&](SelectOp choice) {
        return replace(select(choice.getCondition(), choice.getTrueValue(),
                              choice.getFalseValue()));
      })
      .Case([&](mk_sm::ItemsOp items) { return lowerItems(items); })
      .Case([&](mk_sm::AtItemOp item) { return lowerAtItem(item); })
      .Case([&](mk_sm::TicketOp ticket) { return lowerTicket(ticket); })
      .Case([&](mk_sm::PopOp pop) { return lowerPop(pop); })
      .Case([&](LoadOp load) { return lowerLoad(load); })
      .Case([&](StoreOp store) { return lowerStore(store); })
      .Case([&](DotOp dot) { return lowerDot(dot); })
      .Case([&](ReduceOp reduce) { return lowerReduce(reduce); })
      .Case([&](BroadcastOp broadcast) { return lowerBroadcast(broadcast); })
      .Case([&](TransposeOp transpose) { return lowerTranspose(transpose); })
      .Case([&](MaskOp mask) { return lowerMask(mask); })
      .Case([&](PutOp put) { return lowerPut(put); })
      .Case([&](SignalOp signal) { return lowerSignal(signal); })
      .Case([&](WaitOp wait) { return lowerWait(wait); })
      .Case([&](FenceOp fence) {
        call("mkrt_fence", getCta());
        fence.erase();
        return success();
      })
      .Case([&](SettleOp settle) {
        call("mkrt_settle", getCta());
        settle.erase();
        return success();
      })
      .Case([&](CountOp count) { return lowerCount(count); })
      .Case([&](PushOp push) { return lowerPush(push); })
      // Declarations are read by the ops that use them and go last.
      .Case<SignalsOp, CountersOp, QueueOp>(
          [](auto) { return success(); })
      .Default([](Operation *other) {
        return other->emitOpError()
               << "cannot be lowered for the host target yet";
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
