//===- DropLimits.cpp - Whole boxes where the rest of a tile is dropped ---===//
//
// A tile that a dot multiplies comes by the copy engine, which knows no end but the argument's.
// Rows behind a `valid` become rows or columns of a product; where these are never seen, since
// every store ends at the same number or a mask replaces them, they need no zeros.
//
//===----------------------------------------------------------------------===//
#include "Functions.h"
#include "mkernel/Analysis/PaddingUses.h"
#include "mkernel/Analysis/Remarks.h"
#include "mkernel/Dialect/SM/SM.h"
#include "mkernel/Dialect/Tile/Tile.h"

using namespace mlir;
using namespace mlir::mk_sm;

static constexpr StringRef kDropLimits = "mk-sm-drop-limits";

void mk_sm::dropLimits(mk::LoadOp load) {
  // Other tiles are loaded by threads, which know where one ends.
  // Of gathered rows, those that are not valid are not looked up, so their limit stays.
  if (load.getRows() || !mk::isCopied(load))
    return;
  ArrayRef<int64_t> shape = cast<RankedTensorType>(load.getType()).getShape();
  OpBuilder b(load);
  for (auto [d, end] : llvm::enumerate(load.getValid())) {
    if (std::optional<int64_t> number = getConstantIntValue(end); number && *number >= shape[d])
      continue;
    auto isEnd = [end = end](mk::StoreOp store, int64_t dim) {
      return !store.getValid().empty() && store.getValid()[dim] == end;
    };
    if (!mk::PaddingUses(isEnd, end, /*endsMasks=*/true).areDropped(load.getResult(), d)) {
      analysis(load, kDropLimits) << remark::add(
          "is written over behind the end of dimension {0}, where that is not its argument's: its "
          "product shows what lies there",
          int64_t(d));
      continue;
    }
    passed(load, kDropLimits) << remark::add(
        "is loaded whole along dimension {0}: nothing of its product is seen behind its end",
        int64_t(d));
    load.getValidMutable()[d].set(arith::ConstantIndexOp::create(b, load.getLoc(), shape[d]));
  }
}
