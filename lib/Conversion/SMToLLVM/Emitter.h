//===- Emitter.h - Instructions of an SM --------------------------*- C++ -*-===//
//
// A builder for code of one thread: integer arithmetic that folds, constants
// made once, and PTX instructions by name. Addresses in shared memory are i32.
//
//===----------------------------------------------------------------------===//
#ifndef MKERNEL_LIB_CONVERSION_SMTOLLVM_EMITTER_H
#define MKERNEL_LIB_CONVERSION_SMTOLLVM_EMITTER_H

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/Builders.h"

namespace mlir::mk::sm {

class Emitter {
public:
  Emitter(MLIRContext *context, Location loc);

  OpBuilder b;
  Location loc;
  Type i1, i8, i16, i32, i64, f32;

  //===--- Constants and integers -----------------------------------------===//

  /// Made once, at the start of the entry block.
  Value constant(TypedAttr value);
  Value c32(int64_t value);
  Value c64(int64_t value);
  Value cbool(bool value);
  Value cf32(double value);
  /// The constant of an integer type.
  Value cint(Type type, int64_t value);
  void setEntry(Block *block) { entry = block; }
  /// Variables stand in front of this op of the entry block.
  void setAnchor(Operation *op) { anchor = op; }

  Value add(Value x, Value y) { return b.createOrFold<arith::AddIOp>(loc, x, y); }
  Value sub(Value x, Value y) { return b.createOrFold<arith::SubIOp>(loc, x, y); }
  Value mul(Value x, Value y) { return b.createOrFold<arith::MulIOp>(loc, x, y); }
  Value and_(Value x, Value y) { return b.createOrFold<arith::AndIOp>(loc, x, y); }
  Value or_(Value x, Value y) { return b.createOrFold<arith::OrIOp>(loc, x, y); }
  Value xor_(Value x, Value y) { return b.createOrFold<arith::XOrIOp>(loc, x, y); }
  Value minS(Value x, Value y) { return b.createOrFold<arith::MinSIOp>(loc, x, y); }
  Value maxS(Value x, Value y) { return b.createOrFold<arith::MaxSIOp>(loc, x, y); }
  Value add(Value x, int64_t y) { return y ? add(x, cint(x.getType(), y)) : x; }
  Value sub(Value x, int64_t y) { return y ? sub(x, cint(x.getType(), y)) : x; }
  Value mul(Value x, int64_t y) { return y == 1 ? x : mul(x, cint(x.getType(), y)); }
  Value and_(Value x, int64_t y) { return and_(x, cint(x.getType(), y)); }
  Value or_(Value x, int64_t y) { return or_(x, cint(x.getType(), y)); }
  Value xor_(Value x, int64_t y) { return y ? xor_(x, cint(x.getType(), y)) : x; }
  Value shl(Value x, int64_t y);
  Value shr(Value x, int64_t y);
  Value divU(Value x, int64_t y);
  Value remU(Value x, int64_t y);
  Value cmp(arith::CmpIPredicate p, Value x, Value y) {
    return b.createOrFold<arith::CmpIOp>(loc, p, x, y);
  }
  Value cmp(arith::CmpIPredicate p, Value x, int64_t y) {
    return cmp(p, x, cint(x.getType(), y));
  }
  Value eq(Value x, int64_t y) { return cmp(arith::CmpIPredicate::eq, x, y); }
  Value select(Value c, Value x, Value y) {
    return b.createOrFold<arith::SelectOp>(loc, c, x, y);
  }
  Value not_(Value x) { return xor_(x, cbool(true)); }
  /// Between integer types; widening adds zeros (or the sign).
  Value resize(Value x, Type type, bool isSigned = false);

  /// `body` runs where the condition holds.
  void ifThen(Value condition, function_ref<void()> body);
  void ifThenElse(Value condition, function_ref<void()> then,
                  function_ref<void()> otherwise);
  /// `body` for each value of an i32 from `from` below `to`.
  void forRange(Value from, Value to, Value step,
                function_ref<void(Value)> body);

  //===--- Memory ---------------------------------------------------------===//

  Type pointerType(unsigned space = 0);
  /// A variable of the thread, which LLVM keeps in a register. It starts as the
  /// constant given when the kernel starts.
  Value variable(Type type, Value initial);
  Value read(Value variable, Type type);
  void write(Value variable, Value value);
  /// A pointer into global memory (from an i64) or shared memory (an i32).
  Value pointer(Value address);
  Value load(Type type, Value address, int64_t offset = 0);
  void store(Value value, Value address, int64_t offset = 0);

  /// A load from shared memory that LLVM neither moves nor merges, so that the value
  /// takes no register from one use to the next.
  Value loadSharedHere(Type type, Value address);

  //===--- Instructions ---------------------------------------------------===//

  /// PTX with operands $0.. of which the first are the results. Has side
  /// effects and, unless `pure`, touches memory.
  SmallVector<Value> ptx(StringRef text, TypeRange results, ValueRange operands,
                         bool touchesMemory = true);
  /// The same for instructions whose result depends on their operands alone.
  Value pure(StringRef text, Type result, ValueRange operands);
  /// Text whose results are tied to the first operands: nothing that reads or
  /// writes these may move across it.
  SmallVector<Value> tied(StringRef text, ValueRange values,
                          ValueRange others = {});
  Value intrinsic(StringRef name, Type result, ValueRange operands);

  Value shuffleXor(Value value, int64_t mask);
  /// The value of lane 0; the result is the same in all lanes.
  Value fromLane0(Value value);
  /// An i32 that is the same in all lanes, in a uniform register, where descriptors have to
  /// be: ptxas moves the result of a shuffle there anew in each iteration of a loop.
  Value uniform(Value value);
  void syncWarp() { ptx("bar.warp.sync 0xffffffff;", {}, {}); }
  /// Waits at a named barrier for `threads` threads, or only arrives at it.
  void barrier(Value id, int64_t threads);
  void arriveAt(Value id, int64_t threads);
  void barrierAll();
  /// Orders generic accesses to shared memory before those of the copy and
  /// matrix engines.
  void fenceAsyncShared() { ptx("fence.proxy.async.shared::cta;", {}, {}); }
  void fenceAsync() { ptx("fence.proxy.async;", {}, {}); }
  Value globalTimer() { return ptx("mov.u64 $0, %globaltimer;", i64, {})[0]; }

private:
  /// Constraint letter of a register of this type.
  static char letter(Type type);
  Value shuffle(StringRef kind, Value value, Value by);

  Block *entry = nullptr;
  Operation *anchor = nullptr;
  DenseMap<Attribute, Value> constants;
};

/// Whether a value is the constant zero.
bool isZero(Value value);

} // namespace mlir::mk::sm

#endif // MKERNEL_LIB_CONVERSION_SMTOLLVM_EMITTER_H
