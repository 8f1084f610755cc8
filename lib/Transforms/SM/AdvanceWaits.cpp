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
// a slot is filled, and where its tiles lie, is asked while a dot runs. So is a left operand
// computed that threads make out of such a tile, as rows that are normalized or weights that are
// converted.
//
//===----------------------------------------------------------------------===//
#include "Functions.h"
#include "Loops.h"
#include "mkernel/Analysis/Remarks.h"
#include "llvm/ADT/SetVector.h"

using namespace mlir;
using namespace mlir::mk_sm;

static constexpr StringRef kAdvanceWaits = "mk-sm-advance-waits";

namespace {
struct Slots {
  MmaWaitOp end; // of the only dot
  SmallVector<mk_sm::WaitOp> waits;
  SmallVector<TileOp> tiles;
  /// What the dot's left operand is computed by, and the operand; none if it is not computed ahead.
  SmallVector<Operation *> work;
  Value operand;

  /// What an iteration is given by the one before.
  SmallVector<Value> getGiven() const {
    SmallVector<Value> given;
    for (TileOp tile : tiles)
      given.push_back(tile.getResult());
    if (operand)
      given.push_back(operand);
    return given;
  }
};
} // namespace

static std::nullopt_t giveUp(Operation *op, StringRef why) {
  missed(op, kAdvanceWaits) << why;
  return std::nullopt;
}

static bool givesTile(Operation *op) {
  return llvm::any_of(op->getResultTypes(), llvm::IsaPred<RankedTensorType>);
}

/// The ops of the body by which the dot's left operand is computed, out of tiles of slots and
/// scalars; whether an iteration can do that for the next one.
static bool findWork(scf::ForOp loop, MmaOp dot, Slots &slots) {
  Value operand = skipFence(dot.getLhs());
  if (loop.isDefinedOutsideOfLoop(operand) || isa<BlockArgument>(operand))
    return false; // it is there when an iteration begins
  Block *body = loop.getBody();
  llvm::SetVector<Operation *> work;
  SmallVector<Value> worklist{operand};
  while (!worklist.empty()) {
    Value value = worklist.pop_back_val();
    if (auto arg = dyn_cast<BlockArgument>(value); arg && arg.getOwner() == body) {
      // What the next iteration is given has to be there by then.
      if (arg == loop.getInductionVar())
        continue;
      Value next = loop.getTiedLoopYieldedValue(arg)->get();
      Operation *def = next.getDefiningOp();
      bool isThere =
          next.getParentBlock() != body ? next != arg : def && def->isBeforeInBlock(slots.end);
      if (!isThere || isa_and_nonnull<MmaOp, MmaFenceOp, MmaWaitOp>(def))
        return false;
      continue;
    }
    Operation *op = value.getDefiningOp();
    if (!op || op->getBlock() != body || isa<TileOp>(op) || work.contains(op))
      continue;
    if (op->getNumRegions() || !(isa<ReadOp>(op) || isPure(op)) || isa<MmaOp>(op))
      return false;
    work.insert(op);
    llvm::append_range(worklist, op->getOperands());
  }
  // Nothing else in the loop takes what is made of tiles.
  auto isTaken = [&](Operation *user) {
    return !work.contains(user) && user != dot && !isa<MmaFenceOp>(user);
  };
  for (Operation *op : work)
    if (givesTile(op) && llvm::any_of(op->getUsers(), isTaken))
      return false;
  if (llvm::any_of(loop.getYieldedValues(),
                   [&](Value value) { return work.contains(value.getDefiningOp()); }))
    return false;
  slots.work = work.takeVector();
  llvm::sort(slots.work, [](Operation *x, Operation *y) { return x->isBeforeInBlock(y); });
  slots.operand = operand;
  return true;
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
  if (!hasRoomToKeep(loop))
    return giveUp(loop,
                  "would keep a slot while it waits for the next one, and rings have too few: "
                  "use smaller tiles");
  llvm::sort(found.tiles, [](TileOp a, TileOp b) { return a->isBeforeInBlock(b); });
  MmaOp dot = *dots.begin();
  if (isa<StagedType>(dot.getLhs().getType()) || !findWork(loop, dot, found))
    return found;
  passed(dot, kAdvanceWaits) << "has a left operand that is computed while the dot before runs";
  // Tiles that only that takes are not given on.
  llvm::erase_if(found.tiles, [&](TileOp tile) {
    bool isOwn = llvm::all_of(
        tile->getUsers(), [&](Operation *user) { return llvm::is_contained(found.work, user); });
    if (isOwn)
      found.work.insert(found.work.begin(), tile);
    return isOwn;
  });
  return found;
}

/// Waits for slots; what is given to the iteration in which `map` says what scalars and carried
/// values are.
static SmallVector<Value> await(OpBuilder &b, const Slots &slots, IRMapping map) {
  for (mk_sm::WaitOp wait : slots.waits)
    b.clone(*wait, map);
  for (TileOp tile : slots.tiles)
    b.clone(*tile, map);
  for (Operation *op : slots.work)
    b.clone(*op, map);
  return llvm::map_to_vector(slots.getGiven(), [&](Value value) { return map.lookup(value); });
}

static void transform(scf::ForOp loop, Slots &slots) {
  passed(loop, kAdvanceWaits) << "waits for the slots of an iteration while the dot before runs";
  Location loc = loop.getLoc();
  IRRewriter b(loop.getContext());
  b.setInsertionPoint(loop);
  scf::IfOp branch = branchOnIterations(b, loop);
  loop.replaceAllUsesWith(branch.getResults());
  IRMapping begin;
  begin.map(loop.getInductionVar(), loop.getLowerBound());
  begin.map(loop.getRegionIterArgs(), loop.getInitArgs());
  SmallVector<Value> first = await(b, slots, begin), given = slots.getGiven();
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
  // Scalars are computed in both places: the iteration may take them besides.
  SmallVector<Operation *> ofTiles = llvm::filter_to_vector(
      slots.work, [](Operation *op) { return isa<TileOp>(op) || givesTile(op); });
  moved.insert(ofTiles.begin(), ofTiles.end());
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
    IRMapping later;
    if (slots.operand)
      later.map(loop.getInductionVar(),
                arith::AddIOp::create(inside, loc, loop.getInductionVar(), one).getResult());
    for (auto [arg, value] : llvm::zip(loop.getRegionIterArgs(), loop.getYieldedValues()))
      later.map(arg, value);
    return await(inside, slots, later);
  };
  auto fresh = cast<scf::ForOp>(
      *loop.replaceWithAdditionalYields(b, first, /*replaceInitOperandUsesInLoop=*/false, next));
  for (auto [i, value] : llvm::enumerate(given)) {
    Value inside = fresh.getRegionIterArg(before + i), outside = fresh.getResult(before + i);
    value.replaceUsesWithIf(
        inside, [&](OpOperand &use) { return fresh->isProperAncestor(use.getOwner()); });
    value.replaceAllUsesWith(outside);
  }
  for (Operation *op : llvm::reverse(ofTiles))
    op->erase();
  for (TileOp tile : slots.tiles)
    tile->erase();
  for (mk_sm::WaitOp wait : slots.waits)
    wait->erase();
}

void mk_sm::advanceWaits(ModuleOp module) {
  for (scf::ForOp loop : getDotLoops(module))
    if (std::optional<Slots> slots = analyse(loop))
      transform(loop, *slots);
}
