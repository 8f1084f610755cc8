//===- Variants.h - Several codes of one kernel ------------------*- C++ -*-===//
//
// A package for a GPU holds a kernel in variants; each says what it needs of the arguments
// (mkernel/ABI/Gpu.h), and the first whose needs are met is launched.
//
//===----------------------------------------------------------------------===//
#ifndef MKERNEL_CONVERSION_VARIANTS_H
#define MKERNEL_CONVERSION_VARIANTS_H

#include "mkernel/Dialect/Tile/Tile.h"

namespace mlir::mk {

struct KernelVariant {
  StringRef name;
  StringRef needs; // empty: nothing
};

/// Copies tiles by tensor maps alone.
inline constexpr KernelVariant kTensorMaps{"tensor-maps", "tensor-maps"};
/// Copies by threads what no tensor map describes.
inline constexpr KernelVariant kAnyStrides{"any-strides", ""};

/// The variants of a kernel at the SM level, the preferred one first.
SmallVector<KernelVariant> listVariants(KernelOp kernel);

} // namespace mlir::mk

#endif // MKERNEL_CONVERSION_VARIANTS_H
