//===- SMVerify.h - What the verifiers of the SM dialect share -*- C++ -*-===//
#ifndef MKERNEL_DIALECTS_SM_SMVERIFY_H
#define MKERNEL_DIALECTS_SM_SMVERIFY_H

#include "mkernel/Dialect/SM/SM.h"

namespace mlir::mk_sm {

/// Offsets of what the op owns in shared memory.
LogicalResult verifyShared(Operation *op, Attribute value);

/// Checks that `op` stands in a partition of the kind.
LogicalResult verifyIn(Operation *op, PartitionKind kind);

/// Checks that `op` stands in a role or in mk.prepare.
LogicalResult verifyInScope(Operation *op);

/// Checks that `type` is a tile with a layout that fits its shape and, in a partition, a
/// consumer's threads.
LogicalResult verifyFragment(Operation *op, Type type);

/// What loads and stores have in common: offsets, in elements, one for each dimension of
/// `buffer`; none or one valid extent for each dimension of the tile.
LogicalResult verifyAccess(Operation *op, MemRefType buffer, size_t offsets, size_t valid,
                           RankedTensorType tile);

} // namespace mlir::mk_sm

#endif // MKERNEL_DIALECTS_SM_SMVERIFY_H
