//===- Common.h - What the targets share ------------------------*- C++ -*-===//
#ifndef MKERNEL_TARGET_COMMON_H
#define MKERNEL_TARGET_COMMON_H

#include "mlir/IR/BuiltinOps.h"
#include "llvm/Passes/PassBuilder.h"
#include "llvm/Support/JSON.h"

namespace llvm {
class Module;
class TargetMachine;
} // namespace llvm

namespace mlir::mk {

/// Gives an option of LLVM's command line for the whole process, for what is an option
/// nowhere else, unless the command line has it. Call it once, before code is generated.
void setLlvmOption(StringRef name, StringRef value);

/// LLVM's default pipeline at -O3.
void optimizeModule(llvm::Module &module, llvm::TargetMachine &machine,
                    const llvm::PipelineTuningOptions &tuning);

/// Removes the constant string `name` of a module in the LLVM dialect and gives
/// the JSON object in it. An error says that it is missing, with what it
/// `describes`, or what is wrong with its text.
FailureOr<llvm::json::Object> takeJsonConstant(ModuleOp module, StringRef name,
                                               StringRef describes);

} // namespace mlir::mk

#endif // MKERNEL_TARGET_COMMON_H
