//===- KernelFacts.h - What a kernel does as a whole -------------*- C++ -*-===//
#ifndef MKERNEL_LIB_CONVERSION_SMTOTHREAD_KERNELFACTS_H
#define MKERNEL_LIB_CONVERSION_SMTOTHREAD_KERNELFACTS_H

#include "mkernel/Analysis/Resources.h"
#include "mkernel/Dialect/SM/SM.h"

namespace mlir::mk::sm {

/// Found before any code is emitted.
struct KernelFacts {
  bool waitsForOthers; // CTAs wait for one another, or for other ranks
  bool keepsCounts;    // a launch leaves something to the next one
  /// Nothing but movers writes to other ranks: then these say when the rank is done with them.
  bool onlyMoversCommunicate;
  SmallVector<mk_sm::StoreOp>
      posted; // the stores that the sender does, in the order of their numbers
};
KernelFacts findFacts(KernelOp kernel, const KernelResources &resources);

/// Whether there is a put or signal in `scope` that may go to another rank.
bool reachesOut(Operation *scope);

} // namespace mlir::mk::sm

#endif // MKERNEL_LIB_CONVERSION_SMTOTHREAD_KERNELFACTS_H
