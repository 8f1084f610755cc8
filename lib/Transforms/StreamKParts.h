//===- StreamKParts.h - What CTAs that split an item leave -------*- C++ -*-===//
#ifndef MKERNEL_LIB_TRANSFORMS_STREAMKPARTS_H
#define MKERNEL_LIB_TRANSFORMS_STREAMKPARTS_H

#include "mkernel/Dialect/Tile/Tile.h"
#include "mkernel/Transforms/IndexMath.h"

namespace mlir::mk {

/// Parts of the carried tiles of a fold, which CTAs leave in scratch for each other.
class StreamKParts {
public:
  /// Ops are made where `m` stands.
  StreamKParts(FoldOp fold, IndexMath &m) : fold(fold), kernel(getKernel(fold)), m(m) {}

  /// Where parts are stored and who says that they are there: one place a CTA.
  void declare(RoleOp role, int64_t ctas);
  /// Stores part `w`, and says so.
  void store(Value w, ValueRange part);
  /// Waits for `count` parts from `first` on.
  void await(Value first, Value count);
  /// The `count` parts before part `w`, in front of `part`, which is that one.
  SmallVector<Value> sumBefore(Value w, Value count, ValueRange part);
  /// Rows of all of `count` parts, those of `types` from `row` on; up to `most` at a time.
  SmallVector<Value> sumRows(Value first, Value count, Value row, ArrayRef<Type> types,
                             int64_t most);

private:
  BlockArgument addScratch(const Twine &name, MemRefType type);
  /// How many parts of these types are loaded together: `most`, unless they are large.
  int64_t countAhead(TypeRange types, int64_t most);
  SmallVector<Value> load(ValueRange place, TypeRange types);
  SmallVector<Value> combine(ValueRange left, ValueRange right);
  SmallVector<Value> addBefore(Value w, Value from, Value to, int64_t together, ValueRange sums);
  Value makeNeutral(Type type);

  FoldOp fold;
  KernelOp kernel;
  IndexMath &m;
  SmallVector<Value> scratch;
  Value ready;
};

} // namespace mlir::mk

#endif // MKERNEL_LIB_TRANSFORMS_STREAMKPARTS_H
