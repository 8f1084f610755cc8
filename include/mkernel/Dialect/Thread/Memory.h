//===- Memory.h - Variables, accesses to memory, words ------------*- C++ -*-===//
//
// Addresses are an i64 of global memory, or an i32 of shared memory.
//
//===----------------------------------------------------------------------===//
#ifndef MKERNEL_DIALECT_THREAD_MEMORY_H
#define MKERNEL_DIALECT_THREAD_MEMORY_H

#include "mkernel/Dialect/Thread/Emitter.h"

namespace mlir::mk_thread {

/// A variable of the thread, which LLVM keeps in a register. It starts as the
/// constant given when the kernel starts.
Value variable(Emitter &e, Type type, Value initial);
inline Value read(Emitter &e, Value variable, Type type) {
  return LLVM::LoadOp::create(e, type, variable);
}
inline void write(Emitter &e, Value variable, Value value) {
  LLVM::StoreOp::create(e, value, variable);
}
/// Variables of a use of `depth` slots: on to the next one.
void advance(Emitter &e, Value stage, Value parity, int64_t depth);

/// What the places of pieces in a row of a staged tile are exclusive-ored with, in bytes.
Value swizzle(Emitter &e, Value row);

Value toPointer(Emitter &e, Value address);
Value load(Emitter &e, Type type, Value address, int64_t offset = 0);
void store(Emitter &e, Value value, Value address, int64_t offset = 0);

/// That a store adds to elements of the type, atomically at the scope.
struct Addition {
  Type type;
  MemScope scope = MemScope::Gpu;
};
/// Stores `words` (or one narrower value) of `bytes` bytes in all, or adds them (`add` has a type),
/// where `exists` holds.
void storeWhere(Emitter &e, Value exists, Value address, int64_t bytes, ArrayRef<Value> words,
                Addition add = {});

/// A value as bits of at least 16, as registers have them, and back.
Value toBits(Emitter &e, Value value);
Value fromBits(Emitter &e, Value bits, Type type);
/// An element; `otherwise` (zero) where the word `condition` is given and 0 (not 0 if `inverted`).
Value loadElement(Emitter &e, Type type, Value address, Value condition = {}, Value otherwise = {},
                  bool inverted = false);

/// Elements in one 32-bit word; 1 for those that are as wide or no numbers.
int64_t getPerWord(Type type);
/// Between elements and 32-bit words, in which they cross loops and asm.
SmallVector<Value> pack(Emitter &e, ArrayRef<Value> elements);
SmallVector<Value> unpack(Emitter &e, ArrayRef<Value> words, Type element, int64_t count);

} // namespace mlir::mk_thread

#endif // MKERNEL_DIALECT_THREAD_MEMORY_H
