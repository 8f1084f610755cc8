//===- SizeRings.cpp - How many slots each ring has -----------------------===//
#include "mkernel/Analysis/Remarks.h"
#include "mkernel/Analysis/Turns.h"
#include "mkernel/Conversion/Passes.h"
#include "mkernel/Dialect/SM/SM.h"
#include "mkernel/Support/Counted.h"
#include "mkernel/Transforms/FunctionPass.h"
#include "mlir/Interfaces/LoopLikeInterface.h"
#include "llvm/ADT/MapVector.h"

namespace mlir::mk {
#define GEN_PASS_DEF_SIZERINGSPASS
#include "mkernel/Conversion/Passes.h.inc"
} // namespace mlir::mk

using namespace mlir;
using namespace mlir::mk_sm;

static constexpr StringRef kSizeRings = "mk-sm-size-rings";

namespace {
struct Ring {
  CreateRingOp op;
  int64_t bytes; // of a slot
  bool inner;    // filled in an innermost loop
  int64_t least; // slots that the consumer holds at once
  int64_t depth;
  int64_t maxDepth() const {
    mk::ThresholdsAttr limits = mk::getSm(op).getThresholds();
    return bytes <= limits.getSmallSlot() ? limits.getSmallRingDepth() : limits.getRingDepth();
  }
};

/// The rings of one role and the shared memory that they may use.
struct Budget {
  explicit Budget(Operation *role) : role(role) {}

  Operation *role;
  mk::SmAttr sm = mk::getSm(role);
  int64_t chunk = sm.getChunk();
  int64_t busy = sm.getThresholds().getBusySlots(); // slots that hide a copy's time
  int64_t available = getSharedRoom(role);
  SmallVector<Ring> rings;

  int64_t used() const {
    int64_t sum = 0;
    for (const Ring &ring : rings)
      sum += ring.bytes * ring.depth;
    return sum;
  }

  int64_t warpgroups = 0, teams = 1;

  void collect();
  void tradeBuffers();
  void growStaging();
  void explainStaging();
  LogicalResult choose();
  LogicalResult refuse();
  void adviseWithout(InFlightDiagnostic &diag);
  void explain();
  bool deepen(bool inner, int64_t limit);
  bool canDoWithOneSlot();
};
} // namespace

static Operation *enclosingLoop(Operation *op) {
  return op->getParentOfType<LoopLikeOpInterface>();
}

/// Whether the loop that fills the ring holds no other that fills one.
static bool isFilledInnermost(CreateRingOp ring) {
  for (Operation *user : ring->getUsers()) {
    if (!isa<AcquireOp>(user))
      continue;
    Operation *loop = enclosingLoop(user);
    if (!loop)
      continue;
    if (!holdsAny(loop, [&](AcquireOp other) { return enclosingLoop(other) != loop; }))
      return true;
  }
  return false;
}

/// Whether the next iteration uses tiles of the slot, so that each has one when it begins.
static bool isCarried(Operation *wait) {
  return llvm::any_of(wait->getUsers(), [&](Operation *tile) {
    return llvm::is_contained(tile->getUsers(), wait->getBlock()->getTerminator());
  });
}

/// The most slots that the consumer has in a block before it gives one back.
static int64_t countHeld(CreateRingOp ring) {
  int64_t most = 1;
  for (Operation *user : ring->getUsers()) {
    if (!isa<mk_sm::WaitOp>(user))
      continue;
    int64_t held = isCarried(user);
    for (Operation &op : *user->getBlock()) {
      if (!llvm::is_contained(op.getOperands(), ring.getResult()))
        continue;
      held += isa<mk_sm::WaitOp>(op) - isa<ReleaseOp>(op);
      most = std::max(most, held);
    }
  }
  return most;
}

void Budget::collect() {
  if (PartitionOp consumer = findPartition(role, PartitionKind::Consumer))
    warpgroups = consumer.getNumWarpgroups(), teams = consumer.getTeams();
  for (auto staging : role->getRegion(0).getOps<CreateStagingOp>())
    available -= staging.getResult().getType().getBuffers() * getStagingBytes(chunk) * warpgroups;
  for (auto ring : role->getRegion(0).getOps<CreateRingOp>())
    if (!ring.getResult().getType().hasDepth())
      rings.push_back({ring, ring.getResult().getType().getSlotBytes(chunk),
                       isFilledInnermost(ring), countHeld(ring), 1});
}

