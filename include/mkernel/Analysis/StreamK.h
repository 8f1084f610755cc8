//===- StreamK.h - How items are divided among CTAs ------------*- C++ -*-===//
#ifndef MKERNEL_ANALYSIS_STREAMK_H
#define MKERNEL_ANALYSIS_STREAMK_H

#include "mkernel/Dialect/Tile/Tile.h"
#include "llvm/ADT/DenseMap.h"

namespace mlir::mk {

/// Nothing that stands in front of a fold of which parts are made, by what `who` says, may take
/// effect: it would for each part.
LogicalResult verifyBefore(FoldOp fold, StringRef who);

/// Whether what stands behind a fold can be done for some rows of its results at a time (or
/// columns: for what is cut along `axis`), and which tiles are cut for that.
class FoldSlices {
public:
  explicit FoldSlices(FoldOp fold, int64_t axis = 0);

  /// Why the whole tiles are needed at once, and the op, or null.
  StringRef getObstacle() const { return obstacle; }
  Operation *getObstacleOp() const { return obstacleOp; }
  explicit operator bool() const { return obstacle.empty(); }

  /// The dimension of `tile` that is cut as the rows of the fold's results are; none if it is
  /// the same for all slices.
  std::optional<int64_t> getAxis(Value tile) const;
  /// Whether all elements of `tile` are one value, so that it can be made anew of any extents.
  static bool isUniform(Value tile);
  /// The dimension along which the tiles are cut that `op`, whose result is cut along `axis`,
  /// computes with; none if they are the same for all slices.
  static std::optional<int64_t> getAxisBefore(Operation *op, int64_t axis);

private:
  bool visitResults(int64_t axis);
  bool visitDown(Operation *op);
  bool visitUp(Operation *op);
  bool require(Operation *user, Value tile, int64_t axis);
  bool agrees(Operation *op);
  bool fail(Operation *op, StringRef why);
  bool failWhole(Operation *op, int64_t axis, int64_t rank);

  FoldOp fold;
  llvm::DenseMap<Value, int64_t> axes;
  StringRef obstacle;
  Operation *obstacleOp = nullptr;
};

} // namespace mlir::mk

#endif // MKERNEL_ANALYSIS_STREAMK_H
