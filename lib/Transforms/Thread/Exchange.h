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

  Value start() { return e.shared(room.getOffset()); }
  void meet() { barrier ? SyncOp::create(e, barrier, room.getThreads()) : SyncWarpOp::create(e); }
  void store(Value exists, Value address, Value value) {
    StoreOp::create(e, toBits(value), address, getElementBytes(value.getType()),
                    exists ? resize(e, exists, e.i32) : Value());
  }
  /// `otherwise` (zero) where `exists`, if it is given, does not hold.
  Value load(Value exists, Value address, Type type, Value otherwise = {}) {
    Type wide = e.getIntegerType(std::max<unsigned>(type.getIntOrFloatBitWidth(), 16));
    int64_t bytes = getElementBytes(type);
    if (!exists)
      return fromBits(LoadOp::create(e, wide, address, bytes).getResult(0), type);
    Value start = otherwise ? toBits(otherwise) : e.cint(wide, 0);
    return fromBits(
        LoadOp::create(e, wide, address, bytes, resize(e, exists, e.i32), start).getResult(0),
        type);
  }

private:
  /// A value as bits of at least 16, as registers have them.
  Value toBits(Value value) {
    unsigned width = value.getType().getIntOrFloatBitWidth();
    Type bits = e.getIntegerType(width);
    if (value.getType() != bits)
      value = LLVM::BitcastOp::create(e, bits, value);
    return width < 16 ? resize(e, value, e.i16) : value;
  }
  Value fromBits(Value bits, Type type) {
    Type narrow = e.getIntegerType(type.getIntOrFloatBitWidth());
    Value value = resize(e, bits, narrow);
    return type == narrow ? value : Value(LLVM::BitcastOp::create(e, type, value));
  }

  Emitter &e;
  RoomAttr room;
  Value barrier;
};

} // namespace mlir::mk_thread

#endif // MKERNEL_LIB_TRANSFORMS_THREAD_EXCHANGE_H
