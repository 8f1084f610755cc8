//===- ThreadReportOps.cpp - Waits, checks and records of time ------------===//
#include "mkernel/Dialect/Thread/Thread.h"

using namespace mlir;
using namespace mlir::mk_thread;

//===----------------------------------------------------------------------===//
// Records of time
//===----------------------------------------------------------------------===//

/// Whether the kernel has tracks, and the span's among them.
static LogicalResult verifyTracks(Operation *op, SpanAttr span = {}) {
  int64_t tracks = op->getParentOfType<KernelOp>().getFrame().getTracks();
  if (!tracks)
    return op->emitOpError("records times in a kernel that has no tracks; give its frame "
                           "`timeline`, `tracks` and `words`");
  if (span && span.getTrack() >= tracks)
    return op->emitOpError() << "is on track " << span.getTrack() << " of " << tracks
                             << "; the first one is 0, and -1 that of the thread's warpgroup";
  return success();
}

/// Words are kept beside the begin of an item and of an op.
static LogicalResult verifyKept(Operation *op, SpanClock clock, bool isKept) {
  if (!isKept || clock == SpanClock::Item || clock == SpanClock::Op)
    return success();
  return op->emitOpError() << "keeps a value for a span of a " << stringifySpanClock(clock)
                           << "; only those of an item or op have one";
}

LogicalResult SpanBeginOp::verify() {
  if (failed(verifyKept(*this, getClock(), static_cast<bool>(getValue()))))
    return failure();
  return verifyTracks(*this, getSpan());
}
LogicalResult SpanEndOp::verify() {
  if (failed(verifyKept(*this, getClock(), getKept())))
    return failure();
  return verifyTracks(*this, getSpan());
}
LogicalResult MomentOp::verify() { return verifyTracks(*this, getSpan()); }
LogicalResult TracksOpenOp::verify() { return verifyTracks(*this, getSpan().value_or(SpanAttr())); }
LogicalResult TracksCloseOp::verify() {
  return verifyTracks(*this, getSpan().value_or(SpanAttr()));
}

//===----------------------------------------------------------------------===//
// Waits and checks
//===----------------------------------------------------------------------===//

LogicalResult WaitWordOp::verify() {
  if (getScope() == MemScope::Cta)
    return emitOpError("acquires at scope cta; what others write is acquired at gpu or sys");
  if (static_cast<bool>(getElement()) == getArray().has_value())
    return emitOpError("has to say which element its report names: by `array`, or by `element`");
  if (getArray() && failed(verifyInParams(*this, *getArray(), 8)))
    return failure();
  return getSpan() ? verifyTracks(*this, *getSpan()) : success();
}

LogicalResult CheckOp::verify() {
  if (static_cast<bool>(getExtent()) == getParam().has_value())
    return emitOpError(
        "needs one extent: an operand (`extent`), or a word of the parameters (`param`)");
  if (getParam() && failed(verifyInParams(*this, *getParam(), 8)))
    return failure();
  if (getValues().size() != getLeast().size())
    return emitOpError() << "has " << getValues().size() << " conditions and " << getLeast().size()
                         << " bounds of them; use a bound for each";
  int64_t named = getNamed(), end = getChosen() ? 1 << 16 : int64_t(1) << 32;
  if (named < 0 || named >= end)
    return emitOpError() << "names " << named << "; that is 0 to " << end - 1
                         << (getChosen() ? ", since `chosen` has the bits above" : "");
  if (getRedirect() && (getSize() || !getValues().empty()))
    return emitOpError("redirects an index; a range, or one under conditions, is not redirected");
  return success();
}
