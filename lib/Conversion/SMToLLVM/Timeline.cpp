//===- Timeline.cpp - When a kernel does what ------------------------------===//
//
// Spans of time go to tracks in global memory (mkernel/ABI/Timeline.h): roles, items, puts,
// and waits for others that did not find at once what they wait for. Stages of a pipeline
// leave no record: beside products it would make some kernels spill.
//
// One thread of each warpgroup that has a track writes. Where it is on its track, and when
// what it is in began, is kept in shared memory: beside accumulators there is no register.
// A record is some instructions without a branch, its stores to global memory under a predicate, so that ptxas keeps
// knowing that warps stay together.
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
// Text
//===----------------------------------------------------------------------===//

std::string SpanText::word(TrackWord word) const {
  return "[at+" + std::to_string(4 * int64_t(word)) + "]";
}

// Words of threads that do not record are those of a track that nobody reads: where a store
// to shared memory has a predicate, ptxas takes warps to be apart behind it, and what leads
// through a loop of products leaves the uniform registers. The clock is read by those alone that
// record: warps wait for one another there.
void SpanText::elect(llvm::raw_ostream &os) const {
  int64_t unread = words + kTrackBytes * kMaxTracks;
  os << "mov.u32 at, %tid.x; ";
  if (track >= 0) {
    os << "setp.eq.u32 me, at, " << 128 * track << "; selp.b32 place, "
       << words + kTrackBytes * track << ", " << unread << ", me; ";
  } else {
    os << "and.b32 now, at, 127; setp.eq.u32 me, now, 0; shr.u32 group, at, 7; "
       << "mad.lo.u32 place, group, " << kTrackBytes << ", " << words
       << "; selp.b32 place, place, " << unread << ", me; ";
  }
  // A symbol is an address only in brackets and moves.
  os << "mov.u32 at, mk_shared; add.u32 at, at, place; ";
}

void SpanText::writeBegin(llvm::raw_ostream &os) const {
  elect(os);
  os << "@me mov.u64 time, %globaltimer; cvt.u32.u64 now, time; "
     << "st.volatile.shared.b32 " << word(begin) << ", now; ";
}

// Few registers at a time: what is stored is computed when it is, the time last.
void SpanText::writeEnd(llvm::raw_ostream &os) const {
  elect(os);
  os << "ld.volatile.shared.b32 place, " << word(TrackWord::Position)
     << "; setp.lt.u32 fits, place, " << MK_TIMELINE_RECORDS
     << "; and.pred fits, fits, me; ";
  // The number of the track, then the record's offset.
  os << "mov.u32 now, %ctaid.x; mad.lo.u32 now, now, " << tracks << ", ";
  if (track >= 0)
    os << track;
  else
    os << "group";
  os << "; mul.lo.u32 now, now, " << MK_TIMELINE_TRACK_BYTES(MK_TIMELINE_RECORDS)
     << "; mad.lo.u32 now, place, " << sizeof(mk_timeline_record) << ", now; "
     << "add.u32 place, place, 1; st.volatile.shared.b32 " << word(TrackWord::Position)
     << ", place; cvt.u64.u32 time, now; ld.param.b64 tracks, [" << params << "+"
     << timeline << "]; add.s64 tracks, tracks, time; ";
  auto put = [&](int64_t field, StringRef text) {
    os << "@fits st.global.b32 [tracks+" << sizeof(mk_timeline_track) + field << "], "
       << text << "; ";
  };
  put(offsetof(mk_timeline_record, what), std::to_string(what));
  if (StringRef(value).starts_with("[")) {
    os << "ld.volatile.shared.b32 place, " << value << "; ";
    put(offsetof(mk_timeline_record, value), "place");
  } else {
    os << makeValue;
    put(offsetof(mk_timeline_record, value), value);
  }
  if (!isMoment) {
    os << "ld.volatile.shared.b32 place, " << word(begin) << "; ";
    put(offsetof(mk_timeline_record, begin), "place");
  }
  os << "@fits mov.u64 time, %globaltimer; cvt.u32.u64 now, time; ";
  if (isMoment)
    put(offsetof(mk_timeline_record, begin), "now");
  put(offsetof(mk_timeline_record, end), "now");
  if (begin == TrackWord::Role)
    os << "st.volatile.shared.b32 " << word(begin) << ", now; ";
}

const char *sm::getSpanRegisters() {
  return ".reg .pred me, fits; .reg .b32 at, now, group, place; "
         ".reg .b64 tracks, time; ";
}

//===----------------------------------------------------------------------===//
// Spans
//===----------------------------------------------------------------------===//

