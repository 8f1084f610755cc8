//===- Signals.cpp - Signals, and waits for them --------------------------===//
//
// An op that acts once is executed by one thread when all threads of the
// partition have come to it: the barrier makes what they did part of
// what it releases. Whoever waits acquires, and then orders what it has seen before
// accesses of the copy engine.
//
//===----------------------------------------------------------------------===//
#include "Bounds.h"
#include "Faults.h"
#include "Lowerings.h"
#include "Peers.h"
#include "Sender.h"
#include "Timeline.h"
#include "mkernel/ABI/Gpu.h"
#include "mkernel/Support/RowMajor.h"

using namespace mlir;
using namespace mlir::mk;
using namespace mlir::mk::sm;
using namespace mlir::mk_sm;

static MemScope scopeOf(Value signal) {
  return cast<SignalType>(signal.getType()).getScope() == mk::Scope::Sys ? MemScope::Sys
                                                                         : MemScope::Gpu;
}

/// Row-major element of an array declared in the kernel, as an i64.
Value sm::linearElement(PartitionBuilder &p, ArrayRef<int64_t> shape, ValueRange extents,
                        ArrayRef<Value> index) {
  unsigned next = 0;
  auto size = [&](unsigned d) {
    return ShapedType::isDynamic(shape[d]) ? p.scalar(extents[next++]) : p.c64(shape[d]);
  };
  return mkernel::numberRowMajor<Value>(ThreadMath{p}, shape.size(), size,
                                        [&](unsigned d) { return index[d]; });
}

SignalArray sm::signalArray(PartitionBuilder &p, Value signal) {
  return {p.info.params.signals[*p.info.resources.indexOf(signal)], scopeOf(signal)};
}

Value sm::signalElement(PartitionBuilder &p, Operation *op, Value signal, ValueRange index) {
  auto declared = signal.getDefiningOp<SignalsOp>();
  int64_t number = *p.info.resources.indexOf(signal);
  ArrayRef<int64_t> shape = cast<SignalType>(signal.getType()).getShape();
  SmallVector<Value> checked =
      checkIndices(p, op, MK_USED_SIGNAL, number, p.info.params.signals[number] + abi::kSignalBytes,
                   shape, index);
  return linearElement(p, shape, declared.getExtents(), checked);
}

void sm::raiseSignal(PartitionBuilder &p, SignalArray array, Value element, int64_t amount,
                     Value peer, bool strong, std::optional<LinkKind> via, bool relaxed) {
  bool net = peer && p.info.hasNet() && via != LinkKind::Link;
  mk_thread::RaiseOp::create(p, array.param, element, amount, array.scope, relaxed, peer,
                             net ? p.cta : Value(), net && strong, net ? commandTeam(p) : Value(),
                             net ? p.makeReport(MK_WAIT_COMMAND, 0) : mk_thread::ReportAttr(),
                             net ? makeWaitSpan(p, MK_WAIT_COMMAND, 0) : mk_thread::SpanAttr());
}

/// A signal that is about to be raised, by one thread.
namespace {
struct Raise {
  SignalOp op;
  Value element, peer; // no peer: this rank's
};
} // namespace

static Raise findRaise(SignalOp op, PartitionBuilder &p) {
  Raise raise{op, signalElement(p, op, op.getSignal(), op.getIndex()), {}};
  if (op.getPeer() && p.info.hasPeers())
    raise.peer = existingPeer(p, p.scalar(op.getPeer()));
  return raise;
}

static void emitRaise(const Raise &raise, PartitionBuilder &p, bool relaxed) {
  SignalOp op = raise.op;
  p.setLoc(op.getLoc());
  p.currentOp = op;
  raiseSignal(p, signalArray(p, op.getSignal()), raise.element, op.getAmount(), raise.peer,
              op.getStrong(), /*via=*/{}, relaxed);
  recordSignal(p, op.getSignal(), raise.element);
}

static void lowerSignal(SignalOp op, PartitionBuilder &p) {
  Raise raise = findRaise(op, p);
  bool isReleased = bool(op->getParentOfType<SignalAllOp>());
  auto emit = [&] {
    if (raise.peer)
      awaitReady(p, raise.peer);
    emitRaise(raise, p, isReleased);
  };
  isReleased ? emit() : p.elect(emit);
}

/// Signals under no branch are known in front of the fence.
static LogicalResult lowerSignalAll(SignalAllOp op, PartitionBuilder &p) {
  auto scope = MemScope::Gpu;
  op.getBody().walk([&](SignalOp signal) {
    if (scopeOf(signal.getSignal()) == MemScope::Sys)
      scope = MemScope::Sys;
  });
  LogicalResult result = success();
  p.elect([&] {
    SmallVector<Operation *> branches;
    SmallVector<Raise> raises;
    for (Operation &inner : op.getBody().front()) {
      p.setLoc(inner.getLoc());
      p.currentOp = &inner;
      if (auto signal = dyn_cast<SignalOp>(inner)) {
        raises.push_back(findRaise(signal, p));
        if (raises.back().peer)
          awaitReady(p, raises.back().peer);
      } else if (isa<scf::IfOp>(inner)) {
        branches.push_back(&inner);
      } else if (failed(p.emit(&inner))) {
        result = failure();
      }
    }
    mk_thread::FenceOp::create(p, scope);
    for (const Raise &raise : raises)
      emitRaise(raise, p, /*relaxed=*/true);
    for (Operation *branch : branches)
      if (failed(p.emit(branch)))
        result = failure();
  });
  return result;
}

void sm::emitWait(PartitionBuilder &p, mk::WaitOp op, bool apart) {
  auto declared = op.getSignal().getDefiningOp<SignalsOp>();
  auto type = cast<SignalType>(op.getSignal().getType());
  int64_t number = *p.info.resources.indexOf(op.getSignal());
  Value element = signalElement(p, op, op.getSignal(), op.getIndex()), base;
  if (type.isDynamic()) {
    Value bases = readParam(p, p.info.params.signals[number] + abi::kSignalBases);
    base = load(p, p.i32, add(p, bases, shl(p, element, 2)));
  } else {
    Value arrivals = type.hasRuntimeArrivals() ? resize(p, p.scalar(declared.getArrivals()), p.i32)
                                               : p.c32(type.getArrivals());
    base = mul(p, p.epoch, arrivals);
  }
  // Signals have 32 bits, and no launch has so many arrivals.
  constexpr int64_t most = std::numeric_limits<int32_t>::max();
  Value count = resize(p, minS(p, maxS(p, p.scalar(op.getCount()), 0), most), p.i32);
  // Of a consumer one thread asks, the others wait at a barrier: hundreds of warps that ask for
  // one word keep the slice of the L2 busy in which it lies, and hold up who writes there.
  Value leader = p.isOneWarp() || apart ? Value() : eq(p, p.partitionThread, 0);
  flushSender(p);
  Value wanted = add(p, base, count);
  auto [param, scope] = signalArray(p, op.getSignal());
  mk_thread::AwaitSignalOp::create(
      p, scope, param, element, scope == MemScope::Sys && p.info.hasNet(), wanted, count,
      leader ? resize(p, leader, p.i32) : Value(), p.makeReport(MK_WAIT_SIGNAL, number),
      makeWaitSpan(p, MK_WAIT_SIGNAL, number));
  if (apart)
    return;
  if (leader)
    p.barrierPartition();
  updateWaitFailed(p);
}

void sm::populateSignalLowerings(LoweringTable &table) {
  table.add(lowerSignal, lowerSignalAll,
            [](mk::WaitOp op, PartitionBuilder &p) { emitWait(p, op, /*apart=*/false); });
}
