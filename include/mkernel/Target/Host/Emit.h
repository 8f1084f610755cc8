//===- Emit.h - From the LLVM dialect to a package -------------*- C++ -*-===//
#ifndef MKERNEL_TARGET_HOST_EMIT_H
#define MKERNEL_TARGET_HOST_EMIT_H

#include "mlir/IR/BuiltinOps.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/Support/JSON.h"

#include <memory>
#include <string>

namespace llvm {
class LLVMContext;
class Module;
class TargetMachine;
} // namespace llvm

namespace mlir::mk {

/// A CPU that code is compiled for. Named CPUs have the features that LLVM
/// says they have; the native one those that it is found to have.
struct HostCpu {
  std::string name, features;
  /// What it has of MK_CPU_FEATURES (mkernel/ABI/Package.h).
  SmallVector<StringRef> needs;
  int64_t vectorBits = 128; // width of a vector register
  bool optimizes = true;    // whether LLVM optimises code for it
};
/// Emits an error at `loc` that says what to do if the CPU is unknown.
FailureOr<HostCpu> resolveCpu(StringRef name, bool optimizes, Location loc);

/// To LLVM IR for the CPU. Every function but the entry points of a
/// payload (mkernel/ABI/Package.h) becomes internal.
FailureOr<std::unique_ptr<llvm::Module>>
translateHostModule(ModuleOp module, const HostCpu &cpu,
                    llvm::LLVMContext &context);

/// To a position-independent ELF shared object. An undefined symbol that is
/// neither one of mkernel/ABI/HostCalls.h nor of the C library functions that
/// packages may use is an error that names it.
LogicalResult emitSharedObject(ModuleOp module, const HostCpu &cpu,
                               SmallVectorImpl<char> &object);

/// Links one relocatable object into a shared object. The linker (lld) is part
/// of this library; links of one process run one after the other.
LogicalResult linkSharedObject(Location loc, StringRef relocatable,
                               SmallVectorImpl<char> &shared);

/// To a package: measures the stack, which completes `metadata`, adds its digest to
/// the code, emits the shared object and puts both together.
LogicalResult emitPackage(ModuleOp module, const HostCpu &cpu,
                          llvm::json::Object metadata,
                          SmallVectorImpl<char> &package);

/// To a container of the packages `versions`, from a module in the LLVM dialect that has mk_select;
/// `metadata` is complete but for the CPU.
LogicalResult emitContainer(ModuleOp module, const HostCpu &cpu, llvm::json::Object metadata,
                            ArrayRef<std::string> versions, SmallVectorImpl<char> &package);

} // namespace mlir::mk

#endif // MKERNEL_TARGET_HOST_EMIT_H
