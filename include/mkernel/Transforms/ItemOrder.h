//===- ItemOrder.h - The items of a loop in its order ----------*- C++ -*-===//
//
// A loop over an index space visits items 0 .. total-1; which indices item t has
// is said by the loop's order (#mk.order). Every target expands loops with the
// arithmetic here, so that an order means the same on all of them.
//
//===----------------------------------------------------------------------===//
#ifndef MKERNEL_TRANSFORMS_ITEMORDER_H
#define MKERNEL_TRANSFORMS_ITEMORDER_H

#include "mkernel/Dialect/Tile/Tile.h"
#include "mlir/IR/Builders.h"

namespace mlir::mk {

/// An index space and the order in which it is visited; all values are of type
/// index.
struct ItemSpace {
  /// Extents, none of them negative (`clampBounds`).
  SmallVector<Value> bounds;
  /// Null: row-major.
  OrderAttr order;
  /// The own range of dimension 0, {first, count}; read for `own = ...` only.
  SmallVector<Value> own;
  /// The own linear rank; read for `stagger` only.
  Value rank;
};

/// max(bound, 0) of each bound: negative extents count as zero.
SmallVector<Value> clampBounds(OpBuilder &b, Location loc, ValueRange bounds);

/// The number of items of a space with these (clamped) bounds.
Value countItems(OpBuilder &b, Location loc, ValueRange bounds);

/// The indices of item `t`, 0 <= t < countItems, one for each dimension.
SmallVector<Value> getItemIndices(OpBuilder &b, Location loc, Value t,
                                  const ItemSpace &space);

} // namespace mlir::mk

#endif // MKERNEL_TRANSFORMS_ITEMORDER_H
