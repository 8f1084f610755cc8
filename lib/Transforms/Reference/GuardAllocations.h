//===- GuardAllocations.h - Temporaries without memory ---------*- C++ -*-===//
#ifndef MKERNEL_LIB_TRANSFORMS_REFERENCE_GUARDALLOCATIONS_H
#define MKERNEL_LIB_TRANSFORMS_REFERENCE_GUARDALLOCATIONS_H

#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/IR/BuiltinOps.h"

namespace mlir::mk {

/// Has temporaries of impossible extents reported: before buffers are lowered.
LogicalResult guardAllocations(ModuleOp module);
/// Has it reported that there is no memory for a temporary: behind the lowering.
void guardMemory(LLVM::LLVMFuncOp function);

} // namespace mlir::mk

#endif // MKERNEL_LIB_TRANSFORMS_REFERENCE_GUARDALLOCATIONS_H
