//===- StreamK.cpp - How items are divided among CTAs ---------------------===//
//
// A split item's parts are added up slice by slice where everything behind the fold works on each
// row (in a transposed tile: column) by itself. First down from the fold's results: what follows
// from them is sliced along the same dimension. Then up: so is what it is computed with, as a bias
// or a residual.
//
//===----------------------------------------------------------------------===//
#include "mkernel/Analysis/StreamK.h"
#include "mkernel/Dialect/Tile/Buffers.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/Matchers.h"

using namespace mlir;
using namespace mlir::mk;

LogicalResult mk::verifyBefore(FoldOp fold, StringRef who) {
  Operation *found = nullptr;
  for (Operation &op : llvm::make_range(fold->getBlock()->begin(), fold->getIterator()))
    op.walk([&](Operation *inner) {
      // To order twice what was done changes nothing.
      if (!found && hasVisibleEffect(inner) && !isa<FenceOp, SettleOp>(inner))
        found = inner;
    });
  if (!found)
    return success();
  return found->emitOpError() << "stands before the fold that " << who
                              << ", and would take effect for each part: move it behind the fold, "
                                 "or use schedule(ticket)";
}

FoldSlices::FoldSlices(FoldOp fold, int64_t axis) : fold(fold) {
  SmallVector<Operation *> behind;
  for (Operation *op = fold->getNextNode(); op; op = op->getNextNode())
    behind.push_back(op);
  (void)(visitResults(axis) && llvm::all_of(behind, [&](Operation *op) { return visitDown(op); }) &&
         llvm::all_of(llvm::reverse(behind), [&](Operation *op) { return visitUp(op); }) &&
         llvm::all_of(behind, [&](Operation *op) { return agrees(op); }));
}

bool FoldSlices::isUniform(Value tile) {
  SplatElementsAttr splat;
  return tile.getDefiningOp<tensor::SplatOp>() || matchPattern(tile, m_Constant(&splat));
}

std::optional<int64_t> FoldSlices::getAxis(Value tile) const {
  auto it = axes.find(tile);
  return it == axes.end() ? std::nullopt : std::optional(it->second);
}

/// The dimension of the result that `axis` of what is repeated becomes.
static int64_t getAxisBehind(BroadcastOp op, int64_t axis) {
  int64_t result = 0;
  for (; axis || llvm::is_contained(op.getDims(), result); ++result)
    axis -= !llvm::is_contained(op.getDims(), result);
  return result;
}

std::optional<int64_t> FoldSlices::getAxisBefore(Operation *op, int64_t axis) {
  if (isa<TransposeOp>(op))
    return 1 - axis;
  if (auto reduce = dyn_cast<ReduceOp>(op))
    return axis + (int64_t(reduce.getAxis()) <= axis);
  auto broadcast = dyn_cast<BroadcastOp>(op);
  if (!broadcast)
    return axis;
  if (llvm::is_contained(broadcast.getDims(), axis))
    return std::nullopt;
  return axis - llvm::count_if(broadcast.getDims(), [&](int64_t d) { return d < axis; });
}

bool FoldSlices::fail(Operation *op, StringRef why) {
  obstacle = why;
  obstacleOp = op;
  return false;
}

/// An op that needs more than a slice of tiles that are cut along `axis`.
bool FoldSlices::failWhole(Operation *op, int64_t axis, int64_t rank) {
  if (isa<MaskOp, IotaOp>(op))
    return fail(op, "asks where elements are in the whole tile");
  return fail(op, rank == 1   ? "works on more than one element at a time"
                  : axis == 0 ? "works on more than one row at a time"
                              : "works on more than one column at a time");
}

bool FoldSlices::visitResults(int64_t axis) {
  if (!isa_and_nonnull<ReductionAttr>(fold.getCombineAttr()))
    return fail(fold, "is combined by a function");
  int64_t extent = 0;
  for (Value result : fold.getResults()) {
    auto type = dyn_cast<RankedTensorType>(result.getType());
    // Where columns are cut, what is carried of each row is needed for all of them.
    if (axis && type && type.getRank() == 1)
      continue;
    if (!type || type.getRank() <= axis || (extent && type.getDimSize(axis) != extent))
      return fail(fold, axis ? "carries what are no matrices of as many columns"
                             : "carries tiles of different numbers of rows");
    extent = type.getDimSize(axis);
    axes[result] = axis;
  }
  return true;
}

