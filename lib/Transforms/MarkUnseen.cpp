//===- MarkUnseen.cpp - Tiles whose padding nobody sees -------------------===//
//
// A tile that reaches behind the end of its buffer has zeros there, which the copy engine takes
// longer to write than to copy as much. Where they become rows or columns of a product of which
// the stores, which end at the same place, keep nothing, these boxes need not come at all.
//
//===----------------------------------------------------------------------===//
#include "Functions.h"
#include "mkernel/Analysis/Evaluate.h"
#include "mkernel/Analysis/PaddingUses.h"
#include "mkernel/Analysis/Remarks.h"
#include "mkernel/Dialect/Tile/Target.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
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

/// The largest value of an index, where it is known: of a sum or a product of what is not negative,
/// as indices of loops.
static std::optional<int64_t> getMost(Value index) {
  if (std::optional<int64_t> number = evaluateIndex(index))
    return number;
  if (isa<BlockArgument>(index)) {
    Value end = getLoopEnd(index);
    std::optional<int64_t> count = end ? evaluateIndex(end) : std::nullopt;
    return count ? std::optional(*count - 1) : std::nullopt;
  }
  Operation *op = index.getDefiningOp();
  if (!isa<arith::AddIOp, arith::MulIOp>(op))
    return std::nullopt;
  std::optional<int64_t> x = getMost(op->getOperand(0)), y = getMost(op->getOperand(1));
  if (!x || !y || *x < 0 || *y < 0)
    return std::nullopt;
  return isa<arith::AddIOp>(op) ? *x + *y : *x * *y;
}

/// Whether a box may begin behind the end: a whole tile, one of several chunks of columns, or the
/// half of the rows that another CTA of a cluster may fetch. Or whether smaller boxes of rows may.
/// Not where the tile may begin in front of the buffer.
static bool maySaveBoxes(LoadOp load, SmAttr sm, int64_t d, int64_t extent) {
  std::optional<int64_t> most = getMost(load.getTileOffset(d));
  if (!most || *most < 0)
    return false;
  auto tile = cast<RankedTensorType>(load.getType());
  int64_t size = tile.getDimSize(d);
  if (d != tile.getRank() - 1) {
    ThresholdsAttr thresholds = sm.getThresholds();
    bool isEdge = extent < size || (extent <= thresholds.getEdgeTiles() * size && extent % size &&
                                    size - extent % size >= size / thresholds.getEdgeBoxes());
    return isEdge || *most + size / 2 >= extent;
  }
  int64_t chunk = 8 * sm.getChunk() / std::max(8u, tile.getElementTypeBitWidth());
  int64_t last = (llvm::divideCeil(size, chunk) - 1) * chunk;
  return *most + last >= extent;
}

void mk::markUnseen(LoadOp load) {
  // Other tiles are loaded by threads, which know where one ends; a pad is written over.
  TargetAttr target = findTarget(load);
  if (!target || !target.getSm() || load.getRows() || load.getPad() || !isCopied(load))
    return;
  auto tile = cast<RankedTensorType>(load.getType());
  SmallVector<int64_t> unseen;
  for (int64_t d = std::max<int64_t>(tile.getRank() - 2, 0); d != tile.getRank(); ++d) {
    // Where it is not known most tiles are whole, and looking takes registers.
    std::optional<int64_t> extent = getExtent(load.getSource(), tile.getRank(), d);
    if (!extent || !maySaveBoxes(load, target.getSm(), d, *extent))
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
    if (!PaddingUses(isEnd, load.getTileOffset(d), /*endsMasks=*/false)
             .areDropped(load.getResult(), d))
      continue;
    unseen.push_back(d);
    passed(load, kMarkUnseen) << remark::add(
        "comes without boxes that lie behind the end of dimension {0}: nobody sees them", d);
  }
  if (!unseen.empty())
    load.setUnseen(unseen);
}
