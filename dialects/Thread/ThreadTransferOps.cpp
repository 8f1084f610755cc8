//===- ThreadTransferOps.cpp - Regions, commands and signals --------------===//
#include "mkernel/ABI/Command.h"
#include "mkernel/ABI/GpuParams.h"
#include "mkernel/Dialect/Thread/Thread.h"

using namespace mlir;
using namespace mlir::mk_thread;

LogicalResult SlotsAttr::verify(function_ref<InFlightDiagnostic()> emitError, int64_t at,
                                int64_t barriers, int64_t count, int64_t bytes) {
  if (at < 0 || at % 16 || barriers < 0 || barriers % 8)
    return emitError() << "slots are at " << at << ", their barriers at " << barriers
                       << "; use offsets of at least 0, in multiples of 16 and of 8";
  if (count < 2 || bytes < 16 || bytes % 16)
    return emitError()
           << "has " << count << " slots of " << bytes
           << " bytes; loads run ahead of stores through at least 2, in multiples of 16 bytes";
  return success();
}

/// A size and two strides for each dimension.
template <typename OpT> static LogicalResult verifyRuns(OpT op) {
  size_t rank = op.getSizes().size();
  if (!rank || op.getFrom().size() != rank || op.getTo().size() != rank)
    return op.emitOpError() << "has " << rank << " sizes and strides of " << op.getFrom().size()
                            << " and " << op.getTo().size()
                            << " dimensions; use one of each for each";
  return success();
}

LogicalResult PlanRunsOp::verify() {
  if (getPlaces().size() != getSizes().size())
    return emitOpError() << "gives the places of " << getPlaces().size()
                         << " dimensions; there are " << getSizes().size();
  return verifyRuns(*this);
}

LogicalResult CopyRunsOp::verify() {
  if (failed(verifyRuns(*this)))
    return failure();
  if (getAdd() && failed(verifyAddition(*this, getElement())))
    return failure();
  if (!getAlso().empty() && (getAdd() || getSlots()))
    return emitOpError("has several destinations; elements that are added, or go through slots, "
                       "have one");
  size_t places = getSlots() ? 4 : 0;
  if (getPlaces().size() != places || getNext().size() != places ||
      getSlots().has_value() != getReport().has_value())
    return emitOpError("has a stage and a parity of the next load and of the next store, gives "
                       "those that follow, and has a report, if it has slots, and only then");
  if (!getSlots())
    return success();
  if (failed(verifyInShared(*this, getSlots()->getAt(), 16,
                            getSlots()->getCount() * getSlots()->getBytes())))
    return failure();
  return verifyInShared(*this, getSlots()->getBarriers(), 8, 8 * getSlots()->getCount());
}

LogicalResult SendRunsOp::verify() {
  if (getStrong() && !getSignal())
    return emitOpError("is strong, and raises no signal that could be: leave out `strong`");
  return verifyRuns(*this);
}

LogicalResult CommandOp::verify() {
  if (getKind() != MK_CMD_PUT && getKind() != MK_CMD_SIGNAL)
    return emitOpError() << "is of kind " << int64_t(getKind()) << "; a put is "
                         << int64_t(MK_CMD_PUT) << ", a signal " << int64_t(MK_CMD_SIGNAL);
  if (int64_t(getAmount()) < 0 || getAmount() > UINT16_MAX)
    return emitOpError() << "raises a signal by " << int64_t(getAmount())
                         << "; a command has room for 0 to " << UINT16_MAX;
  return success();
}

/// What ops that may have to write a command say of it.
template <typename OpT> static LogicalResult verifyNet(OpT op, bool isStrong = false) {
  if (op.getCta() ? op.getReport().has_value()
                  : !isStrong && !op.getTeam() && !op.getReport() && !op.getSpan())
    return success();
  return op.emitOpError("needs a report of the wait for room in the ring with `net`; only then it "
                        "may be strong, or have a team or a span");
}
static LogicalResult verifyArray(Operation *op, int64_t array) {
  return verifyInParams(op, array, 8, ::mkernel::abi::kSignalBytes);
}

LogicalResult RaiseOp::verify() {
  if (getCta() && !getPeer())
    return emitOpError("is raised here, which needs no `net`: name a peer, or leave it out");
  if (failed(verifyNet(*this, getStrong())))
    return failure();
  return verifyArray(*this, getArray());
}
LogicalResult AwaitSignalOp::verify() {
  if (getScope() == MemScope::Cta)
    return emitOpError("acquires at scope cta; what others signal is acquired at gpu or sys");
  return verifyArray(*this, getArray());
}
LogicalResult AwaitPeerOp::verify() {
  if (getSends() && !getNet())
    return emitOpError("is in front of what is sent, in a kernel without `net`, where nothing is: "
                       "leave `sends` out, or add `net`");
  return verifyArray(*this, getArray());
}
LogicalResult NotifyPeersOp::verify() {
  return failed(verifyNet(*this)) ? failure() : verifyArray(*this, getArray());
}
LogicalResult AwaitPeersOp::verify() { return verifyArray(*this, getArray()); }
