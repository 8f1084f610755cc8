//===- VerifyInput.h - What the conversion needs of a kernel ----*- C++ -*-===//
#ifndef MKERNEL_LIB_CONVERSION_SMTOTHREAD_VERIFYINPUT_H
#define MKERNEL_LIB_CONVERSION_SMTOTHREAD_VERIFYINPUT_H

#include "mkernel/Dialect/Tile/Tile.h"

namespace mlir::mk::sm {

/// Checks what the lowering of ops takes for granted: roles consist of channels and partitions,
/// and each tile is a fragment whose layout is over the threads that run the op.
LogicalResult verifyInput(KernelOp kernel);

} // namespace mlir::mk::sm

#endif // MKERNEL_LIB_CONVERSION_SMTOTHREAD_VERIFYINPUT_H
