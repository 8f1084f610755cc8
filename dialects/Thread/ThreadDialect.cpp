//===- ThreadDialect.cpp - The thread dialect and its attributes ----------===//
#include "mkernel/ABI/Timeline.h"
#include "mkernel/Dialect/Thread/Thread.h"
#include "mkernel/Dialect/Tile/Tile.h"
#include "mlir/IR/DialectImplementation.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace mlir::mk_thread;

#include "mkernel/Dialect/Thread/ThreadDialect.cpp.inc"
#include "mkernel/Dialect/Thread/ThreadEnums.cpp.inc"
#define GET_ATTRDEF_CLASSES
#include "mkernel/Dialect/Thread/ThreadAttrs.cpp.inc"

void MkThreadDialect::initialize() {
  registerAttrs();
  registerMkThreadDialectOperations(this);
}

void MkThreadDialect::registerAttrs() {
  addAttributes<
#define GET_ATTRDEF_LIST
#include "mkernel/Dialect/Thread/ThreadAttrs.cpp.inc"
      >();
}

LogicalResult FrameAttr::verify(function_ref<InFlightDiagnostic()> emitError, int64_t launch,
                                int64_t failed, int64_t timeline, int64_t tracks, int64_t words) {
  if (launch < 0 || launch % 8 || failed < 0 || failed % 4 || timeline < 0 || timeline % 8 ||
      words < 0 || words % 4)
    return emitError() << "a frame has offsets of at least 0, `launch` and `timeline` in multiples "
                          "of 8, `failed` and `words` of 4";
  if (tracks < 0 || tracks > kMaxTracks)
    return emitError() << "a frame has " << tracks << " tracks; there are at most " << kMaxTracks;
  if ((timeline != 0) != (tracks != 0) || (words && !tracks))
    return emitError() << "a frame with " << tracks << " tracks has their address at " << timeline
                       << " and their words at " << words
                       << ": give `timeline`, `tracks` and `words`, or none of them";
  return success();
}

LogicalResult SpanAttr::verify(function_ref<InFlightDiagnostic()> emitError, int64_t what,
                               int64_t track, int64_t thread) {
  if (what < 0 || what > int64_t(UINT32_MAX))
    return emitError() << "a span says `what` in 32 bits, not " << what;
  if (track < -1 || track >= kMaxTracks)
    return emitError() << "a span is on track 0 to " << kMaxTracks - 1
                       << ", or on that of its warpgroup (-1), not on " << track;
  if (thread < -1 || (thread >= 0 && track < 0))
    return emitError() << "a span on track " << track << " is recorded by thread " << thread
                       << ": name a thread of the CTA, and the track on which it records";
  return success();
}

LogicalResult ReportAttr::verify(function_ref<InFlightDiagnostic()> emitError, int64_t kind,
                                 int64_t role, int64_t number) {
  if (kind <= 0 || kind > 255)
    return emitError() << "a report has a kind from 1 to 255, not " << kind;
  if (role < -1)
    return emitError() << "a report names a role from 0 on, or -1 for none, not " << role;
  return success();
}
