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
#include "Report.h"

using namespace mlir;
using namespace mlir::mk::thread;
using namespace mlir::mk_thread;

// Words of threads that do not record are those of a track that nobody reads: where a store
// to shared memory has a predicate, ptxas takes warps to be apart behind it, and what leads
// through a loop of products leaves the uniform registers. The clock is read by those alone that
// record: warps wait for one another there.
Track::Track(Ptx &ptx, const Frame &frame, SpanAttr span) : ptx(ptx), frame(frame), span(span) {
  int64_t words = frame.attr.getWords();
  Type i32 = ptx.b.getI32Type();
  // Read anew, as addresses are: LLVM would keep what NVVM's op gives.
  Value thread = ptx.get("mov.u32 $0, %tid.x;", i32), place, unread;
  unread = ptx.number(words + kTrackBytes * kMaxTracks);
  if (span.getTrack() >= 0) {
    int64_t recorder = span.getThread() < 0 ? 128 * span.getTrack() : span.getThread();
    me = ptx.test("setp.eq.u32 $0, $1, " + std::to_string(recorder) + ";", thread);
    group = ptx.number(span.getTrack());
    place = ptx.number(words + kTrackBytes * span.getTrack());
  } else {
    me = ptx.testWord(ptx.make<arith::AndIOp>(thread, ptx.number(127)), /*isInverted=*/true);
    group = ptx.make<arith::ShRUIOp>(thread, ptx.number(7));
    place = ptx.make<arith::AddIOp>(ptx.make<arith::MulIOp>(group, ptx.number(kTrackBytes)),
                                    ptx.number(words));
  }
  place = ptx.make<arith::SelectOp>(me, place, unread);
  address = ptx.make<arith::AddIOp>(ptx.get("mov.u32 $0, mk_shared;", i32), place);
}

Value Track::load(TrackWord word) {
  return ptx.get("ld.volatile.shared.b32 $0, [$1+" + std::to_string(4 * int64_t(word)) + "];",
                 ptx.b.getI32Type(), address, /*touchesMemory=*/true);
}

void Track::store(TrackWord word, OpFoldResult value) {
  ptx.store("st.volatile.shared.b32", address, 4 * int64_t(word), value);
}

/// Read by those for whom the predicate holds; NVVM's op has none.
Value Track::now(Value predicate) {
  return ptx.get("@$1 mov.u64 $0, %globaltimer;", ptx.b.getI64Type(), predicate);
}

/// The track's address in global memory, and `more` bytes.
Value Track::locate(Value more) {
  Type i64 = ptx.b.getI64Type();
  Value number = ptx.make<arith::MulIOp>(ptx.get("mov.u32 $0, %ctaid.x;", ptx.b.getI32Type()),
                                         ptx.number(frame.attr.getTracks()));
  Value offset = ptx.make<arith::MulIOp>(ptx.make<arith::AddIOp>(number, group),
                                         ptx.number(MK_TIMELINE_TRACK_BYTES(MK_TIMELINE_RECORDS)));
  if (more)
    offset = ptx.make<arith::AddIOp>(offset, more);
  Value tracks = ptx.loadParam(frame, frame.attr.getTimeline());
  return ptx.make<arith::AddIOp>(tracks, ptx.make<arith::ExtUIOp>(i64, offset));
}

void Track::begin(TrackWord clock) {
  store(clock, ptx.make<arith::TruncIOp>(ptx.b.getI32Type(), now(me)));
}

// Few registers at a time: what is stored is computed when it is, the time last.
void Track::end(std::optional<TrackWord> clock, function_ref<OpFoldResult()> value) {
  Value position = load(TrackWord::Position);
  // Both conditions in one predicate, which LLVM does not compute early.
  Value fits = ptx.test("setp.lt.and.u32 $0, $1, " + std::to_string(MK_TIMELINE_RECORDS) + ", $2;",
                        {position, me});
  Value record = locate(ptx.make<arith::MulIOp>(position, ptx.number(sizeof(mk_timeline_record))));
  store(TrackWord::Position, ptx.make<arith::AddIOp>(position, ptx.number(1)));
  auto put = [&](int64_t field, OpFoldResult value) {
    ptx.store("st.global.b32", record, sizeof(mk_timeline_track) + field, value, fits);
  };
  put(offsetof(mk_timeline_record, what), ptx.b.getIndexAttr(uint32_t(span.getWhat())));
  put(offsetof(mk_timeline_record, value), value());
  if (clock)
    put(offsetof(mk_timeline_record, begin), load(*clock));
  Value time = ptx.make<arith::TruncIOp>(ptx.b.getI32Type(), now(fits));
  if (!clock)
    put(offsetof(mk_timeline_record, begin), time);
  put(offsetof(mk_timeline_record, end), time);
  // Where a role ends the next one begins.
  if (clock == TrackWord::Role)
    store(TrackWord::Role, time);
}

