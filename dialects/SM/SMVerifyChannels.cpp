//===- SMVerifyChannels.cpp - Verifiers of rings, mailboxes and stores ----===//
#include "SMVerify.h"
#include "mkernel/Dialect/Tile/Target.h"

using namespace mlir;
using namespace mlir::mk_sm;

//===----------------------------------------------------------------------===//
// Rings
//===----------------------------------------------------------------------===//

LogicalResult mk_sm::verifySlot(Operation *op, RingType ring, SlotType slot) {
  if (ring.getTiles() != slot.getTiles())
    return op->emitOpError() << "has " << slot << " of " << ring << ": their tiles differ";
  return success();
}

static LogicalResult verifyIndex(Operation *op, SlotType slot, int64_t index) {
  int64_t tiles = slot.getTiles().size();
  if (index < 0 || index >= tiles)
    return op->emitOpError() << "names tile " << index << " of a slot of " << tiles
                             << ": they count from 0";
  return success();
}

LogicalResult mk_sm::verifyPlace(Operation *op, ValueRange place) {
  if (place.empty() || place.size() == 2)
    return success();
  return op->emitOpError() << "is at " << place.size()
                           << " numbers: a place in a channel is a stage and a parity";
}

/// Checks that the cursor counts so many slots that its partition has for itself.
static LogicalResult verifyCounts(Operation *op, Value cursor, int64_t slots, StringRef what) {
  auto count = cursor.getDefiningOp<CursorOp>();
  if (count && !count.getChannel() && static_cast<int64_t>(count.getSlots()) == slots)
    return success();
  return op->emitOpError() << "has a cursor that does not count the " << slots << ' ' << what
                           << ": delete it, and run mk-sm-assign-stages";
}

LogicalResult CommitOp::verify() {
  auto acquire = getSlot().getDefiningOp<AcquireOp>();
  if (!acquire || acquire.getRing() != getRing())
    return emitOpError() << "hands over a slot that was not acquired from its ring: name the "
                            "result of mk_sm.acquire of the same ring";
  for (Operation *user : getSlot().getUsers()) {
    if (user->getBlock() != (*this)->getBlock() || user == *this || user->isBeforeInBlock(*this))
      continue;
    InFlightDiagnostic diag = emitOpError() << "hands over a slot that is still used behind it: "
                                               "commit it behind the last copy, and once";
    diag.attachNote(user->getLoc()) << "used here";
    return diag;
  }
  return success();
}

RankedTensorType CopyOp::getTileType() {
  return cast<RankedTensorType>(getSlot().getType().getTiles()[getIndex()]);
}

LogicalResult CopyOp::verify() {
  if (failed(verifyIndex(*this, getSlot().getType(), getIndex())))
    return failure();
  if (!getSlot().getDefiningOp<AcquireOp>())
    return emitOpError()
           << "fills a slot that is not the producer's: name the result of mk_sm.acquire";
  RankedTensorType tile = getTileType();
  if (failed(mk::verifyAccess(*this, getSource(), getOffsets(), getValid(), tile)))
    return failure();
  if (getPad() && getPad().getType() != tile.getElementType())
    return emitOpError() << "pads a tile of " << tile.getElementType() << " with a value of type "
                         << getPad().getType() << ": convert the value";
  if (getPadding() && failed(verifyCounts(*this, getPadding(), 1, "barrier of tiles that land")))
    return failure();
  if (tile.getRank() == 1) {
    if (getShared() != 1)
      return emitOpError() << "is shared, but " << tile
                           << " is brought by threads of its CTA: share tiles of two dimensions";
    if (getPad())
      return emitOpError() << "pads " << tile
                           << ", what does not exist of which is zero: pad what is read";
    return success();
  }
  // Clusters of up to 8 CTAs are portable; the swizzle's period is 8 rows (PTX ISA).
  int64_t shared = getShared(), rows = tile.getShape().end()[-2];
  if (!llvm::is_contained({1, 2, 4, 8}, shared))
    return emitOpError() << "is shared by " << shared << " CTAs: a cluster has 1, 2, 4 or 8";
  if (shared > 1 && rows % (8 * shared))
    return emitOpError() << "is shared by " << shared << " CTAs, but the " << rows << " rows of "
                         << tile << " are no multiple of " << 8 * shared << ": share it with fewer";
  return success();
}

LogicalResult TileOp::verify() {
  if (failed(verifyIndex(*this, getSlot().getType(), getIndex())))
    return failure();
  if (!getSlot().getDefiningOp<WaitOp>())
    return emitOpError()
           << "reads a slot that is not the consumer's: name the result of mk_sm.wait";
  Type tile = getSlot().getType().getTiles()[getIndex()];
  if (getTile().getType().getTile() != tile)
    return emitOpError() << "gives " << getTile().getType() << ", but tile " << getIndex()
                         << " of the slot is " << tile;
  return success();
}

LogicalResult ReadOp::verify() {
  RankedTensorType tile = getTile().getType().getTile();
  auto fragment = cast<RankedTensorType>(getFragment().getType());
  if (tile.getRank() != 1)
    return emitOpError() << "reads " << tile
                         << ", but registers are filled with tiles of one dimension: others are "
                            "for dots";
  if (tile.getShape() != fragment.getShape() || tile.getElementType() != fragment.getElementType())
    return emitOpError() << "gives " << fragment << " of " << tile
                         << ": shape and elements are the same";
  return success();
}

//===----------------------------------------------------------------------===//
// Mailboxes and cursors
//===----------------------------------------------------------------------===//

