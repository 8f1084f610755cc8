//===- PlanStaging.cpp - Which tiles go through shared memory -------------===//
#include "RolePlan.h"
#include "mkernel/Analysis/Remarks.h"
#include "mkernel/Analysis/Resources.h"
#include "llvm/ADT/EquivalenceClasses.h"
#include "llvm/ADT/MapVector.h"

using namespace mlir;
using namespace mlir::mk;
using namespace mlir::mk_sm;

/// Operands of a dot that are multiplied, not the accumulator.
static bool isMultiplied(OpOperand &use) {
  auto dot = dyn_cast<DotOp>(use.getOwner());
  return dot && use.getOperandNumber() < 2;
}

/// Loads of tiles that dots multiply.
static SmallVector<LoadOp> findStaged(Operation *role) {
  SmallVector<LoadOp> staged;
  role->walk([&](LoadOp load) {
    if (llvm::any_of(load->getUses(), isMultiplied))
      staged.push_back(load);
  });
  return staged;
}

/// What else a tile is used for gets a load of its own.
static SmallVector<LoadOp> separateUses(ArrayRef<LoadOp> staged) {
  SmallVector<LoadOp> others;
  for (LoadOp load : staged) {
    if (llvm::all_of(load->getUses(), isMultiplied))
      continue;
    OpBuilder b(load->getContext());
    b.setInsertionPointAfter(load);
    auto copy = cast<LoadOp>(b.clone(*load));
    load->getResult(0).replaceUsesWithIf(copy->getResult(0),
                                         [](OpOperand &use) { return !isMultiplied(use); });
    others.push_back(copy);
  }
  return others;
}

//===----------------------------------------------------------------------===//
// Sites
//===----------------------------------------------------------------------===//

/// The op of `block` that is or holds `op`; null if it is elsewhere.
static Operation *ancestorIn(Block *block, Operation *op) {
  return block->findAncestorOpInBlock(*op);
}

llvm::DenseMap<Operation *, int64_t> mk_sm::numberSections(ArrayRef<LoadOp> loads) {
  llvm::DenseMap<Operation *, int64_t> section;
  llvm::DenseSet<Block *> seen;
  for (LoadOp first : loads) {
    Block *block = first->getBlock();
    if (!seen.insert(block).second)
      continue;
    llvm::DenseSet<Operation *> users;
    for (LoadOp load : loads)
      for (Operation *user : load->getUsers())
        if (Operation *ancestor = ancestorIn(block, user))
          users.insert(ancestor);
    int64_t number = 0;
    for (Operation &op : *block) {
      if (users.contains(&op) || hasOtherEffects(&op))
        ++number;
      section[&op] = number;
    }
  }
  return section;
}

SmallVector<LoadOp> mk_sm::getInSlot(const Site &site) {
  SmallVector<LoadOp> loads(site.loads);
  std::stable_partition(loads.begin(), loads.end(), [](LoadOp load) {
    return cast<RankedTensorType>(load.getType()).getRank() > 1;
  });
  return loads;
}

/// Whether the op, or one inside it, has the consumer read what someone may have written before.
static bool readsResultsInConsumer(Operation *op, ArrayRef<LoadOp> staged) {
  return holdsAny(op, [&](Operation *inner) {
    auto load = dyn_cast<LoadOp>(inner);
    return (!load || !llvm::is_contained(staged, load)) && readsResults(inner);
  });
}

void mk_sm::placeWait(Site &site, ArrayRef<LoadOp> staged) {
  Block *block = site.getBlock();
  llvm::DenseSet<Operation *> users;
  for (LoadOp load : llvm::concat<LoadOp>(site.loads, site.rereads))
    for (Operation *user : load->getUsers())
      users.insert(ancestorIn(block, user));
  for (Operation *op = site.getLast()->getNextNode(); op; op = op->getNextNode()) {
    bool uses = users.contains(op);
    if (!site.waitBefore && (uses || hasOtherEffects(op) || readsResultsInConsumer(op, staged)))
      site.waitBefore = op;
    if (uses)
      site.releaseBehind = op;
  }
}

