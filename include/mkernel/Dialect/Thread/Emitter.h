//===- Emitter.h - A builder of a thread's code -------------------*- C++ -*-===//
//
// Integer arithmetic that folds, constants made once, ops of the thread level, and what its kernel
// knows of the launch. Addresses in shared memory are i32.
//
//===----------------------------------------------------------------------===//
#ifndef MKERNEL_DIALECT_THREAD_EMITTER_H
#define MKERNEL_DIALECT_THREAD_EMITTER_H

#include "mkernel/Dialect/Thread/Thread.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/Builders.h"

namespace mlir::mk_thread {

/// That a store adds to elements of the type, atomically at the scope.
struct Addition {
  Type type;
  MemScope scope = MemScope::Gpu;
  explicit operator bool() const { return static_cast<bool>(type); }
};

/// A copy emits at the same place of the same kernel.
class Emitter {
public:
  Emitter(MLIRContext *context, Location loc);
  /// Code of the kernel follows: constants stand at its start, variables in front of what says
  /// where its shared memory is.
  void enter(KernelOp kernel);

  OpBuilder b;
  Location loc;
  Type i1, i8, i16, i32, i64, f32;

  //===--- Constants and integers -----------------------------------------===//

  /// As in registers (fp8: its bits); made once, at the start of the entry block.
  Value constant(TypedAttr value);
  Value c32(int64_t value);
  Value c64(int64_t value);
  Value cbool(bool value);
  Value cf32(double value);
  /// The constant of an integer type.
  Value cint(Type type, int64_t value);

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
  /// What one of two bodies gives.
  SmallVector<Value> choose(Value condition, function_ref<SmallVector<Value>()> then,
                            function_ref<SmallVector<Value>()> otherwise);
  /// `body` at the end of an op's region, which has one block.
  void within(Region &region, function_ref<void()> body);
  /// `body` for each value of an i32 from `from` below `to`.
  void forRange(Value from, Value to, Value step,
                function_ref<void(Value)> body);
  /// `body` as often as the condition that is emitted in front of it holds.
  void whileTrue(function_ref<Value()> condition, function_ref<void()> body);

  /// Says of the loop whose body is being emitted that it is not unrolled: ptxas would, which
  /// takes it longer than the loop is worth.
  void keepRolled();

  //===--- Memory ---------------------------------------------------------===//

  Type pointerType(unsigned space = 0);
  /// A variable of the thread, which LLVM keeps in a register. It starts as the
  /// constant given when the kernel starts.
  Value variable(Type type, Value initial);
  Value read(Value variable, Type type);
  void write(Value variable, Value value);
  /// Variables of a use of `depth` slots: on to the next one.
  void advance(Value stage, Value parity, int64_t depth);
  /// A pointer into global memory (from an i64) or shared memory (an i32).
  Value pointer(Value address);
  Value load(Type type, Value address, int64_t offset = 0);
  void store(Value value, Value address, int64_t offset = 0);

  /// A load from shared memory that LLVM neither moves nor merges, so that the value
  /// takes no register from one use to the next.
  Value loadSharedHere(Type type, Value address, int64_t offset = 0) {
    return create<LoadSharedOp>(type, address, offset);
  }
  void storeSharedHere(Value value, Value address, int64_t offset) {
    create<StoreSharedOp>(value, address, offset);
  }
  /// A load or store of global memory (an i64) or shared memory (an i32) of `bytes` bytes in all,
  /// where the word `condition` is not 0 (or is, if `inverted`); everywhere if it is null.
  SmallVector<Value> loadWords(TypeRange types, Value address, int64_t bytes,
                               Value condition = {}, ValueRange otherwise = {},
                               bool inverted = false);
  void storeWords(ValueRange words, Value address, int64_t bytes, Value condition = {},
                  bool inverted = false);
  /// Stores `words` (or one narrower value) of `bytes` bytes in all, or adds them (`add`
  /// is given), where `exists` holds.
  void storeWhere(Value exists, Value address, int64_t bytes, ArrayRef<Value> words,
                  Addition add = {});
  /// Adds a value to an element of the type in global memory, atomically.
  void addToElement(Value value, Type type, MemScope scope, Value address, int64_t bytes,
                    Value condition = {});

  /// Between elements and 32-bit words, in which they cross loops and asm.
  SmallVector<Value> pack(ArrayRef<Value> elements);
  SmallVector<Value> unpack(ArrayRef<Value> words, Type element, int64_t count);

  //===--- The launch -------------------------------------------------------===//

  /// A word of the parameters, or of mk_gpu_launch in them (mkernel/ABI/Gpu.h).
  Value loadParam(int64_t offset, Type type) {
    return create<ParamOp>(type, offset, /*pinned=*/false);
  }
  Value launchField(int64_t offset, Type type) {
    return loadParam(frame.getLaunch() + offset, type);
  }
  /// The same (i64), never moved by LLVM: for code that is seldom run.
  Value loadParamHere(int64_t offset) {
    return create<ParamOp>(i64, offset, /*pinned=*/true);
  }
  /// What counts from one launch to the next: mk_gpu_control.
  Value controlAddress();
  Value launchFieldHere(int64_t offset) { return loadParamHere(frame.getLaunch() + offset); }
  /// The thread's number, read anew; `here`: where this stands, else LLVM may read it earlier.
  Value readNumber(bool here = false) { return create<ThreadIdOp>(i32, here); }
  Value ownRank();
  /// Where this device addresses the rank's heap; 0: only the proxy reaches it.
  Value heapOf(Value rank);