LogicalResult CursorOp::verify() {
  if (!isa<PartitionOp>((*this)->getParentOp()))
    return emitOpError() << "counts what a partition does: put it at the beginning of one";
  if (!getChannel() == (getSlots() < 1))
    return emitOpError() << "counts slots of a channel, or so many of its partition's own: give it "
                            "one of the two";
  if (auto ring = getChannel() ? dyn_cast<RingType>(getChannel().getType()) : RingType();
      ring && !ring.hasDepth())
    return emitOpError() << "counts slots of a ring of unknown depth: run mk-sm-size-rings first";
  return success();
}

int64_t CursorOp::getDepth() {
  if (!getChannel())
    return getSlots();
  if (auto ring = dyn_cast<RingType>(getChannel().getType()))
    return ring.getDepth();
  return cast<MailboxType>(getChannel().getType()).getDepth();
}

LogicalResult PipelinePutOp::verify() {
  Block &body = getBody().front();
  if (!llvm::hasSingleElement(body) || !isa<mk::PutOp>(body.front()))
    return emitOpError() << "holds something else than one mk.put: move the rest out of it";
  mk::SmAttr sm = mk::getSm(*this);
  for (Value cursor : getOperands())
    if (sm && failed(verifyCounts(*this, cursor, getPutSlots(*this).count, "slots of puts")))
      return failure();
  return success();
}

StringRef MulticastOp::getObstacle(mk::PutOp put) {
  auto partition = put->getParentOfType<PartitionOp>();
  if (!partition || partition.getKind() != PartitionKind::Mover)
    return "is not in a mover, whose lanes hold what they load";
  if (put.getReduction() || put.getRows())
    return "adds, or has listed rows, which go one by one";
  mk::MeshOp mesh = put->getParentOfType<mk::KernelOp>().getMeshOp();
  if (mesh.hasNet() && put.getVia() != mk::LinkKind::Link)
    return "may cross a network";
  return {};
}

LogicalResult MulticastOp::verify() {
  Block &body = getBody().front();
  auto put = llvm::hasSingleElement(body) ? dyn_cast<mk::PutOp>(body.front()) : mk::PutOp();
  if (!put)
    return emitOpError() << "holds something else than one mk.put: move the rest out of it";
  if (StringRef obstacle = MulticastOp::getObstacle(put); !obstacle.empty())
    return emitOpError() << "holds a put that " << obstacle << ": leave it as it is";
  if (getAlso().empty() || getAlso().size() >= kMostPeers)
    return emitOpError() << "goes to " << getAlso().size() + 1
                         << " peers; use 2 to " << kMostPeers << ", and several ops for more";
  return success();
}

LogicalResult SendOp::verify() {
  int64_t words = getMailbox().getType().getWords();
  if (static_cast<int64_t>(getValues().size()) != words)
    return emitOpError() << "puts " << getValues().size() << " values into a mailbox of " << words
                         << " words";
  return success();
}

//===----------------------------------------------------------------------===//
// Stores
//===----------------------------------------------------------------------===//

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
  if (!op.getSignal())
    return success();
  auto signal = dyn_cast<mk::SignalType>(op.getSignal().getType());
  if (!signal || signal.getScope() != mk::Scope::Sys)
    return op.emitOpError() << "raises " << op.getSignal().getType()
                            << " at a peer: it takes a signal of scope sys";
  if (op.getSignalIndex().size() != signal.getShape().size())
    return op.emitOpError() << "has " << op.getSignalIndex().size()
                            << " indices into a signal of rank " << signal.getShape().size()
                            << ": give one for each dimension";
  return success();
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
  mk::SmAttr sm = mk::getSm(*this);
  if (sm && transposed && !canStoreInChunks(tile, getAdd(), sm.getChunk()))
    return emitOpError() << "takes transposed tiles of 16-bit elements, and of up to "
                         << MmaAttr::kRows << " rows or a multiple of them, not " << tile
                         << ": use mk.store";
  if (sm && !canStoreInChunks(tile, getAdd(), sm.getChunk()))
    return emitOpError() << (getAdd() ? "adds " : "stores ") << tile.getDimSize(1)
                         << " columns in chunks of " << sm.getChunk() * 8 / bits
                         << ", of which they are no multiple: use mk.store";
  if (int64_t most = mk::getSm(*this).getTensorMaps().getRank(); dest.getRank() > most)
    return emitOpError() << "stores to " << dest << ", but the copy engine takes at most " << most
                         << " dimensions: use mk.store";
  if (getPosted() ? failed(verifyPosted(*this)) : getSignal() || !getOthers().empty())
    return getPosted()
               ? failure()
               : emitOpError() << "has a signal or several peers, which are the sender's business: "
                                  "add 'posted', or use mk.signal and a store for each peer";
  if (getPosting() && failed(verifyCounts(*this, getPosting(), 1, "tile that the sender has")))
    return failure();
  if (auto count = getPosting() ? getPosting().getDefiningOp<CursorOp>() : CursorOp();
      count && !count.getParity())
    return emitOpError() << "has a cursor that begins with parity 0, and would wait for a tile "
                            "that nobody has posted: begin with 1";
  if (getPeer() && !mk::isSymmetric(dest))
    return emitOpError() << "writes to a peer's " << dest
                         << ", but only symmetric memory is the same place there: give the buffer "
                            "the space #mk.symmetric";
  return success();
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
  if (ctas == 1 || failed(verifyTogether(*this, ctas)))
    return ctas == 1 ? emitOpError() << "has one result: give one for each of 2, 4 or 8 CTAs"
                     : failure();
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
