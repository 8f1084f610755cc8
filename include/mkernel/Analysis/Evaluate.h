//===- Evaluate.h - Numbers that values fold to ----------------*- C++ -*-===//
#ifndef MKERNEL_ANALYSIS_EVALUATE_H
#define MKERNEL_ANALYSIS_EVALUATE_H

#include "mkernel/Dialect/Tile/Tile.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/DenseSet.h"

namespace mlir::mk {

/// The numbers that values fold to, parameters at their defaults and meshes as far as
/// they have sizes. Remembers them: numbers must not change as long as it is used. An
/// analysis: in a pass getChildAnalysis<IndexEvaluator>(kernel).
class IndexEvaluator {
public:
  explicit IndexEvaluator(Operation *kernel = nullptr) {}
  /// On one rank of a mesh whose sizes are known.
  IndexEvaluator(MeshOp mesh, int64_t rank) : mesh(mesh), rank(rank) {}
  /// Takes what `mk.likely` guesses where its value is not known.
  void takeGuesses() { guesses = true; }
  /// None if it is unknown, or does not fit in 64 bits.
  std::optional<int64_t> getIndex(Value value);
  /// A rank of the mesh, if the value is one and follows from the mesh alone.
  std::optional<int64_t> getRank(Value value);
  /// Takes it that `value`, an index, is this number.
  void assume(Value value, int64_t number);
  /// Whether this op, which has been evaluated, wraps.
  bool wraps(Operation *op) const { return wrapping.contains(op); }

private:
  Attribute evaluate(Value value);
  Attribute compute(Value value);

  MeshOp mesh;
  int64_t rank = 0, depth = 0;
  bool guesses = false;
  DenseMap<Value, Attribute> known;
  DenseSet<Operation *> wrapping;
};

/// The number that one value folds to. Changes no IR.
std::optional<int64_t> evaluateIndex(Value value);

/// What a loop's index, which begins at 0 or more, is less than; null for other values.
Value getLoopEnd(Value index);

/// Parameters that a value is computed from; not those that only the default of one that has a
/// number is.
SmallVector<ParamOp> getParamsOf(Value value);

} // namespace mlir::mk

#endif // MKERNEL_ANALYSIS_EVALUATE_H