  //===--- A launch that has failed ------------------------------------------===//

  /// The word that says that this CTA has failed, read where it stands.
  Value readFailed() { return loadSharedHere(i32, /*address=*/Value(), frame.getFailed()); }
  /// i1: this CTA has not failed, as far as this thread knows: it knows what threads have
  /// found before a barrier that it has come to.
  Value isFine() { return eq(readFailed(), 0); }
  void ifFine(function_ref<void()> body) { ifThen(isFine(), body); }
  /// What `body` gives if the CTA has not failed.
  Value valueIfFine(Value otherwise, function_ref<Value()> body);

  //===--- Words that other threads access --------------------------------===//

  Value atomicAdd(Value address, Value amount, MemOrder order, MemScope scope) {
    return create<AtomicAddOp>(order, scope, address, amount);
  }
  void reduceAdd(Value address, Value amount, MemOrder order, MemScope scope) {
    create<ReduceAddOp>(order, scope, address, amount);
  }
  Value loadAcquire(Type type, Value address, MemScope scope) {
    return create<LoadAtomicOp>(type, MemOrder::Acquire, scope, address);
  }
  /// A load that LLVM may neither drop nor move: it polls.
  Value loadRelaxed(Type type, Value address, MemScope scope) {
    return create<LoadAtomicOp>(type, MemOrder::Relaxed, scope, address);
  }
  void storeRelease(Value value, Value address, MemScope scope) {
    create<StoreAtomicOp>(MemOrder::Release, scope, value, address);
  }
  void fence(MemScope scope) { create<FenceOp>(scope); }

  //===--- Division -------------------------------------------------------===//

  /// Quotient and remainder of unsigned 64-bit integers that are the same in all lanes,
  /// by whole warps.
  std::pair<Value, Value> divideU(Value x, Value y);
  /// Quotient (towards zero) and remainder (of x's sign) of signed ones.
  std::pair<Value, Value> divideS(Value x, Value y);

  //===--- Instructions ---------------------------------------------------===//

  /// An op at the insertion point.
  template <typename OpT, typename... Args> OpT create(Args &&...args) {
    return OpT::create(b, loc, std::forward<Args>(args)...);
  }
  Value intrinsic(StringRef name, Type result, ValueRange operands);

  /// `kind`: down, bfly or idx, of a shfl.sync of all lanes.
  Value shuffle(StringRef kind, Value value, Value by);
  Value shuffleXor(Value value, int64_t mask);
  /// The value of lane 0; the result is the same in all lanes.
  Value fromLane0(Value value);
  /// An i32 that is the same in all lanes, in a uniform register, where descriptors have to
  /// be: ptxas moves the result of a shuffle there anew in each iteration of a loop.
  Value uniform(Value value);
  /// In one lane of a warp whose lanes are all here. ptxas knows that it is one: behind another
  /// condition it puts a loop over lanes around what the copy engine is told.
  void ifElected(function_ref<void()> body);
  void syncWarp() { create<SyncWarpOp>(); }
  /// Waits at a named barrier for `threads` threads, or only arrives at it.
  void barrier(Value id, int64_t threads) { create<SyncOp>(id, threads); }
  void arriveAt(Value id, int64_t threads) { create<ArriveOp>(id, threads); }
  void barrierAll() { create<SyncCtaOp>(); }
  /// Orders generic accesses to shared memory before those of the copy and
  /// matrix engines.
  void fenceAsyncShared() { create<FenceAsyncOp>(/*shared=*/true, /*global=*/false); }
  void fenceAsync() { create<FenceAsyncOp>(/*shared=*/false, /*global=*/false); }
  /// What others have written and this thread has acquired, before reads by the copy engine.
  void fenceAsyncGlobal() { create<FenceAsyncOp>(/*shared=*/false, /*global=*/true); }

  /// The address of the kernel's shared memory.
  Value sharedBase;

private:
  Block *entry = nullptr;
  FrameAttr frame;
  std::shared_ptr<DenseMap<Attribute, Value>> constants;
};

/// Elements in one 32-bit word; 1 for those that are as wide or no numbers.
int64_t getPerWord(Type type);
/// Whether a value is the constant zero.
bool isZero(Value value);

bool isFp8(Type type);
/// Whether there is code for an op of arith or math, on scalars or on fragments.
bool hasCode(Operation *op);
/// Such an op on scalars, or on one element of each operand.
Value compute(Emitter &e, Operation *op, ArrayRef<Value> operands);

} // namespace mlir::mk_thread

#endif // MKERNEL_DIALECT_THREAD_EMITTER_H
