//===- LowerWaits.cpp - Waiting with a deadline -------------------------------===//
//
// Every wait is bounded (mkernel/ABI/Gpu.h): one that has tried for a millisecond
// looks at the abort words and the clock, and again each millisecond: the job's abort word is in
// the host's memory, and loads of an SM return in order, so that those of everybody else
// would wait for it. Whoever passes its deadline first
// reports and raises the abort word; the others see it. From then on the CTA has failed
// (lib/Conversion/SMToThread/Faults.cpp), and waits for memory that others write return at once.
//
// A wait for a barrier in shared memory goes on: the other side comes, since its own waits
// return. So stages and parities stay right, and what the copy engine brings is waited
// for. Only if it does not come for several deadlines more is it left alone.
//
// A wait is one piece of PTX. As branches in LLVM IR the slow part costs registers
// that a producer of 24 does not have, and ptxas, which has to keep products in
// flight across it, serialises them (C7518). Parameters are read where they are needed
// and by their address, so that they take no register before.
//
//===----------------------------------------------------------------------===//
#include "Texts.h"

using namespace mlir;
using namespace mlir::mk::thread;
using namespace mlir::mk_thread;

/// The clock counts in units of 2^20 ns, so that it fits a register.
static constexpr int kClockShift = 20;
// What is left of a deadline has this bit once it has passed (it is below 0). Behind a failure what
// is left of a barrier's wait is above kPatience: twice a deadline and some seconds.
static constexpr int64_t kPassed = 1 << 29, kPatience = 1 << 30, kMorePatience = 8192;

namespace {
/// Text of a wait. Operands are named $0 on, as in inline assembly. Few registers, since
/// those of the code around are kept: `left` is what is left of the deadline, `last` when that was
/// looked at.
class WaitText {
public:
  WaitText(const ReportText &report, SpanText span, bool isWarp)
      : report(report), span(std::move(span)), os(text), isWarp(isWarp),
        end(this->span ? "LATE" : "DONE") {}

  std::string waitForBarrier(bool doubleDeadline);
  std::string waitForWord(StringRef poll, StringRef leader);

private:
  void param(StringRef to, int64_t offset) { report.loadLaunch(os, to, offset); }
  // With a vote ptxas knows that the warp stays together, and keeps what the loop
  // around computes in uniform registers, where descriptors have to be.
  void agree() {
    if (isWarp)
      os << "vote.sync.all.pred some, some, 0xffffffff; ";
  }
  void toUnits(int64_t logTimes) {
    os << "mov.b64 {low, high}, value; shf.r.wrap.b32 low, low, high, " << kClockShift - logTimes
       << "; ";
  }
  void readClock() {
    os << "mov.u64 value, %globaltimer; ";
    toUnits(0);
  }
  /// From so many deadlines, and more units.
  void countDown(int64_t logTimes, int64_t more = 0) {
    param("value", offsetof(mk_gpu_launch, deadline_ns));
    toUnits(logTimes);
    os << "min.u32 left, low, " << kPassed / 2 << "; ";
    if (more)
      os << "add.u32 left, left, " << more << "; ";
  }
  /// Goes back to AGAIN unless a unit has passed.
  void tick() {
    readClock();
    os << "setp.eq.u32 some, low, last; ";
    agree();
    os << "@some bra AGAIN; add.u32 left, left, last; mov.b32 last, low; "
       << "sub.u32 left, left, last; ";
  }
  /// Goes back unless the deadline has passed.
  void untilPassed() {
    os << "and.b32 low, left, " << kPassed << "; setp.eq.u32 some, low, 0; ";
    agree();
    os << "@some bra AGAIN; ";
  }
  void declareSpan() {
    if (span)
      os << getSpanRegisters();
  }
  /// When the first try has failed.
  void beginSpan() {
    if (span)
      span.writeBegin(os);
  }

  ReportText report;
  SpanText span;
  std::string text;
  llvm::raw_string_ostream os;
  bool isWarp;
  const char *end; // where the loop goes that has found it
};
} // namespace

// $0: its address, $1: the parity, $2: the stage.
std::string WaitText::waitForBarrier(bool doubleDeadline) {
  const char *poll = "mbarrier.try_wait.parity.shared::cta.b64 done, [$0], $1; "
                     "vote.sync.all.pred done, done, 0xffffffff; @done bra DONE; ";
  os << "{ .reg .pred done, some; .reg .b32 left, last, low, high; .reg .b64 value; " << poll;
  countDown(doubleDeadline ? 1 : 0);
  readClock();
  os << "mov.b32 last, low; AGAIN: " << poll;
  tick();
  untilPassed();
  // The second time.
  os << "setp.ge.s32 some, left, 0; ";
  agree();
  os << "@some bra DONE; ";
  report.writeStraight(os);
  countDown(1, kPatience + kMorePatience);
  os << "bra AGAIN; DONE: }";
  return text;
}

