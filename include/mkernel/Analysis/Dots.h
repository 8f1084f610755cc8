//===- Dots.h - Which products are computed transposed ----------*- C++ -*-===//
#ifndef MKERNEL_ANALYSIS_DOTS_H
#define MKERNEL_ANALYSIS_DOTS_H

#include "mkernel/Dialect/Tile/Target.h"

namespace mlir::mk {

/// Whether a product of so many rows and columns is computed transposed: its rows do not fill the
/// matrix unit's, but its columns do.
inline bool isTransposed(MatrixUnitAttr unit, int64_t rows, int64_t columns) {
  return rows % unit.getRows() != 0 && rows % unit.getColumnStep() == 0 &&
         columns % unit.getRows() == 0;
}

} // namespace mlir::mk

#endif // MKERNEL_ANALYSIS_DOTS_H
