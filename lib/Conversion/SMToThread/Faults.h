//===- Faults.h - How a launch that has failed comes to its end --*- C++ -*-===//
#ifndef MKERNEL_LIB_CONVERSION_SMTOTHREAD_FAULTS_H
#define MKERNEL_LIB_CONVERSION_SMTOTHREAD_FAULTS_H

#include "PartitionBuilder.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"

namespace mlir::mk::sm {

/// The launch fails with a report (MK_FAIL_*) where the condition does not hold: a
/// program that is wrong.
void failUnless(PartitionBuilder &p, Value condition, int64_t kind);
/// The rank, or this one where the mesh has no such rank, which is reported.
Value existingPeer(PartitionBuilder &p, Value peer);
/// i32: whether the CTA has failed, the same for all threads of the partition, which
/// meet for it.
Value agreeOnFailure(PartitionBuilder &p);
/// To be called at the beginning of a partition that agrees, and behind a wait for a signal.
void updateWaitFailed(PartitionBuilder &p);
/// Zero once threads have agreed on a failure.
Value loadAgreed(PartitionBuilder &p, Type type, Value address);
/// The element that the op reads.
Value loadScalar(PartitionBuilder &p, memref::LoadOp op, Type type, Value address);

} // namespace mlir::mk::sm

#endif // MKERNEL_LIB_CONVERSION_SMTOTHREAD_FAULTS_H
