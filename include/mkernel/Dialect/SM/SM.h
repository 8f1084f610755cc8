//===- SM.h - The SM dialect ----------------------------------*- C++ -*-===//
//
// Layouts, channels and operations of the SM level. What they mean is said in
// dialects/SM/*.td.
//
//===----------------------------------------------------------------------===//
#ifndef MKERNEL_DIALECT_SM_SM_H
#define MKERNEL_DIALECT_SM_SM_H

#include "mkernel/Dialect/SM/ShareGroup.h"
#include "mkernel/Dialect/SM/Sizes.h"
#include "mkernel/Dialect/Tile/Target.h"
#include "mlir/Interfaces/InferIntRangeInterface.h"
#include "mlir/Interfaces/LoopLikeInterface.h"

#include "mkernel/Dialect/SM/SMDialect.h.inc"
#include "mkernel/Dialect/SM/SMEnums.h.inc"
#include "mkernel/Dialect/SM/SMInterfaces.h.inc"

#define GET_ATTRDEF_CLASSES
#include "mkernel/Dialect/SM/SMAttrs.h.inc"

#define GET_TYPEDEF_CLASSES
#include "mkernel/Dialect/SM/SMTypes.h.inc"

namespace mlir::mk_sm {

/// Refuses an op that does not stand in a partition of the kind.
LogicalResult verifyIn(Operation *op, PartitionKind kind);
template <PartitionKind kind> struct In {
  template <typename OpT> class Impl : public OpTrait::TraitBase<OpT, Impl> {
  public:
    static LogicalResult verifyTrait(Operation *op) { return verifyIn(op, kind); }
  };
};

/// Refuses an op that stands neither in a role nor in mk.prepare.
LogicalResult verifyInScope(Operation *op);
template <typename OpT> class InScope : public OpTrait::TraitBase<OpT, InScope> {
public:
  static LogicalResult verifyTrait(Operation *op) { return verifyInScope(op); }
};

/// Refuses a place in a channel that is no stage and parity.
LogicalResult verifyPlace(Operation *op, ValueRange place);
template <typename OpT> class HasPlace : public OpTrait::TraitBase<OpT, HasPlace> {
public:
  static LogicalResult verifyTrait(Operation *op) {
    return verifyPlace(op, cast<OpT>(op).getPlace());
  }
};

/// Refuses a slot that has other tiles than its ring.
LogicalResult verifySlot(Operation *op, RingType ring, SlotType slot);
template <typename OpT> class HasSlot : public OpTrait::TraitBase<OpT, HasSlot> {
public:
  static LogicalResult verifyTrait(Operation *op) {
    return verifySlot(op, cast<OpT>(op).getRing().getType(), cast<OpT>(op).getSlot().getType());
  }
};

} // namespace mlir::mk_sm

#define GET_OP_CLASSES
#include "mkernel/Dialect/SM/SMOps.h.inc"

namespace mlir::scf {
class WhileOp;
} // namespace mlir::scf

