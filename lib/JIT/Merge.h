//===- Merge.h - Modules in the LLVM dialect -------------------*- C++ -*-===//
#ifndef MKERNEL_LIB_JIT_MERGE_H
#define MKERNEL_LIB_JIT_MERGE_H

#include "mlir/IR/BuiltinOps.h"
#include "llvm/Support/JSON.h"

namespace mlir::mk {

/// Moves what `from` holds into `to`. Both may declare the same functions.
void mergeModule(ModuleOp to, ModuleOp from);

/// A module in the LLVM dialect carries the metadata of its package in the
/// constant @mk_metadata, so that it can be printed and fed back in.
void setMetadata(ModuleOp module, const llvm::json::Value &metadata);
bool hasMetadata(ModuleOp module);
/// Removes it from the module.
FailureOr<llvm::json::Object> takeMetadata(ModuleOp module);

} // namespace mlir::mk

#endif // MKERNEL_LIB_JIT_MERGE_H
