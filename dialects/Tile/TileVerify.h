//===- TileVerify.h - Checks that several verifiers share -----*- C++ -*-===//
#ifndef MKERNEL_DIALECTS_TILE_TILEVERIFY_H
#define MKERNEL_DIALECTS_TILE_TILEVERIFY_H

#include "TileSyntax.h"

namespace mlir::mk {

/// The value of an index or integer constant.
std::optional<int64_t> getConstant(Value value);

/// A value that is not the same number on all ranks before a launch begins.
struct VaryingValue {
  Value value;
  bool inLaunch; ///< read or computed in the launch; else it may differ between ranks

  /// Adds a note that says so.
  void explain(InFlightDiagnostic &diag) const;
};

/// The first such value in the computation of `value`.
std::optional<VaryingValue> findVaryingValue(Value value, KernelOp kernel);

/// An op that talks to peers or other CTAs belongs into a role. Helper
/// functions are fine: they are verified again where they have been inlined.
LogicalResult verifyInRole(Operation *op);

/// Signals and counters are addressed by one index for each of their dimensions.
LogicalResult verifyIndices(Operation *op, StringRef what, ArrayRef<int64_t> shape,
                            ValueRange indices);

/// A destination must be writable: no `in` argument, no selected buffer.
LogicalResult verifyWritable(Operation *op, Value dest);

/// Adding is the only remote reduction.
LogicalResult verifyRemoteReduction(Operation *op, std::optional<Reduction> reduction,
                                    Type element);

/// Checks that what crosses a `net` axis of the kernel's mesh can: no remote
/// stores, and only contiguous puts between symmetric buffers.
LogicalResult verifyNetAccesses(KernelOp kernel, MeshOp mesh);

/// Whether what the op does is followed in a kernel; if not, verifyBody says what to write instead.
bool mayStand(Operation *op);

/// Checks that the kernel holds only what all checks and targets follow.
LogicalResult verifyBody(KernelOp kernel);

} // namespace mlir::mk

#endif // MKERNEL_DIALECTS_TILE_TILEVERIFY_H
