//===- JoinReads.cpp - Tiles that threads read come beside those of products ---===//
//
// A tile that each iteration of a loop works on, as one that is normalized in front of a dot or
// numbers that scale its result, can come in the slot that has what the dot takes. Loads of one
// slot have to follow each other: they are moved up to the first of them where that is possible.
//
//===----------------------------------------------------------------------===//
#include "RolePlan.h"
#include "mkernel/Analysis/Remarks.h"
#include "mkernel/Analysis/Resources.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"

using namespace mlir;
using namespace mlir::mk;
using namespace mlir::mk_sm;

/// Whether tiles of one dimension may come at once, for all that is known of their argument: single
/// elements are copied more slowly than those who use them load them.
static bool mayComeAtOnce(LoadOp load) {
  auto tile = cast<RankedTensorType>(load.getType());
  auto arg = dyn_cast<BlockArgument>(load.getSource());
  auto kernel = load->getParentOfType<KernelOp>();
  if (!arg || arg.getOwner() != &kernel.getBody().front())
    return true;
  std::optional<int64_t> extent = kernel.getArgExtent(
      arg.getArgNumber() - kernel.getNumDims(), cast<MemRefType>(arg.getType()).getRank() - 1);
  constexpr int64_t kBits = 8 * 16; // of what is aligned (PTX ISA, "cp.async.bulk")
  return !extent ||
         (*extent >= tile.getDimSize(0) && *extent * tile.getElementTypeBitWidth() % kBits == 0);
}

/// Whether a tile of one dimension is loaded anew in each iteration of a loop, out of what no
/// kernel writes, in a form that the producer's threads can bring.
static bool isLoadedInTurn(LoadOp load) {
  auto tile = cast<RankedTensorType>(load.getType());
  int64_t bits = tile.getElementTypeBitWidth();
  auto loop = dyn_cast<scf::ForOp>(load->getParentOp());
  return tile.getRank() == 1 && (bits == 32 || bits == 64) &&
         tile.getElementType().isIntOrFloat() && !load.getPad() && loop &&
         isNeverWritten(load.getSource()) && mayComeAtOnce(load) &&
         !llvm::all_of(load.getOffsets(),
                       [&](Value offset) { return loop.isDefinedOutsideOfLoop(offset); });
}

//===----------------------------------------------------------------------===//
// Loads that follow each other
//===----------------------------------------------------------------------===//

/// Calls `visit` for what the op takes of its block behind `before`, operands first. Whether all of
/// that is scalars that may be computed earlier.
static bool forEachLate(Operation *op, Operation *before,
                        llvm::function_ref<void(Operation *)> visit) {
  for (Value operand : op->getOperands()) {
    Operation *def = operand.getDefiningOp();
    if (!def || def->getBlock() != before->getBlock() || def->isBeforeInBlock(before))
      continue;
    if (!isPure(def) || def->getNumRegions() || !isScalar(def) || !forEachLate(def, before, visit))
      return false;
    visit(def);
  }
  return true;
}

/// Whether loads stand in one section, as far as uses of tiles of `staged` and of theirs go.
static bool areTogether(ArrayRef<LoadOp> loads, ArrayRef<LoadOp> staged) {
  SmallVector<LoadOp> all(staged);
  llvm::append_range(all, loads);
  llvm::DenseMap<Operation *, int64_t> section = numberSections(all);
  return llvm::all_equal(llvm::map_range(loads, [&](LoadOp load) { return section.lookup(load); }));
}

/// Whether loads of a block may be moved up behind the first of them: others see nothing of what
/// stands in between.
static bool mayGather(ArrayRef<LoadOp> loads) {
  Operation *to = loads.front()->getNextNode();
  return llvm::all_of(loads.drop_front(), [&](LoadOp load) {
    for (Operation *op = to; op != load; op = op->getNextNode())
      if (hasOtherEffects(op))
        return false;
    return forEachLate(load, to, [](Operation *) {});
  });
}

static void gather(ArrayRef<LoadOp> loads) {
  Operation *to = loads.front()->getNextNode();
  for (LoadOp load : loads.drop_front()) {
    forEachLate(load, to, [&](Operation *op) {
      if (!op->isBeforeInBlock(to))
        op->moveBefore(to);
    });
    if (load == to)
      to = load->getNextNode();
    else
      load->moveBefore(to);
  }
}

//===----------------------------------------------------------------------===//
// Slots
//===----------------------------------------------------------------------===//

bool mk_sm::isSame(LoadOp a, LoadOp b) {
  return OperationEquivalence::isEquivalentTo(
      a, b, OperationEquivalence::exactValueMatch, /*markEquivalent=*/nullptr,
      OperationEquivalence::IgnoreLocations | OperationEquivalence::IgnoreDiscardableAttrs);
}

