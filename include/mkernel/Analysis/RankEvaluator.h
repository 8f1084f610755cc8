//===- RankEvaluator.h - Index arithmetic on one rank -----------*- C++ -*-===//
#ifndef MKERNEL_ANALYSIS_RANKEVALUATOR_H
#define MKERNEL_ANALYSIS_RANKEVALUATOR_H

#include "mkernel/Dialect/Tile/Tile.h"

namespace mlir::mk {

/// What index arithmetic gives on one rank of a mesh whose sizes are known.
class RankEvaluator {
public:
  RankEvaluator(MeshOp mesh, int64_t rank) : mesh(mesh), rank(rank) {}

  /// A rank of the mesh, if the value is one and follows from the mesh alone.
  std::optional<int64_t> evaluateRank(Value value);

private:
  /// Null if the value depends on more.
  Attribute evaluate(Value value);
  Attribute evaluate(Operation *op);

  MeshOp mesh;
  int64_t rank;
  llvm::DenseMap<Value, Attribute> known;
};

} // namespace mlir::mk

#endif // MKERNEL_ANALYSIS_RANKEVALUATOR_H