/// One more slot for each inner (or outer) ring that may have one, all or none.
bool Budget::deepen(bool inner, int64_t limit) {
  int64_t more = 0;
  for (const Ring &ring : rings)
    if (ring.inner == inner && ring.depth < std::min(limit, ring.maxDepth()))
      more += ring.bytes;
  if (!more || used() + more > available)
    return false;
  for (Ring &ring : rings)
    if (ring.inner == inner && ring.depth < std::min(limit, ring.maxDepth()))
      ++ring.depth;
  return true;
}

/// A slot more than a copy's time takes hides what copies vary by, and what threads that gather
/// take longer. A second buffer for stores hides the store of one part behind the next: seldom, at
/// the end of an item.
void Budget::tradeBuffers() {
  SmallVector<CreateStagingOp> traded;
  int64_t saved = 0;
  auto bytesOf = [&](CreateStagingOp staging) {
    return (staging.getResult().getType().getBuffers() - 1) * getStagingBytes(chunk) * warpgroups;
  };
  for (auto staging : role->getRegion(0).getOps<CreateStagingOp>()) {
    // Who posts a tile has a buffer for each of its parts.
    bool needs = llvm::any_of(staging->getUsers(), [](Operation *user) {
      auto store = dyn_cast<mk_sm::StoreOp>(user);
      return store && (store.getPosted() || store.getByRows());
    });
    if (needs || staging.getResult().getType().getBuffers() != kLeastBuffers)
      continue;
    traded.push_back(staging);
    saved += bytesOf(staging);
  }
  auto inner = llvm::make_filter_range(rings, [](const Ring &ring) { return ring.inner; });
  if (!llvm::hasSingleElement(inner) || teams > 1)
    return;
  Ring &ring = *inner.begin();
  if (isShort(ring.op, sm.getThresholds().getShortFolds()) || ring.depth != busy ||
      ring.depth >= ring.maxDepth() || used() + ring.bytes > available + saved)
    return;
  ++ring.depth;
  if (used() <= available)
    return;
  available += saved;
  for (CreateStagingOp staging : traded) {
    staging.getResult().setType(StagingType::get(staging.getContext(), 1));
    passed(staging, kSizeRings) << remark::add(
        "gives up a buffer for stores, so that the ring has {0} slots", ring.depth);
  }
}

/// The only user of the kind; null if there are several.
template <typename Op> static Op getOnlyUser(CreateRingOp ring) {
  auto users = llvm::make_filter_range(ring->getUsers(), llvm::IsaPred<Op>);
  return llvm::hasSingleElement(users) ? cast<Op>(*users.begin()) : Op();
}

/// Whether rings that loops fill may have a single slot: an iteration fills each once, in
/// the order in which the consumer waits, and the consumer gives all of them back before
/// it goes on to the next. Then it waits for nothing that the producer fills later.
bool Budget::canDoWithOneSlot() {
  if (teams > 1)
    return false;
  SmallVector<std::pair<AcquireOp, mk_sm::WaitOp>> pairs;
  for (Ring &ring : rings) {
    if (!ring.inner)
      continue;
    auto filled = getOnlyUser<AcquireOp>(ring.op);
    auto taken = getOnlyUser<mk_sm::WaitOp>(ring.op);
    auto given = getOnlyUser<ReleaseOp>(ring.op);
    if (!filled || !taken || !given || taken->getBlock() != given->getBlock() ||
        !taken->isBeforeInBlock(given))
      return false;
    pairs.push_back({filled, taken});
  }
  auto isBefore = [](Operation *a, Operation *b) {
    return a->getBlock() == b->getBlock() && a->isBeforeInBlock(b);
  };
  return llvm::all_of(pairs, [&](auto &one) {
    return llvm::all_of(pairs, [&](auto &other) {
      return one.first == other.first ||
             (isBefore(one.first, other.first) && isBefore(one.second, other.second)) ||
             (isBefore(other.first, one.first) && isBefore(other.second, one.second));
    });
  });
}

