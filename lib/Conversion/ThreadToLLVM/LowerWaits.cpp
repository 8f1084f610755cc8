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
// Few registers, since those of the code around are kept, and a producer has 24. So parameters are
// read by their address where they are needed, and what the report says is computed there. Both
// are inline PTX, which LLVM does not move out of the loop around.
//
//===----------------------------------------------------------------------===//
#include "Report.h"

using namespace mlir;
using namespace mlir::mk::thread;
using namespace mlir::mk_thread;

/// The clock counts in units of 2^20 ns, so that it fits a register.
static constexpr int kClockShift = 20;
// What is left of a deadline has this bit once it has passed (it is below 0). Behind a failure what
// is left of a barrier's wait is above kPatience: twice a deadline and some seconds.
static constexpr int64_t kPassed = 1 << 29, kPatience = 1 << 30, kMorePatience = 8192;

namespace {
/// What waits are made of.
struct Wait {
  Wait(Ptx &ptx, const Frame &frame, bool isWarp)
      : ptx(ptx), blocks(ptx), report(ptx, frame), isWarp(isWarp) {}

  Value toUnits(Value time, int64_t logTimes) {
    Value units = ptx.make<arith::ShRUIOp>(time, ptx.number(kClockShift - logTimes, 64));
    return ptx.make<arith::TruncIOp>(ptx.b.getI32Type(), units);
  }
  Value readClock() { return toUnits(ptx.get("mov.u64 $0, %globaltimer;", ptx.b.getI64Type()), 0); }
  /// From so many deadlines, and more units.
  Value countDown(int64_t logTimes, int64_t more = 0) {
    Value deadline = toUnits(report.loadLaunch(offsetof(mk_gpu_launch, deadline_ns)), logTimes);
    return add(ptx.make<arith::MinUIOp>(deadline, ptx.number(kPassed / 2)), ptx.number(more));
  }
  Value add(Value a, Value b) { return ptx.make<arith::AddIOp>(a, b); }
  Value compare(arith::CmpIPredicate predicate, Value a, Value b) {
    return ptx.make<arith::CmpIOp>(predicate, a, b);
  }
  /// Branches where the whole warp may. With the vote ptxas knows that the warp stays together, and
  /// keeps what the loop around computes in uniform registers, where descriptors have to be.
  void jumpIf(Value condition, Block *to, ValueRange arguments = {}) {
    if (isWarp)
      condition = NVVM::VoteSyncOp::create(ptx.b, ptx.loc, ptx.b.getI1Type(), ptx.number(-1),
                                           condition, NVVM::VoteSyncKind::all);
    blocks.jumpIf(condition, to, arguments);
  }
  /// Begins to wait: what is left of the deadline, and when that was looked at.
  void begin(int64_t logTimes) {
    again = blocks.add({ptx.b.getI32Type(), ptx.b.getI32Type()});
    Value deadline = countDown(logTimes);
    blocks.jump(again, {deadline, readClock()});
    blocks.enter(again);
    left = again->getArgument(0);
    last = again->getArgument(1);
  }
  /// Goes back unless a unit has passed.
  void tick() {
    Value now = readClock();
    jumpIf(compare(arith::CmpIPredicate::eq, now, last), again, {left, last});
    left = ptx.make<arith::SubIOp>(add(left, last), now);
    last = now;
  }
  /// Goes back unless the deadline has passed.
  void untilPassed() {
    Value passed = ptx.make<arith::AndIOp>(left, ptx.number(kPassed));
    jumpIf(compare(arith::CmpIPredicate::eq, passed, ptx.number(0)), again, {left, last});
  }

  Ptx &ptx;
  Blocks blocks;
  Report report;
  bool isWarp;
  Block *again = nullptr;
  Value left, last;
};
} // namespace

static SmallVector<Value> lowerBarrierWait(const Frame &frame, BarrierWaitOp op, Ptx &ptx) {
  Wait wait(ptx, frame, /*isWarp=*/true);
  auto poll = [&] {
    wait.jumpIf(ptx.test("mbarrier.try_wait.parity.shared::cta.b64 $0, [$1], $2;",
                         {op.getBarrier(), op.getParity()}, /*touchesMemory=*/true),
                wait.blocks.end);
  };
  poll();
  wait.begin(op.getDoubleDeadline() ? 1 : 0);
  poll();
  wait.tick();
  wait.untilPassed();
  // The second time.
  wait.jumpIf(wait.compare(arith::CmpIPredicate::sge, wait.left, ptx.number(0)), wait.blocks.end);
  // Without branches: the warp stays together.
  Report &report = wait.report;
  report.setPredicate(ptx.testWord(report.claim(), /*isInverted=*/true));
  report.begin(op.getReport());
  // Who waits for the other partition is kept by what that one waits for, as a rule since
  // the same moment: that is what has to be recorded.
  report.put(offsetof(mk_gpu_report, element), op.getStage());
  report.put(offsetof(mk_gpu_report, wanted), op.getParity());
  report.put(offsetof(mk_gpu_report, seen),
             ptx.get("xor.b32 $0, $1, 1;", ptx.b.getI32Type(), op.getParity()));
  report.publish();
  report.raiseAbort();
  report.fail();
  wait.blocks.jump(wait.again, {wait.countDown(1, kPatience + kMorePatience), wait.last});
  return wait.blocks.finish();
}

