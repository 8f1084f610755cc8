//===- LowerWaits.cpp - Waiting with a deadline -------------------------------===//
//
// Every wait is bounded (mkernel/ABI/Gpu.h): one that has tried for about 8 ms looks at the abort
// words and its deadline, and again each 8 ms, not before: the job's abort word is in the host's
// memory, which serves one load after the other. Where all CTAs of a GPU look at the same moment
// that takes 0.2 ms, for which fences and loads of everybody else wait. Whoever passes its deadline
// first reports and raises the abort word; the others see it. From then on the CTA has failed
// (lib/Conversion/SMToThread/Faults.cpp), and waits for memory that others write return at once.
//
// A wait for a barrier in shared memory goes on: the other side comes, since its own waits
// return. So stages and parities stay right, and what the copy engine brings is waited
// for. Only if it does not come for several deadlines more is it left alone.
//
// Few registers, since those of the code around are kept, and a producer has 24. So parameters are
// read by their address where they are needed, and what the report says is computed there.
//
//===----------------------------------------------------------------------===//
#include "Report.h"

using namespace mlir;
using namespace mlir::mk::thread;
using namespace mlir::mk_thread;

/// The clock counts in units of 2^20 ns, so that it fits a register.
static constexpr int kClockShift = 20;
/// A wait looks whether it goes on each time so many units have passed.
static constexpr int64_t kPeriod = 8;
// What is left of a deadline has this bit once it has passed (it is below 0). Behind a failure a
// barrier's wait has a grace period, of twice a deadline and some seconds more: what is left of it
// is above kGrace.
static constexpr int64_t kPassed = 1 << 29, kGrace = 1 << 30, kGraceMargin = 8192;

namespace {
/// What waits are made of.
struct Wait {
  Wait(Ptx &ptx, const Frame &frame, bool isWarp)
      : ptx(ptx), blocks(ptx), report(ptx, frame), isWarp(isWarp) {}

  Value toUnits(Value time, int64_t logTimes) {
    Value units = ptx.make<arith::ShRUIOp>(time, ptx.number(kClockShift - logTimes, 64));
    return ptx.make<arith::TruncIOp>(ptx.b.getI32Type(), units);
  }
  Value readClock() {
    return toUnits(NVVM::GlobalTimerOp::create(ptx.b, ptx.loc, ptx.b.getI64Type()), 0);
  }
  /// From so many deadlines, and more units.
  Value countDown(int64_t logTimes, int64_t more = 0) {
    Value deadline = toUnits(report.loadLaunch(offsetof(mk_gpu_launch, deadline_ns)), logTimes);
    return add(ptx.make<arith::MinUIOp>(deadline, ptx.number(kPassed / 2)), ptx.number(more));
  }
  Value add(Value a, Value b) { return ptx.make<arith::AddIOp>(a, b); }
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
  /// Goes back unless a period has passed.
  void tick() {
    Value now = readClock();
    // The clock goes round.
    Value passed = ptx.make<arith::SubIOp>(now, last);
    jumpIf(ptx.compare(arith::CmpIPredicate::ult, passed, ptx.number(kPeriod)), again,
           {left, last});
    left = ptx.make<arith::SubIOp>(add(left, last), now);
    last = now;
  }
  /// Goes back unless the deadline has passed.
  void untilPassed() {
    Value passed = ptx.make<arith::AndIOp>(left, ptx.number(kPassed));
    jumpIf(ptx.compare(arith::CmpIPredicate::eq, passed, ptx.number(0)), again, {left, last});
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
  Arguments arguments;
  int64_t barrier = arguments.add(op.getBarrier()), parity = arguments.add(op.getParity()),
          stage = arguments.add(op.getStage());
  Site site(ptx, arguments, op.getReport());
  int64_t logTimes = op.getDoubleDeadline() ? 1 : 0;
  StringRef name = logTimes ? "wait_barrier_doubly" : "wait_barrier";
  return callRoutine(ptx, frame, name, arguments, {}, [&](Ptx &ptx, ValueRange args) {
    Wait wait(ptx, frame, /*isWarp=*/true);
    auto poll = [&] {
      wait.jumpIf(ptx.test("mbarrier.try_wait.parity.shared::cta.b64 $0, [$1], $2;",
                           {args[barrier], args[parity]}, /*touchesMemory=*/true),
                  wait.blocks.end);
    };
    poll();
    wait.begin(logTimes);
    poll();
    wait.tick();
    wait.untilPassed();
    // The second time.
    wait.jumpIf(ptx.compare(arith::CmpIPredicate::sge, wait.left, ptx.number(0)), wait.blocks.end);
    // Without branches: the warp stays together.
    Report &report = wait.report;
    report.setPredicate(ptx.testWord(report.claim(), /*isInverted=*/true));
    report.begin(site, args);
    // Who waits for the other partition is kept by what that one waits for, as a rule since
    // the same moment: that is what has to be recorded.
    report.put(offsetof(mk_gpu_report, element), args[stage]);
    report.put(offsetof(mk_gpu_report, wanted), args[parity]);
    report.put(offsetof(mk_gpu_report, seen), ptx.make<arith::XOrIOp>(args[parity], ptx.number(1)));
    report.publish();
    report.raiseAbort();
    report.fail();
    wait.blocks.jump(wait.again, {wait.countDown(1, kGrace + kGraceMargin), wait.last});
    return wait.blocks.finish();
  });
}

namespace {
/// What a wait for a word is given.
struct WordArguments : Arguments {
  WordArguments(Ptx &ptx, WaitWordOp op)
      : address(add(op.getAddress())), wanted(add(op.getWanted())), count(add(op.getCount())),
        second(addIf(op.getSecond())), leader(addIf(op.getLeader())),
        // The element, or where its array is in the parameters.
        element(add(op.getArray() ? ptx.number(*op.getArray(), 64) : op.getElement())),
        site(ptx, *this, op.getReport()) {}

