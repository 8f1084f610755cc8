//===- AdvanceWaits.cpp - An iteration waits for the slots of the next ----===//
//
// Turns
//   for j: s = wait; x, y = tiles of s; p = mma x, y; p = mma_wait p; release; use p
// into, if there is an iteration,
//   s = wait; x, y = tiles of s
//   for j but the last: p = mma x, y; s = wait; x', y' = tiles of s; p = mma_wait p; release; use p
//                       x, y = x', y'
//   p = mma x, y; p = mma_wait p; release; use p
// Where results of a dot are worked on, its warpgroup starts no other one meanwhile, so whatever
// stands between that work and the next dot leaves the tensor cores idle. What tells whether
// a slot is filled, and where its tiles lie, is asked while a dot runs.
//
//===----------------------------------------------------------------------===//
#include "Functions.h"
#include "Loops.h"
#include "mkernel/Analysis/Remarks.h"

using namespace mlir;
using namespace mlir::mk_sm;

static constexpr StringRef kAdvanceWaits = "mk-sm-advance-waits";

namespace {
struct Slots {
  MmaWaitOp end; // of the only dot
  SmallVector<mk_sm::WaitOp> waits;
  SmallVector<TileOp> tiles;
};
} // namespace

static std::nullopt_t giveUp(Operation *op, StringRef why) {
  missed(op, kAdvanceWaits) << why;
  return std::nullopt;
}

/// Whether rings of the scope have room for slots that hide copies, and one more: the loop keeps
/// one while it waits for the next.
static bool hasRoom(scf::ForOp loop) {
  mk::SmAttr sm = mk::getSm(loop);
  int64_t bytes = 0;
  for (auto ring : loop->getParentOfType<PartitionOp>()->getParentRegion()->getOps<CreateRingOp>())
    bytes += ring.getResult().getType().getSlotBytes(sm.getChunk());
  return (sm.getThresholds().getBusySlots() + 1) * bytes <= sm.getShared();
}

/// What an iteration can wait for in front of it; none where no dot is waited for at once.
static std::optional<Slots> analyse(scf::ForOp loop) {
  Block *body = loop.getBody();
  auto dots = body->getOps<MmaOp>();
  unsigned result;
  Slots found;
  if (!llvm::hasSingleElement(dots) || isRemainder(loop) ||
      !(found.end = getFullWait((*dots.begin()).getResult(), result)))
    return std::nullopt;
  llvm::SmallDenseSet<Value> taken, given;
  for (Operation &op : body->without_terminator()) {
    if (op.getNumRegions())
      return giveUp(&op, "is control flow in a loop of dots: compute both ways and select");
    if (!onlyReads(&op))
      return giveUp(&op,
                    "acts on what others see, or waits for them, between dots, whose slots may "
                    "be filled behind that only: do it behind the loop");
    if (auto release = dyn_cast<ReleaseOp>(op); release && found.end->isBeforeInBlock(&op))
      given.insert(release.getRing());
    auto wait = dyn_cast<mk_sm::WaitOp>(op);
    if (!wait)
      continue;
    if (!wait->isBeforeInBlock(*dots.begin()))
      return giveUp(wait, "waits for a slot behind the dot: only those in front of it are known "
                          "when the dot before runs");
    auto ring = cast<RingType>(wait.getRing().getType());
    if (!taken.insert(wait.getRing()).second || (ring.hasDepth() && ring.getDepth() < 2))
      return giveUp(wait, "takes a slot of a ring that has no other one for the next iteration: "
                          "take one for each, of at least two");
    found.waits.push_back(wait);
    for (Operation *user : wait->getUsers())
      found.tiles.push_back(cast<TileOp>(user));
  }
  if (found.waits.empty())
    return std::nullopt;
  if (given != taken)
    return giveUp(found.end,
                  "ends the only dot of a loop whose slots are not given back behind it");
  if (loop->getParentOfType<PartitionOp>().getTeams() != 1)
    return giveUp(loop, "is run by teams, which hand their place in the rings over behind the "
                        "last slot of an item");
  if (getConstantIntValue(loop.getStep()) != 1)
    return giveUp(loop, "waits for slots in a loop whose step is not 1: count iterations");
  if (!hasRoom(loop))
    return giveUp(loop,
                  "would keep a slot while it waits for the next one, and rings have too few: "
                  "use smaller tiles");
  llvm::sort(found.tiles, [](TileOp a, TileOp b) { return a->isBeforeInBlock(b); });
  return found;
}

/// Waits for slots; what their tiles are.
static SmallVector<Value> await(OpBuilder &b, const Slots &slots) {
  IRMapping map;
  for (mk_sm::WaitOp wait : slots.waits)
    b.clone(*wait, map);
  return llvm::map_to_vector(slots.tiles, [&](TileOp tile) {
    b.clone(*tile, map);
    return map.lookup(tile.getResult());
  });
}

static void transform(scf::ForOp loop, Slots &slots) {
  passed(loop, kAdvanceWaits) << "waits for the slots of an iteration while the dot before runs";
  Location loc = loop.getLoc();
  IRRewriter b(loop.getContext());
  b.setInsertionPoint(loop);
  scf::IfOp branch = branchOnIterations(b, loop);
  loop.replaceAllUsesWith(branch.getResults());
  SmallVector<Value> first = await(b, slots);
  Value one = arith::ConstantIndexOp::create(b, loc, 1);
  Value last = arith::SubIOp::create(b, loc, loop.getUpperBound(), one);
  loop->moveBefore(branch.thenBlock(), branch.thenBlock()->end());

  // The last iteration, behind the loop.
  IRMapping map;
  OpBuilder behind(branch.getContext());
  behind.setInsertionPointToEnd(branch.thenBlock());
  map.map(loop.getInductionVar(), last);
  map.map(loop.getRegionIterArgs(), loop.getResults());
  llvm::SmallPtrSet<Operation *, 8> moved(llvm::from_range, slots.tiles);
  moved.insert(slots.waits.begin(), slots.waits.end());
  unsigned before = loop.getNumResults();
  for (Operation &op : loop.getBody()->without_terminator())
    if (!moved.contains(&op))
      behind.clone(op, map);
  SmallVector<Value> yields = llvm::map_to_vector(
      loop.getYieldedValues(), [&](Value value) { return map.lookupOrDefault(value); });
  scf::YieldOp::create(behind, loc, yields);
  loop.getUpperBoundMutable().assign(last);

  b.setInsertionPoint(loop);
  auto next = [&](OpBuilder &, Location, ArrayRef<BlockArgument>) {
    OpBuilder inside(slots.end);
    return await(inside, slots);
  };
  auto fresh = cast<scf::ForOp>(
      *loop.replaceWithAdditionalYields(b, first, /*replaceInitOperandUsesInLoop=*/false, next));
  for (auto [i, tile] : llvm::enumerate(slots.tiles)) {
    Value inside = fresh.getRegionIterArg(before + i), outside = fresh.getResult(before + i);
    tile.getResult().replaceUsesWithIf(
        inside, [&](OpOperand &use) { return fresh->isProperAncestor(use.getOwner()); });
    tile.getResult().replaceAllUsesWith(outside);
    tile->erase();
  }
  for (mk_sm::WaitOp wait : slots.waits)
    wait->erase();
}

void mk_sm::advanceWaits(ModuleOp module) {
  for (scf::ForOp loop : getDotLoops(module))
    if (std::optional<Slots> slots = analyse(loop))
      transform(loop, *slots);
}
