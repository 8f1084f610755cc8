//===- Multiples.h - What an index is a multiple of --------------*- C++ -*-===//
#ifndef MKERNEL_ANALYSIS_MULTIPLES_H
#define MKERNEL_ANALYSIS_MULTIPLES_H

#include "mlir/IR/Value.h"
#include "llvm/ADT/STLFunctionalExtras.h"

#include <algorithm>
#include <optional>

namespace mlir::mk {

/// Whether an index is a multiple of `number`, a power of two, whatever the sizes and loop counters
/// are that it follows from. False where that is not known. Helper functions have to be inlined.
bool isMultipleOf(Value index, int64_t number);

/// The same by an estimate: `known` gives numbers of some values, and what nothing is known of
/// counts as a multiple.
bool isProbablyMultipleOf(Value index, int64_t number,
                          llvm::function_ref<std::optional<int64_t>(Value)> known);

/// The copy engine takes boxes that begin at multiples of so many bytes of a row, where rows begin
/// at such multiples, too. It stores none that begins in front of the buffer, in any dimension.
/// (CUDA C++ Programming Guide, "Tensor Memory Access", and cuTensorMapEncodeTiled; others end a
/// launch with an illegal instruction.)
constexpr int64_t kEngineBytes = 16;
/// Whether tiles of elements of so many bytes always begin at such a multiple if this is their
/// column.
inline bool isEngineColumn(Value column, int64_t elementBytes) {
  return isMultipleOf(column, std::max<int64_t>(kEngineBytes / elementBytes, 1));
}

} // namespace mlir::mk

#endif // MKERNEL_ANALYSIS_MULTIPLES_H
