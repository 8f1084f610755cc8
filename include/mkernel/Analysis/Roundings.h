//===- Roundings.h - How coarsely a kernel rounds ---------------*- C++ -*-===//
#ifndef MKERNEL_ANALYSIS_ROUNDINGS_H
#define MKERNEL_ANALYSIS_ROUNDINGS_H

#include "mkernel/Dialect/Tile/Tile.h"

namespace mlir::mk {

/// For each argument of a kernel at the tile level: the distance from 1 to the next
/// number of the coarsest type that values are rounded to on their way to it. The last
/// rounding is left out if it gives an output its type. 0 stands for f32 and finer.
/// Control flow and indices are no values here. `fp8Sums` is what the target adds
/// products of 8-bit floats with, 0 for f32.
SmallVector<double> getRoundings(KernelOp kernel, double fp8Sums = 0);

} // namespace mlir::mk

#endif // MKERNEL_ANALYSIS_ROUNDINGS_H
