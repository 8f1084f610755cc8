//===- TiedExtents.h - Extents of tiles that change together ---*- C++ -*-===//
//
// A message that advises other extents has to know which tiles get them: those of a product's
// columns are the rows of the right operand and, where the product is multiplied again, the columns
// that are summed there, but not those of another accumulator that happens to be as wide.
//
//===----------------------------------------------------------------------===//
#ifndef MKERNEL_LIB_CONVERSION_TILETOSM_TIEDEXTENTS_H
#define MKERNEL_LIB_CONVERSION_TILETOSM_TIEDEXTENTS_H

#include "mkernel/Dialect/Tile/Tile.h"
#include "llvm/ADT/EquivalenceClasses.h"

namespace mlir::mk_sm {

/// Visits what becomes what on the ways through a loop or a branch; false for other ops.
bool forEachFlow(Operation *op, function_ref<void(Value from, Value to)> visit);

class TiedExtents {
public:
  /// Looks at all ops of a role.
  explicit TiedExtents(Operation *role);

  bool areTied(Value a, int64_t dimOfA, Value b, int64_t dimOfB) const;
  /// The tile's shape if the extent of `dim` of `of` became `extent`.
  SmallVector<int64_t> getShape(Value tile, Value of, int64_t dim, int64_t extent) const;

private:
  using Extent = std::pair<void *, int64_t>;
  static Extent extent(Value tile, int64_t dim) { return {tile.getAsOpaquePointer(), dim}; }
  void tie(Value a, int64_t dimOfA, Value b, int64_t dimOfB);
  void tieAll(Value a, Value b);
  /// `part` has the dimensions of `whole` without `axes`.
  void tieSlice(Value whole, Value part, ArrayRef<int64_t> axes);
  void look(Operation *op);

  llvm::EquivalenceClasses<Extent> classes;
};

} // namespace mlir::mk_sm

#endif // MKERNEL_LIB_CONVERSION_TILETOSM_TIEDEXTENTS_H
