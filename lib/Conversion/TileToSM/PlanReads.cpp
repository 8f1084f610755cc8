//===- PlanReads.cpp - Tiles that threads read come through rings of products ----===//
#include "RolePlan.h"
#include "Slice.h"
#include "mkernel/Analysis/Remarks.h"
#include "mkernel/Analysis/Resources.h"
#include "mlir/Interfaces/LoopLikeInterface.h"

using namespace mlir;
using namespace mlir::mk;
using namespace mlir::mk_sm;

/// Of the block of the load, the last op that takes what it is computed to.
static Operation *findLastUser(LoadOp load) {
  Operation *last = nullptr;
  SmallVector<Operation *> worklist{load};
  llvm::DenseSet<Operation *> seen;
  while (!worklist.empty())
    for (Operation *user : worklist.pop_back_val()->getUsers()) {
      Operation *in = load->getBlock()->findAncestorOpInBlock(*user);
      if (!in || !seen.insert(in).second)
        continue;
      if (!last || last->isBeforeInBlock(in))
        last = in;
      if (!in->hasTrait<OpTrait::IsTerminator>())
        worklist.push_back(in);
    }
  // A block is left with what it gives.
  return last && last->hasTrait<OpTrait::IsTerminator>() ? last->getPrevNode() : last;
}

/// Whether the slots of one are released before the other takes any, however blocks are nested.
static bool areInTurn(const Site &a, const Site &b) {
  if (a.getBlock() == b.getBlock())
    return a.releaseBehind->isBeforeInBlock(b.getFirst()) ||
           b.releaseBehind->isBeforeInBlock(a.getFirst());
  // The op holds all of the other one.
  auto isApart = [](const Site &site, Operation *op) {
    return site.releaseBehind->isBeforeInBlock(op) || op->isBeforeInBlock(site.getFirst());
  };
  if (Operation *op = a.getBlock()->findAncestorOpInBlock(*b.getFirst()))
    return isApart(a, op);
  if (Operation *op = b.getBlock()->findAncestorOpInBlock(*a.getFirst()))
    return isApart(b, op);
  return true;
}

/// Parts of the tile, as few and as equal as rings' slots of so many bytes allow; none if it does
/// not fill chunks.
static SmallVector<RankedTensorType> cutTile(RankedTensorType tile, int64_t bytes, int64_t chunk) {
  if (tile.getRank() != 2 || !tile.getElementType().isIntOrFloat())
    return {};
  int64_t bits = tile.getElementTypeBitWidth();
  if ((bits != 8 && bits != 16 && bits != 32) || !fillsChunks(tile, chunk))
    return {};
  int64_t chunks = llvm::divideCeil(tile.getDimSize(1) * bits, 8 * chunk);
  int64_t most = bytes / (tile.getDimSize(0) * chunk); // chunks in a slot
  if (!most)
    return {};
  int64_t each = llvm::divideCeil(chunks, llvm::divideCeil(chunks, most));
  SmallVector<RankedTensorType> parts;
  int64_t inChunk = std::min(8 * chunk / bits, tile.getDimSize(1));
  for (int64_t left = chunks; left > 0; left -= each)
    parts.push_back(RankedTensorType::get({tile.getDimSize(0), std::min(left, each) * inChunk},
                                          tile.getElementType()));
  return parts;
}

bool mk_sm::haveRoom(const RolePlan &plan, unsigned number, size_t slots, SmAttr sm) {
  int64_t bytes = sm.getSwizzleRows() * sm.getChunk() + kReservedShared;
  for (auto [i, tiles] : llvm::enumerate(plan.rings)) {
    auto ring = RingType::get(sm.getContext(), ShapedType::kDynamic, tiles);
    bool isBusy = llvm::any_of(plan.sites, [i = i](const Site &site) {
      return site.ring == i && !isItemLoop(site.getBlock()->getParentOp());
    });
    int64_t least = isBusy ? sm.getThresholds().getBusySlots() : 1;
    bytes += std::max<int64_t>(least, i == number ? slots : 1) * ring.getSlotBytes(sm.getChunk());
  }
  int64_t staging = kLeastBuffers * getStagingBytes(sm.getChunk()) * plan.warpgroups * plan.teams;
  bytes += staging + getExchangeLimit(sm, /*besideRings=*/true, /*inKernelOfRings=*/true) +
           getPartsBytes(plan.op);
  if (holds<PutOp>(plan.op)) {
    PutSlots puts = getPutSlots(sm, /*besideRings=*/true);
    bytes += puts.count * puts.bytes;
  }
  return bytes <= sm.getShared();
}