LogicalResult Lowering::checkTimeline() {
  if (!places)
    return success();
  int64_t all = 0;
  for (int64_t count : ctas)
    all += count;
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

SpanText Lowering::makeSpan(int64_t kind, int64_t object) {
  SpanText span;
  if (!places)
    return span;
  constexpr int64_t noSite = (1 << MK_TIMELINE_SITE_BITS) - 1;
  int64_t site = emitted ? std::min(places->numberOf(emitted), noSite) : noSite;
  auto all = [](int64_t number, int64_t bits) { return number & ((1 << bits) - 1); };
  span.what = MK_TIMELINE_WHAT(kind, all(roleNumber, MK_TIMELINE_ROLE_BITS),
                               all(object, MK_TIMELINE_OBJECT_BITS), site);
  span.params = getParamName(function);
  span.timeline = params.timeline;
  span.tracks = getNumTracks();
  span.words = shared.tracks;
  if (!partition)
    span.track = 1;
  else if (isProducer())
    span.track = 0;
  else
    span.track = partition.getTeams() > 1 ? -1 : 1;
  return span;
}

SpanText Lowering::makeWaitSpan(int64_t kind, int64_t number) {
  SpanText span;
  // Within a CTA one side waits for the other all the time, which the record of the other tells, and
  // at the end of a launch each thread for another peer.
  if (!places || kind == MK_WAIT_COPY || kind == MK_WAIT_DONE || kind == MK_WAIT_RING)
    return span;
  span = makeSpan(MK_TIMELINE_WAIT + kind, number);
  span.begin = TrackWord::Wait;
  return span;
}

void Lowering::beginSpan(TrackWord begin, Value value) {
  SpanText span = makeSpan(0, 0);
  if (!span)
    return;
  std::string text;
  llvm::raw_string_ostream os(text);
  os << "{ " << getSpanRegisters();
  span.begin = begin;
  span.writeBegin(os);
  SmallVector<Value> operands;
  if (value) {
    operands.push_back(resize(value, i32));
    os << "st.volatile.shared.b32 " << span.word(TrackWord(int(begin) + 1)) << ", $0; ";
  }
  os << "}";
  ptx(text, {}, operands);
}

void Lowering::endSpan(TrackWord begin, int64_t kind, int64_t object) {
  SpanText span = makeSpan(kind, object);
  if (!span)
    return;
  span.begin = begin;
  if (kind == MK_TIMELINE_ITEM || kind == MK_TIMELINE_PUT)
    span.value = span.word(TrackWord(int(begin) + 1));
  std::string text;
  llvm::raw_string_ostream os(text);
  os << "{ " << getSpanRegisters();
  span.writeEnd(os);
  os << "}";
  ptx(text, {}, {});
}

void Lowering::recordSignal(Value signal, Value element) {
  SpanText span = makeSpan(MK_TIMELINE_SIGNAL, *resources.indexOf(signal));
  if (!span)
    return;
  span.value = "$0";
  span.isMoment = true;
  std::string text;
  llvm::raw_string_ostream os(text);
  os << "{ " << getSpanRegisters();
  span.writeEnd(os);
  os << "}";
  ptx(text, {}, resize(element, i32));
}

//===----------------------------------------------------------------------===//
// Tracks
//===----------------------------------------------------------------------===//

/// By the first thread of each warpgroup: `body` may use its track's address in `tracks`.
static std::string onTrack(const SpanText &span, StringRef body) {
  std::string text;
  llvm::raw_string_ostream os(text);
  os << "{ " << getSpanRegisters();
  span.elect(os);
  os << "mov.u32 now, %ctaid.x; mad.lo.u32 now, now, " << span.tracks
     << ", group; mul.lo.u32 now, now, "
     << MK_TIMELINE_TRACK_BYTES(MK_TIMELINE_RECORDS) << "; ld.param.b64 tracks, ["
     << span.params << "+" << span.timeline
     << "]; cvt.u64.u32 time, now; add.s64 tracks, tracks, time; "
     << "@me mov.u64 time, %globaltimer; " << body << "}";
  return text;
}

void Lowering::openTracks() {
  SpanText span = makeSpan(0, 0);
  if (!span)
    return;
  span.track = -1;
  ptx(onTrack(span, "mov.u32 now, %smid; @me st.global.b32 [tracks+" +
                        std::to_string(offsetof(mk_timeline_track, sm)) +
                        "], now; @me st.global.b64 [tracks+" +
                        std::to_string(offsetof(mk_timeline_track, begin)) +
                        "], time; cvt.u32.u64 now, time; st.volatile.shared.b32 " +
                        span.word(TrackWord::Role) +
                        ", now; st.volatile.shared.b32 " +
                        span.word(TrackWord::Position) + ", 0; "),
      {}, {});
}

void Lowering::closeTracks() {
  SpanText span = makeSpan(0, 0);
  if (!span)
    return;
  span.track = -1;
  ptx(onTrack(span, "ld.volatile.shared.b32 now, " + span.word(TrackWord::Position) +
                        "; @me st.global.b32 [tracks+" +
                        std::to_string(offsetof(mk_timeline_track, count)) +
                        "], now; @me st.global.b64 [tracks+" +
                        std::to_string(offsetof(mk_timeline_track, end)) + "], time; "),
      {}, {});
}
