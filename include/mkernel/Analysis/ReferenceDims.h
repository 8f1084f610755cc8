//===- ReferenceDims.h - Dimensions that a reference takes ------*- C++ -*-===//
#ifndef MKERNEL_ANALYSIS_REFERENCEDIMS_H
#define MKERNEL_ANALYSIS_REFERENCEDIMS_H

#include "mlir/Dialect/Func/IR/FuncOps.h"

namespace mlir::mk {

/// The last arguments of a reference may stand for dimensions of its kernel: they have
/// this attribute, the dimension's name.
inline constexpr StringLiteral kReferenceDim = "mk.dim";

/// How many do.
inline unsigned countReferenceDims(func::FuncOp reference) {
  unsigned count = 0, args = reference.getNumArguments();
  while (count != args &&
         reference.getArgAttr(args - count - 1, kReferenceDim))
    ++count;
  return count;
}

} // namespace mlir::mk

#endif // MKERNEL_ANALYSIS_REFERENCEDIMS_H
