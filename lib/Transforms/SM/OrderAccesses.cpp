//===- OrderAccesses.cpp - A store comes behind own accesses in front of it ---===//
//
// A CTA's accesses are in program order where one is a load or a store and the other a store behind
// it (docs/memory-model.md, snapshot and overwrite). Its threads go each at its own pace, and the
// copy engine at another: where an element changes threads between two such accesses, all meet.
//
// Tiles at different places are looked at while loops are what the author wrote, from one iteration
// to the next, too. Which thread has what of a tile is known later: then the same place is looked
// at.
//
//===----------------------------------------------------------------------===//
#include "Accesses.h"
#include "Functions.h"
#include "ItemPlaces.h"
#include "mkernel/Analysis/Remarks.h"
#include "mlir/Dialect/SCF/IR/SCF.h"

using namespace mlir;
using namespace mlir::mk_sm;

static constexpr StringRef kOrderAccesses = "mk-sm-order-accesses",
                           kOrderTiles = "mk-sm-order-tiles";

namespace {
class Ordering {
public:
  /// `ofTiles`: while loops are what the author wrote, and tiles have no layouts.
  Ordering(mk::KernelOp kernel, bool ofTiles, bool hasOneCta)
      : kernel(kernel), ofTiles(ofTiles), hasOneCta(hasOneCta) {}

  /// Looks at the ops of a block in their order; `open` has the accesses behind which no order is
  /// known yet.
  void visit(Block &block, SmallVectorImpl<Access> &open);
  bool writes(mk::RoleOp role, ArrayRef<Access> open);

private:
  void visitLoop(Operation *loop, SmallVectorImpl<Access> &open);
  bool conflict(const Access &first, const Access &second);

  mk::KernelOp kernel;
  bool ofTiles;
  bool hasOneCta; // one CTA has all items
};
} // namespace

bool Ordering::conflict(const Access &first, const Access &second) {
  if (!second.writes || (first.adds && second.adds) || !shareMemory(first, second))
    return false;
  // One thread stores all scalars.
  if (isa<memref::StoreOp>(first.op) && isa<memref::StoreOp>(second.op))
    return false;
  // Where threads have met only what goes by another way to memory may be late.
  if (first.hasBarrierBehind && !second.isByEngine())
    return false;
  if (first.isInLoop || (second.isRemote && !ofTiles))
    return areSamePlace(first, second) && !areAligned(first, second);
  bool isInOrder = ofTiles ? areSamePlace(first, second) : areAligned(first, second);
  return !isInOrder && !areApart(first, second);
}

/// Whether all threads meet in an op, all that the engine stores for them having been written.
static bool isMeeting(Operation *op) {
  return isa<mk::SignalOp, mk::PutOp, mk::FenceOp, mk::SettleOp, mk::CountOp, mk::PushOp>(op);
}

/// Adds those that are not there: what two ways leave open is one access, else there would be twice
/// as many behind each.
static void join(SmallVectorImpl<Access> &all, ArrayRef<Access> others) {
  for (const Access &access : others)
    if (llvm::none_of(all, [&](const Access &other) { return other.isSame(access); }))
      all.push_back(access);
}

/// Whether it is only known when the kernel runs which item a CTA of several takes next: none may
/// rely on it.
static bool hasDynamicOrder(Operation *loop) {
  if (loop->getParentOfType<mk::ForeachOp>() || loop->getParentOfType<mk::ForeachItemOp>())
    return false; // one CTA does all that is inside of an item
  auto items = dyn_cast<mk::ForeachOp>(loop);
  return isa<mk::ForeachItemOp>(loop) ||
         (items && items.getScheduleKind() != mk::ScheduleKind::Static);
}

void Ordering::visitLoop(Operation *loop, SmallVectorImpl<Access> &open) {
  auto visitBody = [&](SmallVectorImpl<Access> &accesses) {
    for (Region &region : loop->getRegions())
      for (Block &block : region)
        visit(block, accesses);
  };
  SmallVector<Access> before(open.begin(), open.end());
  visitBody(open);
  // A loop without iterations is no place to meet.
  join(open, before);
  auto isInside = [&](const Access &access) { return loop->isProperAncestor(access.op); };
  // A loop is left behind its condition.
  if (auto whileLoop = dyn_cast<scf::WhileOp>(loop))
    visit(whileLoop.getBefore().front(), open);
  // With layouts only writes of threads are left to look at, which what the engine stores an
  // iteration later may overtake although all have met.
  SmallVector<Access> earlier;
  for (Access access : llvm::make_filter_range(open, isInside)) {
    access.loop = loop;
    if (ofTiles ? hasOneCta || !hasDynamicOrder(loop)
                : access.hasBarrierBehind && access.writes && !access.isByEngine())
      earlier.push_back(access);
  }
  if (!earlier.empty())
    visitBody(earlier);
  // What comes behind has been looked at with the author's loops.
  if (!ofTiles)
    for (Access &access : llvm::make_filter_range(open, isInside))
      access.isInLoop = true;
}

