//===- PartitionBuilder.h - Builds the code of a partition -------*- C++ -*-===//
//
// Lowerings are given an op of the SM level and the builder of the partition that it stands in. A
// builder inherits what stands for values around it; what it adds is gone with it.
//
//===----------------------------------------------------------------------===//
#ifndef MKERNEL_LIB_CONVERSION_SMTOTHREAD_PARTITIONBUILDER_H
#define MKERNEL_LIB_CONVERSION_SMTOTHREAD_PARTITIONBUILDER_H

#include "KernelInfo.h"
#include "mkernel/Dialect/Thread/Control.h"
#include "mkernel/Dialect/Thread/Elementwise.h"
#include "mkernel/Dialect/Thread/Integers.h"
#include "mkernel/Dialect/Thread/Launch.h"
#include "mkernel/Dialect/Thread/Memory.h"
#include "mkernel/Dialect/Thread/Places.h"
#include "mkernel/Dialect/Thread/Warps.h"

namespace mlir::mk::sm {
using namespace mk_sm;
using mk_thread::Addition;
using mk_thread::Emitter;
using mk_thread::getElementTypes;
using mk_thread::getRegisterType;
using mk_thread::getSliceElements;
using mk_thread::isZero;
using mk_thread::MemOrder;
using mk_thread::MemScope;
using mk_thread::Place;
using mk_thread::Places;
using mk_thread::SpanClock;

/// A builder for one partition of a role or of mk.prepare, or for what stands outside of these.
/// A scalar stands for one value, a fragment for one value an element that the thread holds, a
/// slot for two addresses.
class PartitionBuilder : public Emitter {
public:
  explicit PartitionBuilder(const KernelInfo &info);
  /// One inside of another.
  PartitionBuilder(const PartitionBuilder &outer) = default;
  /// A partition of `scope`, which is role `number` (-1: mk.prepare).
  PartitionBuilder(const PartitionBuilder &outer, PartitionOp partition, Operation *scope,
                   int64_t number, Value ctaInRole);

  LogicalResult emit(Operation *op);
  LogicalResult emitOps(Block &block); // without its terminator

  //===--- Values ---------------------------------------------------------===//

  /// A fragment, or elements or words of it, for a tile; two addresses for a slot; else a scalar.
  void set(Value from, ValueRange to);
  /// The scalar or the fragment.
  Value scalar(Value from) {
    assert(values.contains(from) && "used before it was emitted");
    return values[from].front();
  }
  SmallVector<Value> scalars(ValueRange from);
  /// What a thread holds of it.
  SmallVector<Value> elements(Value from);
  /// What `emit` makes, in place or, if the op is deferred, on demand.
  void setFragment(Operation *op, function_ref<Operation *()> emit);
  /// As words, in which they cross loops.
  SmallVector<Value> packAll(ValueRange from);
  void unpackAll(ValueRange to, ValueRange words);

  //===--- Threads --------------------------------------------------------===//

  /// Reads which thread this is.
  void readThread();
  /// Each part of the kernel reads it for itself, and each of its loops: kept from one to
  /// the next, it would take a register beside accumulators.
  void readEpoch();
  /// The thread's number in the partition, read anew, for places of elements: LLVM would compute
  /// all places of a loop before it, and keep them.
  Value readThreadInPartition();
  /// Whether the partition is one warp, a producer or a mover.
  bool isOneWarp() { return partition.getKind() != PartitionKind::Consumer; }
  bool isMover() { return partition && partition.getKind() == PartitionKind::Mover; }
  /// All threads of the partition have come here.
  void barrierPartition();
  /// Its named barrier, of a consumer, and that of a warpgroup.
  Value getBarrier();
  /// The barrier at which threads of the partition meet, and how many they are; null: they are a
  /// warp.
  std::pair<Value, IntegerAttr> getConsumerBarrier();
  /// `body` by one thread once all have come here.
  void elect(function_ref<void()> body);
  /// One thread adds to a word; every thread gets what was there before, or `otherwise` after a
  /// failure.
  Value electFetchAdd(MemOrder order, Value address, Value amount, int64_t otherwise);
  /// Whoever comes after sees what the copy engine still writes.
  void finishStores();
  mk_thread::ReportAttr makeReport(int64_t kind, int64_t number);

  //===--- Cursors --------------------------------------------------------===//

  /// Variables of an mk_sm.cursor.
  struct Cursor {
    Value stage, phase;
  };
  void addCursor(CursorOp op);
  const Cursor &cursor(Value op) { return cursors[op]; }
  void advance(Value cursor);

  const KernelInfo &info;
  /// The op whose code is being emitted; null between partitions.
  Operation *currentOp = nullptr;

  Value thread, lane, warp, group, cta, epoch; // group: warpgroup of the consumer
  PartitionOp partition;                       // null outside
  Value partitionThread;                       // in the partition
  int64_t roleNumber = -1;
  Value ctaInRole;
  int64_t mover = 0; // its number, in a mover
  ScopeMemory memory;
  Value readySeen; // a variable: peers known to have begun, a bit each
  /// A variable, the same in all threads, where they need to agree: a wait was given up.
  Value waitFailed;
  bool storesPending = false;
  Value posting; // counts what the partition posts; null if it posts nothing

private:
  DenseMap<Value, SmallVector<Value, 1>> values;
  DenseMap<Value, Cursor> cursors;
};

/// Types of the words that stand for values where they cross loops.
SmallVector<Type> packedTypes(TypeRange types);

} // namespace mlir::mk::sm

#endif // MKERNEL_LIB_CONVERSION_SMTOTHREAD_PARTITIONBUILDER_H
