//===- ExpandQueues.cpp - Tickets, counters and queues --------------------===//
#include "Expand.h"
#include "mkernel/ABI/Gpu.h"
#include "mkernel/ABI/GpuParams.h"

using namespace mlir;
using namespace mlir::mk_thread;
namespace abi = ::mkernel::abi;

static SmallVector<Value> electFetchAdd(ElectFetchAddOp op, Emitter &e) {
  auto fetch = [&] {
    return e.valueIfFine(e.c64(op.getOtherwise()), [&] {
      return e.resize(e.atomicAdd(op.getAddress(), op.getAmount(), op.getOrder(), MemScope::Gpu),
                      e.i64);
    });
  };
  Value isFirst = e.eq(op.getThread(), 0);
  if (!op.getBarrier()) {
    e.syncWarp();
    Value result = e.variable(e.i64, e.c64(0));
    e.ifThen(isFirst, [&] { e.write(result, fetch()); });
    e.syncWarp();
    return {e.fromLane0(e.read(result, e.i64))};
  }
  auto meet = [&] { e.barrier(op.getBarrier(), *op.getThreads()); };
  Value slot = e.add(e.sharedBase, *op.getThrough());
  meet();
  e.ifThen(isFirst, [&] { e.store(fetch(), slot); });
  meet();
  return {e.fromLane0(e.load(e.i64, slot))};
}

static void pushRecord(PushRecordOp op, Emitter &e) {
  int64_t at = op.getQueue();
  auto append = [&] {
    e.fence(MemScope::Gpu);
    Value tail = e.loadParam(at + abi::kQueueTail, e.i64);
    Value entry = e.resize(e.atomicAdd(tail, e.c32(1), MemOrder::Relaxed, MemScope::Gpu), e.i64);
    if (op.getReport())
      entry = e.create<CheckOp>(
          entry, /*size=*/Value(), /*extent=*/Value(),
          e.b.getI64IntegerAttr(at + abi::kQueueCapacity), /*chosen=*/Value(), /*rank=*/Value(),
          /*values=*/ValueRange(), ArrayRef<int64_t>(), *op.getNamed(), *op.getReport(),
          /*redirect=*/true);
    auto write = [&] {
      Value record = e.add(e.loadParam(at, e.i64), e.mul(entry, 8 * op.getWords().size()));
      for (auto [i, word] : llvm::enumerate(op.getWords()))
        e.store(word, record, 8 * i);
      Value flag = e.add(e.loadParam(at + abi::kQueueReady, e.i64), e.shl(entry, 2));
      e.storeRelease(e.add(op.getEpoch(), 1), flag, MemScope::Gpu);
    };
    op.getReport() ? e.ifFine(write) : write();
  };
  e.ifFine(append);
}

static SmallVector<Value> agreeOnFailure(AgreeOnFailureOp op, Emitter &e) {
  Value failed = e.readFailed();
  if (op.getBarrier())
    return {e.create<SyncOrOp>(op.getBarrier(), *op.getThreads(), failed)};
  return {e.create<AnyOp>(failed)};
}

static SmallVector<Value> popRecord(PopRecordOp op, Emitter &e) {
  int64_t at = op.getQueue();
  Value wanted = e.add(op.getEpoch(), 1);
  Value flag = e.add(e.loadParam(at + abi::kQueueReady, e.i64), e.shl(op.getEntry(), 2));
  e.create<WaitWordOp>(MemScope::Gpu, flag, wanted, /*equal=*/true, wanted, /*second=*/Value(),
                       /*leader=*/Value(),
                       /*element=*/Value(), e.b.getI64IntegerAttr(at + abi::kQueueReady),
                       op.getReport(), op.getSpanAttr());
  // What the record speaks of may be read by the copy engine next.
  e.fenceAsyncGlobal();
  Value record = e.add(e.loadParam(at, e.i64), e.mul(op.getEntry(), 8 * op.getWords().size()));
  Value failed = e.create<AgreeOnFailureOp>(op.getBarrier(), op.getThreadsAttr());
  SmallVector<Value> results{failed};
  for (size_t i = 0; i != op.getWords().size(); ++i)
    results.push_back(
        e.loadWords(e.i64, e.add(record, 8 * i), 8, failed, e.c64(0), /*inverted=*/true)[0]);
  return results;
}

void mk_thread::expandQueues(ModuleOp module) {
  replaceEach<ElectFetchAddOp>(module, electFetchAdd);
  expandEach<PushRecordOp>(module, pushRecord);
  replaceEach<PopRecordOp>(module, popRecord);
  replaceEach<AgreeOnFailureOp>(module, agreeOnFailure);
}
