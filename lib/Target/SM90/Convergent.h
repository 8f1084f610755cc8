//===- Convergent.h - Inline PTX that all threads execute -------*- C++ -*-===//
#ifndef MKERNEL_LIB_TARGET_SM90_CONVERGENT_H
#define MKERNEL_LIB_TARGET_SM90_CONVERGENT_H

namespace llvm {
class Module;
} // namespace llvm

namespace mlir::mk {

/// Marks inline PTX with side effects as convergent. MLIR's llvm.inline_asm
/// cannot say it; without it LLVM may duplicate or sink a wgmma, a barrier or
/// a shuffle into one side of a branch, where not all threads of the warp come.
void markConvergent(llvm::Module &module);

} // namespace mlir::mk

#endif // MKERNEL_LIB_TARGET_SM90_CONVERGENT_H
