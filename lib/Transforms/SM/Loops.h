//===- Loops.h - What the SM level's passes ask of loops --------*- C++ -*-===//
#ifndef MKERNEL_LIB_TRANSFORMS_SM_LOOPS_H
#define MKERNEL_LIB_TRANSFORMS_SM_LOOPS_H

#include "mkernel/Dialect/SM/SM.h"
#include "mlir/Dialect/SCF/IR/SCF.h"

namespace mlir::mk_sm {

/// The loops of consumer partitions that hold matrix ops directly and no other
/// loop.
SmallVector<scf::ForOp> getDotLoops(ModuleOp module);

/// Whether `value` is a constant fragment of zeros.
bool isZero(Value value);

/// What a value was before it passed through mma_fence.
Value skipFence(Value value);
/// The op that waits for `value`, the result of a matrix op, if that is its only
/// use and the wait covers everything; null otherwise.
MmaWaitOp getFullWait(Value value, unsigned &result);

} // namespace mlir::mk_sm

#endif // MKERNEL_LIB_TRANSFORMS_SM_LOOPS_H
