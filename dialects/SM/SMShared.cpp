//===- SMShared.cpp - What lies where in shared memory --------------------===//
#include "SMVerify.h"
#include "mkernel/Support/Banks.h"

using namespace mlir;
using namespace mlir::mk_sm;

//===----------------------------------------------------------------------===//
// Sizes
//===----------------------------------------------------------------------===//

PutSlots mk_sm::getPutSlots(Operation *op) {
  while (!isa<mk::RoleOp, mk::PrepareOp>(op) && op->getParentOp())
    op = op->getParentOp();
  return getPutSlots(mk::getSm(op), holds<CreateRingOp>(op));
}

PutSlots mk_sm::getPutSlots(mk::SmAttr sm, bool besideRings) {
  int64_t slots = sm.getThresholds().getPutSlots(), bytes = sm.getThresholds().getPutSlot();
  if (besideRings)
    return {std::max<int64_t>(slots / 2, 2), bytes / 2};
  return {slots, bytes};
}

int64_t mk_sm::getPartsBytes(Operation *scope) {
  int64_t parts = 0;
  scope->walk([&](SwapPartsOp swap) { parts = std::max(parts, swap.getBytes()); });
  return parts;
}

int64_t mk_sm::getTurnedRun(RankedTensorType from, RankedTensorType to) {
  auto source = dyn_cast_or_null<BlockedAttr>(from.getEncoding()),
       result = dyn_cast_or_null<BlockedAttr>(to.getEncoding());
  if (!source || !result || from.getRank() != 2)
    return 0;
  int64_t rowBytes = from.getDimSize(1) * llvm::divideCeil(from.getElementTypeBitWidth(), 8),
          run = result.getVector();
  bool isWhole = rowBytes % mkernel::kPairBytes == 0 && from.getDimSize(0) % run == 0 &&
                 from.getDimSize(1) % source.getVector() == 0;
  return isWhole && run > 1 ? run : 0;
}

/// What an op would exchange, if it could all at once.
static int64_t getExchanged(Operation *op) {
  auto bytes = [](RankedTensorType type, int64_t elements) {
    return elements * llvm::divideCeil(type.getElementTypeBitWidth(), 8);
  };
  auto all = [&](Value tile) {
    auto type = cast<RankedTensorType>(tile.getType());
    return bytes(type, type.getNumElements());
  };
  if (auto put = dyn_cast<mk::PutOp>(op))
    return put.getRows() ? all(put.getRows()) : 0;
  if (auto convert = dyn_cast<ConvertLayoutOp>(op))
    return convert.getSource().getType() != convert.getType() ? all(convert.getSource()) : 0;
  if (auto transpose = dyn_cast<mk::TransposeOp>(op)) {
    auto from = cast<RankedTensorType>(transpose.getSource().getType());
    if (isThreadLocal(transpose))
      return 0;
    int64_t rows = from.getDimSize(0), row = bytes(from, from.getDimSize(1));
    int64_t run = getTurnedRun(from, transpose.getType());
    return run ? rows / run * mkernel::spreadRun(row, run) : rows * mkernel::spreadRow(row);
  }
  if (auto reduce = dyn_cast<mk::ReduceOp>(op)) {
    auto from = cast<RankedTensorType>(reduce.getSource().getType());
    auto mma = dyn_cast_or_null<MmaAttr>(from.getEncoding());
    if (mma)
      return reduce.getAxis() == 0 ? bytes(from, 4 * mma.getWarpgroups() * from.getDimSize(1)) : 0;
    // Each result once, and its parts with one of padding.
    int64_t results = from.getNumElements() / from.getDimSize(reduce.getAxis());
    return bytes(from, from.getNumElements() + 2 * results);
  }
  if (auto broadcast = dyn_cast<mk::BroadcastOp>(op)) {
    auto from = cast<RankedTensorType>(broadcast.getSource().getType());
    auto slice = dyn_cast_or_null<SliceAttr>(from.getEncoding());
    bool held = from.getRank() == 0 || matchPattern(broadcast.getSource(), m_Constant());
    if (!held && (!slice || slice.getOf() != getLayout(broadcast.getType())))
      return all(broadcast.getSource());
  }
  return 0;
}

int64_t mk_sm::getExchangeBytes(Operation *scope) {
  int64_t most = 0;
  scope->walk([&](Operation *op) { most = std::max(most, getExchanged(op)); });
  mk::SmAttr sm = mk::getSm(scope);
  Operation *kernel = scope->getParentOfType<mk::KernelOp>();
  return std::min<int64_t>(llvm::alignTo(most, sm.getChunk()),
                           getExchangeLimit(sm, holds<CreateRingOp>(scope),
                                            holds<CreateRingOp>(kernel ? kernel : scope)));
}

//===----------------------------------------------------------------------===//
// Pieces
//===----------------------------------------------------------------------===//

