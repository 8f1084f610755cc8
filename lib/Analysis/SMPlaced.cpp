//===- SMPlaced.cpp - Kernels whose parts all have their places -----------===//
//
// Shared memory, registers and clusters are checked where they are laid out. Of kernels
// that are written by hand no more is asked: their channels need not pair up, as in the phases
// before.
//
//===----------------------------------------------------------------------===//
#include "mkernel/Analysis/SMPhases.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace mlir::mk;

static LogicalResult verifyExpanded(Operation *op, bool isExpanded) {
  return isExpanded ? success() : op->emitOpError() << "asks for other ranks: run mk-expand-ranks";
}

LogicalResult mk_sm::verifyPlaced(KernelOp kernel) {
  if (failed(mk_sm::verifyPartitions(kernel)))
    return failure();
  if (kernel.getBody().getOps<mk_sm::SharedMemoryOp>().empty())
    return kernel.emitOpError() << "has no offsets in shared memory: run mk-sm-lay-out-shared";
  if (kernel.getBody().getOps<mk_sm::WarpsOp>().empty())
    return kernel.emitOpError() << "does not say which warps do what: run mk-sm-assign-warps";
  for (Operation &op : kernel.getBody().front()) // partitions have been checked
    for (Type type : op.getResultTypes())
      if (auto tile = dyn_cast<RankedTensorType>(type); tile && mk_sm::getNumElements(tile) < 0)
        return op.emitOpError() << "gives " << type
                                << ", which has no layout over threads: give it one that fits";
  WalkResult placed = kernel.walk([](Operation *op) -> WalkResult {
    return llvm::TypeSwitch<Operation *, LogicalResult>(op)
        .Case<mk_sm::AcquireOp, mk_sm::WaitOp, mk_sm::ReleaseOp, mk_sm::SendOp, mk_sm::ReceiveOp>(
            [](auto use) -> LogicalResult {
              if (use.getPlace().empty())
                return use.emitOpError() << "has no stage and parity: run mk-sm-assign-stages";
              return success();
            })
        .Case([](RankOp op) { return verifyExpanded(op, !op.getAxes()); })
        .Case([](CoordOp op) { return verifyExpanded(op, !op.getRank()); })
        .Case([](SizeOp op) { return verifyExpanded(op, false); })
        .Case([](mk_sm::CopyOp copy) -> LogicalResult {
          if (copy.mayPad() && !copy.getPadding())
            return copy.emitOpError() << "has no cursor of its padding: run mk-sm-assign-stages";
          return success();
        })
        .Case([](mk_sm::SwapPartsOp swap) -> LogicalResult {
          if (!swap.getCounter())
            return swap.emitOpError() << "has no cursor that counts it: run mk-sm-assign-stages";
          return success();
        })
        .Case([](PutOp put) -> LogicalResult {
          auto partition = put->getParentOfType<mk_sm::PartitionOp>();
          if (!isa<mk_sm::PipelinePutOp>(put->getParentOp()) &&
              partition.getKind() != mk_sm::PartitionKind::Mover)
            return put.emitOpError() << "has no cursors of its slots: run mk-sm-assign-stages";
          return success();
        })
        .Case([](mk_sm::StoreOp store) -> LogicalResult {
          auto partition = store->getParentOfType<mk_sm::PartitionOp>();
          if (!store.getPosting() && mk_sm::postsTiles(partition))
            return store.emitOpError()
                   << "has no cursor of what its partition posts: run mk-sm-assign-stages";
          return success();
        })
        .Default(success());
  });
  return failure(placed.wasInterrupted());
}
