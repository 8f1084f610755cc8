//===- Items.cpp - Which item comes next: tickets, counters and queues -----===//
#include "Bounds.h"
#include "Lowerings.h"
#include "Peers.h"
#include "Timeline.h"
#include "mkernel/ABI/Gpu.h"

using namespace mlir;
using namespace mlir::mk;
using namespace mlir::mk::sm;
using namespace mlir::mk_sm;

/// The ticket of those who get none any more: no loop has so many items.
static constexpr int64_t kNoTicket = int64_t(1) << 62;

static void lowerTicket(TicketOp op, PartitionBuilder &p) {
  Value counter = readParam(p, p.info.params.loops[op.getLoop()]);
  p.set(op, p.electFetchAdd(MemOrder::Relaxed, counter, p.c32(1), kNoTicket));
}

static void lowerPop(PopOp op, PartitionBuilder &p) {
  unsigned number = *p.info.resources.indexOf(op.getQueue());
  int64_t at = p.info.params.queues[number];
  Value entry = check(p, op, {MK_READ_QUEUE, 0, int64_t(number), {}, at + abi::kQueueCapacity},
                      p.scalar(op.getEntry()));
  auto [barrier, threads] = p.getConsumerBarrier();
  SmallVector<Type> types(op.getRecord().size(), p.i64);
  auto popped = mk_thread::PopRecordOp::create(p, p.i32, types, entry, at, p.epoch, barrier,
                                               threads, p.makeReport(MK_WAIT_QUEUE, number),
                                               makeWaitSpan(p, MK_WAIT_QUEUE, number));
  if (p.waitFailed)
    write(p, p.waitFailed, popped.getFailed());
  for (auto [result, word] : llvm::zip_equal(op.getRecord(), popped.getWords()))
    p.set(result, word);
}

static void lowerCount(CountOp op, PartitionBuilder &p) {
  auto declared = op.getCounter().getDefiningOp<CountersOp>();
  auto type = cast<CounterType>(op.getCounter().getType());
  int64_t number = *p.info.resources.indexOf(op.getCounter());
  SmallVector<Value> index = checkIndices(p, op, MK_USED_COUNTER, number,
                                          p.info.params.counters[number] + abi::kCounterBytes,
                                          type.getShape(), op.getIndex());
  Value offset = shl(p, linearElement(p, type.getShape(), declared.getExtents(), index), 2);
  Value address = add(p, readParam(p, p.info.params.counters[number]), offset);
  Value amount = resize(p, p.scalar(op.getAmount()), p.i32);
  Value before = p.electFetchAdd(MemOrder::AcqRel, address, amount, /*otherwise=*/0);
  mk_thread::FenceAsyncOp::create(p, /*shared=*/false, /*global=*/true);
  // A counter has 32 bits, and may be below 0.
  p.set(op, resize(p, resize(p, before, p.i32), p.i64, /*isSigned=*/true));
}

static void lowerPush(PushOp op, PartitionBuilder &p) {
  int64_t number = *p.info.resources.indexOf(op.getQueue());
  SmallVector<Value> words;
  for (Value word : p.scalars(op.getRecord()))
    words.push_back(resize(p, word, p.i64, /*isSigned=*/true));
  p.elect([&] {
    IntegerAttr named;
    mk_thread::ReportAttr report;
    if (p.info.checked) {
      named = p.getI64IntegerAttr(MK_GPU_NAMED(MK_FULL_QUEUE, 0, number));
      report = p.makeReport(MK_FAIL_BOUNDS, p.info.checked->numberOf(op));
    }
    mk_thread::PushRecordOp::create(p, words, p.info.params.queues[number], p.epoch, named, report);
  });
}

void sm::populateItemLowerings(LoweringTable &table) {
  table.add(lowerTicket, lowerPop, lowerCount, lowerPush);
}
