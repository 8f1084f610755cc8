//===- Metadata.h - What a host package says about its kernel --*- C++ -*-===//
#ifndef MKERNEL_TARGET_HOST_METADATA_H
#define MKERNEL_TARGET_HOST_METADATA_H

#include "mkernel/Dialect/Tile/Tile.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "llvm/ADT/StringMap.h"
#include "llvm/Support/JSON.h"

namespace mlir::mk {

/// Values of dimensions that were given: one, or one for each rank.
using DimValues = llvm::StringMap<SmallVector<int64_t>>;

struct MetadataOptions {
  std::string target = "host", cpu;
  DimValues dims;
  func::FuncOp reference; // null if there is none
  llvm::json::Object params; // as packages have them; may be empty
  /// Whether to say how coarsely the kernel rounds, which is known at the tile level.
  bool roundings = true;
  double fp8Sums = 0; // see Analysis/Roundings.h
  /// Whether CTAs run roles beside others; else such a role has CTAs of its own.
  bool runsBeside = false;
};

/// The metadata of mkernel/ABI/Package.h for a kernel whose mesh is bound and
/// whose helpers are inlined, but for `stack_bytes`, which is known when it has
/// been lowered. Emits an error if roles do not fit the grid or the reference
/// does not fit the arguments.
FailureOr<llvm::json::Object> buildMetadata(KernelOp kernel,
                                            const MetadataOptions &options);

/// The name by which packages know an element type; empty if they do not.
StringRef getPackageTypeName(Type type);

/// What tools want to know of a file as it is written: for each kernel its
/// mesh, dimensions, arguments and roles.
llvm::json::Value buildSignature(ModuleOp module);

/// What the metadata says of the reference; null if there is none.
FailureOr<llvm::json::Value> describeReference(KernelOp kernel, const MetadataOptions &options);

/// The function that says what a kernel computes: `<kernel>_reference` if the
/// file has it, else `reference`; null if it has neither.
func::FuncOp findReference(KernelOp kernel);

/// Whether the reference takes, behind the kernel's inputs, a tensor for each of its
/// results, of which it may use the extents only.
bool hasDestinations(KernelOp kernel, func::FuncOp reference);

/// Stack that one CTA needs: the static allocations of all functions of a module
/// in the LLVM dialect, and slack for spills and the runtime's own frames. An
/// allocation of run-time size is an error.
FailureOr<int64_t> measureStack(ModuleOp module);

} // namespace mlir::mk

#endif // MKERNEL_TARGET_HOST_METADATA_H