void mk_sm::planRead(RolePlan &plan, LoadOp load, ArrayRef<LoadOp> staged) {
  SmAttr sm = getSm(load);
  Site site;
  site.loads.push_back(load);
  placeWait(site, staged);
  // A block gives a tile on to what stands behind it, so the slots would be in use beyond its end.
  bool leaves = llvm::any_of(
      load->getUsers(), [](Operation *user) { return user->hasTrait<OpTrait::IsTerminator>(); });
  site.releaseBehind = findLastUser(load);
  for (auto [number, tiles] : llvm::enumerate(plan.rings)) {
    auto ring = RingType::get(load.getContext(), ShapedType::kDynamic, tiles);
    site.parts = cutTile(cast<RankedTensorType>(load.getType()), ring.getSlotBytes(sm.getChunk()),
                         sm.getChunk());
    bool inTurn = llvm::all_of(plan.sites, [&](const Site &other) {
      return other.ring != number || areInTurn(site, other);
    });
    if (leaves || site.parts.empty() || !inTurn || !haveRoom(plan, number, site.parts.size(), sm))
      continue;
    site.ring = number;
    plan.staged[load] = {static_cast<unsigned>(plan.sites.size()), 0};
    plan.sites.push_back(site);
    return;
  }
  missed(load, kSplitRoles)
      << "is loaded by those who use it, since no ring has room for its tile while it is used";
}

void mk_sm::dropReads(RolePlan &plan, StringRef why, llvm::function_ref<bool(mk::LoadOp)> drops) {
  // Behind those of products.
  for (size_t i = plan.sites.size(); i-- && !plan.sites[i].parts.empty();) {
    LoadOp load = plan.sites[i].getFirst();
    if (!drops(load))
      continue;
    missed(load, kSplitRoles) << why;
    plan.staged.erase(load);
    plan.sites.erase(plan.sites.begin() + i);
    for (auto &[other, place] : plan.staged)
      place.site -= place.site > i;
  }
}

bool mk_sm::mayBeGuarded(RolePlan &plan, mk::LoadOp load) {
  return holdsAny(plan.op, [&](mk::WaitOp wait) { return mayPrecede(wait, load, plan.op); });
}

static Operation *findCommonLoop(Operation *a, Operation *b, Operation *role) {
  for (Operation *up = a->getParentOp(); up != role; up = up->getParentOp())
    if (isa<LoopLikeOpInterface>(up) && up->isAncestor(b))
      return up;
  return nullptr;
}

Operation *mk_sm::findOverwriting(memref::LoadOp load, Operation *role) {
  auto kernel = load->getParentOfType<KernelOp>();
  Operation *found = nullptr;
  role->walk<WalkOrder::PreOrder>([&](Operation *op) {
    Value dest = getWritten(op);
    if (!dest || !mayBeSame(kernel, load.getMemRef(), dest) ||
        (!findCommonLoop(load, op, role) && !mayPrecede(load, op, role)))
      return WalkResult::advance();
    found = op;
    return WalkResult::interrupt();
  });
  return found;
}

bool mk_sm::mayBeFetched(LoadOp load, Operation *role) {
  Slice trial(role, [&](Operation *op) -> FailureOr<SmallVector<Value>> {
    bool isKnown = op == load || isa<mk::WaitOp>(op) || isDraw(op) || isScalar(op);
    auto number = dyn_cast<memref::LoadOp>(op);
    if (!isKnown || (number && findOverwriting(number, role)))
      return failure();
    return SmallVector<Value>(op->getOperands());
  });
  return succeeded(trial.add(load.getOperation())) && !holdsAny(role, [&](Operation *op) {
           return isa<mk::WaitOp>(op) && mayPrecede(op, load, role) && failed(trial.add(op));
         });
}
