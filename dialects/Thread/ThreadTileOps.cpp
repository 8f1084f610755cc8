//===- ThreadTileOps.cpp - Tiles in shared memory -------------------------===//
#include "mkernel/ABI/GpuParams.h"
#include "mkernel/Dialect/SM/SM.h"
#include "mkernel/Dialect/Thread/Thread.h"
#include "llvm/Support/InterleavedRange.h"

using namespace mlir;
using namespace mlir::mk_thread;

LogicalResult CopyTileOp::verify() {
  int64_t cluster = (*this)->getParentOfType<KernelOp>().getCluster(),
          shared = getShared().value_or(1);
  int64_t stride = getStride();
  if (shared < 1 || stride < 1 || shared * stride > cluster)
    return emitOpError() << "is shared by " << shared << " CTAs, " << stride
                         << " apart, of a cluster that has " << cluster
                         << "; name those that exist";
  if (!llvm::isPowerOf2_64(shared) || !llvm::isPowerOf2_64(stride))
    return emitOpError() << "is shared by " << shared << " CTAs, " << stride
                         << " apart; use powers of 2";
  if (getOneBox() && (!getRowsLeft() || shared * getBoxRows() > getRows()))
    return emitOpError() << "comes in one box of " << getBoxRows() << " rows of "
                         << getRows() / shared << "; say how many are left (rows_left), and use a "
                         << "box that a CTA's part has room for";
  if (!getOneBox() && getRows() % (shared * getBoxRows()))
    return emitOpError() << "has " << getRows() << " rows for " << shared << " CTAs, in boxes of "
                         << getBoxRows() << "; use boxes that fill a CTA's part";
  if (getCoordinates().size() < 2 || getCoordinates().size() > 5)
    return emitOpError() << "has " << getCoordinates().size()
                         << " coordinates; a tile in chunks has 2 to 5";
  return success();
}

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
  return op->emitOpError() << "has elements of " << size
                           << " bytes; those of tiles in shared memory have 1, 2 or 4";
}

LogicalResult RequestCopyOp::verify() {
  if (bool(getList()) != bool(getListStride()) || bool(getList()) != bool(getEntriesFrom()) ||
      bool(getList()) != bool(getEntriesBelow()))
    return emitOpError()
           << "has a list, its stride or the range of its entries, but not all of them";
  return failed(verifySize(*this, getSize())) ? failure() : verifyCopiers(*this, getCopiers());
}
LogicalResult RequestRowsOp::verify() { return verifyCopiers(*this, getCopiers()); }
LogicalResult RequestSelectedOp::verify() { return verifyCopiers(*this, getCopiers()); }
LogicalResult DismissCopiersOp::verify() { return verifyCopiers(*this, getCopiers()); }
LogicalResult ServeCopiesOp::verify() {
  for (int64_t size : getSizes())
    if (failed(verifySize(*this, size)))
      return failure();
  if (getLists().size() % 2 || llvm::any_of(getLists(), [](int64_t n) { return n < 1; }))
    return emitOpError() << "has lists of tiles of [" << llvm::interleaved(getLists())
                         << "]; give a number of rows and one of chunks for each, of at least 1";
  return verifyCopiers(*this, getCopiers());
}
LogicalResult PadTileOp::verify() { return verifySize(*this, getSize()); }

LogicalResult StoreBufferOp::verify() {
  if (!getElement().isIntOrFloat())
    return emitOpError() << "stores elements of " << getElement()
                         << ", whose size is not known: use integers or floats";
  if (failed(verifySize(*this, getElement().getIntOrFloatBitWidth() / 8)))
    return failure();
  return getAdd() ? verifyAddition(*this, getElement()) : success();
}

//===----------------------------------------------------------------------===//
// Tiles that are sent
//===----------------------------------------------------------------------===//

LogicalResult PostedAttr::verify(function_ref<InFlightDiagnostic()> emitError, int64_t groups,
                                 int64_t rows, int64_t columns, int64_t partRows, int64_t chunk,
                                 int64_t pieceRows, int64_t staging, int64_t buffers, int64_t peers,
                                 int64_t map, int64_t coordinates, bool add, int64_t signal,
                                 int64_t sent) {
  if (groups < 1 || partRows < 1 || partRows > mk_sm::MmaAttr::kRows || rows < partRows ||
      rows % partRows || pieceRows < 1 || partRows % pieceRows)
    return emitError() << "posts " << groups << " x " << rows << " rows in parts of " << partRows
                       << " and pieces of " << pieceRows
                       << "; use whole pieces, whole parts, and at most " << mk_sm::MmaAttr::kRows
                       << " rows for a buffer";
  if (chunk < 1 || columns < chunk || rows / partRows * ((columns + chunk - 1) / chunk) > buffers)
    return emitError() << "posts " << rows / partRows << " parts of " << columns
                       << " columns in chunks of " << chunk << " through " << buffers
                       << " buffers; use one for each chunk of each part";
  if (peers < 1 || peers > kMostPeers || coordinates < 2 || coordinates > 5)
    return emitError() << "posts a tile with " << coordinates << " coordinates to " << peers
                       << " ranks; there is room for 2 to 5, and for 1 to " << kMostPeers;
  if (staging < 0 || map < 0 || signal < -1 || sent < 0)
    return emitError() << "posts a tile with offsets " << staging << " and " << sent << ", map "
                       << map << " and signal " << signal
                       << "; use numbers of at least 0, or -1 for no signal";
  return success();
}

LogicalResult PostTileOp::verify() {
  if (getCoordinates().size() > 5 || getPeers().size() > size_t(kMostPeers))
    return emitOpError() << "has " << getCoordinates().size() << " coordinates and "
                         << getPeers().size() << " ranks; a post has room for 5 and for "
                         << kMostPeers;
  return verifyInShared(*this, getPost(), 4, kPostBytes);
}

LogicalResult FlushSenderOp::verify() {
  if (bool(getParity()) != getSent().has_value() ||
      getSent().has_value() != getReport().has_value())
    return emitOpError("waits until a phase of a barrier is over, whose offset and report it "
                       "names, or for nothing");
  if (getSent() && failed(verifyInShared(*this, *getSent(), 8)))
    return failure();
  return verifyInShared(*this, getPost(), 4, kPostBytes);
}

LogicalResult ServePostsOp::verify() {
  for (auto tile : getTiles().getAsRange<PostedAttr>()) {
    if (tile.getSignal() >= 0 &&
        failed(verifyInParams(*this, tile.getSignal(), 8, ::mkernel::abi::kSignalBytes)))
      return failure();
    if (failed(verifyInShared(*this, tile.getSent(), 8)))
      return failure();
  }
  return verifyInShared(*this, getPost(), 4, kPostBytes);
}
