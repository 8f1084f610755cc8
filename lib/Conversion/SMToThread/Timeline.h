//===- Timeline.h - When a kernel does what ----------------------*- C++ -*-===//
#ifndef MKERNEL_LIB_CONVERSION_SMTOTHREAD_TIMELINE_H
#define MKERNEL_LIB_CONVERSION_SMTOTHREAD_TIMELINE_H

#include "PartitionBuilder.h"

namespace mlir::mk::sm {

LogicalResult checkTimeline(const KernelInfo &info);
/// Those of warpgroups, or that of a mover.
void openTracks(PartitionBuilder &p);
void closeTracks(PartitionBuilder &p);
/// A span begins here, as one that is `what`; its value (i32; null: none) is kept, too.
/// Spans of different kinds may be in each other.
void beginSpan(PartitionBuilder &p, SpanClock clock, Value value = {});
/// Records it. A kind of mk_timeline_kind.
void endSpan(PartitionBuilder &p, SpanClock clock, int64_t kind, int64_t object = -1);
mk_thread::SpanAttr makeSignalSpan(PartitionBuilder &p, Value signal);
/// By the thread that is here, if it is the one that records.
void recordSignal(PartitionBuilder &p, Value signal, Value element);
/// What a wait records once it has found what it waits for.
mk_thread::SpanAttr makeWaitSpan(PartitionBuilder &p, int64_t kind, int64_t number);

} // namespace mlir::mk::sm

#endif // MKERNEL_LIB_CONVERSION_SMTOTHREAD_TIMELINE_H
