//===- Dots.h - Which products are computed transposed ----------*- C++ -*-===//
#ifndef MKERNEL_ANALYSIS_DOTS_H
#define MKERNEL_ANALYSIS_DOTS_H

#include "mkernel/Dialect/Tile/Target.h"
#include "mkernel/Dialect/Tile/Tile.h"

namespace mlir::mk {

/// Whether a product of so many rows and columns is computed transposed: its rows do not fill the
/// matrix unit's, but its columns do.
inline bool isTransposed(MatrixUnitAttr unit, int64_t rows, int64_t columns) {
  return rows % unit.getRows() != 0 && rows % unit.getColumnStep() == 0 &&
         columns % unit.getRows() == 0;
}

/// Columns of one matrix instruction of a product of so many: as many as possible, where it takes
/// several in whole chunks of 16-bit elements; 0 if there are none.
inline int64_t getInstructionColumns(SmAttr sm, int64_t columns) {
  int64_t most = sm.getMatrixUnit().getColumns(), step = sm.getChunk() / 2;
  if (columns <= most)
    return columns;
  for (int64_t part = most / step * step; part > 0; part -= step)
    if (columns % part == 0)
      return part;
  return 0;
}

/// A tile's type as it was written, for messages: other than `tile` where mk-transpose-dots has
/// exchanged rows and columns of all products in `scope` that have this shape.
RankedTensorType getWrittenType(Operation *scope, RankedTensorType tile);

} // namespace mlir::mk

#endif // MKERNEL_ANALYSIS_DOTS_H
