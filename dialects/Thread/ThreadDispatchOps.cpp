//===- ThreadDispatchOps.cpp - Which threads run what ---------------------===//
#include "mkernel/ABI/GpuParams.h"
#include "mkernel/Dialect/Thread/Thread.h"
#include "mkernel/Dialect/Tile/Target.h"

using namespace mlir;
using namespace mlir::mk_thread;
namespace abi = ::mkernel::abi;

static int64_t countThreads(Operation *op) { return op->getParentOfType<KernelOp>().getThreads(); }

LogicalResult SpecializeOp::verify() {
  if (int64_t threads = countThreads(*this); threads <= mk::kWarpgroupThreads)
    return emitOpError()
           << "is in a kernel of " << threads
           << " threads, whose first warpgroup is the only one; there has to be another one";
  if (!getRegisters())
    return success();
  if (getRegisters()->size() != 2)
    return emitOpError()
           << "has " << getRegisters()->size()
           << " numbers of registers; there is one for the first warpgroup, and one for the others";
  return success();
}

LogicalResult ByWarpsOp::verify() {
  int64_t first = getFirst(), last = getLast(), warps = countThreads(*this) / mk::kWarpThreads;
  if (last < first || last >= warps)
    return emitOpError() << "is for warps " << first << " to " << last << " of a CTA that has "
                         << warps << "; name those that exist";
  return success();
}

LogicalResult ByCtasOp::verify() {
  ArrayRef<int64_t> ranges = getRanges();
  bool isValid = !ranges.empty() && ranges.size() % 2 == 0;
  for (size_t i = 0; isValid && i != ranges.size(); i += 2)
    isValid = ranges[i] >= (i ? ranges[i - 2] + ranges[i - 1] : 0) && ranges[i + 1] > 0;
  if (!isValid)
    return emitOpError(
        "needs ranges that ascend: the number of a CTA, and how many there are from it on");
  return success();
}

/// Threads that act together: those of a warp, or those that meet at a barrier.
template <typename OpT> static LogicalResult verifyThreads(OpT op) {
  if (bool(op.getBarrier()) != op.getThreads().has_value())
    return op.emitOpError("has a named barrier, and says how many threads meet there, or neither");
  int64_t threads = op.getThreads().value_or(mk::kWarpThreads), all = countThreads(op);
  if (threads < mk::kWarpThreads || threads > all || threads % mk::kWarpThreads)
    return op.emitOpError() << "is for " << threads << " threads of a CTA that has " << all
                            << "; name those that come, in whole warps";
  return success();
}
LogicalResult ElectOp::verify() { return verifyThreads(*this); }
LogicalResult AgreeOnFailureOp::verify() { return verifyThreads(*this); }

//===----------------------------------------------------------------------===//
// The end of a launch
//===----------------------------------------------------------------------===//

LogicalResult EndLaunchOp::verify() {
  if (int64_t threads = countThreads(*this); threads <= mk::kWarpgroupThreads)
    return emitOpError()
           << "is in a kernel of " << threads
           << " threads, whose first warpgroup is the only one; there has to be a consumer";
  if (getBody().getNumArguments() != 1 || !getBody().getArgument(0).getType().isInteger(32))
    return emitOpError(
        "needs a region with one argument, the number of the thread in the consumer (an i32)");
  return verifyInShared(*this, getFlag(), 4);
}
LogicalResult RebaseSignalsOp::verify() {
  return verifyInParams(*this, getArray(), 8, abi::kSignalBytes);
}

//===----------------------------------------------------------------------===//
// Tickets, counters and queues
//===----------------------------------------------------------------------===//

LogicalResult ElectFetchAddOp::verify() {
  if (getBarrier() && !getThrough())
    return emitOpError("meets at a barrier; name the word in shared memory by which all get the "
                       "number: `through`");
  if (getThrough() && failed(verifyInShared(*this, *getThrough(), 8)))
    return failure();
  return verifyThreads(*this);
}
LogicalResult PushRecordOp::verify() {
  if (getNamed().has_value() != getReport().has_value())
    return emitOpError("has `named` and `report`, or neither of them");
  return verifyInParams(*this, getQueue(), 8, abi::kQueueBytes);
}
LogicalResult PopRecordOp::verify() {
  return failed(verifyThreads(*this)) ? failure()
                                      : verifyInParams(*this, getQueue(), 8, abi::kQueueBytes);
}
