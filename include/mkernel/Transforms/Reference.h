//===- Reference.h - Lowering of a file's own reference --------*- C++ -*-===//
//
// A kernel file may say by `func.func @reference`, on whole tensors, what the
// kernel computes. The reference is lowered apart from the kernel, through
// upstream conversions alone, to the function `mk_reference` of the package
// (mkernel/ABI/Package.h).
//
//===----------------------------------------------------------------------===//
#ifndef MKERNEL_TRANSFORMS_REFERENCE_H
#define MKERNEL_TRANSFORMS_REFERENCE_H

#include "mkernel/Dialect/Tile/Tile.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/OwningOpRef.h"
#include "mlir/Pass/Pass.h"

namespace mlir::mk {

/// A new module that holds nothing but the function and what it calls. `mk.size` becomes
/// a number, from the mesh, whose axes have sizes.
FailureOr<OwningOpRef<ModuleOp>> extractReference(func::FuncOp reference,
                                                  MeshOp mesh);

/// Replaces the function by `@mk_reference_rows(inputs..., outputs..., row,
/// rows)` on buffers, which computes rows [row, row + rows) of dimension 0 of
/// every output, all of them if rows is negative. Producers are computed only
/// as far as they are needed. With `destinations` the last arguments, as many as
/// there are results, are empty tensors with the extents of the outputs. Arguments that
/// stand for dimensions (Analysis/ReferenceDims.h) become lists of i64 behind the outputs.
LogicalResult buildReferenceEntry(func::FuncOp reference, bool destinations);

/// An assertion before each linalg op of the function's block: its operands say the same extent
/// of a loop. What simplifies ops, as a canonicalizer, and what slices them loses that they do
/// not. Ops in loops and branches are left to upstream, which verifies them when they run.
void guardExtents(func::FuncOp function);

/// Computes the producers of each slice in the function's body only as far as
/// the slice needs; what cannot be tiled is computed whole.
void sliceProducers(func::FuncOp function);

/// Makes innermost the loop along which most operands are contiguous.
void orderReferenceLoops(func::FuncOp function);

/// Calls are inlined; arithmetic on whole tensors becomes linalg ops.
void buildReferenceInput(OpPassManager &pm);

/// From tensors to buffers, each freed by whoever allocated it.
void buildReferenceBufferization(OpPassManager &pm);
/// From buffers to the LLVM dialect.
void buildReferenceToLLVM(OpPassManager &pm);

/// Adds `@mk_reference(descriptors, row, rows)` around the wrapper that upstream
/// makes, which takes each descriptor by pointer. `ranks` are those of inputs,
/// outputs, then dimensions.
LogicalResult addReferenceEntryPoint(ModuleOp module, ArrayRef<int64_t> ranks);
/// Says that an op, of another dialect or without a lowering, is none for references. Always
/// failure.
LogicalResult refuseInReference(Operation *op);

/// Makes everything but the entry point internal, under names that a kernel's
/// code cannot have. An op outside the LLVM dialect is an error.
LogicalResult hideReferenceSymbols(ModuleOp module);

/// All of the above on a module of `extractReference`; `destinations` as in
/// buildReferenceEntry.
std::unique_ptr<Pass> createLowerReferencePass(bool destinations = false);
void registerReferencePasses();

} // namespace mlir::mk

#endif // MKERNEL_TRANSFORMS_REFERENCE_H
