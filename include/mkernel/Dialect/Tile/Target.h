//===- Target.h - The machine that a module is for ------------*- C++ -*-===//
#ifndef MKERNEL_DIALECT_TILE_TARGET_H
#define MKERNEL_DIALECT_TILE_TARGET_H

#include "mkernel/Dialect/Tile/Tile.h"

namespace mlir::mk {

/// The attribute of a module that is a #mk.target.
inline constexpr StringRef kTargetAttr = "mk.target";

/// The target of the innermost module around `op` (which may be one itself) that has one; null
/// if none has.
TargetAttr findTarget(Operation *op);

/// The same where it has SMs, else the default of the SM level, so that a pass of that level can be
/// run on a module that says nothing. Null only where no target with SMs is registered
/// (mkernel/Target/Backend.h).
TargetAttr getSmTarget(Operation *op);

/// What `getSmTarget` says of an SM; null like it.
inline SmAttr getSm(Operation *op) {
  TargetAttr target = getSmTarget(op);
  return target ? target.getSm() : SmAttr();
}

/// Threads that run together, and those that one instruction of the matrix unit is issued by;
/// registers are dealt out to as many.
inline constexpr int64_t kWarpThreads = 32, kWarpgroupThreads = 4 * kWarpThreads;

} // namespace mlir::mk

#endif // MKERNEL_DIALECT_TILE_TARGET_H
