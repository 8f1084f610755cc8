//===- SMVerify.h - What the verifiers of the SM dialect share -*- C++ -*-===//
#ifndef MKERNEL_DIALECTS_SM_SMVERIFY_H
#define MKERNEL_DIALECTS_SM_SMVERIFY_H

#include "mkernel/Dialect/SM/SM.h"

namespace mlir::mk_sm {

/// Checks that `type` is a tile with a layout that fits its shape and, in a partition, a
/// consumer's threads.
LogicalResult verifyFragment(Operation *op, Type type);

/// Checks that the cursor counts so many slots that its partition has for itself.
LogicalResult verifyCounts(Operation *op, Value cursor, int64_t slots, StringRef what);

/// Checks that so many CTAs can be a cluster; `does` is what they do in there.
LogicalResult verifyCluster(Operation *op, int64_t ctas, const Twine &does);

} // namespace mlir::mk_sm

#endif // MKERNEL_DIALECTS_SM_SMVERIFY_H
