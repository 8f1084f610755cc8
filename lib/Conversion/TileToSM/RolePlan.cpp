//===- RolePlan.cpp - Questions about a role that is split ----------------===//
#include "RolePlan.h"
#include "mkernel/Analysis/Resources.h"
#include "mlir/IR/Matchers.h"
#include "mlir/Interfaces/LoopLikeInterface.h"

using namespace mlir;
using namespace mlir::mk_sm;

StringRef RolePlan::getName() {
  auto role = dyn_cast<mk::RoleOp>(op);
  return role ? role.getSymName() : StringRef("prepare");
}

Attribute RolePlan::getLayout(Value tile) const {
  if (Attribute layout = layouts.lookup(tile))
    return layout;
  auto type = cast<RankedTensorType>(tile.getType());
  return getBlockedLayout(*this, type, type.getElementTypeBitWidth());
}

bool mk_sm::isLayoutFree(Value tile) {
  Operation *def = tile.getDefiningOp();
  return isa_and_nonnull<arith::ConstantOp, tensor::SplatOp>(def);
}

Attribute mk_sm::getBlockedLayout(const RolePlan &plan, RankedTensorType tile, int64_t bits,
                                  int64_t most) {
  int64_t threads = plan.warpgroups * mk::kWarpgroupThreads;
  // As wide an access as there is, but no run over the end of a row, and no idle threads.
  int64_t widest = 8 * mk::getSm(plan.op).getAccess();
  int64_t vector = std::max<int64_t>(1, widest / std::max<int64_t>(bits, 8));
  if (most)
    vector = std::min(vector, most);
  int64_t columns = tile.getRank() ? tile.getShape().back() : 1;
  while (vector > 1 && (columns % vector || tile.getNumElements() < threads * vector))
    vector /= 2;
  return BlockedAttr::get(tile.getContext(), threads, vector);
}

Attribute mk_sm::getSliceLayout(Attribute of, ArrayRef<int64_t> axes) {
  if (auto transposed = dyn_cast<TransposedAttr>(of)) {
    auto others = llvm::map_to_vector(axes, [](int64_t axis) { return 1 - axis; });
    return getSliceLayout(transposed.getOf(), others);
  }
  // What is left of runs dealt out to threads is dealt out anew.
  auto blocked = dyn_cast<BlockedAttr>(of);
  auto slice = dyn_cast<SliceAttr>(of);
  if (auto mma = dyn_cast<MmaAttr>(slice ? slice.getOf() : of);
      mma && axes.size() + (slice ? 1 : 0) > 1)
    blocked = BlockedAttr::get(of.getContext(), mk::kWarpgroupThreads * mma.getWarpgroups(), 1);
  if (blocked)
    return BlockedAttr::get(of.getContext(), blocked.getThreads(), 1);
  SmallVector<int64_t> sorted(axes);
  llvm::sort(sorted, std::greater<>());
  for (int64_t axis : sorted)
    of = SliceAttr::get(of.getContext(), axis, of);
  return of;
}

bool mk_sm::isSummedApart(mk::DotOp dot) {
  auto lhs = cast<RankedTensorType>(dot.getLhs().getType());
  return lhs.getElementTypeBitWidth() == 8 && !matchPattern(dot.getAcc(), m_AnyZeroFloat());
}

bool mk_sm::isItemLoop(Operation *op) {
  if (isa<ItemsOp>(op))
    return true;
  auto loop = dyn_cast<scf::WhileOp>(op);
  return loop && drawsItems(loop);
}

bool mk_sm::mayPrecede(Operation *first, Operation *second, Operation *role) {
  // The innermost op that holds both.
  Operation *common = first->getParentOp();
  while (!common->isProperAncestor(second))
    common = common->getParentOp();
  for (Operation *up = common; up != role; up = up->getParentOp())
    if (isa<LoopLikeOpInterface>(up) && !isItemLoop(up))
      return true;
  auto child = [&](Operation *op) {
    while (op->getParentOp() != common)
      op = op->getParentOp();
    return op;
  };
  Operation *a = child(first), *b = child(second);
  if (a->getBlock() == b->getBlock())
    return a->isBeforeInBlock(b);
  // Regions of a loop follow each other, branches of an scf.if do not.
  return isa<scf::WhileOp>(common) &&
         a->getParentRegion()->getRegionNumber() < b->getParentRegion()->getRegionNumber();
}

bool mk_sm::hasOtherEffects(Operation *op) {
  return holdsAny(op, [](Operation *inner) {
    auto effects = dyn_cast<MemoryEffectOpInterface>(inner);
    return !inner->hasTrait<OpTrait::HasRecursiveMemoryEffects>() && !isMemoryEffectFree(inner) &&
           !(effects && effects.onlyHasEffect<MemoryEffects::Read>());
  });
}

bool mk_sm::readsResults(Operation *op) {
  if (auto load = dyn_cast<mk::LoadOp>(op))
    return !mk::readsNeverWritten(load);
  if (auto load = dyn_cast<memref::LoadOp>(op))
    return !mk::isNeverWritten(load.getMemRef());
  // Their effects on what they guard or write are declared as reads, too. A put does read.
  if (op->getNumRegions() || (mk::hasVisibleEffect(op) && !isa<mk::PutOp>(op)))
    return false;
  auto effects = dyn_cast<MemoryEffectOpInterface>(op);
  return effects && effects.hasEffect<MemoryEffects::Read>();
}

bool mk_sm::isScalar(Operation *op) {
  auto isTileValue = [](Value value) { return isTile(value); };
  return llvm::none_of(op->getResults(), isTileValue) &&
         llvm::none_of(op->getOperands(), isTileValue) && !hasOtherEffects(op);
}
