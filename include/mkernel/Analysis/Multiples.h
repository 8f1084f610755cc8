//===- Multiples.h - What an index is a multiple of --------------*- C++ -*-===//
#ifndef MKERNEL_ANALYSIS_MULTIPLES_H
#define MKERNEL_ANALYSIS_MULTIPLES_H

#include "mlir/IR/Value.h"

namespace mlir::mk {

/// Whether an index is a multiple of `number`, a power of two, whatever the sizes and loop counters are that it
/// follows from. False where that is not known. Helper functions have to be inlined.
bool isMultipleOf(Value index, int64_t number);

} // namespace mlir::mk

#endif // MKERNEL_ANALYSIS_MULTIPLES_H
