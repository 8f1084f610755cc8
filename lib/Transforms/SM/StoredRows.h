//===- StoredRows.h - How many rows of a tile are stored --------*- C++ -*-===//
#ifndef MKERNEL_LIB_TRANSFORMS_SM_STOREDROWS_H
#define MKERNEL_LIB_TRANSFORMS_SM_STOREDROWS_H

#include "mkernel/Dialect/SM/SM.h"

namespace mlir::mk_sm {

/// What becomes of the rows of fragments that a loop gives, where each row of a result follows from
/// the same row alone.
class StoredRows {
public:
  /// Of tiles of so many rows.
  explicit StoredRows(int64_t rows) : rows(rows) {}

  /// Whether rows of these values end in stores, as rows, and in nothing else.
  bool follow(ValueRange values);
  /// Whether it is known that all rows are stored.
  bool areAll() const;
  /// Whether each store says how many rows are valid.
  bool endInside() const;
  /// Whether the number of rows follows from what is known in front of the op.
  bool isKnownAt(Operation *op) const;
  /// Index: so many rows are stored at most, the first ones.
  Value count(OpBuilder &b, Location loc) const;

private:
  struct Store {
    Value dest, offset; // of the dimension of rows
    unsigned dim;
    Value valid; // null: all that fit
  };
  bool follow(OpOperand &use);
  bool followResult(Value value) { return follow(ValueRange(value)); }
  bool addStore(Value dest, ValueRange offsets, ValueRange valid, unsigned rank);

  int64_t rows;
  llvm::DenseSet<Value> seen;
  SmallVector<Store> stores;
};

} // namespace mlir::mk_sm

#endif // MKERNEL_LIB_TRANSFORMS_SM_STOREDROWS_H
