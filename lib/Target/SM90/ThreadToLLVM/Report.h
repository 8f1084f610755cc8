//===- Report.h - The launch's report, and records of time -----*- C++ -*-===//
//
// What waits, checks and records of time have in common.
//
//===----------------------------------------------------------------------===//
#ifndef MKERNEL_LIB_TARGET_SM90_THREADTOLLVM_REPORT_H
#define MKERNEL_LIB_TARGET_SM90_THREADTOLLVM_REPORT_H

#include "Blocks.h"
#include "mkernel/ABI/Gpu.h"
#include "mkernel/ABI/Timeline.h"

namespace mlir::mk::thread {

/// What wait or check reports, as arguments of a routine.
struct Site {
  Site(Ptx &ptx, Arguments &arguments, mk_thread::ReportAttr report)
      : kind(arguments.add(ptx.number(report.getKind()))),
        role(arguments.add(ptx.number(report.getRole()))),
        number(arguments.add(ptx.number(report.getNumber()))) {}

  int64_t kind, role, number;
};

/// Writes the launch's report (mkernel/ABI/Gpu.h). The thread that claims it fills it in, says that
/// it is there and raises the abort word, which all waits look at; others find it claimed.
class Report {
public:
  Report(Ptx &ptx, const Frame &frame) : ptx(ptx), frame(frame) {}

  /// 0 in the thread that has claimed it.
  Value claim();
  /// What follows is stored under a predicate.
  void setPredicate(Value value) { predicate = value; }
  /// Begins with what wait or check this is, and where.
  void begin(const Site &site, ValueRange arguments);
  void begin() { address = loadLaunch(offsetof(mk_gpu_launch, report)); }
  /// Upper words of fields of 64 bits are 0 before.
  void put(int64_t offset, OpFoldResult value);
  void publish();
  void raiseAbort();
  /// The CTA has failed.
  void fail();
  /// Nobody on this GPU has to wait any more, nor reports what follows from that.
  void stop();
  /// A word of mk_gpu_launch.
  Value loadLaunch(int64_t offset) const {
    return ptx.loadParam(frame, frame.attr.getLaunch() + offset);
  }

private:
  Ptx &ptx;
  Frame frame;
  Value address, predicate;
};

/// Reports what the word of the CTA's failure says, if anything.
SmallVector<Value> reportFailure(const Frame &frame, Ptx &ptx);

/// Words of shared memory in which a track keeps where it is, so that it takes no register.
enum class TrackWord { Position = 0, Role, Item, ItemNumber, Op, OpValue, Wait };
using mk_thread::kMaxTracks, mk_thread::kTrackBytes;

/// A thread's track of records of time.
class Track {
public:
  Track(Ptx &ptx, const Frame &frame, mk_thread::SpanAttr span);

  /// Of routines for this track.
  static std::string getName(mk_thread::SpanAttr span);

  void open();
  void close();
  /// A span begins.
  void begin(TrackWord clock);
  /// Appends a record: of a span, or of a moment, which has no clock. The value is made where it is
  /// stored.
  void end(std::optional<TrackWord> clock, function_ref<OpFoldResult()> value);
  Value load(TrackWord word);
  void store(TrackWord word, OpFoldResult value);

private:
  Value now(Value predicate);
  Value locate(Value more);

  Ptx &ptx;
  Frame frame;
  mk_thread::SpanAttr span;
  Value me;      // whether this thread records
  Value group;   // its warpgroup
  Value address; // of its words
};

} // namespace mlir::mk::thread

#endif // MKERNEL_LIB_TARGET_SM90_THREADTOLLVM_REPORT_H
