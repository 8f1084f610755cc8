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
#include "Lowering.h"
#include "mkernel/ABI/Gpu.h"
#include "mkernel/ABI/Timeline.h"

using namespace mlir;
using namespace mlir::mk;
using namespace mlir::mk::sm;
using namespace mlir::mk_sm;

//===----------------------------------------------------------------------===//
// Spans
//===----------------------------------------------------------------------===//

LogicalResult Lowering::checkTimeline() {
  if (!places)
    return success();
  int64_t all = countGrid(kernel, ctas);
  auto fits = [](size_t count, int64_t bits) { return int64_t(count) < (1 << bits); };
  if (fits(resources.roles.size(), MK_TIMELINE_ROLE_BITS) &&
      fits(resources.signals.size(), MK_TIMELINE_OBJECT_BITS) &&
      fits(resources.queues.size(), MK_TIMELINE_OBJECT_BITS) &&
      all * getNumTracks() * int64_t(MK_TIMELINE_TRACK_BYTES(MK_TIMELINE_RECORDS)) <=
          int64_t(UINT32_MAX))
    return success();
  return kernel.emitOpError()
         << "has too many roles, signals, queues or CTAs to record its time: at most "
         << (1 << MK_TIMELINE_ROLE_BITS) - 1 << " roles, "
         << (1 << MK_TIMELINE_OBJECT_BITS) - 1
         << " signals and queues each, and 4 GiB of records; compile it without timeline";
}

mk_thread::SpanAttr Lowering::makeSpan(int64_t kind, int64_t object) {
  if (!places)
    return {};
  constexpr int64_t noSite = (1 << MK_TIMELINE_SITE_BITS) - 1;
  int64_t site = currentOp ? std::min(places->numberOf(currentOp), noSite) : noSite;
  auto all = [](int64_t number, int64_t bits) { return number & ((1 << bits) - 1); };
  uint32_t what = MK_TIMELINE_WHAT(kind, all(roleNumber, MK_TIMELINE_ROLE_BITS),
                                   all(object, MK_TIMELINE_OBJECT_BITS), site);
  if (partition && isMover())
    return makeMoverSpan(what);
  int64_t track = 1;
  if (partition && isOneWarp())
    track = 0;
  else if (partition && partition.getTeams() > 1)
    track = -1;
  return mk_thread::SpanAttr::get(b.getContext(), what, track, /*thread=*/-1);
}

/// On a track behind those of warpgroups.
mk_thread::SpanAttr Lowering::makeMoverSpan(int64_t what) {
  return mk_thread::SpanAttr::get(b.getContext(), what, getNumThreads() / 128 + mover,
                                  32 * WarpsOp::getMoverWarp(mover));
}

mk_thread::SpanAttr Lowering::makeWaitSpan(int64_t kind, int64_t number) {
  // Within a CTA one side waits for the other all the time, which the record of the other tells,
  // and at the end of a launch each thread for another peer.
  if (kind == MK_WAIT_COPY || kind == MK_WAIT_DONE || kind == MK_WAIT_RING)
    return {};
  return makeSpan(MK_TIMELINE_WAIT + kind, number);
}

void Lowering::beginSpan(SpanClock clock, Value value) {
  if (auto span = makeSpan(0, 0))
    create<mk_thread::SpanBeginOp>(clock, span, value ? resize(value, i32) : Value());
}

void Lowering::endSpan(SpanClock clock, int64_t kind, int64_t object) {
  bool kept = kind == MK_TIMELINE_ITEM || kind == MK_TIMELINE_PUT;
  if (auto span = makeSpan(kind, object))
    create<mk_thread::SpanEndOp>(clock, span, kept);
}

mk_thread::SpanAttr Lowering::makeSignalSpan(Value signal) {
  return makeSpan(MK_TIMELINE_SIGNAL, *resources.indexOf(signal));
}

void Lowering::recordSignal(Value signal, Value element) {
  if (auto span = makeSignalSpan(signal))
    create<mk_thread::MomentOp>(span, resize(element, i32));
}

void Lowering::openTracks(bool ofMover) {
  if (places)
    create<mk_thread::TracksOpenOp>(ofMover ? makeMoverSpan(0) : mk_thread::SpanAttr());
}

void Lowering::closeTracks(bool ofMover) {
  if (places)
    create<mk_thread::TracksCloseOp>(ofMover ? makeMoverSpan(0) : mk_thread::SpanAttr());
}
