//===- Boxes.cpp - What the copy engine moves at once ---------------------===//
#include "Boxes.h"
#include "mkernel/Analysis/Resources.h"
#include "mkernel/Dialect/Thread/Thread.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace mlir::mk;
using namespace mlir::mk::sm;
using namespace mlir::mk_sm;

/// A box of `rows` rows and a chunk's columns in a buffer.
static SmallVector<int64_t> makeBox(Value buffer, int64_t rows, SmAttr sm) {
  auto memory = cast<MemRefType>(buffer.getType());
  if (memory.getRank() < 2 || memory.getRank() > sm.getTensorMaps().getRank())
    return {};
  SmallVector<int64_t> box(memory.getRank(), 1);
  box.end()[-1] = sm.getChunk() / mk_thread::getElementBytes(memory.getElementType());
  box.end()[-2] = rows;
  return box;
}

/// How many rows the source has, if nobody sees what a tile has behind them; none if it is not
/// known.
static std::optional<int64_t> getRowsBeforeEnd(CopyOp copy) {
  RankedTensorType tile = copy.getTileType();
  if (tile.getRank() < 2 || !copy.isUnseen(tile.getRank() - 2))
    return std::nullopt;
  auto kernel = copy->getParentOfType<KernelOp>();
  unsigned dim = cast<MemRefType>(copy.getSource().getType()).getRank() - 2;
  int64_t rows = 1;
  for (unsigned arg : getPossibleArgs(kernel, copy.getSource())) {
    std::optional<int64_t> extent = kernel.getArgExtent(arg, dim);
    if (!extent)
      return std::nullopt;
    rows = std::max(rows, *extent);
  }
  return rows;
}

/// Of `rows` that a CTA brings, in this many boxes or more: in how many, so that the last tile, of
/// which `left` rows are its own, comes with few rows behind the end.
static int64_t divideForEdge(int64_t rows, int64_t left, int64_t boxes, ThresholdsAttr thresholds) {
  auto getCost = [&](int64_t number) {
    return llvm::alignTo(left, rows / number) + number * thresholds.getEdgeRows();
  };
  int64_t best = boxes;
  for (int64_t number = boxes + 1; number <= thresholds.getEdgeBoxes() * boxes; ++number)
    if (rows % number == 0 && rows / number % 8 == 0 && getCost(number) < getCost(best))
      best = number;
  return best;
}

CopyBox sm::getCopyBox(CopyOp copy) {
  SmAttr sm = getSm(copy);
  int64_t tile = copy.getTileType().getShape().end()[-2], rows = tile / copy.getShared(),
          most = sm.getTensorMaps().getBox();
  std::optional<int64_t> end = getRowsBeforeEnd(copy);
  if (end && *end < rows && *end <= most)
    return {makeBox(copy.getSource(), *end, sm), /*hasAllRows=*/true};
  int64_t boxes = llvm::divideCeil(rows, most);
  while (rows % boxes || rows / boxes % 8)
    if (++boxes > rows)
      return {};
  int64_t left = end ? *end % tile % rows : 0;
  ThresholdsAttr thresholds = sm.getThresholds();
  if (left && *end <= thresholds.getEdgeTiles() * tile)
    boxes = divideForEdge(rows, left, boxes, thresholds);
  return {makeBox(copy.getSource(), rows / boxes, sm)};
}

int64_t sm::getStagedRows(mk_sm::StoreOp store) {
  return store.getPosted() ? getSm(store).getThresholds().getPostedRows()
                           : countStoreRows(store.getTile().getType());
}

SmallVector<int64_t> sm::getStoreBox(mk_sm::StoreOp store) {
  return makeBox(store.getDest(), getStagedRows(store), getSm(store));
}
