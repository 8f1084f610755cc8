//===- SliceEpilogue.h - Parts of a fold, and of what follows ---*- C++ -*-===//
#ifndef MKERNEL_LIB_TRANSFORMS_SLICEEPILOGUE_H
#define MKERNEL_LIB_TRANSFORMS_SLICEEPILOGUE_H

#include "mkernel/Analysis/StreamK.h"
#include "mlir/IR/IRMapping.h"

namespace mlir::mk {

/// `type` with `extent` elements along `axis`.
RankedTensorType cutTile(Type type, int64_t axis, int64_t extent);

/// Clones `fold` for its steps [from, to).
FoldOp cloneSteps(OpBuilder &b, FoldOp fold, IRMapping &mapping, Value from, Value to);

/// Clones what stands behind `fold` for the rows [row, row + extent) of its results (or columns, by
/// the axis of `slices`), of which `sums` are these. `mapping`: of the values in front of it.
void cloneSlice(OpBuilder &b, FoldOp fold, const FoldSlices &slices, IRMapping mapping,
                ValueRange sums, Value row, int64_t extent);

} // namespace mlir::mk

#endif // MKERNEL_LIB_TRANSFORMS_SLICEEPILOGUE_H
