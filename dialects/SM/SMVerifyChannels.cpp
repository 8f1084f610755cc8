//===- SMVerifyChannels.cpp - Verifiers of rings and mailboxes ----===//
#include "SMVerify.h"
#include "mlir/Dialect/SCF/IR/SCF.h"

using namespace mlir;
using namespace mlir::mk_sm;

//===----------------------------------------------------------------------===//
// Rings
//===----------------------------------------------------------------------===//

LogicalResult mk_sm::verifySlot(Operation *op, RingType ring, SlotType slot) {
  if (ring.getTiles() == slot.getTiles())
    return success();
  // Other tiles, which have room in the place of the ring's.
  mk::SmAttr sm = mk::getSm(op);
  int64_t chunk = sm ? sm.getChunk() : mk::SmAttr::kPiece, room = ring.getSlotBytes(chunk);
  auto needed = RingType::get(op->getContext(), ring.getDepth(), slot.getTiles());
  if (int64_t bytes = needed.getSlotBytes(chunk); bytes > room)
    return op->emitOpError() << "has " << slot << " of " << bytes << " bytes, but slots of " << ring
                             << " have " << room << ": use smaller tiles, or several slots";
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

LogicalResult mk_sm::verifyCounts(Operation *op, Value cursor, int64_t slots, StringRef what) {
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

LogicalResult SelectRowsOp::verify() {
  auto source = cast<MemRefType>(getSource().getType());
  if (source.getRank() < 2)
    return emitOpError() << "selects rows of " << source
                         << ", which has none: name a buffer of two dimensions or more";
  return success();
}

/// Whether both are computed in the same way.
static bool isSame(Value a, Value b) {
  if (a == b || !a || !b)
    return a == b;
  Operation *op = a.getDefiningOp(), *other = b.getDefiningOp();
  return op && other && isPure(op) &&
         OperationEquivalence::isEquivalentTo(
             op, other, [](Value x, Value y) { return success(isSame(x, y)); },
             /*markEquivalent=*/nullptr, OperationEquivalence::IgnoreLocations);
}

/// Whether the last rows that are selected in front of it, in its block or around it, are its own.
static bool isSelected(CopyOp copy) {
  auto isOwn = [&](SelectRowsOp select) {
    Value valid = copy.getValid().empty() ? Value() : copy.getValid()[0];
    return isSame(select.getSource(), copy.getSource()) &&
           isSame(select.getRows(), copy.getRows()) &&
           isSame(select.getRowsAt(), copy.getRowsAt()) && isSame(select.getValid(), valid) &&
           isSame(select.getOffset(), copy.getOffsets().end()[-2]) &&
           int64_t(select.getCount()) == copy.getTileType().getDimSize(0);
  };
  for (Operation *op = copy; !isa<PartitionOp>(op); op = op->getParentOp()) {
    // What a loop around it selects behind it comes before the next iteration.
    if (op != copy && mk::holds<SelectRowsOp>(op))
      return false;
    for (Operation *before = op->getPrevNode(); before; before = before->getPrevNode())
      if (auto select = dyn_cast<SelectRowsOp>(before))
        return isOwn(select);
      else if (mk::holds<SelectRowsOp>(before))
        return false;
  }
  return false;
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
  if (failed(mk::verifyGather(*this, getRows(), bool(getPad()), tile)) ||
      failed(mk::verifyUnseen(*this, getUnseen(), getOffsets(), tile)))
    return failure();
  if (getSelected() && !isSelected(*this))
    return emitOpError() << "gathers selected rows, but no mk_sm.select_rows of its list stands in "
                            "front of it, in its block or around it: run mk-sm-select-rows";
  if (getRows() && (getShared() != 1 || getStride() != 1))
    return emitOpError() << "is shared, but gathered rows are brought by threads of their CTA: "
                            "share other copies";
  if (getPadding() && failed(verifyCounts(*this, getPadding(), 1, "barrier of tiles that land")))
    return failure();
  if (tile.getRank() == 1) {
    if (getShared() != 1 || getStride() != 1)
      return emitOpError() << "is shared, but " << tile
                           << " is brought by threads of its CTA: share tiles of two dimensions";
    if (getPad())
      return emitOpError() << "pads " << tile
                           << ", what does not exist of which is zero: pad what is read";
    return success();
  }
  auto [shared, stride] = getGroup();
  if (shared == 1 && stride != 1)
    return emitOpError() << "is shared by 1 CTA that is " << stride << " apart: leave stride out";
  std::string sharers = "is shared by " + std::to_string(shared) + " CTAs";
  if (stride != 1)
    sharers += " that are " + std::to_string(stride) + " apart";
  for (int64_t ctas : {shared, stride})
    if (ctas < 1 || !llvm::isPowerOf2_64(ctas))
      return emitOpError() << sharers
                           << ": copies are shared by a power of two of CTAs, a power of two apart";
  if (failed(verifyCluster(*this, shared * stride, sharers)))
    return failure();
  mk::SmAttr sm = mk::getSm(*this);
  int64_t rows = tile.getShape().end()[-2], period = sm ? sm.getSwizzleRows() * shared : 1;
  if (shared > 1 && rows % period)
    return emitOpError() << "is shared by " << shared << " CTAs, but the " << rows << " rows of "
                         << tile << " are no multiple of " << period << ": share it with fewer";
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
  auto fragment = cast<RankedTensorType>(getFragment().getType());
  if (getTiles().empty())
    return emitOpError() << "reads nothing: name the tiles that lie side by side in " << fragment;
  mk::SmAttr sm = mk::getSm(*this);
  SmallVector<int64_t> shape; // of all tiles together
  for (Value value : getTiles()) {
    RankedTensorType tile = cast<StagedType>(value.getType()).getTile();
    if (tile.getElementType() != fragment.getElementType())
      return emitOpError() << "gives " << fragment << " of " << tile << ": their elements differ";
    if (shape.empty())
      shape.assign(tile.getShape().begin(), tile.getShape().end());
    else if (tile.getRank() == 2 && shape.size() == 2 && tile.getDimSize(0) == shape[0])
      shape[1] += tile.getDimSize(1);
    else
      return emitOpError() << "reads " << tile
                           << " beside others: these are tiles of two dimensions and as many rows";
    if (sm && tile.getRank() == 2 && !fillsChunks(tile, sm.getChunk()))
      return emitOpError() << "reads " << tile << ", whose rows are no multiple of "
                           << sm.getChunk() << " bytes, nor " << sm.getChunk() / 2 << " to "
                           << sm.getChunk() << ": use as many columns";
  }
  if (ArrayRef(shape) != fragment.getShape())
    return emitOpError() << "gives " << fragment << " of tiles that are together "
                         << RankedTensorType::get(shape, fragment.getElementType())
                         << ": their shapes are the same";
  bool isDealt = getTiles().size() == 1 && hasWholeRounds(fragment);
  if (shape.size() > 2 ||
      (shape.size() == 2 && !isDealt && !isa_and_nonnull<MmaAttr>(fragment.getEncoding())))
    return emitOpError() << "gives " << fragment
                         << ", but tiles of two dimensions are read in the layout of accumulators "
                            "(#mk_sm.mma), and one by itself dealt out without idle threads";
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
  // A kernel on no mesh is an error that is said elsewhere.
  mk::MeshOp mesh = put->getParentOfType<mk::KernelOp>().getMeshOp();
  if (mesh && mesh.hasNet() && put.getVia() != mk::LinkKind::Link)
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

LogicalResult SignalAllOp::verify() {
  auto isAllowed = [](Operation *op) {
    if (auto signal = dyn_cast<mk::SignalOp>(op))
      return !signal.getStrong();
    auto branch = dyn_cast<scf::IfOp>(op);
    auto isTile = [](Type type) { return isa<TensorType>(type); };
    bool isScalar = !op->getNumRegions() && isMemoryEffectFree(op) &&
                    llvm::none_of(op->getOperandTypes(), isTile) &&
                    llvm::none_of(op->getResultTypes(), isTile);
    return (branch && !branch.getNumResults()) || isScalar || op->hasTrait<OpTrait::IsTerminator>();
  };
  Operation *other = nullptr;
  getBody().walk([&](Operation *op) { other = isAllowed(op) ? other : op; });
  if (other)
    return emitOpError() << "holds " << other->getName()
                         << ": it takes signals that are not strong, branches around them and "
                            "pure scalars; move the rest out of it";
  return success();
}

StringRef WaitAllOp::getObstacle(Operation *op) {
  auto loop = dyn_cast<scf::ForOp>(op);
  if (!loop)
    return "is no scf.for";
  bool waits = false;
  for (Operation &inner : loop.getBody()->without_terminator()) {
    if (isa<mk::WaitOp>(inner))
      waits = true;
    else if (inner.getNumRegions() || !isMemoryEffectFree(&inner))
      return "does more than to wait";
  }
  if (!waits)
    return "waits for nothing";
  if (loop.getNumResults())
    return "carries values from one iteration to the next";
  // Times: a track has room for one wait at a time.
  auto records = [](SharedMemoryOp memory) { return memory.getTracks() != 0; };
  if (llvm::any_of(loop->getParentOfType<mk::KernelOp>().getBody().getOps<SharedMemoryOp>(),
                   records))
    return "is recorded, wait by wait";
  return {};
}

LogicalResult WaitAllOp::verify() {
  Block &body = getBody().front();
  if (!llvm::hasSingleElement(body))
    return emitOpError() << "holds something else than one loop: move the rest out of it";
  if (StringRef obstacle = getObstacle(&body.front()); !obstacle.empty())
    return emitOpError() << "holds an op that " << obstacle << ": leave it as it is";
  return success();
}

LogicalResult SendOp::verify() {
  int64_t words = getMailbox().getType().getWords();
  if (static_cast<int64_t>(getValues().size()) != words)
    return emitOpError() << "puts " << getValues().size() << " values into a mailbox of " << words
                         << " words";
  return success();
}
