//===- Bounds.h - Checks that what ops name exists ---------------*- C++ -*-===//
#ifndef MKERNEL_LIB_CONVERSION_SMTOTHREAD_BOUNDS_H
#define MKERNEL_LIB_CONVERSION_SMTOTHREAD_BOUNDS_H

#include "Buffers.h"

namespace mlir::mk::sm {

/// What an op names, of which an index or a range has to exist (mkernel/ABI/Site.h).
struct CheckedEntity {
  int64_t kind = 0, dim = 0; // mk_named
  int64_t number = 0;        // of the argument, signal, counter or queue,
  Value chosen;              // or which one, an i32
  int64_t param = -1;        // where the parameters have the extent,
  Value extent = {};         // or the extent itself, i64
  Value rank = {};           // whose it is; null: this rank's
};

/// A condition of a check: the number is at least so large.
struct AtLeast {
  Value value;
  int64_t least;
};

/// The launch fails with a report unless element `begin` exists, or `size` from there on
/// (i64), where all of `when` hold. Gives `begin`; without `size` and `when` 0 where that does
/// not exist.
Value check(PartitionBuilder &p, Operation *op, const CheckedEntity &named, Value begin,
            Value size = {}, ArrayRef<AtLeast> when = {});
/// Gives the indices, 0 where they do not exist.
SmallVector<Value> checkIndices(PartitionBuilder &p, Operation *op, int64_t kind, int64_t number,
                                int64_t param, ArrayRef<int64_t> shape, ValueRange index);
/// Of an element of an argument.
SmallVector<Value> checkScalar(PartitionBuilder &p, Operation *op, int64_t kind,
                               const Buffer &buffer, ValueRange indices);
/// Of a store to this rank: that indices in front of the tile's dimensions exist where some of
/// the tile is stored.
void checkStore(PartitionBuilder &p, Operation *op, const Buffer &buffer, ValueRange indices,
                ArrayRef<int64_t> tile, ValueRange valid);
/// One end of a put. `list`: source rows, in shared memory.
void checkPut(PartitionBuilder &p, PutOp op, int64_t kind, Value list, Value peer = {});
/// Whether `size` elements from this index (of the SM level) on are there for all values that the
/// index can have.
bool exist(const KernelInfo &info, const Buffer &buffer, unsigned dim, Value index, int64_t size);

} // namespace mlir::mk::sm

#endif // MKERNEL_LIB_CONVERSION_SMTOTHREAD_BOUNDS_H
