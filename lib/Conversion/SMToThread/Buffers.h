//===- Buffers.h - Where buffers lie, and what of a tile exists --*- C++ -*-===//
#ifndef MKERNEL_LIB_CONVERSION_SMTOTHREAD_BUFFERS_H
#define MKERNEL_LIB_CONVERSION_SMTOTHREAD_BUFFERS_H

#include "PartitionBuilder.h"

namespace mlir::mk::sm {

/// A memref: an argument, or one of two chosen at run time.
struct Buffer {
  MemRefType type;
  int64_t arg = -1; // or, if it is none of the arguments:
  Value condition;
  std::shared_ptr<Buffer> whenTrue, whenFalse;
  /// Its words are read in front of the loop that names it (`mk_sm.keep_words`); else where they
  /// are asked for.
  bool hoisted = false;
  /// At another rank: how much further on it lies there, and its extent of
  /// dimension 0.
  Value away, rows;
};

/// What formulas compute with in a thread's code (mkernel/Analysis/Edges.h,
/// mkernel/Support/RowMajor.h).
struct ThreadMath {
  Emitter &e;

  Value min(Value a, Value b) { return minS(e, a, b); }
  Value add(Value a, Value b) { return mk_thread::add(e, a, b); }
  Value sub(Value a, Value b) { return mk_thread::sub(e, a, b); }
  Value mul(Value a, Value b) { return mk_thread::mul(e, a, b); }
  Value div(Value a, Value b) { return divU(e, a, b); }
  Value rem(Value a, Value b) { return remU(e, a, b); }
  Value constant(int64_t number) { return e.c64(number); }
};

/// As `op` names it.
Buffer getBuffer(PartitionBuilder &p, Operation *op, Value memref);

/// Words of the parameters (i64), read where they are asked for: LLVM would read
/// them once, at the start, and keep them in registers.
Value baseOf(PartitionBuilder &p, const Buffer &buffer);
Value sizeOf(PartitionBuilder &p, const Buffer &buffer, int64_t d);
Value strideOf(PartitionBuilder &p, const Buffer &buffer, int64_t d); // in elements
SmallVector<Value> byteStrides(PartitionBuilder &p, const Buffer &buffer);
Value elementAddress(PartitionBuilder &p, const Buffer &buffer, ArrayRef<Value> offsets);
/// What a dimension of a kernel's argument is, where that is known.
std::optional<int64_t> extentOf(const KernelInfo &info, const Buffer &buffer, int64_t d);
/// Whether a row of a tile at `offsets` begins where the widest access may, in any case.
bool isAligned(const KernelInfo &info, const Buffer &buffer, ArrayRef<Value> offsets);

/// The tensor map with this box (a number; null if there is none), its address and whether it may
/// be used.
Value mapNumber(PartitionBuilder &p, const Buffer &buffer, ArrayRef<int64_t> box,
                bool peers = false);
std::pair<Value, Value> tensorMap(PartitionBuilder &p, const Buffer &buffer, ArrayRef<int64_t> box);
/// i1: `usable`, and `valid` ends nothing that the buffer or the tile does not end.
Value isBoundedByBuffer(PartitionBuilder &p, Value usable, const Buffer &buffer,
                        ArrayRef<Value> offsets, ArrayRef<int64_t> shape, ValueRange valid);
/// i1: `usable`, and the copy engine takes a box that begins at `offsets`.
Value isBoxAddressable(PartitionBuilder &p, Value usable, ValueRange offsets, Type element,
                       bool stores);

/// How many elements from the offset on exist, for each dimension of a tile; its extent where
/// the offsets of the SM level, `indices`, tell that all of it does.
SmallVector<Value> limits(PartitionBuilder &p, const Buffer &buffer, ArrayRef<Value> offsets,
                          ArrayRef<int64_t> tile, ValueRange valid, ValueRange indices = {});
/// A number of rows or columns in 32 bits: a tile has few.
Value narrow(PartitionBuilder &p, Value value);

/// Rows of a buffer that a list names.
struct ListedRows {
  Value list,
      stride;       // i64: address of the entry of the first row; i32: entries from one to the next
  Value from, left; // i32: of the tile's rows, those that are looked up
  Value least, below; // i32: entries of rows that exist
};
/// `offset`: the row from which entries count, in dimension d of the buffer; `valid`: null or how
/// many rows are.
ListedRows findRows(PartitionBuilder &p, Operation *op, const Buffer &buffer, int64_t d,
                    Value offset, Value memref, Value at, Value valid);

} // namespace mlir::mk::sm

#endif // MKERNEL_LIB_CONVERSION_SMTOTHREAD_BUFFERS_H
