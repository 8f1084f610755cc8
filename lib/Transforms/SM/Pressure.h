//===- Pressure.h - How many registers the tiles of a block take -*- C++ -*-===//
#ifndef MKERNEL_LIB_TRANSFORMS_SM_PRESSURE_H
#define MKERNEL_LIB_TRANSFORMS_SM_PRESSURE_H

#include "mlir/IR/Block.h"

namespace mlir::mk_sm {

/// Whether the op reads a tile that lies in slots, any element of it when it is asked for.
bool isTileRead(Operation *op);

/// Whether an op makes a tile that may be made a part at a time.
bool isByElements(Operation *op);

/// The load, or read of slots, whose elements an op gives, maybe converted; null if there is none.
Operation *findLoad(Operation *op);
/// The elementwise op that alone takes what a load gives, maybe converted, and each element once:
/// the tile need not be there whole.
Operation *findOnlyUser(Operation *op);

/// Registers of 32 bits that a thread needs for tiles of the block while it runs, what is carried
/// into the block included; those of tiles that are made as they are stored are not counted.
int64_t countPressure(Block &block);

} // namespace mlir::mk_sm

#endif // MKERNEL_LIB_TRANSFORMS_SM_PRESSURE_H
