//===- ExpandQueues.cpp - Tickets, counters and queues --------------------===//
#include "Expand.h"
#include "mkernel/ABI/Gpu.h"
#include "mkernel/ABI/GpuParams.h"

using namespace mlir;
using namespace mlir::mk_thread;
namespace abi = ::mkernel::abi;

static SmallVector<Value> electFetchAdd(ElectFetchAddOp op, Emitter &e) {
  auto add = [&]() -> SmallVector<Value> {
    return {resize(
        e, AtomicAddOp::create(e, op.getOrder(), MemScope::Gpu, op.getAddress(), op.getAmount()),
        e.i64)};
  };
  auto fetch = [&] {
    return choose(e, isFine(e), add,
                  [&]() -> SmallVector<Value> { return {e.c64(op.getOtherwise())}; })[0];
  };
  Value isFirst = eq(e, op.getThread(), 0);
  if (!op.getBarrier()) {
    SyncWarpOp::create(e);
    Value result = variable(e, e.i64, e.c64(0));
    ifThen(e, isFirst, [&] { write(e, result, fetch()); });
    SyncWarpOp::create(e);
    return {fromLane0(e, read(e, result, e.i64))};
  }
  auto meet = [&] { SyncOp::create(e, op.getBarrier(), *op.getThreads()); };
  Value slot = e.shared(*op.getThrough());
  meet();
  ifThen(e, isFirst, [&] { store(e, fetch(), slot); });
  meet();
  return {fromLane0(e, load(e, e.i64, slot))};
}

static void pushRecord(PushRecordOp op, Emitter &e) {
  int64_t at = op.getQueue();
  auto append = [&] {
    FenceOp::create(e, MemScope::Gpu);
    Value tail = readParam(e, at + abi::kQueueTail);
    Value entry =
        resize(e, AtomicAddOp::create(e, MemOrder::Relaxed, MemScope::Gpu, tail, e.c32(1)), e.i64);
    if (op.getReport())
      entry = CheckOp::create(
          e, entry, /*size=*/Value(), /*extent=*/Value(),
          e.getI64IntegerAttr(at + abi::kQueueCapacity), /*chosen=*/Value(), /*rank=*/Value(),
          /*values=*/ValueRange(), ArrayRef<int64_t>(), *op.getNamed(), *op.getReport(),
          /*redirect=*/true);
    auto write = [&] {
      Value record = add(e, readParam(e, at), mul(e, entry, 8 * op.getWords().size()));
      for (auto [i, word] : llvm::enumerate(op.getWords()))
        store(e, word, record, 8 * i);
      Value flag = add(e, readParam(e, at + abi::kQueueReady), shl(e, entry, 2));
      StoreAtomicOp::create(e, MemOrder::Release, MemScope::Gpu, add(e, op.getEpoch(), 1), flag);
    };
    op.getReport() ? unlessFailed(e, write) : write();
  };
  unlessFailed(e, append);
}

static SmallVector<Value> agreeOnFailure(AgreeOnFailureOp op, Emitter &e) {
  Value failed = readFailed(e);
  if (op.getBarrier())
    return {SyncOrOp::create(e, op.getBarrier(), *op.getThreads(), failed)};
  return {AnyOp::create(e, failed)};
}

static SmallVector<Value> popRecord(PopRecordOp op, Emitter &e) {
  int64_t at = op.getQueue();
  Value wanted = add(e, op.getEpoch(), 1);
  Value flag = add(e, readParam(e, at + abi::kQueueReady), shl(e, op.getEntry(), 2));
  WaitWordOp::create(e, MemScope::Gpu, flag, wanted, /*equal=*/true, wanted, /*second=*/Value(),
                     /*leader=*/Value(), /*element=*/Value(),
                     e.getI64IntegerAttr(at + abi::kQueueReady), op.getReport(), op.getSpanAttr());
  // What the record speaks of may be read by the copy engine next.
  FenceAsyncOp::create(e, /*shared=*/false, /*global=*/true);
  Value record = add(e, readParam(e, at), mul(e, op.getEntry(), 8 * op.getWords().size()));
  Value failed = AgreeOnFailureOp::create(e, op.getBarrier(), op.getThreadsAttr());
  SmallVector<Value> results{failed};
  for (size_t i = 0; i != op.getWords().size(); ++i)
    results.push_back(
        LoadOp::create(e, e.i64, add(e, record, 8 * i), 8, failed, e.c64(0), /*inverted=*/true)
            .getResult(0));
  return results;
}

void mk_thread::expandQueues(ModuleOp module) {
  replaceEach<ElectFetchAddOp>(module, electFetchAdd);
  expandEach<PushRecordOp>(module, pushRecord);
  replaceEach<PopRecordOp>(module, popRecord);
  replaceEach<AgreeOnFailureOp>(module, agreeOnFailure);
}
