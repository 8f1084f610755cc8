//===- PaddingUses.h - What becomes of a tile's padding ---------*- C++ -*-===//
#ifndef MKERNEL_ANALYSIS_PADDINGUSES_H
#define MKERNEL_ANALYSIS_PADDINGUSES_H

#include "mkernel/Dialect/Tile/Tile.h"
#include "llvm/ADT/DenseSet.h"

namespace mlir::mk {

/// Follows what lies behind the end of a dimension of a tile, at the tile level.
class PaddingUses {
public:
  /// `isEnd`: whether a store's tile ends there, or earlier, in dimension d.
  explicit PaddingUses(llvm::function_ref<bool(StoreOp store, int64_t d)> isEnd) : isEnd(isEnd) {}
  /// The end is a number, at which masks may end, too.
  PaddingUses(llvm::function_ref<bool(StoreOp, int64_t)> isEnd, Value limit)
      : isEnd(isEnd), limit(limit) {}

  /// Whether nothing of it is seen by any user of the tile. What lies along the dimension that a
  /// dot sums over always is: nothing times a NaN is a NaN.
  bool areDropped(Value tile, int64_t dim);

private:
  bool isDropped(OpOperand &use, int64_t dim);
  bool isDropped(DotOp dot, unsigned operand, int64_t dim);
  bool isDropped(MaskOp mask, int64_t dim);
  bool isYieldDropped(Operation *parent, unsigned number, int64_t dim);

  llvm::function_ref<bool(StoreOp, int64_t)> isEnd;
  Value limit;
  llvm::DenseSet<std::pair<Value, int64_t>> seen;
};

/// Whether the copy engine brings the tile, since only products read it or since it is staged.
bool isCopied(LoadOp load);

} // namespace mlir::mk

#endif // MKERNEL_ANALYSIS_PADDINGUSES_H
