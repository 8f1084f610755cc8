//===- Texts.h - Parts of longer pieces of PTX --------------------*- C++ -*-===//
//
// Inline PTX of several instructions in one string is made in this folder alone. Its reasons:
//
//   - waits, checks and records of time are loops or sequences beside accumulators: as branches in
//     LLVM IR their slow part would cost registers, and ptxas would serialise products (C7518);
//   - predicates would be kept, and they are few (LowerPredicates.cpp);
//   - a loop of LLVM IR would be unrolled (a division of 64 bits, there as well).
//
// Here is what waits, checks and records of time have in common: the launch's report, and records
// on a track.
//
//===----------------------------------------------------------------------===//
#ifndef MKERNEL_LIB_CONVERSION_THREADTOLLVM_TEXTS_H
#define MKERNEL_LIB_CONVERSION_THREADTOLLVM_TEXTS_H

#include "../Ptx.h"
#include "mkernel/ABI/Gpu.h"
#include "mkernel/ABI/Timeline.h"

namespace mlir::mk::thread {

/// The launch's report as PTX: constants, and text that leaves 64 bits in `value`.
struct ReportText {
  explicit ReportText(const Frame &frame) : frame(frame) {}
  ReportText(const Frame &frame, mk_thread::ReportAttr report)
      : frame(frame), kind(report.getKind()), role(report.getRole()), number(report.getNumber()) {}

  Frame frame;
  int64_t kind = 0, role = 0, number = 0;
  std::string named = "0";
  std::string element, wanted, seen, rank;

  /// Writes the report and raises the abort word: the first thread that comes here; all say that
  /// the CTA has failed. Uses the registers low, word, value, report and some.
  void write(llvm::raw_ostream &os) const;
  /// The same without branches, for numbers of 32 bits: `element` and `wanted` are operands, `seen`
  /// leaves it in `low`. Uses low, value and some.
  void writeStraight(llvm::raw_ostream &os) const;
  /// Nobody on this GPU has to wait any more, nor reports what follows from that. Uses value.
  void stop(llvm::raw_ostream &os) const;
  /// Loads a word of mk_gpu_launch.
  void loadLaunch(llvm::raw_ostream &os, StringRef to, int64_t offset) const;
};

/// Reports what the word of the CTA's failure says, if anything.
std::string reportFailure(const Frame &frame);

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
