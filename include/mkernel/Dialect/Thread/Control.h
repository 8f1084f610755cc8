//===- Control.h - Branches and loops ----------------------------*- C++ -*-===//
#ifndef MKERNEL_DIALECT_THREAD_CONTROL_H
#define MKERNEL_DIALECT_THREAD_CONTROL_H

#include "mkernel/Dialect/Thread/Integers.h"
#include "mlir/Dialect/SCF/IR/SCF.h"

namespace mlir::mk_thread {

/// `then` runs where the condition holds, `otherwise` elsewhere.
void ifThenElse(Emitter &e, Value condition, function_ref<void()> then,
                function_ref<void()> otherwise);
inline void ifThen(Emitter &e, Value condition, function_ref<void()> body) {
  ifThenElse(e, condition, body, nullptr);
}
/// What one of two bodies gives.
SmallVector<Value> choose(Emitter &e, Value condition, function_ref<SmallVector<Value>()> then,
                          function_ref<SmallVector<Value>()> otherwise);
/// `body` at the end of an op's region, which has one block.
void within(Emitter &e, Region &region, function_ref<void()> body);
template <typename OpT> void within(Emitter &e, OpT op, function_ref<void()> body) {
  within(e, op.getBody(), body);
}
/// `body` for each value of an i32 from `from` below `to`.
void forRange(Emitter &e, Value from, Value to, Value step, function_ref<void(Value)> body);
/// From 0, one by one.
inline void forRange(Emitter &e, IntOperand to, function_ref<void(Value)> body) {
  forRange(e, e.c32(0), to.get(e, e.i32), e.c32(1), body);
}
/// `body` as often as the condition that is emitted in front of it holds.
void whileTrue(Emitter &e, function_ref<Value()> condition, function_ref<void()> body);
/// Says of the loop whose body is being emitted that it is not unrolled: ptxas would, which takes
/// it longer than the loop is worth.
void keepRolled(Emitter &e);

} // namespace mlir::mk_thread

#endif // MKERNEL_DIALECT_THREAD_CONTROL_H
