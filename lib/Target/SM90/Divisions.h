//===- Divisions.h - Quotients that ptxas gets right ------------*- C++ -*-===//
#ifndef MKERNEL_LIB_TARGET_SM90_DIVISIONS_H
#define MKERNEL_LIB_TARGET_SM90_DIVISIONS_H

namespace llvm {
class Module;
} // namespace llvm

namespace mlir::mk {

/// Writes unsigned divisions of words by a constant as multiplications whose result is shifted.
/// Without the shift, as the code generator leaves it where it can, the quotient is what
/// `mul.hi.u32` gives. Of such a quotient less a word, both widened to 64 bits and the same in all
/// threads, ptxas (12.9 to 13.5, sm_90a) makes one multiplication with an addend, -word << 32, whose
/// carry stands for that of the difference: it is missing where the word is 0, and the difference
/// is 2^32 too small.
void shiftQuotients(llvm::Module &module);

} // namespace mlir::mk

#endif // MKERNEL_LIB_TARGET_SM90_DIVISIONS_H
