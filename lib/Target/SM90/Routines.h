//===- Routines.h - Code that kernels share until they are PTX --*- C++ -*-===//
//
// Waits, checks and divisions are functions of the module (lib/Target/SM90/ThreadToLLVM/Blocks.h).
// With calls ptxas ignores setmaxnreg (C7507), so their code has to stand in the kernel. LLVM would
// compile each copy of it, and move parts of it to where they take registers from the code around.
// So LLVM compiles calls, and each function once; calls are replaced in its output, where a block
// in braces has its own registers and labels.
//
//===----------------------------------------------------------------------===//
#ifndef MKERNEL_LIB_TARGET_SM90_ROUTINES_H
#define MKERNEL_LIB_TARGET_SM90_ROUTINES_H

#include "mlir/Support/LLVM.h"

#include <string>

namespace llvm {
class Module;
} // namespace llvm

namespace mlir::mk {

/// Has optimisations leave routines as they are, and conclude nothing from them.
void hideRoutines(llvm::Module &module);
/// Has the code generator compile them as other functions.
void showRoutines(llvm::Module &module);

/// Replaces calls of functions by their code, and drops the functions. Fails, with a reason, where
/// the text is not what LLVM makes of routines.
FailureOr<std::string> expandRoutines(StringRef ptx, std::string &problem);

} // namespace mlir::mk

#endif // MKERNEL_LIB_TARGET_SM90_ROUTINES_H
