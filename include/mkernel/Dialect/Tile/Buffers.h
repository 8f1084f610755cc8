//===- Buffers.h - What a kernel does with its buffers ---------*- C++ -*-===//
#ifndef MKERNEL_DIALECT_TILE_BUFFERS_H
#define MKERNEL_DIALECT_TILE_BUFFERS_H

#include "mkernel/Dialect/Tile/Tile.h"

namespace mlir::mk {

/// Whether all arguments that a buffer may be are ones that no kernel writes: their contents need
/// no wait.
bool isNeverWritten(Value buffer);
/// Whether that holds for all that the load reads, a list of rows as well.
bool readsNeverWritten(LoadOp load);

/// Whether the op, not those inside it, acts on what others see: it writes a buffer, tells
/// somebody something, or orders that. Waiting and reading are no such acts. Ops of `mk` say so
/// themselves (`VisibleEffect`).
bool hasVisibleEffect(Operation *op);

} // namespace mlir::mk

#endif // MKERNEL_DIALECT_TILE_BUFFERS_H