/// Halves the largest extents of all tiles, down to `least`, until `fits` says that it is enough;
/// false if that cannot be. What tiles have in common stays common.
static bool shrinkAll(MutableArrayRef<RankedTensorType> tiles, int64_t least,
                      llvm::function_ref<bool()> fits) {
  while (!fits()) {
    int64_t largest = 0;
    for (RankedTensorType tile : tiles)
      largest = std::max(largest, *llvm::max_element(tile.getShape()));
    if (largest % 2 || largest / 2 < least)
      return false;
    for (RankedTensorType &tile : tiles) {
      SmallVector<int64_t> shape(tile.getShape());
      llvm::replace(shape, largest, largest / 2);
      tile = RankedTensorType::get(shape, tile.getElementType());
    }
  }
  return true;
}

/// The tile with rows, then columns halved until `excess` bytes are saved; null if that cannot be.
static RankedTensorType shrink(RankedTensorType tile, int64_t excess, mk::SmAttr sm) {
  SmallVector<int64_t> shape(tile.getShape());
  int64_t bits = tile.getElementTypeBitWidth();
  int64_t rank = shape.size(), bytes = getStagedBytes(tile, sm.getChunk()), left = bytes;
  while (bytes - left < excess) {
    bool byRows = shape[rank - 2] >= 2 * sm.getMatrixUnit().getRows();
    int64_t &extent = shape[byRows ? rank - 2 : rank - 1];
    if (!byRows && extent / 2 < sm.getChunk() * 8 / bits)
      return {};
    extent /= 2;
    left /= 2;
  }
  return RankedTensorType::get(shape, tile.getElementType());
}

/// Where no smaller tiles of the rings alone are enough.
void Budget::adviseWithout(InFlightDiagnostic &diag) {
  int64_t parts = getPartsBytes(role), staging = 0;
  for (auto op : role->getRegion(0).getOps<CreateStagingOp>())
    staging += op.getResult().getType().getBuffers() * getStagingBytes(chunk) * warpgroups;
  auto takes = [&](StringRef what, int64_t bytes) {
    diag << "; " << what << " takes " << bytes << " bytes beside them: ";
  };
  if (parts && used() <= available + parts) {
    takes("what CTAs send each other of an item", parts);
    diag << "leave parts out, or use smaller tiles";
    return;
  }
  if (staging && used() <= available + staging)
    takes("what is stored by way of shared memory", staging);
  else
    diag << ": ";
  diag << "use smaller tiles";
}

LogicalResult Budget::refuse() {
  auto name = isa<mk::RoleOp>(role) ? cast<mk::RoleOp>(role).getSymName() : StringRef("prepare");
  InFlightDiagnostic diag =
      role->emitOpError()
      << "'" << name << "' needs " << used()
      << " bytes of shared memory for its rings, with 2 slots where a loop fills one; "
      << mk::getSmTarget(role).getName() << " has " << available << " for them";
  // What takes most, of what loops fill.
  llvm::MapVector<Type, int64_t> copies;
  for (Ring &ring : rings)
    for (Type type : ring.op.getResult().getType().getTiles())
      if (ring.depth > 1 && cast<RankedTensorType>(type).getRank() > 1)
        copies[type] += ring.depth;
  RankedTensorType largest;
  auto bytes = [&](RankedTensorType tile) {
    return tile ? getStagedBytes(tile, chunk) * copies[tile] : 0;
  };
  for (auto [type, count] : copies)
    if (auto tile = cast<RankedTensorType>(type); bytes(tile) > bytes(largest))
      largest = tile;
  RankedTensorType smaller;
  if (largest)
    smaller = shrink(largest, llvm::divideCeil(used() - available, copies[largest]), sm);
  if (smaller) {
    diag << ": use " << smaller << " instead of " << largest;
  } else {
    SmallVector<RankedTensorType> tiles;
    for (auto [type, count] : copies)
      tiles.push_back(cast<RankedTensorType>(type));
    int64_t others = used();
    for (RankedTensorType tile : tiles)
      others -= bytes(tile);
    bool fit = shrinkAll(tiles, sm.getMatrixUnit().getRows(), [&] {
      int64_t sum = others;
      for (auto [tile, copy] : llvm::zip(tiles, copies))
        sum += getStagedBytes(tile, chunk) * copy.second;
      return sum <= available;
    });
    StringRef before = ": use ";
    for (auto [tile, copy] : llvm::zip(tiles, copies))
      if (fit && tile != copy.first) {
        diag << before << tile << " instead of " << copy.first;
        before = " and ";
      }
    if (!fit)
      adviseWithout(diag);
  }
  for (Ring &ring : rings) {
    diag.attachNote(ring.op.getLoc())
        << ring.op.getResult().getType() << ": " << ring.depth << " of " << ring.bytes;
  }
  return diag;
}

