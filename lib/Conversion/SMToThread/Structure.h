//===- Structure.h - The parts of a kernel -----------------------*- C++ -*-===//
#ifndef MKERNEL_LIB_CONVERSION_SMTOTHREAD_STRUCTURE_H
#define MKERNEL_LIB_CONVERSION_SMTOTHREAD_STRUCTURE_H

#include "PartitionBuilder.h"

namespace mlir::mk::sm {

/// `mk_kernel`, behind the kernel.
LogicalResult emitKernel(const KernelInfo &info);

/// Barriers are made, and what the launch before has left is there.
void beginLaunch(PartitionBuilder &p);
void endLaunch(PartitionBuilder &p);
/// What the producer's first warp does, or the consumer. The scope is its own.
LogicalResult emitSide(PartitionBuilder &p, PartitionKind kind);
LogicalResult emitMover(PartitionBuilder p, int64_t number);
/// A partition of role `number` (-1: mk.prepare), for which `ctaInRole` stands for this CTA.
LogicalResult emitPartition(const PartitionBuilder &outer, PartitionOp op, Operation *scope,
                            int64_t number, Value ctaInRole);

/// Who copies where the copy engine does not, and where requests to them lie.
mk_thread::CopiersAttr makeCopiers(PartitionBuilder &p);
/// Cursors are handed over with the turn.
void takeTurn(PartitionBuilder &p, ValueRange taken);
void passTurn(PartitionBuilder &p, ValueRange handed);

} // namespace mlir::mk::sm

#endif // MKERNEL_LIB_CONVERSION_SMTOTHREAD_STRUCTURE_H