/// What follows from sliced tiles.
bool FoldSlices::visitDown(Operation *op) {
  bool slices = llvm::any_of(op->getOperands(), [&](Value v) { return axes.contains(v); });
  if (op->getNumRegions()) {
    op->walk([&](Operation *inner) {
      slices |= llvm::any_of(inner->getOperands(), [&](Value v) { return axes.contains(v); });
    });
    if (slices || !isMemoryEffectFree(op))
      return fail(op, "has control flow");
    return true;
  }
  if (auto store = dyn_cast<StoreOp>(op)) {
    if (store.getTile().getDefiningOp() == fold && !axes.contains(store.getTile()))
      return fail(op, "stores what is carried whole, as all CTAs of an item would");
    if (!axes.contains(store.getTile()))
      return fail(op, "stores what does not follow from the fold");
    if (store.getPeer())
      return fail(op, "stores at a peer");
    if (store.getSignal())
      return fail(op, "raises a signal with its store");
    if (store.getReduction())
      return fail(op, "adds to what is stored");
    if (!store.getValid().empty())
      return fail(op, "stores a tile with a limit of its own");
    return true;
  }
  if (!isMemoryEffectFree(op) && !isa<LoadOp>(op))
    return fail(op, "would take effect for each slice");
  if (!slices)
    return true;
  std::optional<int64_t> axis;
  int64_t rank = 0; // of what is cut
  for (Value operand : op->getOperands())
    if (std::optional<int64_t> known = getAxis(operand); known && axis.value_or(*known) != *known)
      return fail(op, "joins tiles that are cut along different dimensions");
    else if (known)
      axis = known, rank = cast<RankedTensorType>(operand.getType()).getRank();
  auto reduce = dyn_cast<ReduceOp>(op);
  int64_t along = reduce ? int64_t(reduce.getAxis()) : -1;
  if (isa<TransposeOp>(op))
    axes[op->getResult(0)] = 1 - *axis;
  else if (reduce && along != *axis)
    axes[op->getResult(0)] = *axis - (along < *axis);
  else if (auto broadcast = dyn_cast<BroadcastOp>(op))
    axes[op->getResult(0)] = getAxisBehind(broadcast, *axis);
  else if (OpTrait::hasElementwiseMappableTraits(op) && op->getNumResults() == 1)
    axes[op->getResult(0)] = *axis;
  else
    return failWhole(op, *axis, rank);
  return true;
}

/// Cuts `tile`, which `user` computes with.
bool FoldSlices::require(Operation *user, Value tile, int64_t axis) {
  if (!isTile(tile.getType()) || isUniform(tile))
    return true;
  if (auto [it, isNew] = axes.try_emplace(tile, axis); !isNew)
    return it->second == axis || fail(user, "joins tiles that are cut along different dimensions");
  Operation *op = tile.getDefiningOp();
  if (op == fold)
    return fail(user, "needs a part of a vector that is carried whole");
  if (!op || op->getBlock() != fold->getBlock() || op->isBeforeInBlock(fold))
    return fail(user, "computes with a tile from in front of the fold");
  return true;
}

/// What sliced tiles are computed with.
bool FoldSlices::visitUp(Operation *op) {
  if (isa<StoreOp>(op) || op->getNumResults() != 1)
    return true;
  std::optional<int64_t> axis = getAxis(op->getResult(0));
  if (!axis)
    return true;
  if (auto load = dyn_cast<LoadOp>(op))
    return load.getValid().empty() || fail(op, "loads a tile with a limit of its own");
  if (!isa<TransposeOp, BroadcastOp, ReduceOp>(op) && !OpTrait::hasElementwiseMappableTraits(op))
    return failWhole(op, *axis, cast<RankedTensorType>(op->getResult(0).getType()).getRank());
  std::optional<int64_t> before = getAxisBefore(op, *axis);
  return !before || llvm::all_of(op->getOperands(),
                                 [&](Value operand) { return require(op, operand, *before); });
}

/// What is needed whole is not cut for another op.
bool FoldSlices::agrees(Operation *op) {
  bool needsWhole = false;
  if (op->getNumResults() == 1) {
    std::optional<int64_t> axis = getAxis(op->getResult(0));
    needsWhole = !axis || !getAxisBefore(op, *axis);
  }
  bool cut = llvm::any_of(op->getOperands(), [&](Value v) { return axes.contains(v); });
  return !needsWhole || !cut || fail(op, "needs tiles whole that are cut for another op");
}