  int64_t address, wanted, count;
  std::optional<int64_t> second, leader;
  int64_t element;
  Site site;
};
} // namespace

static std::string getName(WaitWordOp op) {
  std::string name = "wait_" + stringifyMemScope(op.getScope()).str();
  name += op.getEqual() ? "_equal" : "";
  name += op.getSecond() ? "_second" : "";
  name += op.getLeader() ? "_leader" : "";
  name += op.getArray() ? "_array" : "";
  if (op.getSpan())
    name += "_" + Track::getName(*op.getSpan());
  return name;
}

static SmallVector<Value> waitForWord(const Frame &frame, WaitWordOp op,
                                      const WordArguments &arguments, Ptx &ptx, ValueRange args) {
  Type i32 = ptx.b.getI32Type(), i64 = ptx.b.getI64Type();
  Wait wait(ptx, frame, /*isWarp=*/false);
  Blocks &blocks = wait.blocks;
  Report &report = wait.report;
  Block *end = blocks.end, *late = op.getSpan() ? blocks.add() : end, *stop = blocks.add(),
        *lost = blocks.add();
  Value address = args[arguments.address], wanted = args[arguments.wanted],
        count = args[arguments.count];
  auto see = [&] {
    Value seen =
        ptx.get("ld.acquire." + stringifyMemScope(op.getScope()).str() + ".global.b32 $0, [$1];",
                i32, address, /*touchesMemory=*/true);
    if (arguments.second)
      seen = wait.add(seen, ptx.get("ld.acquire.sys.global.b32 $0, [$1];", i32,
                                    args[*arguments.second], /*touchesMemory=*/true));
    return seen;
  };
  auto poll = [&](Block *found) {
    // Counts go round: what matters is how far apart they are.
    Value missing = ptx.make<arith::SubIOp>(see(), wanted);
    blocks.jumpIf(ptx.compare(op.getEqual() ? arith::CmpIPredicate::eq : arith::CmpIPredicate::sge,
                              missing, ptx.number(0)),
                  found);
  };
  auto getElement = [&]() -> Value {
    if (!op.getArray())
      return args[arguments.element];
    Value array = ptx.loadParam(frame, args[arguments.element]);
    return ptx.make<arith::ShRSIOp>(ptx.make<arith::SubIOp>(address, array), ptx.number(2, 64));
  };
  auto jumpIfSet = [&](Value address, int64_t offset) {
    Value word = ptx.get("ld.relaxed.sys.global.b32 $0, [$1+" + std::to_string(offset) + "];", i32,
                         address, /*touchesMemory=*/true);
    blocks.jumpIf(ptx.isSet(word), stop);
  };

  if (arguments.leader)
    blocks.jumpIf(ptx.compare(arith::CmpIPredicate::eq, args[*arguments.leader], ptx.number(0)),
                  end);
  poll(end);
  blocks.jumpIf(ptx.isSet(ptx.get("ld.volatile.shared.b32 $0, [" + frame.failed() + "];", i32, {},
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
  blocks.jumpIf(ptx.compare(arith::CmpIPredicate::eq, job, ptx.number(0, 64)), look);
  jumpIfSet(job, 0);
  blocks.jump(look);
  blocks.enter(look);
  wait.untilPassed();

  blocks.jumpIf(ptx.isSet(report.claim()), lost);
  report.begin(arguments.site, args);
  report.put(offsetof(mk_gpu_report, element), getElement());
  report.put(offsetof(mk_gpu_report, wanted), ptx.make<arith::ExtSIOp>(i64, count));
  // In the caller's terms.
  Value seen =
      ptx.make<arith::ExtSIOp>(i64, wait.add(ptx.make<arith::SubIOp>(see(), wanted), count));
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

static SmallVector<Value> lowerWaitWord(const Frame &frame, WaitWordOp op, Ptx &ptx) {
  WordArguments arguments(ptx, op);
  return callRoutine(ptx, frame, getName(op), arguments, {}, [&](Ptx &ptx, ValueRange args) {
    return waitForWord(frame, op, arguments, ptx, args);
  });
}

void mk::thread::addWaitPatterns(RewritePatternSet &patterns, const Frame &frame) {
  addPattern<BarrierWaitOp>(
      patterns, [frame](BarrierWaitOp op, Ptx &ptx) { return lowerBarrierWait(frame, op, ptx); });
  addPattern<WaitWordOp>(
      patterns, [frame](WaitWordOp op, Ptx &ptx) { return lowerWaitWord(frame, op, ptx); });
}
