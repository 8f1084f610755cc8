//===- SpillFragments.cpp - Scratch in the order of registers -------------===//
#include "Functions.h"
#include "mkernel/Analysis/Remarks.h"
#include "mkernel/Dialect/SM/SM.h"
#include "mkernel/Dialect/Tile/Target.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/Matchers.h"

using namespace mlir;
using namespace mlir::mk_sm;

static constexpr StringRef kSpillFragments = "mk-sm-spill-fragments";

namespace {
/// An access to a buffer by a fragment.
struct Access {
  Operation *op;
  RankedTensorType tile;
  SmallVector<Value> offsets;
};

/// A use of `buffer` as the place of a whole tile, with nothing else that an access may say.
std::optional<Access> getAccess(OpOperand &use) {
  Operation *op = use.getOwner();
  auto plain = [&](auto access, bool more, RankedTensorType tile) -> std::optional<Access> {
    if (more || !access.getValid().empty())
      return std::nullopt;
    return Access{op, tile, SmallVector<Value>(access.getOffsets())};
  };
  auto typeOf = [](Value tile) { return cast<RankedTensorType>(tile.getType()); };
  if (auto load = dyn_cast<mk::LoadOp>(op))
    return plain(load, bool(load.getPad()), typeOf(load.getTile()));
  if (auto store = dyn_cast<StoreOp>(op); store && use.get() == store.getDest())
    return plain(store, store.getPeer() || store.getAdd(), typeOf(store.getTile()));
  if (auto store = dyn_cast<mk::StoreOp>(op); store && use.get() == store.getDest())
    return plain(store, store.getPeer() || store.getSignal() || store.getReduction(),
                 typeOf(store.getTile()));
  return std::nullopt;
}

/// All accesses to a buffer if they are by fragments of one type, each in a place of its own.
SmallVector<Access> findAccesses(BlockArgument buffer) {
  auto type = dyn_cast<MemRefType>(buffer.getType());
  if (!type || !type.hasStaticShape() || !type.getLayout().isIdentity() || mk::isSymmetric(type))
    return {};
  SmallVector<Access> accesses;
  int64_t most = mk::getSm(buffer.getOwner()->getParentOp()).getThresholds().getSpilledElements();
  for (OpOperand &use : buffer.getUses()) {
    std::optional<Access> access = getAccess(use);
    if (!access || !mayBeSpilled(access->tile) || getNumElements(access->tile) > most ||
        access->tile != (accesses.empty() ? *access : accesses.front()).tile)
      return {};
    int64_t rank = access->tile.getRank();
    bool whole = type.getRank() >= rank &&
                 type.getShape().take_back(rank) == access->tile.getShape() &&
                 llvm::all_of(ArrayRef(access->offsets).take_back(rank),
                              [](Value offset) { return matchPattern(offset, m_Zero()); });
    if (!whole)
      return {};
    accesses.push_back(*access);
  }
  return accesses;
}

void rewrite(BlockArgument buffer, const Access &access) {
  OpBuilder b(access.op);
  ValueRange index = ArrayRef(access.offsets).drop_back(access.tile.getRank());
  Location loc = access.op->getLoc();
  if (auto load = dyn_cast<mk::LoadOp>(access.op)) {
    auto reload = ReloadOp::create(b, loc, access.tile, buffer, index);
    int64_t whole = mk::getSm(load).getThresholds().getReloadedElements();
    if (load->hasAttr(kDeferredAttr) && getNumElements(access.tile) > whole)
      reload->setAttr(kDeferredAttr, b.getUnitAttr());
    load.getTile().replaceAllUsesWith(reload.getTile());
    load.erase();
    return;
  }
  auto staged = dyn_cast<StoreOp>(access.op);
  Value tile = staged ? Value(staged.getTile()) : cast<mk::StoreOp>(access.op).getTile();
  auto staging = staged ? staged.getStaging().getDefiningOp() : nullptr;
  passed(access.op, kSpillFragments) << "stores to scratch in the order of registers";
  SpillOp::create(b, loc, tile, buffer, index);
  access.op->erase();
  if (staging && staging->use_empty())
    staging->erase();
}
} // namespace

void mk_sm::spillFragments(mk::KernelOp kernel) {
  for (unsigned i = 0, e = kernel.getNumKernelArgs(); i != e; ++i)
    if (BlockArgument buffer = kernel.getKernelArg(i); kernel.getArgKind(i) == mk::ArgKind::Scratch)
      for (const Access &access : findAccesses(buffer))
        rewrite(buffer, access);
}
