//===- PaddingUses.h - What becomes of a tile's padding ---------*- C++ -*-===//
#ifndef MKERNEL_ANALYSIS_PADDINGUSES_H
#define MKERNEL_ANALYSIS_PADDINGUSES_H

#include "mkernel/Dialect/Tile/Tile.h"
#include "llvm/ADT/DenseSet.h"

namespace mlir::mk {

/// Follows what lies behind the end of a dimension of a tile, at the tile level.
class PaddingUses {
public:
  /// `isEnd`: whether a store's tile ends there, or earlier, in dimension d. It compares with a
  /// `number`, which is another one in each iteration of loops around it; with `endsMasks` masks
  /// may end at this number, too.
  PaddingUses(llvm::function_ref<bool(StoreOp store, int64_t d)> isEnd, Value number,
              bool endsMasks)
      : isEnd(isEnd), number(number), endsMasks(endsMasks) {}

  /// Whether nothing of it is seen by any user of the tile. What lies along the dimension that a
  /// dot sums over always is: nothing times a NaN is a NaN.
  bool areDropped(Value tile, int64_t dim);

private:
  bool isDropped(OpOperand &use, int64_t dim);
  bool isDropped(DotOp dot, unsigned operand, int64_t dim);
  bool isDropped(MaskOp mask, int64_t dim);
  bool isYieldDropped(Operation *parent, unsigned result, int64_t dim);

  llvm::function_ref<bool(StoreOp, int64_t)> isEnd;
  Value number;
  bool endsMasks;
  llvm::DenseSet<std::pair<Value, int64_t>> seen;
};

/// Whether the copy engine brings the tile, since only products read it or since it is staged.
bool isCopied(LoadOp load);

} // namespace mlir::mk

#endif // MKERNEL_ANALYSIS_PADDINGUSES_H
