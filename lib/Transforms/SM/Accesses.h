//===- Accesses.h - Which memory accesses of a CTA meet -------------------===//
#ifndef MKERNEL_LIB_TRANSFORMS_SM_ACCESSES_H
#define MKERNEL_LIB_TRANSFORMS_SM_ACCESSES_H
#include "mkernel/Dialect/SM/SM.h"

namespace mlir::mk_sm {

/// A load or a store of a CTA, in its own memory; also a store on a rank that may be the own one.
struct Access {
  Operation *op;
  Value buffer;
  SmallVector<unsigned> args;
  OperandRange offsets;
  RankedTensorType tile; // null: one element
  bool writes = false, adds = false;
  bool isRemote = false;         // no own access: it comes behind these, and nothing behind it
  Operation *loop = nullptr;     // of an earlier iteration of this one
  bool hasBarrierBehind = false; // all threads have met behind it
  bool isInLoop = false;         // of a loop in front: only the same place is left to look at

  bool isSame(const Access &other) const {
    return op == other.op && buffer == other.buffer && loop == other.loop &&
           hasBarrierBehind == other.hasBarrierBehind && isInLoop == other.isInLoop;
  }
  bool isByEngine() const { return isa<mk_sm::StoreOp>(op); }
  /// How far it reaches in a dimension of the buffer.
  int64_t getExtent(size_t dim) const;
};

/// What an op loads or stores; nothing if it does neither in the own rank's memory.
std::optional<Access> getAccess(mk::KernelOp kernel, Operation *op);

/// Of the rows that a load looks up.
Access getListAccess(mk::KernelOp kernel, mk::LoadOp load);

/// Whether both may be of the same argument.
bool shareMemory(const Access &first, const Access &second);

/// Whether both are tiles at the same place, in the same iteration.
bool areSamePlace(const Access &first, const Access &second);

/// Whether each thread has the same elements in both accesses, the second one a store of what
/// threads have.
bool areAligned(const Access &first, const Access &second);

/// Whether two accesses of the same buffer have no element in common.
bool areApart(const Access &first, const Access &second);

} // namespace mlir::mk_sm

#endif // MKERNEL_LIB_TRANSFORMS_SM_ACCESSES_H