void Track::open() {
  Value track = locate({}), time = now(me);
  // NVVM's op has no effects: LLVM would move it.
  Value sm = ptx.get("mov.u32 $0, %smid;", ptx.b.getI32Type());
  ptx.store("st.global.b32", track, offsetof(mk_timeline_track, sm), sm, me);
  ptx.store("st.global.b64", track, offsetof(mk_timeline_track, begin), time, me);
  store(TrackWord::Role, ptx.make<arith::TruncIOp>(ptx.b.getI32Type(), time));
  store(TrackWord::Position, ptx.b.getIndexAttr(0));
}

void Track::close() {
  Value track = locate({}), time = now(me);
  ptx.store("st.global.b32", track, offsetof(mk_timeline_track, count), load(TrackWord::Position),
            me);
  ptx.store("st.global.b64", track, offsetof(mk_timeline_track, end), time, me);
}

std::string Track::getName(SpanAttr span) {
  std::string name = "what" + std::to_string(uint32_t(span.getWhat()));
  if (span.getTrack() >= 0)
    name += "_track" + std::to_string(span.getTrack());
  if (span.getThread() >= 0)
    name += "_thread" + std::to_string(span.getThread());
  return name;
}

void mk::thread::addSpanPatterns(RewritePatternSet &patterns, const Frame &frame) {
  auto getSpan = [](auto op) {
    return op.getSpan().value_or(
        SpanAttr::get(op.getContext(), /*what=*/0, /*track=*/-1, /*thread=*/-1));
  };
  /// What a clock keeps lies behind it.
  auto getKept = [](auto op) { return TrackWord(int(op.getClock()) + 1); };
  // A routine without branches: LLVM computes nothing of it before. `value` is null without one.
  auto record = [frame](Ptx &ptx, SpanAttr span, const Twine &name, Value value,
                        llvm::function_ref<void(Track &, Value)> make) {
    Arguments arguments;
    std::optional<int64_t> number = arguments.addIf(value);
    return callRoutine(ptx, frame, name + "_" + Track::getName(span), arguments, {},
                       [&](Ptx &ptx, ValueRange args) {
                         Track track(ptx, frame, span);
                         make(track, number ? args[*number] : Value());
                         return SmallVector<Value>();
                       });
  };
  auto nameOf = [](StringRef what, auto op) {
    return what.str() + std::to_string(int(op.getClock()));
  };
  addPattern<TracksOpenOp>(patterns, [=](TracksOpenOp op, Ptx &ptx) {
    return record(ptx, getSpan(op), "tracks_open", {}, [](Track &track, Value) { track.open(); });
  });
  addPattern<TracksCloseOp>(patterns, [=](TracksCloseOp op, Ptx &ptx) {
    return record(ptx, getSpan(op), "tracks_close", {}, [](Track &track, Value) { track.close(); });
  });
  addPattern<SpanBeginOp>(patterns, [=](SpanBeginOp op, Ptx &ptx) {
    return record(ptx, op.getSpan(), nameOf(op.getValue() ? "span_begin_value" : "span_begin", op),
                  op.getValue(), [&](Track &track, Value value) {
                    track.begin(TrackWord(op.getClock()));
                    if (value)
                      track.store(getKept(op), value);
                  });
  });
  addPattern<SpanEndOp>(patterns, [=](SpanEndOp op, Ptx &ptx) {
    return record(ptx, op.getSpan(), nameOf(op.getKept() ? "span_end_kept" : "span_end", op), {},
                  [&](Track &track, Value) {
                    track.end(TrackWord(op.getClock()), [&]() -> OpFoldResult {
                      if (op.getKept())
                        return track.load(getKept(op));
                      return IntegerAttr::get(IntegerType::get(op.getContext(), 64), 0);
                    });
                  });
  });
  addPattern<MomentOp>(patterns, [=](MomentOp op, Ptx &ptx) {
    return record(ptx, op.getSpan(), "moment", op.getValue(), [](Track &track, Value value) {
      track.end(std::nullopt, [&]() -> OpFoldResult { return value; });
    });
  });
}
