//===- SMVerifyStores.cpp - Verifiers of stores, spills and exchanged parts ----===//
#include "SMVerify.h"

using namespace mlir;
using namespace mlir::mk_sm;

/// What the sender needs of a store.
static LogicalResult verifyPosted(StoreOp op) {
  RankedTensorType tile = op.getTile().getType();
  if (op.getPeers().empty() || op.getPeers().size() > kMostPeers)
    return op.emitOpError() << "is posted to " << op.getPeers().size()
                            << " ranks: the sender takes 1 to " << kMostPeers;
  if (!isa<MmaAttr>(tile.getEncoding()))
    return op.emitOpError() << "posts " << tile
                            << ": the sender takes tiles with layout #mk_sm.mma";
  if (auto partition = op->getParentOfType<PartitionOp>(); partition.getTeams() > 1)
    return op.emitOpError()
           << "is posted by one of several teams, but a CTA has one sender: leave 'posted' out";
  mk::SmAttr sm = mk::getSm(op);
  int64_t buffers = op.getStaging().getType().getBuffers();
  if (int64_t parts = sm ? countStoreParts(tile, sm.getChunk()) : 0; parts > buffers)
    return op.emitOpError() << "posts " << parts << " parts of a tile through " << buffers
                            << " buffers, which have to hold all of it";
  return mk::verifyAttachedSignal(op, op.getSignal(), op.getSignalIndex(), /*strong=*/false,
                                  /*crosses=*/true);
}

LogicalResult StoreOp::verify() {
  RankedTensorType tile = getTile().getType();
  auto dest = cast<MemRefType>(getDest().getType());
  if (failed(verifyFragment(*this, tile)) ||
      failed(mk::verifyAccess(*this, getDest(), getOffsets(), getValid(), tile)))
    return failure();
  // stmatrix and the boxes of the copy engine.
  bool transposed = isa<TransposedAttr>(tile.getEncoding());
  if (!isa<MmaAttr>(tile.getEncoding()) && !transposed)
    return emitOpError()
           << "takes tiles with layout #mk_sm.mma, or transposed, through its staging area, not "
           << tile << ": use mk.store";
  auto element = dyn_cast<FloatType>(tile.getElementType());
  int64_t bits = element ? element.getWidth() : 0;
  if (bits != 16 && bits != 32)
    return emitOpError()
           << "takes floating-point elements of 16 or 32 bits through its staging area, not "
           << tile.getElementType() << ": use mk.store";
  if (getInside() && int64_t(getOffsets().size()) == tile.getRank())
    return emitOpError() << "is 'inside', which is about indices in front of the tile's "
                            "dimensions, but has none: leave it out";
  mk::SmAttr sm = mk::getSm(*this);
  if (sm && transposed && !canStoreInChunks(tile, getAdd(), sm.getChunk()))
    return emitOpError() << "takes transposed tiles of 16-bit elements, and adds those of up to "
                         << MmaAttr::kRows << " rows or a multiple of them, not " << tile
                         << ": use mk.store";
  if (sm && !canStoreInChunks(tile, getAdd(), sm.getChunk()))
    return emitOpError() << (getAdd() ? "adds " : "stores ") << tile.getDimSize(1)
                         << " columns in chunks of " << sm.getChunk() * 8 / bits
                         << ", of which they are no multiple: use mk.store";
  if (sm && getByRows() &&
      (getAdd() || getPeer() ||
       !canStoreByRows(tile, getStaging().getType().getBuffers(), sm.getChunk())))
    return emitOpError() << "stores " << tile << " by rows: accumulators in this rank's memory, of "
                         << "which the staging area holds eight rows for each warp";
  if (int64_t most = mk::getSm(*this).getTensorMaps().getRank(); dest.getRank() > most)
    return emitOpError() << "stores to " << dest << ", but the copy engine takes at most " << most
                         << " dimensions: use mk.store";
  if (getPosted() ? failed(verifyPosted(*this)) : bool(getSignal()))
    return getPosted() ? failure()
                       : emitOpError() << "has a signal, which is the sender's business: add "
                                          "'posted', or use mk.signal";
  if (!getPeer() && !getOthers().empty())
    return emitOpError() << "goes to this rank and to others: name each of them, the first behind "
                            "'on'";
  if (getPeers().size() > kMostPeers)
    return emitOpError() << "goes to " << getPeers().size() << " ranks; name 1 to " << kMostPeers;
  if (getPosting() && failed(verifyCounts(*this, getPosting(), 1, "tile that the sender has")))
    return failure();
  if (auto count = getPosting() ? getPosting().getDefiningOp<CursorOp>() : CursorOp();
      count && !count.getParity())
    return emitOpError() << "has a cursor that begins with parity 0, and would wait for a tile "
                            "that nobody has posted: begin with 1";
  return getPeer() ? mk::verifySymmetric(*this, dest) : success();
}

