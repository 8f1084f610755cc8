//===- Reductions.h - Reductions as arith names them ------------*- C++ -*-===//
#ifndef MKERNEL_TRANSFORMS_REDUCTIONS_H
#define MKERNEL_TRANSFORMS_REDUCTIONS_H

#include "mkernel/Dialect/Tile/Tile.h"
#include "mlir/Dialect/Arith/IR/Arith.h"

namespace mlir::mk {

inline arith::AtomicRMWKind getReductionKind(Reduction kind, Type element) {
  using Kind = arith::AtomicRMWKind;
  bool isFloat = isa<FloatType>(element);
  switch (kind) {
  case Reduction::Add:
    return isFloat ? Kind::addf : Kind::addi;
  case Reduction::Mul:
    return isFloat ? Kind::mulf : Kind::muli;
  case Reduction::Max:
    return isFloat ? Kind::maximumf : Kind::maxs;
  case Reduction::Min:
    return isFloat ? Kind::minimumf : Kind::mins;
  }
  llvm_unreachable("unknown reduction");
}

} // namespace mlir::mk

#endif // MKERNEL_TRANSFORMS_REDUCTIONS_H
