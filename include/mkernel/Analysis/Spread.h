//===- Spread.h - Tiles that are made of few values -------------*- C++ -*-===//
#ifndef MKERNEL_ANALYSIS_SPREAD_H
#define MKERNEL_ANALYSIS_SPREAD_H

#include "mlir/IR/Value.h"

namespace mlir::mk {

/// Whether each element of a tile is one of few values, and places alone say which: constants, what
/// is spread out along an axis, what masks or selects choose of such by numbers for which `isKnown`
/// holds when code is made. Accumulators need no registers for it, and no instructions.
bool isSpread(Value tile, llvm::function_ref<bool(Value)> isKnown);

/// The same for constants.
bool isSpread(Value tile);

} // namespace mlir::mk

#endif // MKERNEL_ANALYSIS_SPREAD_H
