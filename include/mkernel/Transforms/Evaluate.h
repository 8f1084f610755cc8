//===- Evaluate.h - Numbers that values fold to ----------------*- C++ -*-===//
#ifndef MKERNEL_TRANSFORMS_EVALUATE_H
#define MKERNEL_TRANSFORMS_EVALUATE_H

#include "mkernel/Dialect/Tile/Tile.h"

namespace mlir::mk {

/// The number that an integer value folds to, parameters at their defaults and
/// meshes as far as they have sizes; none if that is unknown. Changes no IR.
std::optional<int64_t> evaluateIndex(Value value);

} // namespace mlir::mk

#endif // MKERNEL_TRANSFORMS_EVALUATE_H
