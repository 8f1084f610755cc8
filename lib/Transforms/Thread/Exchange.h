//===- Exchange.h - Elements in shared memory ---------------------*- C++ -*-===//
#ifndef MKERNEL_LIB_TRANSFORMS_THREAD_EXCHANGE_H
#define MKERNEL_LIB_TRANSFORMS_THREAD_EXCHANGE_H

#include "Expand.h"
#include "mkernel/Dialect/Thread/Places.h"

namespace mlir::mk_thread {

/// Room in which threads leave elements for each other.
class Exchange {
public:
  Exchange(Emitter &e, RoomAttr room, Value barrier) : e(e), room(room), barrier(barrier) {}

  Value start() { return e.add(e.sharedBase, room.getOffset()); }
  void meet() { barrier ? e.barrier(barrier, room.getThreads()) : e.syncWarp(); }
  void store(Value exists, Value address, Value value) {
    e.storeWords(toBits(value), address, getElementBytes(value.getType()),
                 exists ? e.resize(exists, e.i32) : Value());
  }
  /// `otherwise` (zero) where `exists`, if it is given, does not hold.
  Value load(Value exists, Value address, Type type, Value otherwise = {}) {
    Type wide = e.b.getIntegerType(std::max<unsigned>(type.getIntOrFloatBitWidth(), 16));
    int64_t bytes = getElementBytes(type);
    if (!exists)
      return fromBits(e.loadWords(wide, address, bytes)[0], type);
    Value start = otherwise ? toBits(otherwise) : e.cint(wide, 0);
    return fromBits(e.loadWords(wide, address, bytes, e.resize(exists, e.i32), start)[0], type);
  }

private:
  /// A value as bits of at least 16, as registers have them.
  Value toBits(Value value) {
    unsigned width = value.getType().getIntOrFloatBitWidth();
    Type bits = e.b.getIntegerType(width);
    if (value.getType() != bits)
      value = e.create<LLVM::BitcastOp>(bits, value);
    return width < 16 ? e.resize(value, e.i16) : value;
  }
  Value fromBits(Value bits, Type type) {
    Type narrow = e.b.getIntegerType(type.getIntOrFloatBitWidth());
    Value value = e.resize(bits, narrow);
    return type == narrow ? value : Value(e.create<LLVM::BitcastOp>(type, value));
  }

  Emitter &e;
  RoomAttr room;
  Value barrier;
};

} // namespace mlir::mk_thread

#endif // MKERNEL_LIB_TRANSFORMS_THREAD_EXCHANGE_H
