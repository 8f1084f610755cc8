//===- LowerScalars.cpp - Rank arithmetic and dispatch over ops -----------===//
#include "HostLowering.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"

using namespace mlir;
using namespace mlir::mk;

LogicalResult HostLowering::lowerRank(RankOp op) {
  SmallVector<Value> coords(mesh_.getNumAxes());
  if (ArrayAttr axes = op.getAxesAttr())
    for (auto [axis, coord] : llvm::zip(axes, op.getCoords()))
      coords[mesh_.findAxis(cast<StringAttr>(axis).getValue())] = coord;
  op.replaceAllUsesWith(coords.empty() || !op.getAxesAttr() ? getRank()
                                                           : linearRank(coords));
  op.erase();
  return success();
}

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
      .Case([&](RankOp rank) { return lowerRank(rank); })
      .Case([&](CoordOp coord) {
        int64_t axis = mesh_.findAxis(coord.getAxis());
        if (!coord.getRank())
          return replace(getCoord(axis));
        int64_t below = 1;
        for (unsigned i = axis + 1; i < mesh_.getNumAxes(); ++i)
          below *= getAxisSize(i);
        return replace(rem(div(coord.getRank(), index(below)),
                           index(getAxisSize(axis))));
      })
      .Case([&](SizeOp size) {
        return replace(index(size.getAxis()
                                 ? getAxisSize(mesh_.findAxis(*size.getAxis()))
                                 : getNumRanks()));
      })
      .Case([&](CtasOfOp ctas) {
        return replace(index(ctasOfRole.lookup(ctas.getRole())));
      })
      .Case([&](SelectOp choice) {
        return replace(select(choice.getCondition(), choice.getTrueValue(),
                              choice.getFalseValue()));
      })
      .Case([&](ForeachOp loop) { return lowerForeach(loop); })
      .Case([&](ForeachItemOp loop) { return lowerForeachItem(loop); })
      .Case([&](ForeachPeerOp loop) { return lowerForeachPeer(loop); })
      .Case([&](FoldOp fold) { return lowerFold(fold); })
      .Case([&](LoadOp load) { return lowerLoad(load); })
      .Case([&](StoreOp store) { return lowerStore(store); })
      .Case([&](DotOp dot) { return lowerDot(dot); })
      .Case([&](ReduceOp reduce) { return lowerReduce(reduce); })
      .Case([&](BroadcastOp broadcast) { return lowerBroadcast(broadcast); })
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
      .Case<SignalsOp, CountersOp, QueueOp, YieldOp>(
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
    if (isa_and_nonnull<MkDialect>(op->getDialect()))
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
