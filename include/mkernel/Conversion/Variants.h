//===- Variants.h - Which variants a kernel has ------------------*- C++ -*-===//
#ifndef MKERNEL_CONVERSION_VARIANTS_H
#define MKERNEL_CONVERSION_VARIANTS_H

#include "mkernel/Dialect/SM/Variants.h"
#include "mkernel/Dialect/Tile/Tile.h"

namespace mlir::mk {

/// The variants of a kernel at the SM level, the preferred one first.
SmallVector<KernelVariant> listVariants(KernelOp kernel);

} // namespace mlir::mk

#endif // MKERNEL_CONVERSION_VARIANTS_H
