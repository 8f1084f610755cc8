//===- Comm.cpp - Signals, counters and queues ----------------------------===//
//
// An op that acts once is executed by one thread when all threads of the
// partition have come to it: the barrier makes what they did part of
// what it releases. Whoever waits acquires, and then orders what it has seen before
// accesses of the copy engine.
//
//===----------------------------------------------------------------------===//
#include "Lowering.h"
#include "mkernel/ABI/Gpu.h"

using namespace mlir;
using namespace mlir::mk;
using namespace mlir::mk::sm;
using namespace mlir::mk_sm;

static MemScope scopeOf(Value signal) {
  return cast<SignalType>(signal.getType()).getScope() == Scope::Sys
             ? MemScope::Sys
             : MemScope::Gpu;
}

/// Row-major element of an array declared in the kernel, as an i64.
Value Lowering::linearElement(ArrayRef<int64_t> shape, ValueRange extents,
                              ArrayRef<Value> index) {
  Value linear = c64(0);
  unsigned next = 0;
  for (auto [extent, i] : llvm::zip(shape, index)) {
    Value size = ShapedType::isDynamic(extent) ? scalar(extents[next++]) : c64(extent);
    linear = add(mul(linear, size), i);
  }
  return linear;
}

SignalArray Lowering::signalArray(Value signal) {
  return {params.signals[*resources.indexOf(signal)], scopeOf(signal)};
}

Value Lowering::signalElement(Operation *op, Value signal, ValueRange index) {
  auto declared = signal.getDefiningOp<SignalsOp>();
  int64_t number = *resources.indexOf(signal);
  ArrayRef<int64_t> shape = cast<SignalType>(signal.getType()).getShape();
  SmallVector<Value> checked =
      checkIndices(op, MK_USED_SIGNAL, number, params.signals[number] + abi::kSignalBytes,
                   shape, index);
  return linearElement(shape, declared.getExtents(), checked);
}

LogicalResult Lowering::lower(SignalOp op) {
  Value element = signalElement(op, op.getSignal(), op.getIndex());
  Value peer;
  if (op.getPeer() && hasPeers())
    peer = existingPeer(scalar(op.getPeer()));
  once([&] {
    if (peer)
      awaitReady(peer);
    raise(signalArray(op.getSignal()), element, op.getAmount(), peer, op.getStrong());
    recordSignal(op.getSignal(), element);
  });
  return success();
}

LogicalResult Lowering::lower(mk::WaitOp op) {
  auto declared = op.getSignal().getDefiningOp<SignalsOp>();
  auto type = cast<SignalType>(op.getSignal().getType());
  int64_t number = *resources.indexOf(op.getSignal());
  Value element = signalElement(op, op.getSignal(), op.getIndex()), base;
  if (type.isDynamic()) {
    base = load(i32,
                add(loadParam(params.signals[number] + abi::kSignalBases, i64), shl(element, 2)));
  } else {
    Value arrivals = type.hasRuntimeArrivals()
                         ? resize(scalar(declared.getArrivals()), i32)
                         : c32(type.getArrivals());
    base = mul(epoch, arrivals);
  }
  Value count = scalar(op.getCount());
  // Of a consumer one thread asks, the others wait at a barrier: hundreds of warps that ask for
  // one word keep the slice of the L2 busy in which it lies, and hold up who writes there.
  Value leader = isOneWarp() || waitsDiverge ? Value() : eq(partitionThread, 0);
  hurrySender();
  waitArrivals(signalArray(op.getSignal()), element, add(base, resize(count, i32)),
               MK_WAIT_SIGNAL, number, count, leader);
  if (waitsDiverge)
    return success();
  if (leader)
    barrierPartition();
  updateWaitFailed();
  return success();
}

LogicalResult Lowering::lower(CountOp op) {
  auto declared = op.getCounter().getDefiningOp<CountersOp>();
  auto type = cast<CounterType>(op.getCounter().getType());
  int64_t number = *resources.indexOf(op.getCounter());
  SmallVector<Value> index =
      checkIndices(op, MK_USED_COUNTER, number, params.counters[number] + abi::kCounterBytes,
                   type.getShape(), op.getIndex());
  Value offset =
      shl(linearElement(type.getShape(), declared.getExtents(), index), 2);
  Value address = add(loadParam(params.counters[number], i64), offset);
  Value amount = resize(scalar(op.getAmount()), i32);
  Value before = fetchOnce(MemOrder::AcqRel, address, amount, /*otherwise=*/0);
  fenceAsyncGlobal();
  set(op, before);
  return success();
}

LogicalResult Lowering::lower(PushOp op) {
  int64_t number = *resources.indexOf(op.getQueue());
  SmallVector<Value> words;
  for (Value word : scalars(op.getRecord()))
    words.push_back(resize(word, i64, /*isSigned=*/true));
  once([&] {
    IntegerAttr named;
    mk_thread::ReportAttr report;
    if (sites) {
      named = b.getI64IntegerAttr(MK_GPU_NAMED(MK_FULL_QUEUE, 0, number));
      report = makeReport(MK_FAIL_BOUNDS, sites->numberOf(op));
    }
    create<mk_thread::PushRecordOp>(words, params.queues[number], epoch, named, report);
  });
  return success();
}