/// What a spill and a reload have in common.
static LogicalResult verifySpilled(Operation *op, RankedTensorType tile, MemRefType buffer,
                                   size_t index) {
  if (failed(verifyFragment(op, tile)))
    return failure();
  if (!mayBeSpilled(tile))
    return op->emitOpError()
           << "takes tiles with layout #mk_sm.mma, or transposed, of elements of 32 bits, not "
           << tile << ": use mk.store and mk.load";
  if (!buffer.hasStaticShape() || !buffer.getLayout().isIdentity() ||
      buffer.getElementType() != tile.getElementType() || buffer.getRank() < tile.getRank() ||
      buffer.getShape().take_back(tile.getRank()) != tile.getShape())
    return op->emitOpError() << "keeps " << tile << " in " << buffer
                             << ", whose last dimensions must be the tile, and all of known extent";
  if (int64_t(index) != buffer.getRank() - tile.getRank())
    return op->emitOpError() << "has " << index << " indices, but " << buffer << " has "
                             << buffer.getRank() - tile.getRank()
                             << " dimensions in front of the tile's";
  return success();
}

LogicalResult SpillOp::verify() {
  return verifySpilled(*this, getTile().getType(), cast<MemRefType>(getBuffer().getType()),
                       getIndex().size());
}

LogicalResult ReloadOp::verify() {
  return verifySpilled(*this, getTile().getType(), cast<MemRefType>(getBuffer().getType()),
                       getIndex().size());
}

LogicalResult SwapPartsOp::verify() {
  RankedTensorType tile = getTile().getType();
  int64_t ctas = getCtas(), step = MmaAttr::kColumns * ctas;
  if (ctas == 1)
    return emitOpError() << "has one result: give one for each CTA of a cluster";
  if (failed(verifyCluster(*this, ctas, "makes parts for " + Twine(ctas) + " CTAs")))
    return failure();
  if (tile.getRank() != 2 || tile.getElementTypeBitWidth() != 32 || tile.getDimSize(1) % step)
    return emitOpError() << "divides " << tile << " among " << ctas
                         << " CTAs: it takes matrices of elements of 32 bits with a multiple of "
                         << step << " columns";
  auto part = RankedTensorType::get({tile.getDimSize(0), tile.getDimSize(1) / ctas},
                                    tile.getElementType(), tile.getEncoding());
  for (Type type : getParts().getTypes())
    if (type != part)
      return emitOpError() << "gives " << type << ", but one of " << ctas << " parts of " << tile
                           << " is " << part;
  auto partition = (*this)->getParentOfType<PartitionOp>();
  if (!partition)
    return success();
  if (failed(verifyIn(*this, PartitionKind::Consumer)) || failed(verifyFragment(*this, tile)))
    return failure();
  if (!isa<MmaAttr>(tile.getEncoding()) || partition.getTeams() > 1)
    return emitOpError() << "takes tiles with layout #mk_sm.mma of a consumer without teams, not "
                         << tile << " of " << partition.getTeams();
  return getCounter() ? verifyCounts(*this, getCounter(), 1, "buffer of parts") : success();
}
