//===- FloatPipeline.h - Floats that CPUs do not calculate with -*- C++ -*-===//
#ifndef MKERNEL_TRANSFORMS_FLOATPIPELINE_H
#define MKERNEL_TRANSFORMS_FLOATPIPELINE_H

#include "mlir/Pass/PassManager.h"

namespace mlir::mk {

/// Arithmetic and functions on floats of 16 and 8 bits, on scalars or vectors, become those of f32;
/// conversions round once. For kernels of the host target and for references.
void buildFloatPipeline(OpPassManager &pm);

} // namespace mlir::mk

#endif // MKERNEL_TRANSFORMS_FLOATPIPELINE_H
