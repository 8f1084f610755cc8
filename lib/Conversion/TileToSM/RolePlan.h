//===- RolePlan.h - How a role is split ------------------------*- C++ -*-===//
//
// What mk-sm-split-roles finds out about a role (or mk.prepare) before it
// builds partitions from it.
//
//===----------------------------------------------------------------------===//
#ifndef MKERNEL_LIB_CONVERSION_TILETOSM_ROLEPLAN_H
#define MKERNEL_LIB_CONVERSION_TILETOSM_ROLEPLAN_H

#include "mkernel/Dialect/SM/SM.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/MapVector.h"

namespace mlir::mk_sm {

/// Loads of one block whose tiles come in the same slot; or one load whose tile is read by threads,
/// and comes in several slots.
struct Site {
  SmallVector<mk::LoadOp> loads; // in program order
  /// Those whose tile threads read out of one of `loads`, that dots take.
  SmallVector<mk::LoadOp> rereads;
  /// Of a tile that threads read: what each of its slots holds, side by side.
  SmallVector<RankedTensorType> parts;
  unsigned ring = 0; // number in RolePlan::rings
  /// The slot is waited for before the first and released behind the second;
  /// both stand in the block of the loads.
  Operation *waitBefore = nullptr, *releaseBehind = nullptr;

  mk::LoadOp getFirst() const { return loads.front(); }
  mk::LoadOp getLast() const { return loads.back(); }
  Block *getBlock() const { return getFirst()->getBlock(); }
};

/// Where the tile of a staged load lies.
struct StagedTile {
  unsigned site;
  int64_t index;
  bool isRead = false; // by threads, beside tiles of dots
};

struct RolePlan {
  explicit RolePlan(Operation *op) : op(op) {}

  Operation *op; // RoleOp or PrepareOp
  StringRef getName();
  Block &getBody() { return op->getRegion(0).front(); }

  SmallVector<Site> sites;
  SmallVector<SmallVector<Type>> rings; // the tiles of a slot of each
  llvm::DenseMap<Operation *, StagedTile> staged;

  /// Warpgroups of the consumer. `planDots` sets what the role's dots ask
  /// for, or leaves 0 if there are none.
  int64_t warpgroups = 0;
  /// Teams of the consumer, each of so many warpgroups, that take items in turn.
  int64_t teams = 1;

  /// Layouts of the tiles that are fragments. Those of constants and splats are
  /// made anew for each use.
  llvm::DenseMap<Value, Attribute> layouts;
  Attribute getLayout(Value tile) const;

  /// Registers that tiles take in one thread of the consumer where most of them are live.
  int64_t liveRegisters = 0;

  /// What the producer computes and sends (mk_sm.forward), and numbers that both partitions read
  /// from memory that somebody writes. Each for itself they might read different ones once a wait
  /// is given up, and wait for one another for ever.
  llvm::DenseSet<Operation *> sent;

