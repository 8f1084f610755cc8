//===- TileLimits.h - Tiles that no SM can hold ----------------*- C++ -*-===//
#ifndef MKERNEL_LIB_CONVERSION_TILETOSM_TILELIMITS_H
#define MKERNEL_LIB_CONVERSION_TILETOSM_TILELIMITS_H

#include "mkernel/Dialect/Tile/Tile.h"

namespace mlir::mk {

/// Refuses tiles of more bytes than an SM has registers for; shared memory has fewer.
/// Registers are counted exactly where tiles have layouts. This comes before, since a
/// value for each element of a thread's part is made until then.
LogicalResult verifyTilesFit(KernelOp kernel);

} // namespace mlir::mk

#endif // MKERNEL_LIB_CONVERSION_TILETOSM_TILELIMITS_H
