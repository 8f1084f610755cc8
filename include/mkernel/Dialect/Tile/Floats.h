//===- Floats.h - Types of floats that targets calculate with ---*- C++ -*-===//
#ifndef MKERNEL_DIALECT_TILE_FLOATS_H
#define MKERNEL_DIALECT_TILE_FLOATS_H

#include "mlir/IR/BuiltinTypes.h"
#include "mlir/IR/Operation.h"
#include "mlir/IR/TypeUtilities.h"

namespace mlir::mk {

inline bool isFp8(Type type) {
  return isa<Float8E4M3FNType, Float8E5M2Type>(getElementTypeOrSelf(type));
}

/// Whether an op takes or gives floats that targets have no code for.
inline bool hasUnknownFloat(Operation *op) {
  auto isUnknown = [](Type type) {
    Type element = getElementTypeOrSelf(type);
    return isa<FloatType>(element) && !isFp8(element) &&
           !isa<BFloat16Type, Float16Type, Float32Type, Float64Type>(element);
  };
  return llvm::any_of(op->getOperandTypes(), isUnknown) ||
         llvm::any_of(op->getResultTypes(), isUnknown);
}
/// What to use instead.
inline constexpr StringLiteral kFloatTypes =
    "floats are f64, f32, f16, bf16, f8E4M3FN and f8E5M2 (f32 as tf32 is a precision of mk.dot)";

/// Why arith.truncf with another rounding mode is refused.
inline constexpr StringLiteral kRoundingModes = "numbers are rounded to the nearest, ties to even, "
                                                "on every target: leave the rounding mode out";

} // namespace mlir::mk

#endif // MKERNEL_DIALECT_TILE_FLOATS_H
