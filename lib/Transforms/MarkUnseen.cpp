//===- MarkUnseen.cpp - Tiles whose padding nobody sees -------------------===//
//
// A tile that reaches behind the end of its buffer has zeros there, which the copy engine takes
// longer to write than to copy as much. Where they become rows or columns of a product of which
// the stores, which end at the same place, keep nothing, these boxes need not come at all.
//
//===----------------------------------------------------------------------===//
#include "Functions.h"
#include "mkernel/Analysis/PaddingUses.h"
#include "mkernel/Analysis/Remarks.h"
#include "mkernel/Dialect/Tile/Target.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"

using namespace mlir;
using namespace mlir::mk;
using mlir::mk_sm::passed;

static constexpr StringRef kMarkUnseen = "mk-mark-unseen";

/// The extent of the argument's dimension that is dimension d of a tile of this rank.
static std::optional<int64_t> getExtent(Value buffer, int64_t rank, int64_t d) {
  auto argument = dyn_cast<BlockArgument>(buffer);
  auto kernel = argument ? dyn_cast<KernelOp>(argument.getOwner()->getParentOp()) : KernelOp();
  if (!kernel || argument.getArgNumber() < kernel.getNumDims())
    return std::nullopt;
  return kernel.getArgExtent(argument.getArgNumber() - kernel.getNumDims(),
                             cast<MemRefType>(buffer.getType()).getRank() - rank + d);
}

void mk::markUnseen(LoadOp load) {
  // Other tiles are loaded by threads, which know where one ends; a pad is written over.
  TargetAttr target = findTarget(load);
  if (!target || !target.getSm() || load.getRows() || load.getPad() || !isCopied(load))
    return;
  auto tile = cast<RankedTensorType>(load.getType());
  SmallVector<int64_t> unseen;
  for (int64_t d = std::max<int64_t>(tile.getRank() - 2, 0); d != tile.getRank(); ++d) {
    // Where it is not known most tiles are whole, and looking takes registers. Nor do tiles reach
    // behind the end of a multiple, also where items are rounded up to whole clusters.
    std::optional<int64_t> extent = getExtent(load.getSource(), tile.getRank(), d);
    if (!extent || *extent % (tile.getDimSize(d) * target.getSm().getCluster()) == 0)
      continue;
    // Elements that do not exist here are stored where there is nothing. Tiles that end within the
    // buffer, as those of groups, are not cut by its end but for the last ones.
    auto isEnd = [&](StoreOp store, int64_t dim) {
      auto stored = cast<RankedTensorType>(store.getTile().getType());
      int64_t rank = stored.getRank();
      if (!store.getValid().empty() &&
          getConstantIntValue(store.getValid()[dim]).value_or(0) < stored.getDimSize(dim))
        return false;
      std::optional<int64_t> to = getExtent(store.getDest(), rank, dim);
      return to && *to <= *extent && // of all ranks alike, where it is known
             store.getOffsets()[store.getOffsets().size() - rank + dim] == load.getTileOffset(d);
    };
    if (!PaddingUses(isEnd).areDropped(load.getResult(), d))
      continue;
    unseen.push_back(d);
    passed(load, kMarkUnseen) << remark::add(
        "comes without boxes that lie behind the end of dimension {0}: nobody sees them", d);
  }
  if (!unseen.empty())
    load.setUnseen(unseen);
}
