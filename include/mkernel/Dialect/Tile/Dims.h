//===- Dims.h - Extents that are asked for ---------------------*- C++ -*-===//
#ifndef MKERNEL_DIALECT_TILE_DIMS_H
#define MKERNEL_DIALECT_TILE_DIMS_H

#include "mlir/IR/Operation.h"

namespace mlir::mk {

/// An error for the first memref.dim or tensor.dim in `root` that asks for a
/// dimension past the rank, which upstream leaves undefined and its rewrites
/// do not expect.
LogicalResult verifyDims(Operation *root);

} // namespace mlir::mk

#endif // MKERNEL_DIALECT_TILE_DIMS_H
