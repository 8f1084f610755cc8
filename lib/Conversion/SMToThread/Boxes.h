//===- Boxes.h - What the copy engine moves at once --------------*- C++ -*-===//
#ifndef MKERNEL_LIB_CONVERSION_SMTOTHREAD_BOXES_H
#define MKERNEL_LIB_CONVERSION_SMTOTHREAD_BOXES_H

#include "mkernel/Dialect/SM/SM.h"

namespace mlir::mk::sm {

/// In what a tile is copied into a slot, or what one of `shared` CTAs brings of its rows.
struct CopyBox {
  /// One chunk of columns, innermost last. Empty if the copy engine cannot copy the tile.
  SmallVector<int64_t> extents;
  /// It has all rows of the source, which are fewer than the CTA would bring: nobody sees what lies
  /// behind them.
  bool hasAllRows = false;
};
CopyBox getCopyBox(mk_sm::CopyOp copy);

/// In what a tile is stored through staging, as above.
SmallVector<int64_t> getStoreBox(mk_sm::StoreOp store);
/// How many rows of a tile are staged, and stored, together.
int64_t getStagedRows(mk_sm::StoreOp store);

} // namespace mlir::mk::sm

#endif // MKERNEL_LIB_CONVERSION_SMTOTHREAD_BOXES_H