static SmallVector<Value> lowerWaitWord(const Frame &frame, WaitWordOp op, Ptx &ptx) {
  Type i32 = ptx.b.getI32Type(), i64 = ptx.b.getI64Type();
  Wait wait(ptx, frame, /*isWarp=*/false);
  Blocks &blocks = wait.blocks;
  Report &report = wait.report;
  Block *end = blocks.end, *late = op.getSpan() ? blocks.add() : end, *stop = blocks.add(),
        *lost = blocks.add();
  auto see = [&] {
    Value seen =
        ptx.get("ld.acquire." + stringifyMemScope(op.getScope()).str() + ".global.b32 $0, [$1];",
                i32, op.getAddress(), /*touchesMemory=*/true);
    if (Value second = op.getSecond())
      seen = wait.add(seen, ptx.get("ld.acquire.sys.global.b32 $0, [$1];", i32, second,
                                    /*touchesMemory=*/true));
    return seen;
  };
  auto poll = [&](Block *found) {
    // Counts go round: what matters is how far apart they are.
    Value missing = ptx.make<arith::SubIOp>(see(), op.getWanted());
    blocks.jumpIf(wait.compare(op.getEqual() ? arith::CmpIPredicate::eq : arith::CmpIPredicate::sge,
                               missing, ptx.number(0)),
                  found);
  };
  auto getElement = [&]() -> Value {
    if (!op.getArray())
      return op.getElement();
    Value array = ptx.loadParam(frame, *op.getArray());
    return ptx.make<arith::ShRSIOp>(ptx.make<arith::SubIOp>(op.getAddress(), array),
                                    ptx.number(2, 64));
  };
  auto jumpIfSet = [&](Value address, int64_t offset) {
    Value word = ptx.get("ld.relaxed.sys.global.b32 $0, [$1+" + std::to_string(offset) + "];", i32,
                         address, /*touchesMemory=*/true);
    blocks.jumpIf(ptx.testWord(word), stop);
  };

  if (Value leader = op.getLeader())
    blocks.jumpIf(ptx.testWord(leader, /*isInverted=*/true), end);
  poll(end);
  blocks.jumpIf(
      ptx.testWord(ptx.get("ld.volatile.shared.b32 $0, [" + frame.failed() + "];", i32, {},
                           /*touchesMemory=*/true)),
      end);
  if (op.getSpan())
    Track(ptx, frame, *op.getSpan()).begin(TrackWord::Wait);
  wait.begin(0);
  ptx.upstream<NVVM::NanosleepOp>(ptx.number(32));
  poll(late);
  wait.tick();
  jumpIfSet(report.loadLaunch(offsetof(mk_gpu_launch, control)), offsetof(mk_gpu_control, abort));
  Block *look = blocks.add();
  Value job = report.loadLaunch(offsetof(mk_gpu_launch, job_abort));
  blocks.jumpIf(ptx.test("setp.eq.u64 $0, $1, 0;", job), look);
  jumpIfSet(job, 0);
  blocks.jump(look);
  blocks.enter(look);
  wait.untilPassed();

  blocks.jumpIf(ptx.testWord(report.claim()), lost);
  report.begin(op.getReport());
  report.put(offsetof(mk_gpu_report, element), getElement());
  Value count = ptx.get("cvt.s64.s32 $0, $1;", i64, op.getCount());
  report.put(offsetof(mk_gpu_report, wanted), count);
  // In the caller's terms.
  Value seen = ptx.make<arith::ExtSIOp>(
      i64, wait.add(ptx.make<arith::SubIOp>(see(), op.getWanted()), op.getCount()));
  report.put(offsetof(mk_gpu_report, seen), seen);
  report.publish();
  report.raiseAbort();
  blocks.jump(lost);
  blocks.enter(lost);
  report.fail();
  blocks.jump(end);
  blocks.enter(stop);
  report.stop();
  if (op.getSpan()) {
    blocks.jump(end);
    blocks.enter(late);
    Track(ptx, frame, *op.getSpan()).end(TrackWord::Wait, [&]() -> OpFoldResult {
      return ptx.make<arith::TruncIOp>(i32, getElement());
    });
  }
  return blocks.finish();
}

void mk::thread::addWaitPatterns(RewritePatternSet &patterns, const Frame &frame) {
  addPattern<BarrierWaitOp>(
      patterns, [frame](BarrierWaitOp op, Ptx &ptx) { return lowerBarrierWait(frame, op, ptx); });
  addPattern<WaitWordOp>(
      patterns, [frame](WaitWordOp op, Ptx &ptx) { return lowerWaitWord(frame, op, ptx); });
}
