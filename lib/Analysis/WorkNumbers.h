//===- WorkNumbers.h - Sizes and parameters of one choice -------*- C++ -*-===//
#ifndef MKERNEL_LIB_ANALYSIS_WORKNUMBERS_H
#define MKERNEL_LIB_ANALYSIS_WORKNUMBERS_H

#include "mkernel/Analysis/Evaluate.h"
#include "mkernel/Analysis/Work.h"

namespace mlir::mk {

/// The numbers that values of a kernel have with these sizes and parameters, for its first rank.
class WorkNumbers {
public:
  WorkNumbers(KernelOp kernel, const NamedNumbers &sizes, const NamedNumbers &params);

  /// Forgets what was assumed of items.
  void reset();
  void assume(Value value, int64_t number) { numbers.assume(value, number); }
  /// What is assumed, and follows from that: to go back to it.
  IndexEvaluator getState() const { return numbers; }
  void setState(IndexEvaluator state) { numbers = std::move(state); }
  /// How many CTAs each role has, where the kernel asks; not forgotten.
  void assumeCtas(ArrayRef<int64_t> ctas);

  std::optional<int64_t> getIndex(Value value) { return numbers.getIndex(value); }
  /// Of what sizes and parameters give, whatever the item is: dimensions, parameters, ranks,
  /// numbers of CTAs.
  std::optional<int64_t> getGiven(Value value);
  /// Whether such numbers, and constants, are all that a value follows from.
  bool isFixed(Value value);
  std::optional<int64_t> getParam(StringAttr name);
  /// Elements of a dimension of an argument that the rank has.
  std::optional<int64_t> getShard(unsigned arg, unsigned dim);
  /// Extents of a tile.
  std::optional<SmallVector<int64_t>> getShape(Type tile);
  /// Of what a tile has of a buffer, which may have less of it; a null buffer has all.
  std::optional<double> getBytes(Type tile, Value buffer);
  /// Whether all rows of an argument begin at multiples of so many bytes, if they lie close
  /// together, as far as extents are known.
  bool areRowsAligned(Value buffer, int64_t bytes);
  /// Ranks along axes of the mesh.
  std::optional<int64_t> countRanks(ArrayAttr axes);
  /// The bounds of a loop, none of them negative, if all are known.
  /// One bound that is not known is such that there are as many items as are likely.
  std::optional<SmallVector<int64_t>> getBounds(ForeachOp loop);
  /// Items that have something to do, as far as the author knows.
  std::optional<int64_t> getLikely(ForeachOp loop);
  /// The same of `most` that there are at most: all, if the author does not say.
  double countLikely(ForeachOp loop, double most);
  /// Turns of a loop of the tile level, or of an scf.for.
  std::optional<double> countTrips(Operation *loop);

private:
  std::optional<int64_t> computeShard(unsigned arg, unsigned dim);

  KernelOp kernel;
  const NamedNumbers &sizes, &params;
  llvm::StringMap<int64_t> ctasOf; // of roles
  SmallVector<Operation *> known;  // whose results are not to be known from the IR alone
  llvm::SmallDenseMap<std::pair<unsigned, unsigned>, std::optional<int64_t>> shards;
  IndexEvaluator numbers;
};

/// Elements of a tile of this shape.
double countElements(ArrayRef<int64_t> shape);

} // namespace mlir::mk

#endif // MKERNEL_LIB_ANALYSIS_WORKNUMBERS_H
