//===- Common.h - What the targets share ------------------------*- C++ -*-===//
#ifndef MKERNEL_TARGET_COMMON_H
#define MKERNEL_TARGET_COMMON_H

#include "mlir/IR/BuiltinOps.h"
#include "llvm/Support/JSON.h"

#include <memory>
#include <string>

namespace llvm {
class LLVMContext;
class Module;
class TargetMachine;
} // namespace llvm

namespace mlir::mk {

/// Gives an option of LLVM's command line for the whole process, for what is an option
/// nowhere else, unless the command line has it. Call it once, before code is generated.
void setLlvmOption(StringRef name, StringRef value);

/// Adds LLVM's errors to `problems`, which outlives the context: LLVM's own handler would end the
/// process.
void collectProblems(llvm::LLVMContext &context, std::string &problems);

/// From the LLVM dialect to LLVM IR, optimised for the machine by `passes`, a pipeline as LLVM's opt
/// takes it ("default<O2>"). `adjust` says what the dialect does not.
FailureOr<std::unique_ptr<llvm::Module>>
translateModule(ModuleOp module, llvm::TargetMachine &machine, llvm::LLVMContext &context,
                StringRef passes, llvm::function_ref<void(llvm::Module &)> adjust);

/// Removes the constant string `name` of a module in the LLVM dialect and gives
/// the JSON object in it. An error says that it is missing, with what it
/// `describes`, or what is wrong with its text.
FailureOr<llvm::json::Object> takeJsonConstant(ModuleOp module, StringRef name,
                                               StringRef describes);

} // namespace mlir::mk

#endif // MKERNEL_TARGET_COMMON_H
