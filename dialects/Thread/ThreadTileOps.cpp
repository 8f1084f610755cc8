//===- ThreadTileOps.cpp - Tiles in shared memory -------------------------===//
#include "mkernel/Dialect/Thread/Thread.h"

using namespace mlir;
using namespace mlir::mk_thread;

LogicalResult CopiersAttr::verify(function_ref<InFlightDiagnostic()> emitError, int64_t warps,
                                  int64_t requests, int64_t posted, int64_t barrier) {
  if (warps < 1 || warps > 3 || barrier < 0 || barrier > 15)
    return emitError() << "has " << warps << " copiers that meet at barrier " << barrier
                       << "; there are 1 to 3 in the producer's warpgroup, and barriers 0 to 15";
  if (requests < 0 || requests % 16 || posted < 0 || posted % 4)
    return emitError() << "has requests at " << requests << " and their number at " << posted
                       << "; use offsets of at least 0, in multiples of 16 and of 4";
  return success();
}

static LogicalResult verifyCopiers(Operation *op, CopiersAttr copiers) {
  if (failed(verifyInShared(op, copiers.getRequests(), 16, kRequests * kRequestBytes)))
    return failure();
  return verifyInShared(op, copiers.getPosted(), 4);
}
static LogicalResult verifySize(Operation *op, int64_t size) {
  if (size == 1 || size == 2 || size == 4)
    return success();
  return op->emitOpError() << "has elements of " << size << " bytes; those of tiles in shared memory have 1, 2 or 4";
}

LogicalResult RequestCopyOp::verify() {
  return failed(verifySize(*this, getSize())) ? failure() : verifyCopiers(*this, getCopiers());
}
LogicalResult DismissCopiersOp::verify() { return verifyCopiers(*this, getCopiers()); }
LogicalResult ServeCopiesOp::verify() {
  for (int64_t size : getSizes())
    if (failed(verifySize(*this, size)))
      return failure();
  return verifyCopiers(*this, getCopiers());
}
LogicalResult TrimTileOp::verify() { return verifySize(*this, getSize()); }
