//===- LowerSpans.cpp - Records of time ---------------------------------------===//
//
// Spans of time go to tracks in global memory (mkernel/ABI/Timeline.h): roles, items, puts,
// and waits for others that did not find at once what they wait for. Stages of a pipeline
// leave no record: beside products it would make some kernels spill.
//
// One thread of each warpgroup that has a track writes. Where it is on its track, and when what it
// is in began, is kept in shared memory: beside accumulators there is no register. A record is some
// instructions without a branch, its stores to global memory under a predicate, so that ptxas keeps
// knowing that warps stay together.
//
//===----------------------------------------------------------------------===//
#include "Texts.h"

using namespace mlir;
using namespace mlir::mk::thread;
using namespace mlir::mk_thread;

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
    os << "setp.eq.u32 me, at, " << thread << "; selp.b32 place, " << words + kTrackBytes * track
       << ", " << unread << ", me; ";
  } else {
    os << "and.b32 now, at, 127; setp.eq.u32 me, now, 0; shr.u32 group, at, 7; "
       << "mad.lo.u32 place, group, " << kTrackBytes << ", " << words << "; selp.b32 place, place, "
       << unread << ", me; ";
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
     << "; setp.lt.u32 fits, place, " << MK_TIMELINE_RECORDS << "; and.pred fits, fits, me; ";
  // The number of the track, then the record's offset.
  os << "mov.u32 now, %ctaid.x; mad.lo.u32 now, now, " << tracks << ", ";
  if (track >= 0)
    os << track;
  else
    os << "group";
  os << "; mul.lo.u32 now, now, " << MK_TIMELINE_TRACK_BYTES(MK_TIMELINE_RECORDS)
     << "; mad.lo.u32 now, place, " << sizeof(mk_timeline_record) << ", now; "
     << "add.u32 place, place, 1; st.volatile.shared.b32 " << word(TrackWord::Position)
     << ", place; cvt.u64.u32 time, now; ld.param.b64 tracks, [" << params << "+" << timeline
     << "]; add.s64 tracks, tracks, time; ";
  auto put = [&](int64_t field, StringRef text) {
    os << "@fits st.global.b32 [tracks+" << sizeof(mk_timeline_track) + field << "], " << text
       << "; ";
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

const char *mk::thread::getSpanRegisters() {
  return ".reg .pred me, fits; .reg .b32 at, now, group, place; "
         ".reg .b64 tracks, time; ";
}

//===----------------------------------------------------------------------===//
// Tracks
//===----------------------------------------------------------------------===//

/// By the thread that records on the track, or the first one of each warpgroup: `body` may use the
/// track's address in `tracks`.
static std::string onTrack(const SpanText &span, StringRef body) {
  std::string text;
  llvm::raw_string_ostream os(text);
  os << "{ " << getSpanRegisters();
  span.elect(os);
  os << "mov.u32 now, %ctaid.x; mad.lo.u32 now, now, " << span.tracks << ", "
     << (span.track < 0 ? "group" : std::to_string(span.track)) << "; mul.lo.u32 now, now, "
     << MK_TIMELINE_TRACK_BYTES(MK_TIMELINE_RECORDS) << "; ld.param.b64 tracks, [" << span.params
     << "+" << span.timeline << "]; cvt.u64.u32 time, now; add.s64 tracks, tracks, time; "
     << "@me mov.u64 time, %globaltimer; " << body << "}";
  return text;
}

static SmallVector<Value> openTracks(const SpanText &span, Ptx &ptx) {
  return ptx.run(onTrack(span, "mov.u32 now, %smid; @me st.global.b32 [tracks+" +
                                   std::to_string(offsetof(mk_timeline_track, sm)) +
                                   "], now; @me st.global.b64 [tracks+" +
                                   std::to_string(offsetof(mk_timeline_track, begin)) +
                                   "], time; cvt.u32.u64 now, time; st.volatile.shared.b32 " +
                                   span.word(TrackWord::Role) + ", now; st.volatile.shared.b32 " +
                                   span.word(TrackWord::Position) + ", 0; "),
                 {}, {});
}

static SmallVector<Value> closeTracks(const SpanText &span, Ptx &ptx) {
  return ptx.run(onTrack(span, "ld.volatile.shared.b32 now, " + span.word(TrackWord::Position) +
                                   "; @me st.global.b32 [tracks+" +
                                   std::to_string(offsetof(mk_timeline_track, count)) +
                                   "], now; @me st.global.b64 [tracks+" +
                                   std::to_string(offsetof(mk_timeline_track, end)) + "], time; "),
                 {}, {});
}

//===----------------------------------------------------------------------===//
// Spans
//===----------------------------------------------------------------------===//

/// The code that `write` writes, with its registers.
static std::string inBlock(function_ref<void(llvm::raw_ostream &)> write) {
  std::string text;
  llvm::raw_string_ostream os(text);
  os << "{ " << getSpanRegisters();
  write(os);
  os << "}";
  return text;
}

static SmallVector<Value> lowerBegin(SpanText span, SpanBeginOp op, Ptx &ptx) {
  span.begin = TrackWord(op.getClock());
  std::string text = inBlock([&](llvm::raw_ostream &os) {
    span.writeBegin(os);
    if (op.getValue())
      os << "st.volatile.shared.b32 " << span.word(TrackWord(int(span.begin) + 1)) << ", $0; ";
  });
  return ptx.run(text, {}, op->getOperands());
}

static SmallVector<Value> lowerEnd(SpanText span, SpanEndOp op, Ptx &ptx) {
  span.begin = TrackWord(op.getClock());
  if (op.getKept())
    span.value = span.word(TrackWord(int(span.begin) + 1));
  return ptx.run(inBlock([&](llvm::raw_ostream &os) { span.writeEnd(os); }), {}, {});
}

static SmallVector<Value> lowerMoment(SpanText span, MomentOp op, Ptx &ptx) {
  span.value = "$0";
  span.isMoment = true;
  return ptx.run(inBlock([&](llvm::raw_ostream &os) { span.writeEnd(os); }), {}, op.getValue());
}

void mk::thread::addSpanPatterns(RewritePatternSet &patterns, const Frame &frame) {
  auto trackOf = [frame](std::optional<SpanAttr> span) {
    return SpanText(frame, span ? *span
                                : SpanAttr::get(frame.attr.getContext(), /*what=*/0, /*track=*/-1,
                                                /*thread=*/-1));
  };
  addPattern<TracksOpenOp>(patterns, [trackOf](TracksOpenOp op, Ptx &ptx) {
    return openTracks(trackOf(op.getSpan()), ptx);
  });
  addPattern<TracksCloseOp>(patterns, [trackOf](TracksCloseOp op, Ptx &ptx) {
    return closeTracks(trackOf(op.getSpan()), ptx);
  });
  addPattern<SpanBeginOp>(patterns, [frame](SpanBeginOp op, Ptx &ptx) {
    return lowerBegin({frame, op.getSpan()}, op, ptx);
  });
  addPattern<SpanEndOp>(patterns, [frame](SpanEndOp op, Ptx &ptx) {
    return lowerEnd({frame, op.getSpan()}, op, ptx);
  });
  addPattern<MomentOp>(patterns, [frame](MomentOp op, Ptx &ptx) {
    return lowerMoment({frame, op.getSpan()}, op, ptx);
  });
}