PartitionOp mk_sm::findPartition(Operation *scope, PartitionKind kind) {
  for (auto partition : scope->getRegion(0).front().getOps<PartitionOp>())
    if (partition.getKindAttr() && partition.getKind() == kind)
      return partition;
  return {};
}

bool mk_sm::postsTiles(Operation *scope) {
  return holdsAny(scope, [](StoreOp store) { return store.getPosted(); });
}

std::string mk_sm::describeScope(Operation *scope) {
  if (auto role = dyn_cast<mk::RoleOp>(scope))
    return "role '" + role.getSymName().str() + "'";
  return "mk.prepare";
}

SmallVector<SharedPiece> mk_sm::getSharedPieces(Operation *owner) {
  mk::SmAttr sm = mk::getSm(owner);
  constexpr int64_t kBarrier = 8; // an mbarrier (PTX ISA)
  int64_t chunk = sm.getChunk(), swizzlePeriod = sm.getSwizzleRows() * chunk;
  if (isa<CreateScratchOp>(owner))
    owner = owner->getParentOp();
  SmallVector<SharedPiece> pieces;
  PartitionOp consumer;
  if (isa<mk::RoleOp, mk::PrepareOp>(owner->getParentOp()))
    consumer = findPartition(owner->getParentOp(), PartitionKind::Consumer);
  auto addBarriers = [&](int64_t depth) {
    pieces.push_back({"full", depth, kBarrier, kBarrier});
    pieces.push_back({"empty", depth, kBarrier, kBarrier});
    if (consumer && consumer.getTeams() > 1)
      pieces.push_back({"handover", 1, 8, 8});
  };
  if (auto ring = dyn_cast<CreateRingOp>(owner)) {
    RingType type = ring.getResult().getType();
    int64_t depth = type.hasDepth() ? type.getDepth() : 0;
    pieces.push_back({"slots", depth, type.getSlotBytes(chunk), swizzlePeriod, /*ofRole=*/true});
    addBarriers(depth);
  } else if (auto mailbox = dyn_cast<CreateMailboxOp>(owner)) {
    MailboxType type = mailbox.getResult().getType();
    addBarriers(type.getDepth());
    pieces.push_back({"slots", type.getDepth(), 8 * type.getWords(), 8});
  } else if (auto staging = dyn_cast<CreateStagingOp>(owner)) {
    int64_t warpgroups = consumer ? consumer.getNumWarpgroups() : 1;
    pieces.push_back({"buffers", staging.getResult().getType().getBuffers() * warpgroups,
                      getStagingBytes(chunk), swizzlePeriod, /*ofRole=*/true});
  } else if (isa<mk::RoleOp, mk::PrepareOp>(owner)) {
    if (holds<mk::PutOp>(owner) && !findPartition(owner, PartitionKind::Mover)) {
      PutSlots slots = getPutSlots(owner);
      pieces.push_back({"put_slots", slots.count, slots.bytes, chunk, /*ofRole=*/true});
      pieces.push_back({"put_barriers", slots.count, kBarrier, kBarrier});
    }
    if (int64_t bytes = getExchangeBytes(owner))
      pieces.push_back({"exchange", 1, bytes, chunk, /*ofRole=*/true});
    if (int64_t parts = getPartsBytes(owner)) {
      pieces.push_back({"parts", 1, parts, chunk, /*ofRole=*/true});
      pieces.push_back({"swaps", 2, kBarrier, kBarrier});
    }
    if (postsTiles(owner))
      pieces.push_back({"sent", 1, kBarrier, kBarrier});
    if (holdsAny(owner, [](CopyOp copy) { return copy.mayPad(); }))
      pieces.push_back({"padding", 1, kBarrier, kBarrier});
  } else if (auto memory = dyn_cast<SharedMemoryOp>(owner)) {
    pieces.push_back({"result", 1, 8, 16});
    pieces.push_back({"failed", 1, 8, 8});
    if (postsTiles(memory->getParentOp()))
      pieces.push_back({"post", 1, kPostBytes, 16});
    if (memory.getCopiers()) {
      pieces.push_back({"requests", kRequests, kRequestBytes, 16});
      pieces.push_back({"posted", 1, 8, 8});
    }
    if (memory.getTracks())
      pieces.push_back({"tracks", 1, int64_t(memory.getTracks()), 8});
  }
  return pieces;
}

int64_t mk_sm::getSharedRoom(Operation *scope) {
  mk::SmAttr sm = mk::getSm(scope);
  // Small things share what is reserved; places are aligned as slots are.
  int64_t room = sm.getShared() - sm.getSwizzleRows() * sm.getChunk() - kReservedShared;
  auto take = [&](Operation *owner) {
    for (const SharedPiece &piece : getSharedPieces(owner))
      if (piece.ofRole || isa<CreateMailboxOp>(owner))
        room -= piece.getBytes();
  };
  take(scope);
  for (Operation &op : scope->getRegion(0).front())
    if (isa<CreateRingOp, CreateMailboxOp>(op))
      take(&op);
  return room;
}

