//===- IndexMath.h - Arithmetic that is being built -----------*- C++ -*-===//
#ifndef MKERNEL_TRANSFORMS_INDEXMATH_H
#define MKERNEL_TRANSFORMS_INDEXMATH_H

#include "mlir/Dialect/Arith/IR/Arith.h"

namespace mlir::mk {

/// Ops on signed integers or indices, where the builder stands.
struct IndexMath {
  OpBuilder b;
  Location loc;

  template <typename Op> Value make(Value x, Value y) { return Op::create(b, loc, x, y); }
  Value index(int64_t value) { return arith::ConstantIndexOp::create(b, loc, value); }
  Value add(Value x, Value y) { return make<arith::AddIOp>(x, y); }
  Value sub(Value x, Value y) { return make<arith::SubIOp>(x, y); }
  Value mul(Value x, Value y) { return make<arith::MulIOp>(x, y); }
  Value div(Value x, Value y) { return make<arith::DivSIOp>(x, y); }
  Value rem(Value x, Value y) { return make<arith::RemSIOp>(x, y); }
  Value min(Value x, Value y) { return make<arith::MinSIOp>(x, y); }
  Value max(Value x, Value y) { return make<arith::MaxSIOp>(x, y); }
  /// The value within [0, high].
  Value clamp(Value x, Value high) { return max(min(x, high), index(0)); }
  Value cmp(arith::CmpIPredicate how, Value x, Value y) {
    return arith::CmpIOp::create(b, loc, how, x, y);
  }
  Value less(Value x, Value y) { return cmp(arith::CmpIPredicate::slt, x, y); }
  Value equal(Value x, Value y) { return cmp(arith::CmpIPredicate::eq, x, y); }
  Value select(Value condition, Value x, Value y) {
    return arith::SelectOp::create(b, loc, condition, x, y);
  }
  /// What mkernel/Analysis/Edges.h calls it.
  Value constant(int64_t value) { return index(value); }
};

} // namespace mlir::mk

#endif // MKERNEL_TRANSFORMS_INDEXMATH_H
