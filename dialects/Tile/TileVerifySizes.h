//===- TileVerifySizes.h - Sizes that no kernel can have -----*- C++ -*-===//
#ifndef MKERNEL_DIALECTS_TILE_TILEVERIFYSIZES_H
#define MKERNEL_DIALECTS_TILE_TILEVERIFYSIZES_H

#include "mkernel/Dialect/Tile/Sizes.h"

namespace mlir::mk {

/// Axes whose sizes are known make no more ranks than there can be.
LogicalResult verifyRanks(MeshOp mesh);

/// Extents of arguments are defined for any sizes.
LogicalResult verifyArgumentExtents(KernelOp kernel);

/// Tiles have a size that a compiler and a CTA can cope with.
LogicalResult verifyTileSizes(KernelOp kernel);

} // namespace mlir::mk

#endif // MKERNEL_DIALECTS_TILE_TILEVERIFYSIZES_H
