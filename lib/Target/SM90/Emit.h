//===- Emit.h - From the LLVM dialect to PTX -------------------*- C++ -*-===//
#ifndef MKERNEL_LIB_TARGET_SM90_EMIT_H
#define MKERNEL_LIB_TARGET_SM90_EMIT_H

#include "mlir/IR/BuiltinOps.h"
#include "llvm/Support/JSON.h"

#include <memory>
#include <string>

namespace llvm {
class LLVMContext;
class Module;
} // namespace llvm

namespace mlir::mk {

/// What tensor cores lose of a sum of products of 8-bit floats, relative to it: they keep
/// 13 bits of its fraction, and four steps of 32 products share an accumulator.
inline constexpr double kFp8Sums = 0x1p-11;

/// To optimised LLVM IR for sm_90a.
FailureOr<std::unique_ptr<llvm::Module>> translateDeviceModule(ModuleOp module,
                                                               llvm::LLVMContext &context);

/// To PTX text, ISA 8.6 (the newest that CUDA 12.9 assembles).
FailureOr<std::string> emitPtx(ModuleOp module);

/// Has the ptxas at `program` assemble PTX: bytes of registers that a thread of the kernel keeps
/// in memory. Emits an error at `loc` where it does not take the text.
FailureOr<int64_t> measureSpills(StringRef ptx, StringRef program, Location loc);

/// Takes the `gpu` part of the metadata, which convert-mk-sm-to-thread leaves.
FailureOr<llvm::json::Object> takeGpuMetadata(ModuleOp module);

/// Adds the constants by which a package holds the PTX of a variant (mkernel/ABI/Gpu.h) to its
/// host part.
void addDeviceCode(ModuleOp host, int64_t variant, StringRef ptx);

} // namespace mlir::mk

#endif // MKERNEL_LIB_TARGET_SM90_EMIT_H
