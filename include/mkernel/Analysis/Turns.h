//===- Turns.h - How often loops fill a ring ---------------------*- C++ -*-===//
#ifndef MKERNEL_ANALYSIS_TURNS_H
#define MKERNEL_ANALYSIS_TURNS_H

#include "mkernel/Dialect/SM/SM.h"

namespace mlir::mk_sm {

/// Whether an item is known to fill the ring fewer than `few` times.
bool isShort(CreateRingOp ring, int64_t few);

} // namespace mlir::mk_sm

#endif // MKERNEL_ANALYSIS_TURNS_H