namespace mlir::mk_sm {

/// Bytes of shared memory for the barriers of all rings and mailboxes, and for what the lowering
/// keeps for itself.
constexpr int64_t kReservedShared = 1024;
/// Buffers that a warpgroup has for stores at least: it fills one while another one is copied. One
/// of them may go for a slot of a ring (mk-sm-size-rings).
constexpr int64_t kLeastBuffers = 2;

/// A part of shared memory that an op owns.
struct SharedPiece {
  StringRef name;
  int64_t count, bytes; // so many of so many bytes each
  int64_t alignment;
  /// Other roles have theirs in the same place: a CTA is in one at a time.
  bool ofRole = false;
  int64_t getBytes() const { return count * bytes; }
};
/// What a channel, staging area, role, mk.prepare or mk_sm.shared_memory owns; the scratch of a
/// role has what is the role's. A ring of unknown depth has no slots.
SmallVector<SharedPiece> getSharedPieces(Operation *owner);

/// Bytes of shared memory that a role, or mk.prepare, has for its rings of unknown depth and its
/// staging area.
int64_t getSharedRoom(Operation *scope);

/// Slots through which puts of a role or of mk.prepare copy, and the bytes of one.
struct PutSlots {
  int64_t count, bytes;
};
/// Those of the role that op is, or is in.
PutSlots getPutSlots(Operation *op);
/// Those of any role. A ring has more use for room.
PutSlots getPutSlots(mk::SmAttr sm, bool besideRings);
/// What CTAs of a role exchange of an item that they share, at most.
int64_t getPartsBytes(Operation *scope);
/// What the ops of a role exchange at once, at most.
int64_t getExchangeBytes(Operation *scope);
/// How many rows lie in a run of a thread where a tile that is dealt out changes rows and columns,
/// if runs are kept apart in shared memory (mkernel/Support/Banks.h); else 0.
int64_t getTurnedRun(RankedTensorType from, RankedTensorType to);
/// What those of any role may exchange at once. A ring has more use for room; without any in the
/// kernel there is plenty.
inline int64_t getExchangeLimit(mk::SmAttr sm, bool besideRings, bool inKernelOfRings) {
  return besideRings       ? sm.getExchange() / 4
         : inKernelOfRings ? sm.getExchange()
                           : sm.getShared() / 2;
}
/// The ops of a kernel that own shared memory, channels and staging areas first. A role without
/// scratch stands for itself.
SmallVector<Operation *> getSharedOwners(mk::KernelOp kernel);
/// Where a piece lies of what such an op, or a role, owns.
int64_t getSharedOffset(Operation *owner, StringRef piece);

/// The op by which all that an op gives is computed where it is taken; null if it is made whole.
DeferOp getDeferral(Operation *op);
inline bool isDeferred(Operation *op) { return bool(getDeferral(op)); }

using mk::holds;
using mk::holdsAny;
/// Whether the loop goes on as long as there are items to draw: its condition draws them, or
/// receives those that another partition draws.
bool drawsItems(scf::WhileOp loop);
/// The partition of a role, or of mk.prepare; null if it has none.
PartitionOp findPartition(Operation *scope, PartitionKind kind);
/// Whether CTAs of `role` go on with `later`, by one `then` or several.
bool isFollowedBy(mk::RoleOp role, mk::RoleOp later);
/// Whether stores in the scope, a role or a kernel, are left to the CTA's sender.
bool postsTiles(Operation *scope);
/// "role 'gemm'" or "mk.prepare", for messages.
std::string describeScope(Operation *scope);

/// The layout of a fragment; null for other types.
inline Attribute getLayout(Type type) {
  auto tensor = dyn_cast<RankedTensorType>(type);
  return tensor ? tensor.getEncoding() : Attribute();
}
/// The tile of this shape and element type with the layout.
inline RankedTensorType withLayout(RankedTensorType type, Attribute layout) {
  return RankedTensorType::get(type.getShape(), type.getElementType(), layout);
}
/// Threads over which a layout of fragments is laid; 0 for other attributes.
int64_t getLayoutThreads(Attribute layout);
// Tiles lie in shared memory in columns of `chunk` bytes (#mk.sm).

/// Bytes of a staged tile.
int64_t getStagedBytes(RankedTensorType tile, int64_t chunk);
/// Whether threads read a staged tile of two dimensions in place: its rows are whole chunks, or one
/// of which they fill half or more. Boxes of copies are a chunk wide, so that less would move more
/// that nobody needs.
bool fillsChunks(RankedTensorType tile, int64_t chunk);
/// Bytes of one buffer of a staging area: a block of an accumulator's rows of a chunk.
inline int64_t getStagingBytes(int64_t chunk) { return MmaAttr::kRows * chunk; }

/// The layout that the transposed tile has if no element moves; null if there is none.
Attribute getTransposedLayout(Attribute layout);
/// Whether each thread holds of both fragments the same elements.
bool isThreadLocal(mk::TransposeOp op);

/// Whether a block of an accumulator's rows is stored chunk by chunk. The last chunk ends
/// where the tile does and may overlap the one before, unless it is added to memory.
bool canStoreInChunks(RankedTensorType tile, bool adds, int64_t chunk);
/// How many rows are stored at once: those of a block, or all of a transposed tile of fewer.
int64_t countStoreRows(RankedTensorType tile);
/// How many chunks a block of its rows is; of a transposed tile, what a warpgroup has of it.
int64_t countStoreChunks(RankedTensorType tile, int64_t chunk);
/// How many such pieces of a block and a chunk a warpgroup stores of it; 0 if it is no accumulator.
int64_t countStoreParts(RankedTensorType tile, int64_t chunk);
/// Rows of an accumulator that a warp stores together by rows: those of half its registers.
constexpr int64_t kRowsTogether = 8;
/// How often a warpgroup does so.
int64_t countRowSteps(RankedTensorType tile);
/// Bytes from one of them to the next in the staging area: piece p of row r lies at p ^ r.
int64_t getStagedRowBytes(RankedTensorType tile);
/// Whether an accumulator can be stored by rows: a row is a piece for each lane at most, and the
/// buffers have room for the rows of each of a warpgroup's warps.
bool canStoreByRows(RankedTensorType tile, int64_t buffers, int64_t chunk);

/// Registers in which one thread holds its elements of a fragment, one element
/// in each; -1 if the layout does not fit the shape.
int64_t getNumElements(RankedTensorType fragment);

/// Whether a tile of two dimensions is dealt out in runs of whole rows, as many to each thread.
bool hasWholeRounds(RankedTensorType fragment);

/// What `mk_sm.partial_sum` makes of a tile along an axis; null if it cannot.
RankedTensorType getPartialType(RankedTensorType from, int64_t axis);

/// Whether threads may write a fragment to memory as they hold it: accumulators, each element of
/// which one thread has, of 32 bits.
bool mayBeSpilled(RankedTensorType fragment);

/// Says why a tile cannot have this layout, with the nearest shape that can;
/// empty if it can.
std::string explainLayout(ArrayRef<int64_t> shape, Attribute layout);

} // namespace mlir::mk_sm

#endif // MKERNEL_DIALECT_SM_SM_H