namespace {
class Joiner {
public:
  Joiner(RolePlan &plan, Sites &sites, ArrayRef<LoadOp> staged)
      : plan(plan), sites(sites), staged(staged), probe(plan.op) {
    // Layouts do not depend on what is joined.
    probe.warpgroups = plan.warpgroups;
    probe.sites.emplace_back();
    for (LoadOp load : staged)
      probe.staged[load] = {0, 0};
    assignLayouts(probe);
  }

  void join(LoadOp load);

private:
  bool isNear(const Site &site, LoadOp load) const { return site.getBlock() == load->getBlock(); }
  bool mayBeRead(LoadOp load) const;
  bool add(Site &site, LoadOp load);
  bool haveRoom() const;

  RolePlan &plan;
  Sites &sites;
  ArrayRef<LoadOp> staged;
  RolePlan probe;
};
} // namespace

/// Whether threads can read the tile, of two dimensions, out of a slot of a loop: behind products
/// one takes slots of its own.
bool Joiner::mayBeRead(LoadOp load) const {
  if (!load.getStaged() || !isa<scf::ForOp>(load->getParentOp()))
    return false;
  bool leaves = llvm::any_of(
      load->getUsers(), [](Operation *user) { return user->hasTrait<OpTrait::IsTerminator>(); });
  // In front of several dots what is read takes registers beside their sums.
  auto dots = load->getBlock()->getOps<DotOp>();
  if (!dots.empty() && !llvm::hasSingleElement(dots) && (*dots.begin())->isBeforeInBlock(load))
    return false;
  auto accumulators = MmaAttr::get(load.getContext(), plan.warpgroups);
  auto type = cast<RankedTensorType>(load.getType());
  Attribute layout = probe.getLayout(load);
  bool isReadable =
      layout == accumulators ||
      (!dots.empty() &&
       hasWholeRounds(RankedTensorType::get(type.getShape(), type.getElementType(), layout)));
  return !leaves && isReadable && mayBeFetched(load, plan.op);
}

/// Whether rings of this role have room for slots of these sites.
bool Joiner::haveRoom() const {
  RolePlan trial(plan.op);
  trial.warpgroups = plan.warpgroups;
  trial.teams = plan.teams;
  for (const auto &entry : sites) {
    SmallVector<Type> tiles;
    for (LoadOp load : getInSlot(entry.second))
      tiles.push_back(load.getType());
    auto *ring = llvm::find(trial.rings, tiles);
    trial.sites.push_back(entry.second);
    trial.sites.back().ring = ring - trial.rings.begin();
    if (ring == trial.rings.end())
      trial.rings.push_back(tiles);
  }
  return mk_sm::haveRoom(trial, trial.rings.size(), 0, getSm(plan.op));
}

bool Joiner::add(Site &site, LoadOp load) {
  auto isBefore = [](LoadOp a, LoadOp b) { return a->isBeforeInBlock(b); };
  SmallVector<LoadOp> together(site.loads);
  llvm::append_range(together, site.rereads);
  together.push_back(load);
  llvm::sort(together, isBefore);
  bool moves = !areTogether(together, staged);
  if (moves && !mayGather(together))
    return false;
  bool isReread = llvm::any_of(site.loads, [&](LoadOp other) { return isSame(other, load); });
  if (isReread)
    site.rereads.push_back(load);
  else
    site.loads.push_back(load);
  if (!isReread && cast<RankedTensorType>(load.getType()).getRank() > 1 && !haveRoom()) {
    site.loads.pop_back();
    return false;
  }
  if (moves)
    gather(together);
  llvm::sort(site.loads, isBefore);
  return true;
}

void Joiner::join(LoadOp load) {
  if (!isLoadedInTurn(load) && !mayBeRead(load))
    return;
  bool near = false;
  for (auto &entry : sites) {
    if (!isNear(entry.second, load))
      continue;
    near = true;
    if (add(entry.second, load))
      return;
  }
  if (near)
    missed(load, kSplitRoles) << "is loaded by those who use it, since it would take too much room "
                                 "beside tiles of a dot, or a use of a tile, or an op that others "
                                 "see, stands between it and these: load it beside them";
}

void mk_sm::joinReads(RolePlan &plan, Sites &sites, ArrayRef<LoadOp> staged) {
  if (sites.empty())
    return;
  SmallVector<LoadOp> others; // joining moves loads
  plan.op->walk([&](LoadOp load) {
    if (!llvm::is_contained(staged, load))
      others.push_back(load);
  });
  Joiner joiner(plan, sites, staged);
  for (LoadOp load : others)
    joiner.join(load);
}
