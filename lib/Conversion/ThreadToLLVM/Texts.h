//===- Texts.h - Parts of longer pieces of PTX --------------------*- C++ -*-===//
//
// What waits, checks and records of time have in common: the launch's report, and records on a
// track.
//
//===----------------------------------------------------------------------===//
#ifndef MKERNEL_LIB_CONVERSION_THREADTOLLVM_TEXTS_H
#define MKERNEL_LIB_CONVERSION_THREADTOLLVM_TEXTS_H

#include "Ptx.h"
#include "mkernel/ABI/Gpu.h"
#include "mkernel/ABI/Timeline.h"

namespace mlir::mk::thread {

/// The launch's report as PTX: constants, and text that leaves 64 bits in `value`.
struct ReportText {
  ReportText(const Frame &frame, mk_thread::ReportAttr report)
      : frame(frame), kind(report.getKind()), role(report.getRole()), number(report.getNumber()) {}

  Frame frame;
  int64_t kind, role, number;
  std::string named = "0";
  std::string element, wanted, seen, rank;

  /// Writes the report and raises the abort word: the first thread that comes here; all say that
  /// the CTA has failed. Uses the registers low, word, value, report and some.
  void write(llvm::raw_ostream &os) const;
  /// Loads a word of mk_gpu_launch.
  void loadLaunch(llvm::raw_ostream &os, StringRef to, int64_t offset) const;
};

/// Words of shared memory in which a track keeps where it is, so that it takes no register.
enum class TrackWord { Position = 0, Role, Item, ItemNumber, Op, OpValue, Wait };
using mk_thread::kMaxTracks, mk_thread::kTrackBytes;

/// Code that appends a record to the track of a thread, as PTX. No branches, and no register that
/// is live before: it stands beside accumulators.
struct SpanText {
  SpanText() = default;
  SpanText(const Frame &frame, mk_thread::SpanAttr span)
      : params(frame.params), timeline(frame.attr.getTimeline()), tracks(frame.attr.getTracks()),
        words(frame.attr.getWords()), track(span.getTrack()),
        thread(span.getThread() < 0 ? 128 * span.getTrack() : span.getThread()),
        what(span.getWhat()) {}

  std::string params;      // name of the parameters
  int64_t timeline = 0;    // offset of the tracks' address in them; 0: there are none
  int64_t tracks = 0;      // of a CTA
  int64_t words = 0;       // offset of the tracks' words in shared memory
  int64_t track = -1;      // the thread's; -1: that of its warpgroup
  int64_t thread = 0;      // that records, if the track has a number
  uint32_t what = 0;       // MK_TIMELINE_WHAT
  std::string value = "0"; // of the record
  std::string makeValue;   // code for it
  bool isMoment = false;   // it begins when it ends; else:
  TrackWord begin = TrackWord::Op;

  explicit operator bool() const { return timeline; }
  /// Leaves in `me` whether this thread records, in `at` where its words are.
  void elect(llvm::raw_ostream &os) const;
  std::string word(TrackWord word) const;
  /// The span begins, and ends.
  void writeBegin(llvm::raw_ostream &os) const;
  void writeEnd(llvm::raw_ostream &os) const;
};

/// Declares the registers of SpanText.
const char *getSpanRegisters();

} // namespace mlir::mk::thread

#endif // MKERNEL_LIB_CONVERSION_THREADTOLLVM_TEXTS_H