  const StagedTile *getStaged(Value tile) const {
    Operation *def = tile.getDefiningOp();
    auto it = def ? staged.find(def) : staged.end();
    return it == staged.end() ? nullptr : &it->second;
  }
  /// Whether the tile stays in shared memory, where dots read it.
  bool staysShared(Value tile) const {
    const StagedTile *place = getStaged(tile);
    return place && !place->isRead && sites[place->site].parts.empty();
  }
};

/// What the remarks of the split are from.
constexpr StringRef kSplitRoles = "mk-sm-split-roles";

inline bool isTile(Value value) { return isa<RankedTensorType>(value.getType()); }

/// Whether the tile is the same everywhere and is made in whatever layout a
/// user asks for: a constant or a splat.
bool isLayoutFree(Value tile);

/// The layout for tiles that meet no dot, for accesses of `bits` wide elements.
/// Runs of as many elements of so many bits as a thread accesses at once, or `most` (0: any
/// number).
Attribute getBlockedLayout(const RolePlan &plan, RankedTensorType tile, int64_t bits,
                           int64_t most = 0);

/// The layout of `mk.reduce` along `axis`, and of what is broadcast along it.
Attribute getSliceLayout(Attribute of, ArrayRef<int64_t> axes);

/// Whether `op` takes part in an outermost loop that hands out items: a CTA's
/// next item begins with its next iteration.
bool isItemLoop(Operation *op);

/// Whether `first` may be executed before `second` within an item.
bool mayPrecede(Operation *first, Operation *second, Operation *role);

/// Whether the op, or one inside it, does more than compute and read: what `mk::hasVisibleEffect`
/// says, and waits, which nothing may overtake.
bool hasOtherEffects(Operation *op);

/// Whether the op, not those inside it, reads what someone may have written before.
bool readsResults(Operation *op);

/// Whether the op takes and gives no tiles, and does nothing that must be done once.
bool isScalar(Operation *op);
/// Tickets and records: drawn once for the CTA.
inline bool isDraw(Operation *op) { return isa<TicketOp, PopOp>(op); }

/// Whether the product is made in an accumulator of its own and added to `acc`
/// in f32: fp8 operands, of which the tensor cores keep few bits of a sum.
bool isSummedApart(mk::DotOp dot);

/// Finds the staged loads, and groups them.
LogicalResult planStaging(RolePlan &plan);
/// Sites by one of the ops that make a group of them, in program order.
using Sites = llvm::MapVector<Operation *, Site>;
/// The loads of a slot in the order in which their tiles lie: those of one dimension come last.
SmallVector<mk::LoadOp> getInSlot(const Site &site);
/// Loads with the same number in a block follow each other with no use of a
/// staged tile and no effect between them, so that one slot can hold them all.
llvm::DenseMap<Operation *, int64_t> numberSections(ArrayRef<mk::LoadOp> loads);
/// Tiles that threads read come beside those that dots of the same iteration multiply, each in one
/// slot: a thread that loads them itself has them under way for longer than a dot takes.
void joinReads(RolePlan &plan, Sites &sites, ArrayRef<mk::LoadOp> staged);
/// Whether two loads give the same tile, if nothing is written in between.
bool isSame(mk::LoadOp a, mk::LoadOp b);
/// Whether rings have room where so many slots of the one of this number are in use at once, and
/// those that a loop takes slots of have as many as hide a copy's time, beside the least staging
/// area and all that the role may have besides (getSharedRoom).
bool haveRoom(const RolePlan &plan, unsigned number, size_t slots, mk::SmAttr sm);
/// Waits as late as possible: before the first use, or before anything behind the loads that others
/// may see, which must not come before what was read. What the consumer reads itself may be guarded
/// by a wait of the producer alone, for which the slot stands.
void placeWait(Site &site, ArrayRef<mk::LoadOp> staged);
/// Has a load that may come through a ring take slots of one that products leave free by then, if
/// there is one. `staged`: the loads of dots.
void planRead(RolePlan &plan, mk::LoadOp load, ArrayRef<mk::LoadOp> staged);
/// Leaves those loads to the consumer that threads read and for which `drops` holds, and says why.
void dropReads(RolePlan &plan, StringRef why, llvm::function_ref<bool(mk::LoadOp)> drops);
/// Whether a wait may stand in front of the load in its item.
bool mayBeGuarded(RolePlan &plan, mk::LoadOp load);
/// A number that both partitions read must be the same for both, so the consumer may not write it
/// while the producer may have yet to read it. The op that does; null if there is none.
Operation *findOverwriting(memref::LoadOp load, Operation *role);
/// Whether the producer can compute where a tile lies that threads read, and what guards it.
bool mayBeFetched(mk::LoadOp load, Operation *role);
/// Refuses what the matrix unit cannot do, and chooses the number of warpgroups.
LogicalResult planDots(RolePlan &plan, ArrayRef<mk::DotOp> dots, ArrayRef<mk::LoadOp> staged);

/// Gives every fragment a layout. `warpgroups` must be set.
void assignLayouts(RolePlan &plan);

/// Computes `liveRegisters`; tiles that do not fit into `budget` registers a thread are an error,
/// and products for which the threads of a kernel of so many warpgroups have too few to begin with.
LogicalResult checkRegisters(RolePlan &plan, int64_t budget, int64_t warpgroups);

/// Registers of one thread of each partition; null if the target has none for so many warpgroups.
mk::RegisterSplitAttr getRegisterSplit(mk::RegistersAttr file, int64_t warpgroups,
                                       int64_t liveRegisters, bool waitsInProducer = false);

/// What is left of a split where movers, if the kernel has any, get what they need.
mk::RegisterSplitAttr leaveToMovers(mk::KernelOp kernel, mk::RegisterSplitAttr split);

} // namespace mlir::mk_sm

#endif // MKERNEL_LIB_CONVERSION_TILETOSM_ROLEPLAN_H
