//===- Packing.h - Arguments that may be copied in front of a launch -*- C++ -*-===//
#ifndef MKERNEL_ANALYSIS_PACKING_H
#define MKERNEL_ANALYSIS_PACKING_H

#include "mkernel/Dialect/Tile/Tile.h"

namespace mlir::mk {

/// Whether a launch may run on a copy of an argument (by its number) that is made in front of it,
/// with other strides: the kernel only reads it, no other rank touches it, and where its tiles lie
/// follows from sizes and indices, not from what memory holds, so that copying all of it is not far
/// more than what is read. At the tile level and the SM level; helper functions have to be inlined.
bool mayPack(KernelOp kernel, unsigned arg);

} // namespace mlir::mk

#endif // MKERNEL_ANALYSIS_PACKING_H
