//===- Channels.cpp - Rings and mailboxes ---------------------------------===//
//
// How a slot is waited for, and given back: mk-thread-expand-channels.
//
//===----------------------------------------------------------------------===//
#include "Lowering.h"
#include "mkernel/ABI/Gpu.h"

using namespace mlir;
using namespace mlir::mk;
using namespace mlir::mk::sm;
using namespace mlir::mk_sm;

Lowering::Cursor Lowering::makeCursor(int64_t parity) {
  Value stage = variable(i32, c32(0)); // first: the order in which they are made
  return {stage, variable(i32, c32(parity))};
}

void Lowering::advance(Value op) {
  const Cursor &cursor = cursors[op];
  int64_t depth = op.getDefiningOp<CursorOp>().getDepth();
  Emitter::advance(cursor.stage, cursor.phase, depth);
}

void Lowering::takeSlot(Value slot, Value ring, ValueRange place, bool fills) {
  Channel channel(ring.getDefiningOp());
  auto taken =
      create<mk_thread::TakeSlotOp>(fills, channel.place, scalar(place[0]), scalar(place[1]),
                                    makeReport(MK_WAIT_RING, channel.number));
  set(slot, {taken.getSlot(), taken.getFull()});
}

LogicalResult Lowering::lower(ReleaseOp op) {
  Channel channel(op.getRing().getDefiningOp());
  create<mk_thread::ReleaseSlotOp>(channel.place, scalar(op.getPlace()[0]), lane,
                                   channel.shared > 1 ? b.getI64IntegerAttr(channel.shared)
                                                      : IntegerAttr());
  return success();
}

LogicalResult Lowering::lower(SendOp op) {
  Channel channel(op.getMailbox().getDefiningOp());
  create<mk_thread::SendWordsOp>(scalars(op.getValues()), channel.place, scalar(op.getPlace()[0]),
                                 scalar(op.getPlace()[1]), lane, makeReport(MK_WAIT_RING, -1));
  return success();
}

LogicalResult Lowering::lower(ReceiveOp op) {
  Channel channel(op.getMailbox().getDefiningOp());
  SmallVector<Type> types(op.getValues().size(), i64);
  auto words = create<mk_thread::ReceiveWordsOp>(types, channel.place, scalar(op.getPlace()[0]),
                                                 scalar(op.getPlace()[1]), lane,
                                                 makeReport(MK_WAIT_RING, -1));
  for (auto [result, word] : llvm::zip(op.getValues(), words.getWords()))
    set(result, word);
  return success();
}

//===----------------------------------------------------------------------===//
// Turns
//===----------------------------------------------------------------------===//

/// Where cursors lie that are handed over.
static SmallVector<int64_t> findHandovers(ValueRange handed) {
  return llvm::map_to_vector(handed, [](Value cursor) {
    Value channel = cursor.getDefiningOp<CursorOp>().getChannel();
    return getSharedOffset(channel.getDefiningOp(), "handover");
  });
}

// The first turn is given away in advance.
void Lowering::emitTurnWait(ValueRange taken) {
  SmallVector<Type> types(2 * taken.size(), i32);
  auto turn = create<mk_thread::TakeTurnOp>(types, warps.getBarrier("turn"), findHandovers(taken));
  for (auto [i, value] : llvm::enumerate(taken)) {
    write(cursors[value].stage, turn.getPlaces()[2 * i]);
    write(cursors[value].phase, turn.getPlaces()[2 * i + 1]);
  }
}

void Lowering::emitTurnPass(ValueRange handed) {
  SmallVector<Value> places;
  for (Value value : handed) {
    places.push_back(read(cursors[value].stage, i32));
    places.push_back(read(cursors[value].phase, i32));
  }
  create<mk_thread::PassTurnOp>(warps.getBarrier("turn"), findHandovers(handed), places,
                                partitionThread);
}

//===----------------------------------------------------------------------===//
// Items
//===----------------------------------------------------------------------===//

/// The ticket of those who get none any more: no loop has so many items.
static constexpr int64_t kNoTicket = int64_t(1) << 62;

LogicalResult Lowering::lower(TicketOp op) {
  Value counter = loadParam(params.loops[op.getLoop()], i64);
  set(op, fetchOnce(MemOrder::Relaxed, counter, c32(1), kNoTicket));
  return success();
}

LogicalResult Lowering::lower(PopOp op) {
  unsigned number = *resources.indexOf(op.getQueue());
  int64_t at = params.queues[number];
  Value entry = check(op, {MK_READ_QUEUE, 0, int64_t(number), {}, at + abi::kQueueCapacity},
                      scalar(op.getEntry()));
  auto [barrier, threads] = getMeeting();
  SmallVector<Type> types(op.getRecord().size(), i64);
  auto popped = create<mk_thread::PopRecordOp>(i32, types, entry, at, epoch, barrier, threads,
                                               makeReport(MK_WAIT_QUEUE, number),
                                               makeWaitSpan(MK_WAIT_QUEUE, number));
  if (waitFailed)
    write(waitFailed, popped.getFailed());
  for (auto [result, word] : llvm::zip_equal(op.getRecord(), popped.getWords()))
    set(result, word);
  return success();
}