/// Two sites can share a ring if one is done when the other begins: neither
/// block lies in the other.
static bool areApart(const Site &a, const Site &b) {
  Block *first = a.getBlock(), *second = b.getBlock();
  return !ancestorIn(first, second->getParentOp()) && !ancestorIn(second, first->getParentOp()) &&
         first != second;
}

static LogicalResult assignRing(RolePlan &plan, Site &site) {
  SmallVector<Type> tiles;
  for (LoadOp load : getInSlot(site))
    tiles.push_back(load.getType());
  LoadOp first = site.getFirst();
  auto emit = [&]() {
    return first.emitOpError() << "is staged for a mk.dot of " << getSmTarget(first).getName()
                               << ": ";
  };
  if (!RingType::getChecked(emit, first.getContext(), ShapedType::kDynamic, ArrayRef<Type>(tiles)))
    return failure();
  for (auto [number, ring] : llvm::enumerate(plan.rings)) {
    bool apart = llvm::all_of(plan.sites, [&](const Site &other) {
      return other.ring != number || areApart(site, other);
    });
    if (ring == tiles && apart) {
      site.ring = number;
      return success();
    }
  }
  site.ring = plan.rings.size();
  plan.rings.push_back(tiles);
  return success();
}

LogicalResult mk_sm::planStaging(RolePlan &plan) {
  SmallVector<LoadOp> loads = findStaged(plan.op), others = separateUses(loads);
  SmallVector<DotOp> dots;
  plan.op->walk([&](DotOp dot) { dots.push_back(dot); });
  if (failed(planDots(plan, dots, loads)))
    return failure();
  llvm::DenseMap<Operation *, int64_t> section = numberSections(loads);
  llvm::EquivalenceClasses<Operation *> groups;
  for (LoadOp load : loads)
    groups.insert(load);
  for (DotOp dot : dots) {
    Operation *lhs = dot.getLhs().getDefiningOp(), *rhs = dot.getRhs().getDefiningOp();
    if (!llvm::is_contained(loads, dot.getLhs().getDefiningOp<LoadOp>()))
      continue;
    if (lhs->getBlock() != rhs->getBlock())
      analysis(dot, kSplitRoles)
          << "has operands in slots of their own: they are loaded in different loops or branches";
    else if (section.lookup(lhs) != section.lookup(rhs))
      missed(dot, kSplitRoles) << "has operands in slots of their own, which costs a barrier more: "
                                  "between their loads stands a use of a staged tile or an op that "
                                  "others see; load them one after the other";
    else
      groups.unionSets(lhs, rhs);
  }
  Sites sites;
  for (LoadOp load : loads)
    sites[groups.getLeaderValue(load)].loads.push_back(load);
  joinReads(plan, sites, loads);
  for (auto &[leader, site] : sites) {
    placeWait(site, loads);
    if (failed(assignRing(plan, site)))
      return failure();
    passed(site.getFirst(), kSplitRoles)
        << remark::add("is staged: ring {0}, {1} tiles in a slot", site.ring, site.loads.size());
    auto number = static_cast<unsigned>(plan.sites.size());
    for (auto [i, load] : llvm::enumerate(getInSlot(site)))
      plan.staged[load] = {number, static_cast<int64_t>(i), !llvm::is_contained(loads, load)};
    for (LoadOp load : site.rereads) {
      auto *same = llvm::find_if(site.loads, [&](LoadOp other) { return isSame(load, other); });
      plan.staged[load] = {number, plan.staged.lookup(*same).index, /*isRead=*/true};
    }
    plan.sites.push_back(site);
  }
  plan.op->walk([&](LoadOp load) {
    if (load.getStaged() && !plan.staged.contains(load) && !load->use_empty())
      planRead(plan, load, loads);
  });
  for (LoadOp load : others)
    if (!plan.staged.contains(load))
      missed(load, kSplitRoles)
          << "is loaded twice, into shared memory for a dot and into registers for other ops: "
             "threads read the tile of a dot where each iteration of a loop has another one, and "
             "take only elements that each of them has";
  return success();
}
