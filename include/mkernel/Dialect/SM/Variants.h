//===- Variants.h - Several codes of one kernel ------------------*- C++ -*-===//
//
// A package for a GPU holds a kernel in variants; each says what it needs of the arguments
// (mkernel/ABI/Gpu.h), and the first whose needs are met is launched.
//
//===----------------------------------------------------------------------===//
#ifndef MKERNEL_DIALECT_SM_VARIANTS_H
#define MKERNEL_DIALECT_SM_VARIANTS_H

#include "mlir/Support/LLVM.h"
#include "llvm/ADT/StringRef.h"

namespace mlir::mk {

struct KernelVariant {
  StringRef name;
  StringRef needs; // empty: nothing
};

/// Copies tiles by tensor maps alone.
inline constexpr KernelVariant kTensorMaps{"tensor-maps", "tensor-maps"};
/// Copies by threads what no tensor map describes.
inline constexpr KernelVariant kAnyStrides{"any-strides", ""};

} // namespace mlir::mk

#endif // MKERNEL_DIALECT_SM_VARIANTS_H