SmallVector<Operation *> mk_sm::getSharedOwners(mk::KernelOp kernel) {
  SmallVector<Operation *> owners, scopes;
  for (Operation &op : kernel.getBody().front()) {
    if (isa<SharedMemoryOp>(op))
      scopes.push_back(&op);
    if (!isa<mk::RoleOp, mk::PrepareOp>(op))
      continue;
    scopes.push_back(&op);
    for (Operation &inner : op.getRegion(0).front())
      if (isa<CreateScratchOp>(inner))
        scopes.back() = &inner;
      else if (isa<SharedOwner>(inner))
        owners.push_back(&inner);
  }
  llvm::append_range(owners, scopes);
  return owners;
}

int64_t mk_sm::getSharedOffset(Operation *owner, StringRef piece) {
  if (isa<mk::RoleOp, mk::PrepareOp>(owner))
    owner = *owner->getRegion(0).getOps<CreateScratchOp>().begin();
  return cast<SharedOwner>(owner).getOffsetsAttr().getAs<IntegerAttr>(piece).getInt();
}

//===----------------------------------------------------------------------===//
// Verifiers
//===----------------------------------------------------------------------===//

LogicalResult CreateScratchOp::verify() {
  for (Operation *op = (*this)->getPrevNode(); op; op = op->getPrevNode())
    if (isa<CreateScratchOp>(op))
      return emitOpError() << "is the second one of its role, which has one place for what its ops "
                              "need: delete it";
  return success();
}

// It stands behind everything that owns shared memory, which has been verified then.
LogicalResult SharedMemoryOp::verify() {
  if ((*this)->getNextNode())
    return emitOpError() << "stands in front of ops that it counts: put it at the kernel's end";
  auto kernel = (*this)->getParentOfType<mk::KernelOp>();
  for (WarpsOp warps : kernel.getBody().getOps<WarpsOp>())
    if (warps.getCopiers() && !getCopiers())
      return emitOpError() << "has no room for the requests of copiers, which mk_sm.warps has: "
                              "delete both, and run mk-sm-lay-out-shared and mk-sm-assign-warps";
  auto bytes = static_cast<int64_t>(getBytes());
  mk::TargetAttr target = mk::getSmTarget(*this);
  if (bytes > target.getSm().getShared())
    return emitOpError() << "has " << bytes << " bytes; " << target.getName() << " has "
                         << target.getSm().getShared() << ": use fewer slots or smaller tiles";
  struct Placed {
    Operation *owner, *role; // the latter if it shares the piece's place with other roles
    SharedPiece piece;
    int64_t begin;
  };
  SmallVector<Placed> all;
  for (Operation *owner : getSharedOwners(kernel)) {
    auto laidOut = dyn_cast<SharedOwner>(owner);
    DictionaryAttr offsets = laidOut ? laidOut.getOffsetsAttr() : DictionaryAttr();
    SmallVector<SharedPiece> pieces = getSharedPieces(owner);
    if (offsets && offsets.size() > pieces.size())
      return owner->emitOpError() << "has offsets " << offsets << ", but owns " << pieces.size()
                                  << " pieces of shared memory";
    for (const SharedPiece &piece : pieces) {
      auto offset = offsets ? offsets.getAs<IntegerAttr>(piece.name) : IntegerAttr();
      if (!offset)
        return owner->emitOpError() << "has no offset of '" << piece.name
                                    << "' in shared memory, which others have: delete "
                                       "mk_sm.shared_memory and run mk-sm-lay-out-shared";
      int64_t begin = offset.getInt(), end = begin + piece.getBytes();
      if (begin % piece.alignment)
        return owner->emitOpError() << "has '" << piece.name << "' at " << begin
                                    << ", which is no multiple of " << piece.alignment;
      if (begin < 0 || end > bytes)
        return owner->emitOpError() << "has '" << piece.name << "' from " << begin << " to " << end
                                    << " in " << bytes << " bytes of shared memory";
      Operation *role = piece.ofRole ? owner->getParentOp() : nullptr;
      for (const Placed &other : all) {
        if (begin >= other.begin + other.piece.getBytes() || other.begin >= end ||
            (role && other.role && role != other.role))
          continue;
        InFlightDiagnostic diag = owner->emitOpError()
                                  << "has '" << piece.name << "' from " << begin << " to " << end
                                  << ", where there is '" << other.piece.name << "' from "
                                  << other.begin << " on";
        diag.attachNote(other.owner->getLoc()) << "of this op";
        return diag;
      }
      all.push_back({owner, role, piece, begin});
    }
  }
  return success();
}
