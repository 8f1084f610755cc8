//===- Binding.h - Sizes given on the command line -------------*- C++ -*-===//
#ifndef MKERNEL_LIB_JIT_BINDING_H
#define MKERNEL_LIB_JIT_BINDING_H

#include "mkernel/Compiler/Compiler.h"
#include "mkernel/Dialect/Tile/Tile.h"
#include "mkernel/Target/Host/Metadata.h"

namespace mlir::mk {

/// What the options say about one kernel, checked.
struct Binding {
  std::vector<std::string> sizes;  // name=value, axes and uniform dimensions
  std::vector<std::string> params; // name=value
  DimValues dims;                  // dimensions of either kind

  /// name=value:value:... for what is in `dims` and not in `sizes`.
  SmallVector<std::string> rankSizes() const;
};

/// Emits errors that list what there is to bind.
FailureOr<Binding> resolveBinding(KernelOp kernel, const CompileOptions &options);

} // namespace mlir::mk

#endif // MKERNEL_LIB_JIT_BINDING_H
