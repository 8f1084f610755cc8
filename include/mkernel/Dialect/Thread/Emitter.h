//===- Emitter.h - A builder of a kernel's code ------------------*- C++ -*-===//
//
// What takes more than one op is in functions, by topic: Integers.h, Control.h, Memory.h, Launch.h,
// Warps.h, Elementwise.h.
//
//===----------------------------------------------------------------------===//
#ifndef MKERNEL_DIALECT_THREAD_EMITTER_H
#define MKERNEL_DIALECT_THREAD_EMITTER_H

#include "mkernel/Dialect/Thread/Thread.h"
#include "mkernel/Dialect/Tile/Target.h"
#include "mlir/IR/Builders.h"

namespace mlir::mk_thread {

/// A builder that makes each constant once, at the start of its kernel. A copy emits at the same
/// place of the same kernel.
class Emitter : public ImplicitLocOpBuilder {
public:
  Emitter(MLIRContext *context, Location loc);
  /// Code of the kernel follows.
  void enter(KernelOp kernel);

  /// As in registers (fp8: its bits).
  Value constant(TypedAttr value);
  /// The constant of an integer type.
  Value cint(Type type, int64_t value);
  Value c32(int64_t value) { return cint(i32, value); }
  Value c64(int64_t value) { return cint(i64, value); }
  Value cbool(bool value) { return cint(i1, value); }
  Value cf32(double value) { return constant(getFloatAttr(f32, value)); }
  /// The address of a place in the kernel's shared memory.
  Value shared(Value offset);
  Value shared(int64_t offset) { return shared(c32(offset)); }

  /// An op without effects: its name, what tells it from others of this name, its operands.
  using Expression = std::tuple<TypeID, const void *, const void *, const void *>;
  /// The value that `make` gave for this expression where the builder sees it, else what it gives
  /// now.
  Value once(Expression expression, function_ref<Value()> make);
  /// From here on expressions are emitted once: the elements of a tile have most of their index
  /// arithmetic in common. Values of those so far may be erased.
  void beginSharing() { values = std::make_shared<DenseMap<Expression, Value>>(); }

  Type i1, i8, i16, i32, i64, f32;
  /// What the kernel is compiled for.
  mk::SmAttr sm;
  /// Where the kernel finds what it knows of the launch.
  FrameAttr frame;
  /// Where the kernel's shared memory begins. Constants and variables stand in front of it.
  Value sharedBase;

private:
  Block *entry = nullptr;
  std::shared_ptr<DenseMap<Attribute, Value>> constants;
  std::shared_ptr<DenseMap<Expression, Value>> values; // null: nothing is shared
};

} // namespace mlir::mk_thread

#endif // MKERNEL_DIALECT_THREAD_EMITTER_H
