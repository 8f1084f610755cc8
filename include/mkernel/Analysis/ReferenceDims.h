//===- ReferenceDims.h - Dimensions that a reference takes ------*- C++ -*-===//
#ifndef MKERNEL_ANALYSIS_REFERENCEDIMS_H
#define MKERNEL_ANALYSIS_REFERENCEDIMS_H

#include "mkernel/Dialect/Tile/Tile.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"

namespace mlir::mk {

/// How many arguments of a reference stand for dimensions of its kernel (kReferenceDim).
inline unsigned countReferenceDims(func::FuncOp reference) {
  unsigned count = 0, args = reference.getNumArguments();
  while (count != args &&
         reference.getArgAttr(args - count - 1, kReferenceDim))
    ++count;
  return count;
}

} // namespace mlir::mk

#endif // MKERNEL_ANALYSIS_REFERENCEDIMS_H
