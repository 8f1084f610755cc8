//===- SMPhases.h - What the SM level promises from pass to pass *- C++ -*-===//
//
// On its way through the SM level a kernel is in one phase after the other. Each says what
// holds of its IR; a pass needs the phase that it starts from and leaves the one it promises.
//
//===----------------------------------------------------------------------===//
#ifndef MKERNEL_ANALYSIS_SMPHASES_H
#define MKERNEL_ANALYSIS_SMPHASES_H

#include "mkernel/Dialect/SM/SM.h"

#include <optional>

namespace mlir::mk_sm {

enum class Phase {
  /// Loops over items, folds and calls are expanded; roles are not split. Tiles have no layout.
  Tiles,
  /// Roles consist of channels and partitions; each tile is staged, or a fragment of the consumer's
  /// threads. Each matrix op is waited for at once, each slot released where it was waited for.
  Partitioned,
  /// As before, but matrix ops may be in flight, and teams take turns.
  Overlapped,
  /// Rings have depths, all fits in shared memory, copies are shared by whole clusters.
  Sized,
  /// Uses of channels have stages and parities, what owns shared memory its offsets, and warps
  /// their partitions: what becomes code of a thread.
  Placed,
};

/// The phase of this name (tiles, partitioned, overlapped, sized or placed); none for other names.
std::optional<Phase> parsePhase(StringRef name);

/// Checks that the kernel is in the phase; says what is not and which pass mends it.
LogicalResult verifyPhase(mk::KernelOp kernel, Phase phase);

/// What holds of all phases behind the split: roles consist of channels and partitions, the
/// producer holds no tiles, and fragments have layouts over the consumer's threads.
LogicalResult verifyPartitions(mk::KernelOp kernel);
/// The last phase.
LogicalResult verifyPlaced(mk::KernelOp kernel);

} // namespace mlir::mk_sm

#endif // MKERNEL_ANALYSIS_SMPHASES_H
