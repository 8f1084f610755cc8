//===- ExpandShapes.h - Dimensions that become several ----------*- C++ -*-===//
#ifndef MKERNEL_LIB_TRANSFORMS_REFERENCE_EXPANDSHAPES_H
#define MKERNEL_LIB_TRANSFORMS_REFERENCE_EXPANDSHAPES_H

#include "mlir/IR/BuiltinOps.h"

namespace mlir::mk {

/// Replaces memref.expand_shape to extents that are not known by a view with these extents.
void expandShapes(ModuleOp module);

} // namespace mlir::mk

#endif // MKERNEL_LIB_TRANSFORMS_REFERENCE_EXPANDSHAPES_H
