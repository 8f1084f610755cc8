//===- Dots.h - Which products are computed transposed ----------*- C++ -*-===//
#ifndef MKERNEL_ANALYSIS_DOTS_H
#define MKERNEL_ANALYSIS_DOTS_H

#include "mkernel/Dialect/Tile/Tile.h"

namespace mlir::mk {

/// Whether a product of so many rows and columns is computed transposed: its rows do not fill the
/// matrix unit's, but its columns do.
inline bool isTransposed(MatrixUnitAttr unit, int64_t rows, int64_t columns) {
  return rows % unit.getRows() != 0 && rows % unit.getColumnStep() == 0 &&
         columns % unit.getRows() == 0;
}

/// A tile's type as it was written, for messages: other than `tile` where mk-transpose-dots has
/// exchanged rows and columns of all products in `scope` that have this shape.
RankedTensorType getWrittenType(Operation *scope, RankedTensorType tile);

} // namespace mlir::mk

#endif // MKERNEL_ANALYSIS_DOTS_H
