//===- SMChannels.h - Checks of rings and mailboxes -------------*- C++ -*-===//
#ifndef MKERNEL_LIB_ANALYSIS_SMCHANNELS_H
#define MKERNEL_LIB_ANALYSIS_SMCHANNELS_H

#include "mkernel/Dialect/SM/SM.h"

namespace mlir::mk_sm {

/// Checks that what one partition of a role puts into a channel the other one takes out. With
/// `paired` both do so in as many places, and a slot is released in the block in which it was
/// waited for.
LogicalResult verifyChannels(Operation *scope, bool paired);

/// Checks that rings have depths, and that CTAs that share copies are whole clusters.
LogicalResult verifySizes(mk::KernelOp kernel);

} // namespace mlir::mk_sm

#endif // MKERNEL_LIB_ANALYSIS_SMCHANNELS_H
