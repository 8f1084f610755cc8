//===- Timeline.cpp - When a kernel does what ------------------------------===//
//
// Spans of time go to tracks in global memory (mkernel/ABI/Timeline.h): roles, items, puts,
// and waits for others that did not find at once what they wait for. Stages of a pipeline
// leave no record: beside products it would make some kernels spill.
//
// One thread of each warpgroup, and of each mover, has a track and writes. Where it is on its
// track, and when what it is in began, is kept in shared memory: beside accumulators there is no
// register. A record is some instructions without a branch, its stores to global memory under a
// predicate, so that ptxas keeps knowing that warps stay together.
//
//===----------------------------------------------------------------------===//
#include "Timeline.h"
#include "Peers.h"
#include "mkernel/ABI/Gpu.h"
#include "mkernel/ABI/Timeline.h"

using namespace mlir;
using namespace mlir::mk;
using namespace mlir::mk::sm;
using namespace mlir::mk_sm;

LogicalResult sm::checkTimeline(const KernelInfo &info) {
  if (!info.timed)
    return success();
  int64_t all = info.countCtas();
  auto fits = [](size_t count, int64_t bits) { return int64_t(count) < (1 << bits); };
  if (fits(info.resources.roles.size(), MK_TIMELINE_ROLE_BITS) &&
      fits(info.resources.signals.size(), MK_TIMELINE_OBJECT_BITS) &&
      fits(info.resources.queues.size(), MK_TIMELINE_OBJECT_BITS) &&
      all * info.getNumTracks() * int64_t(MK_TIMELINE_TRACK_BYTES(MK_TIMELINE_RECORDS)) <=
          int64_t(UINT32_MAX))
    return success();
  return info.getKernel().emitOpError()
         << "has too many roles, signals, queues or CTAs to record its time: at most "
         << (1 << MK_TIMELINE_ROLE_BITS) - 1 << " roles, " << (1 << MK_TIMELINE_OBJECT_BITS) - 1
         << " signals and queues each, and 4 GiB of records; compile it without timeline";
}

/// On a track behind those of warpgroups.
static mk_thread::SpanAttr makeMoverSpan(PartitionBuilder &p, int64_t what) {
  return mk_thread::SpanAttr::get(p.getContext(), what,
                                  p.info.getNumThreads() / kWarpgroupThreads + p.mover,
                                  kWarpThreads * WarpsOp::getMoverWarp(p.mover));
}

static mk_thread::SpanAttr makeSpan(PartitionBuilder &p, int64_t kind, int64_t object) {
  if (!p.info.timed)
    return {};
  constexpr int64_t noSite = (1 << MK_TIMELINE_SITE_BITS) - 1;
  int64_t site = p.currentOp ? std::min(p.info.timed->numberOf(p.currentOp), noSite) : noSite;
  auto all = [](int64_t number, int64_t bits) { return number & ((1 << bits) - 1); };
  uint32_t what = MK_TIMELINE_WHAT(kind, all(p.roleNumber, MK_TIMELINE_ROLE_BITS),
                                   all(object, MK_TIMELINE_OBJECT_BITS), site);
  if (p.isMover())
    return makeMoverSpan(p, what);
  int64_t track = 1;
  if (p.partition && p.isOneWarp())
    track = 0;
  else if (p.partition && p.partition.getTeams() > 1)
    track = -1;
  return mk_thread::SpanAttr::get(p.getContext(), what, track, /*thread=*/-1);
}

mk_thread::SpanAttr sm::makeWaitSpan(PartitionBuilder &p, int64_t kind, int64_t number) {
  // Within a CTA one side waits for the other all the time, which the record of the other tells,
  // and at the end of a launch each thread for another peer.
  if (kind == MK_WAIT_COPY || kind == MK_WAIT_DONE || kind == MK_WAIT_RING)
    return {};
  return makeSpan(p, MK_TIMELINE_WAIT + kind, number);
}

void sm::beginSpan(PartitionBuilder &p, SpanClock clock, Value value) {
  if (auto span = makeSpan(p, 0, 0))
    mk_thread::SpanBeginOp::create(p, clock, span, value ? resize(p, value, p.i32) : Value());
}

void sm::endSpan(PartitionBuilder &p, SpanClock clock, int64_t kind, int64_t object) {
  bool kept = kind == MK_TIMELINE_ITEM || kind == MK_TIMELINE_PUT;
  if (auto span = makeSpan(p, kind, object))
    mk_thread::SpanEndOp::create(p, clock, span, kept);
}

mk_thread::SpanAttr sm::makeSignalSpan(PartitionBuilder &p, Value signal) {
  return makeSpan(p, MK_TIMELINE_SIGNAL, *p.info.resources.indexOf(signal));
}

void sm::recordSignal(PartitionBuilder &p, Value signal, Value element) {
  if (auto span = makeSignalSpan(p, signal))
    mk_thread::MomentOp::create(p, span, resize(p, element, p.i32));
}

void sm::openTracks(PartitionBuilder &p) {
  if (p.info.timed)
    mk_thread::TracksOpenOp::create(p, p.isMover() ? makeMoverSpan(p, 0) : mk_thread::SpanAttr());
}

void sm::closeTracks(PartitionBuilder &p) {
  if (p.info.timed)
    mk_thread::TracksCloseOp::create(p, p.isMover() ? makeMoverSpan(p, 0) : mk_thread::SpanAttr());
}