LogicalResult Budget::choose() {
  auto begin = [&](int64_t inner) {
    for (Ring &ring : rings)
      ring.depth = std::max(ring.least, ring.inner ? inner : 1);
  };
  begin(2);
  if (used() > available && canDoWithOneSlot()) {
    begin(1);
    if (used() > available)
      begin(2);
  }
  if (used() > available)
    return refuse();
  bool hasInner = llvm::any_of(rings, [](const Ring &ring) { return ring.inner; });
  while (deepen(/*inner=*/true, busy)) {
  }
  bool enough =
      llvm::all_of(rings, [&](const Ring &ring) { return !ring.inner || ring.depth >= busy; });
  if (enough || !hasInner)
    deepen(/*inner=*/false, 2);
  while (deepen(/*inner=*/true, std::numeric_limits<int64_t>::max())) {
  }
  tradeBuffers();
  // What inner rings cannot use: the next item's tiles come while this one's are in use.
  deepen(/*inner=*/false, 2);
  for (Ring &ring : rings) {
    RingType type = ring.op.getResult().getType();
    ring.op.getResult().setType(type.withDepth(ring.depth));
  }
  explain();
  growStaging();
  explainStaging();
  return success();
}

/// Says what each ring got, and what kept it from more.
void Budget::explain() {
  for (const Ring &ring : rings) {
    if (ring.inner && ring.depth == 1)
      missed(ring.op, kSizeRings) << remark::add(
          "has a ring of one slot of {0} bytes, so that nothing is fetched while it is in use; {1} "
          "bytes are left: use smaller tiles",
          ring.bytes, available - used());
    else if (ring.inner && ring.depth < busy)
      missed(ring.op, kSizeRings) << remark::add(
          "has a ring of {0} slots of {1} bytes, less than the {2} that hide a copy's time; {3} "
          "bytes are left: use smaller tiles",
          ring.depth, ring.bytes, busy, available - used());
    else
      analysis(ring.op, kSizeRings)
          << remark::add("has a ring of {0} slots of {1} bytes", ring.depth, ring.bytes);
  }
}

/// As many as its tile has parts.
static int64_t countWantedBuffers(CreateStagingOp staging, int64_t chunk) {
  int64_t wanted = staging.getResult().getType().getBuffers();
  for (Operation *user : staging->getUsers())
    if (auto store = dyn_cast<mk_sm::StoreOp>(user); store && !store.getByRows())
      wanted = std::max(wanted, countStoreParts(store.getTile().getType(), chunk));
  return wanted;
}

/// A warpgroup that has a buffer for each part of its tile stores it without waiting
/// for the copy engine.
void Budget::growStaging() {
  for (auto staging : role->getRegion(0).getOps<CreateStagingOp>()) {
    int64_t buffers = staging.getResult().getType().getBuffers();
    int64_t bytes = getStagingBytes(chunk) * warpgroups;
    int64_t more =
        std::min(countWantedBuffers(staging, chunk) - buffers, (available - used()) / bytes);
    staging.getResult().setType(StagingType::get(staging.getContext(), buffers + more));
    available -= more * bytes;
  }
}

void Budget::explainStaging() {
  std::string all = mkernel::counted(warpgroups, "warpgroup");
  for (auto staging : role->getRegion(0).getOps<CreateStagingOp>()) {
    int64_t buffers = staging.getResult().getType().getBuffers(),
            wanted = countWantedBuffers(staging, chunk);
    if (buffers < wanted)
      missed(staging, kSizeRings) << remark::add(
          "has {0} of {1} buffers for stores, so that they wait for the copy engine; {2} bytes are "
          "left, and another one for {3} has {4}",
          buffers, wanted, available - used(), all, getStagingBytes(chunk) * warpgroups);
    else
      analysis(staging, kSizeRings) << remark::add("has {0} buffers for stores", buffers);
  }
}

static LogicalResult sizeRings(Operation *op) {
  if (!isa<mk::RoleOp, mk::PrepareOp>(op))
    return success();
  Budget budget(op);
  budget.collect();
  return budget.choose();
}

template struct mk::FunctionPass<mk::impl::SizeRingsPassBase, sizeRings>;
