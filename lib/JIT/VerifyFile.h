//===- VerifyFile.h - What a file of kernels may hold ----------*- C++ -*-===//
#ifndef MKERNEL_LIB_JIT_VERIFYFILE_H
#define MKERNEL_LIB_JIT_VERIFYFILE_H

#include "mlir/IR/BuiltinOps.h"

namespace mlir::mk {

/// Refuses names that compiled code has, and what would reach LLVM beside the kernel, past all
/// verifiers: ops of the LLVM dialect and attributes that say what it compiles for, or hold
/// assembly.
LogicalResult verifyFile(ModuleOp module);

} // namespace mlir::mk

#endif // MKERNEL_LIB_JIT_VERIFYFILE_H
