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
    store(exists, address, value, getElementBytes(value.getType()));
  }
  /// Words, or one element, of so many bytes.
  void store(Value exists, Value address, ArrayRef<Value> values, int64_t bytes) {
    SmallVector<Value> bits =
        llvm::map_to_vector(values, [&](Value value) { return toBits(e, value); });
    StoreOp::create(e, bits, address, bytes, exists ? resize(e, exists, e.i32) : Value());
  }
  /// `otherwise` (zero) where `exists`, if it is given, does not hold.
  Value load(Value exists, Value address, Type type, Value otherwise = {}) {
    return loadElement(e, type, address, exists ? resize(e, exists, e.i32) : Value(), otherwise);
  }

private:
  Emitter &e;
  RoomAttr room;
  Value barrier;
};

} // namespace mlir::mk_thread

#endif // MKERNEL_LIB_TRANSFORMS_THREAD_EXCHANGE_H
