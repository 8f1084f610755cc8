//===- Places.h - Where a thread's elements lie in a tile ---------*- C++ -*-===//
#ifndef MKERNEL_DIALECT_THREAD_PLACES_H
#define MKERNEL_DIALECT_THREAD_PLACES_H

#include "mkernel/Dialect/Thread/Emitter.h"

namespace mlir::mk_thread {

/// Where an element lies in its tile: for each dimension a value that depends on the thread and
/// a constant.
struct Place {
  SmallVector<Value, 2> base; // i64
  SmallVector<int64_t, 2> offset;
  Value exists; // i1; null: always
};

/// Where the elements lie that a thread has of a tile.
class Places {
public:
  /// `thread`: its number among those that hold the tile.
  Places(Emitter &e, RankedTensorType tile, Value thread) : e(e), tile(tile), thread(thread) {}

  Place at(unsigned i) { return find(tile, i); }
  /// Of the elements from `first` on, of so many blocks that quads share: where the one is that a
  /// thread loads in place of its own.
  Place inQuad(unsigned i, unsigned first, int64_t blocks);
  /// Whether what depends on the thread is the same for all elements.
  bool haveOneBase();
  /// The element's number in the tile, row-major or in memory with these strides, i32.
  Value number(const Place &place);
  Value number(const Place &place, ArrayRef<int64_t> strides);
  /// Whether this thread is the one that stores what several hold; null: each stores its own.
  Value isOwner();

private:
  Place find(RankedTensorType type, unsigned i);
  Place findDealt(RankedTensorType type, unsigned i);

  Emitter &e;
  RankedTensorType tile;
  Value thread;
};

/// For each element of accumulators the one of their slice along `axis`.
SmallVector<unsigned> getSliceElements(RankedTensorType tile, int64_t axis);

} // namespace mlir::mk_thread

#endif // MKERNEL_DIALECT_THREAD_PLACES_H
