//===- SpillFragments.cpp - Scratch in the order of registers -------------===//
#include "Functions.h"
#include "mkernel/Analysis/Remarks.h"
#include "mkernel/Dialect/SM/SM.h"
#include "mlir/IR/Matchers.h"

using namespace mlir;
using namespace mlir::mk_sm;

static constexpr StringRef kSpillFragments = "mk-sm-spill-fragments";

namespace {
/// An access to a buffer by a fragment.
struct TileAccess {
  Operation *op;
  RankedTensorType tile;
  SmallVector<Value> offsets;
};

/// A use of `buffer` as the place of a whole tile, with nothing else that an access may say.
std::optional<TileAccess> getTileAccess(OpOperand &use) {
  Operation *op = use.getOwner();
  auto plain = [&](auto access, bool more, RankedTensorType tile) -> std::optional<TileAccess> {
    if (more || !access.getValid().empty())
      return std::nullopt;
    return TileAccess{op, tile, SmallVector<Value>(access.getOffsets())};
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

/// No accesses: the buffer keeps the order of memory, because of one of them.
SmallVector<TileAccess> giveUp(Operation *op, StringRef why) {
  missed(op, kSpillFragments) << why;
  return {};
}

/// All accesses to a buffer if they are by fragments of one type, each in a place of its own.
SmallVector<TileAccess> findAccesses(BlockArgument buffer) {
  auto type = dyn_cast<MemRefType>(buffer.getType());
  if (!type || !type.hasStaticShape() || !type.getLayout().isIdentity() || mk::isSymmetric(type))
    return {};
  SmallVector<TileAccess> accesses;
  int64_t most = mk::getSm(buffer.getOwner()->getParentOp()).getThresholds().getSpilledElements();
  for (OpOperand &use : buffer.getUses()) {
    std::optional<TileAccess> access = getTileAccess(use);
    if (!access)
      return giveUp(use.getOwner(),
                    "keeps scratch in the order of memory: it takes more or less of it than whole "
                    "tiles; leave out valid, pad, peer, signal and reduction");
    if (!mayBeSpilled(access->tile) || getNumElements(access->tile) > most)
      return giveUp(
          use.getOwner(),
          "keeps scratch in the order of memory: its tile is no accumulator, or too large; "
          "use smaller tiles, or more warpgroups");
    if (!accesses.empty() && access->tile != accesses.front().tile)
      return giveUp(
          use.getOwner(),
          "keeps scratch in the order of memory: others access it by tiles of another type; "
          "use one type, or another buffer");
    int64_t rank = access->tile.getRank();
    bool whole = type.getRank() >= rank &&
                 type.getShape().take_back(rank) == access->tile.getShape() &&
                 llvm::all_of(ArrayRef(access->offsets).take_back(rank),
                              [](Value offset) { return matchPattern(offset, m_Zero()); });
    if (!whole)
      return giveUp(
          use.getOwner(),
          "keeps scratch in the order of memory: tiles do not follow each other in it; give "
          "the buffer a dimension for them in front of those of the tile");
    accesses.push_back(*access);
  }
  return accesses;
}

void rewrite(BlockArgument buffer, const TileAccess &access) {
  OpBuilder b(access.op);
  ValueRange index = ArrayRef(access.offsets).drop_back(access.tile.getRank());
  Location loc = access.op->getLoc();
  if (auto load = dyn_cast<mk::LoadOp>(access.op)) {
    auto reload = ReloadOp::create(b, loc, access.tile, buffer, index);
    int64_t whole = mk::getSm(load).getThresholds().getReloadedElements();
    DeferOp deferral = getDeferral(load);
    if (deferral && getNumElements(access.tile) <= whole) {
      deferral.replaceAllUsesWith(reload.getTile());
      deferral.erase();
    }
    load.getTile().replaceAllUsesWith(reload.getTile());
    load.erase();
    return;
  }
  auto staged = dyn_cast<StoreOp>(access.op);
  Value tile = staged ? Value(staged.getTile()) : cast<mk::StoreOp>(access.op).getTile();
  auto staging = staged ? staged.getStaging().getDefiningOp() : nullptr;
  passed(access.op, kSpillFragments) << "stores to scratch in the order of registers";
  bool inside = staged ? staged.getInside() : cast<mk::StoreOp>(access.op).getInside();
  SpillOp::create(b, loc, tile, buffer, index, inside);
  access.op->erase();
  if (staging && staging->use_empty())
    staging->erase();
}
} // namespace

void mk_sm::spillFragments(mk::KernelOp kernel) {
  for (unsigned i = 0, e = kernel.getNumKernelArgs(); i != e; ++i)
    if (BlockArgument buffer = kernel.getKernelArg(i); kernel.getArgKind(i) == mk::ArgKind::Scratch)
      for (const TileAccess &access : findAccesses(buffer))
        rewrite(buffer, access);
}
