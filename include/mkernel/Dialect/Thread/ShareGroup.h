//===- ShareGroup.h - Which CTAs share a copy, as code ----------*- C++ -*-===//
#ifndef MKERNEL_DIALECT_THREAD_SHAREGROUP_H
#define MKERNEL_DIALECT_THREAD_SHAREGROUP_H

#include "mkernel/Dialect/SM/ShareGroup.h"
#include "mlir/IR/Value.h"

namespace mlir::mk_thread {

class Emitter;
using mk_sm::ShareGroup;

/// i32: the group of the CTA with this number, a bit for each CTA of its cluster.
Value makeMask(Emitter &e, ShareGroup group, Value cta, int64_t cluster);
/// i32: its place in the group.
Value makePlace(Emitter &e, ShareGroup group, Value cta);

} // namespace mlir::mk_thread

#endif // MKERNEL_DIALECT_THREAD_SHAREGROUP_H
