//===- MarkOwnReads.cpp - Loads of what no other item writes --------------===//
//
// An item that reads a tile and writes it behind that, as a step of an optimizer does: other items
// of the launch may read theirs before this one has written, since these are elsewhere.
//
//===----------------------------------------------------------------------===//
#include "Functions.h"
#include "mkernel/Analysis/Evaluate.h"
#include "mkernel/Analysis/Remarks.h"
#include "mkernel/Dialect/Tile/Buffers.h"
#include "mkernel/Dialect/Tile/Target.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"

using namespace mlir;
using namespace mlir::mk;

static constexpr StringRef kMarkOwnReads = "mk-mark-own-reads";

/// The index of an item of which the offset is a multiple, by at least `extent`; null if there is
/// none.
static BlockArgument findIndex(Value offset, int64_t extent) {
  if (auto index = dyn_cast<BlockArgument>(offset))
    return extent == 1 ? index : BlockArgument();
  auto product = offset.getDefiningOp<arith::MulIOp>();
  if (!product)
    return {};
  for (unsigned i : {0, 1})
    if (auto index = dyn_cast<BlockArgument>(product->getOperand(i));
        index && evaluateIndex(product->getOperand(1 - i)).value_or(0) >= extent)
      return index;
  return {};
}

/// Whether tiles of two items have no element in common: each index of the loop moves the tile by
/// at least its extent, in a dimension of its own.
static bool areApart(LoadOp load, ForeachOp loop) {
  auto tile = cast<RankedTensorType>(load.getType());
  int64_t outer = static_cast<int64_t>(load.getOffsets().size()) - tile.getRank();
  llvm::SmallDenseSet<Value> moved;
  for (auto [d, offset] : llvm::enumerate(load.getOffsets())) {
    int64_t inTile = static_cast<int64_t>(d) - outer;
    if (BlockArgument index = findIndex(offset, inTile < 0 ? 1 : tile.getDimSize(inTile)))
      moved.insert(index);
  }
  return llvm::all_of(llvm::zip(loop.getBounds(), loop.getBody().getArguments()), [&](auto pair) {
    auto [bound, index] = pair;
    return moved.contains(index) || evaluateIndex(bound).value_or(2) <= 1;
  });
}

/// Why other items may write what the load reads; empty if none does.
static StringRef findWriter(LoadOp load) {
  auto arg = cast<BlockArgument>(load.getSource());
  auto loop = dyn_cast<ForeachOp>(load->getParentOp());
  if (!loop || !isa<RoleOp>(loop->getParentOp()))
    return "it is not in an mk.foreach of a role itself, and so may be done for an item again";
  if (isSymmetric(arg.getType()))
    return "peers may";
  if (load.getRows() || !areApart(load, loop))
    return "tiles of two items may overlap: write their offsets as index times extent";
  for (Operation *user : arg.getUsers()) {
    if (user == load || isa<memref::DimOp>(user))
      continue;
    auto store = dyn_cast<StoreOp>(user);
    if (!store || store->getBlock() != load->getBlock() || !load->isBeforeInBlock(store) ||
        store.getOffsets() != load.getOffsets() ||
        cast<RankedTensorType>(store.getTile().getType()).getShape() !=
            cast<RankedTensorType>(load.getType()).getShape())
      return "an op takes the argument that does not store just this tile, behind the load";
  }
  return "";
}

void mk::markOwnReads(LoadOp load) {
  if (TargetAttr target = findTarget(load); target && !target.getSm())
    return;
  auto arg = dyn_cast<BlockArgument>(load.getSource());
  if (!arg || !isa<KernelOp>(arg.getOwner()->getParentOp()) || isNeverWritten(arg))
    return;
  if (StringRef writer = findWriter(load); !writer.empty()) {
    mk_sm::missed(load, kMarkOwnReads) << "may read what another item writes: " << writer.str();
    return;
  }
  load.setOwn(true);
  mk_sm::passed(load, kMarkOwnReads) << "reads what no other item writes";
}
