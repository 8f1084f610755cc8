//===- Elementwise.h - Ops of arith and math on scalars and elements -*- C++ -*-===//
#ifndef MKERNEL_DIALECT_THREAD_ELEMENTWISE_H
#define MKERNEL_DIALECT_THREAD_ELEMENTWISE_H

#include "mkernel/Dialect/Thread/Emitter.h"
#include "mkernel/Dialect/Tile/Floats.h"

namespace mlir::mk_thread {

/// Whether a value is the constant zero.
bool isZero(Value value);
/// Whether there is code for an op of arith or math, on scalars or on fragments.
bool hasCode(Operation *op);
/// Such an op on scalars, or on one element of each operand.
Value compute(Emitter &e, Operation *op, ArrayRef<Value> operands);

} // namespace mlir::mk_thread

#endif // MKERNEL_DIALECT_THREAD_ELEMENTWISE_H