// What the report says may use what `poll` leaves in `seen`. `leader`: 0 in threads that do not
// wait.
std::string WaitText::waitForWord(StringRef poll, StringRef leader) {
  os << "{ .reg .pred done, some; .reg .b32 left, last, low, high, word, seen; "
     << ".reg .b64 value, report; ";
  declareSpan();
  if (!leader.empty())
    os << "setp.eq.u32 some, " << leader << ", 0; @some bra DONE; ";
  os << poll << "@done bra DONE; "
     << "ld.volatile.shared.b32 word, [" << report.frame.failed()
     << "]; setp.ne.u32 some, word, 0; @some bra DONE; ";
  beginSpan();
  countDown(0);
  readClock();
  os << "mov.b32 last, low; AGAIN: nanosleep.u32 32; " << poll << "@done bra " << end << "; ";
  tick();
  param("value", offsetof(mk_gpu_launch, control));
  os << "ld.relaxed.sys.global.b32 low, [value+" << offsetof(mk_gpu_control, abort)
     << "]; setp.ne.u32 some, low, 0; @some bra STOP; ";
  param("value", offsetof(mk_gpu_launch, job_abort));
  os << "setp.eq.u64 some, value, 0; @some bra LOOK; "
     << "ld.relaxed.sys.global.b32 low, [value]; setp.ne.u32 some, low, 0; "
     << "@some bra STOP; LOOK: ";
  untilPassed();
  report.write(os);
  os << "bra DONE; STOP: ";
  report.stop(os);
  if (span) {
    os << "bra DONE; LATE: ";
    span.makeValue = report.element + "cvt.u32.u64 word, value; ";
    span.writeEnd(os);
  }
  os << "DONE: }";
  return text;
}

static SmallVector<Value> lowerBarrierWait(const Frame &frame, BarrierWaitOp op, Ptx &ptx) {
  // Who waits for the other partition is kept by what that one waits for, as a rule since
  // the same moment: that is what has to be recorded.
  ReportText report(frame, op.getReport());
  report.element = "$2";
  report.wanted = "$1";
  report.seen = "xor.b32 low, $1, 1; ";
  WaitText text(report, SpanText(), /*isWarp=*/true);
  return ptx.run(text.waitForBarrier(op.getDoubleDeadline()), {}, op->getOperands());
}

static SmallVector<Value> lowerWaitWord(const Frame &frame, WaitWordOp op, Ptx &ptx) {
  SmallVector<Value> operands{op.getAddress(), op.getWanted(), op.getCount()};
  auto operand = [&](Value value) {
    operands.push_back(value);
    return "$" + std::to_string(operands.size() - 1);
  };
  std::string width = op.getScope() == MemScope::Sys ? ".sys" : ".gpu";
  std::string see = "ld.acquire" + width + ".global.b32 seen, [$0]; ";
  if (op.getSecond())
    see += "ld.acquire.sys.global.b32 low, [" + operand(op.getSecond()) +
           "]; add.u32 seen, seen, low; ";
  // Counts go round: what matters is how far apart they are.
  std::string poll = see + (op.getEqual() ? "setp.eq.u32 done, seen, $1; "
                                          : "sub.u32 low, seen, $1; setp.ge.s32 done, low, 0; ");
  // What the report says is found anew, or it would be kept through the wait.
  ReportText report(frame, op.getReport());
  if (op.getArray())
    report.element = "ld.param.b64 value, [" + frame.params + "+" + std::to_string(*op.getArray()) +
                     "]; sub.s64 value, $0, value; shr.s64 value, value, 2; ";
  else
    report.element = "mov.b64 value, " + operand(op.getElement()) + "; ";
  report.wanted = "cvt.s64.s32 value, $2; ";
  // In the caller's terms.
  report.seen = see + "sub.u32 low, seen, $1; add.u32 low, low, $2; cvt.s64.s32 value, low; ";
  SpanText span;
  if (op.getSpan())
    span = SpanText(frame, *op.getSpan());
  span.begin = TrackWord::Wait;
  span.value = "word";
  std::string leader = op.getLeader() ? operand(op.getLeader()) : "";
  return ptx.run(WaitText(report, std::move(span), /*isWarp=*/false).waitForWord(poll, leader), {},
                 operands);
}

void mk::thread::addWaitPatterns(RewritePatternSet &patterns, const Frame &frame) {
  addPattern<BarrierWaitOp>(
      patterns, [frame](BarrierWaitOp op, Ptx &ptx) { return lowerBarrierWait(frame, op, ptx); });
  addPattern<WaitWordOp>(
      patterns, [frame](WaitWordOp op, Ptx &ptx) { return lowerWaitWord(frame, op, ptx); });
}