void Ordering::visit(Block &block, SmallVectorImpl<Access> &open) {
  for (Operation &op : llvm::make_early_inc_range(block)) {
    if (isa<OrderOp>(op)) {
      open.clear();
    } else if (isMeeting(&op)) {
      llvm::erase_if(open, [](const Access &access) { return access.isByEngine(); });
      llvm::erase_if(open, [](const Access &access) { return !access.writes; });
      for (Access &access : open)
        access.hasBarrierBehind = true;
    } else if (auto branch = dyn_cast<scf::IfOp>(op)) {
      SmallVector<Access> after;
      for (Region *region : {&branch.getThenRegion(), &branch.getElseRegion()}) {
        SmallVector<Access> inside(open.begin(), open.end());
        if (!region->empty())
          visit(region->front(), inside);
        join(after, inside);
      }
      open.assign(after.begin(), after.end());
    } else if (isa<LoopLikeOpInterface, mk::ForeachOp, mk::ForeachItemOp, mk::ForeachPeerOp,
                   mk::FoldOp>(op)) {
      visitLoop(&op, open);
    } else if (op.getNumRegions()) {
      for (Region &region : op.getRegions())
        for (Block &inner : region)
          visit(inner, open);
    } else if (std::optional<Access> access = getAccess(kernel, &op)) {
      if (auto load = dyn_cast<mk::LoadOp>(op); load && load.getRows())
        open.push_back(getListAccess(kernel, load));
      if (llvm::any_of(open, [&](const Access &first) { return conflict(first, *access); })) {
        OpBuilder b(&op);
        OrderOp::create(b, op.getLoc());
        missed(&op, ofTiles ? kOrderTiles : kOrderAccesses)
            << "waits until all threads have done what is in front of it "
               "with the same buffer: load and store the same tile, or "
               "tiles that have nothing in common";
        open.clear();
      }
      if (!access->isRemote)
        open.push_back(*access);
    }
  }
}

bool Ordering::writes(mk::RoleOp role, ArrayRef<Access> open) {
  return mk::holdsAny(role, [&](Operation *op) {
    std::optional<Access> access = getAccess(kernel, op);
    return access && access->writes &&
           llvm::any_of(open, [&](const Access &first) { return shareMemory(first, *access); });
  });
}

/// Whether all that an access in a loop over items depends on is numbers of items, and what is the
/// same for all of them.
static bool isPlaceKnown(const Access &access, mk::ForeachOp items) {
  return llvm::all_of(access.offsets, [&](Value offset) {
    return llvm::all_of(LinearForm(offset).terms, [&](auto &term) {
      return !items.getBody().isAncestor(term.first.getParentRegion()) ||
             llvm::is_contained(items.getBody().getArguments(), term.first);
    });
  });
}

/// Whether it is known how far two places are apart.
static bool isDistanceKnown(const Access &first, const Access &second) {
  auto load = dyn_cast<mk::LoadOp>(first.op);
  return first.buffer == second.buffer && !(load && load.getRows()) &&
         llvm::all_of(llvm::zip(first.offsets, second.offsets), [](auto pair) {
           return LinearForm(std::get<1>(pair)).minus(LinearForm(std::get<0>(pair))).has_value();
         });
}

/// Teams that take items in turn do not meet: no item may rely on another one.
static LogicalResult checkTeams(mk::ForeachOp items) {
  if (!items.getOrder() || items.getOrder()->getAlternate() < 2 || hasDynamicOrder(items))
    return success();
  auto kernel = items->getParentOfType<mk::KernelOp>();
  SmallVector<Access> accesses;
  items->walk([&](Operation *op) {
    std::optional<Access> access = getAccess(kernel, op);
    if (access && isPlaceKnown(*access, items))
      accesses.push_back(*access);
  });
  for (const Access &store : accesses) {
    for (Access first : accesses) {
      first.loop = items;
      if (!store.writes || first.isRemote || (first.adds && store.adds) ||
          !shareMemory(first, store) || !isDistanceKnown(first, store) || areApart(first, store))
        continue;
      return store.op->emitOpError()
             << "stores what another item may have loaded or stored; its loop has order(alternate "
                "= 2), whose teams do items side by side: leave alternate out";
    }
  }
  return success();
}

LogicalResult mk_sm::orderTiles(mk::KernelOp kernel) {
  WalkResult checked =
      kernel.walk([](mk::ForeachOp items) { return WalkResult(checkTeams(items)); });
  if (checked.wasInterrupted())
    return failure();
  for (Operation &op : kernel.getBody().front()) {
    auto role = dyn_cast<mk::RoleOp>(op);
    if ((!role && !isa<mk::PrepareOp>(op)) || (role && role.isOfEngines()))
      continue;
    Ordering ordering(kernel, /*ofTiles=*/true, role && role.getCtas().getFixed() == 1);
    SmallVector<Access> open;
    Block &body = op.getRegion(0).front();
    ordering.visit(body, open);
    // What the CTA does in later roles comes behind this one, too.
    bool isFollowed =
        role && llvm::any_of(kernel.getBody().getOps<mk::RoleOp>(), [&](mk::RoleOp other) {
          return isFollowedBy(role, other) && ordering.writes(other, open);
        });
    if (isFollowed) {
      auto b = OpBuilder::atBlockEnd(&body);
      OrderOp::create(b, op.getLoc());
    }
  }
  return success();
}

void mk_sm::orderAccesses(PartitionOp partition) {
  if (partition.getKind() == PartitionKind::Producer)
    return;
  Ordering ordering(partition->getParentOfType<mk::KernelOp>(), /*ofTiles=*/false,
                    /*hasOneCta=*/false);
  SmallVector<Access> open;
  ordering.visit(partition.getBody().front(), open);
}
