//===- Channels.cpp - Rings and mailboxes ---------------------------------===//
//
// A slot has a barrier `full`, at which the producer arrives once and the copy
// engine counts bytes, and a barrier `empty`, at which each warp of the consumer
// arrives once: where a cluster fills slots together, each warp of all its CTAs. Their
// bytes may come before the own producer does: its arrival ends the phase.
//
//===----------------------------------------------------------------------===//
#include "Lowering.h"
#include "mkernel/ABI/Gpu.h"

using namespace mlir;
using namespace mlir::mk;
using namespace mlir::mk::sm;
using namespace mlir::mk_sm;
using Predicate = arith::CmpIPredicate;

Lowering::Cursor Lowering::makeCursor(int64_t parity) {
  Value stage = variable(i32, c32(0)); // first: the order in which they are made
  return {stage, variable(i32, c32(parity))};
}

void Lowering::advance(Value op) {
  const Cursor &cursor = cursors[op];
  int64_t depth = op.getDefiningOp<CursorOp>().getDepth();
  Emitter::advance(cursor.stage, cursor.phase, depth);
}

/// The offset of what belongs to an op's slot, `stride` bytes after that of the slot before.
Value Lowering::at(int64_t offset, ValueRange place, int64_t stride, int64_t depth) {
  Value base = add(sharedBase, offset);
  return depth == 1 ? base : add(base, mul(scalar(place[0]), stride));
}

void Lowering::waitForSlot(const Channel &channel, int64_t barriers, ValueRange place,
                           int64_t number) {
  waitBarrier(at(barriers, place, 8, channel.depth), scalar(place[1]), scalar(place[0]), number);
}

static void arrive(Emitter &e, Value barrier) {
  e.create<mk_thread::BarrierArriveOp>(barrier, /*cta=*/Value(), /*bytes=*/Value());
}

void Lowering::takeSlot(Value slot, Value ring, ValueRange place, bool fills) {
  Channel channel(ring.getDefiningOp());
  waitForSlot(channel, fills ? channel.empty : channel.full, place, channel.number);
  set(slot, {at(channel.slots, place, channel.slotBytes, channel.depth),
             at(channel.full, place, 8, channel.depth)});
}

LogicalResult Lowering::emitCommit(CommitOp op) {
  Value full = elements(op.getSlot())[1];
  ifThen(eq(lane, 0), [&] { arrive(*this, full); });
  return success();
}

LogicalResult Lowering::emitRelease(ReleaseOp op) {
  Channel channel(op.getRing().getDefiningOp());
  Value empty = at(channel.empty, op.getPlace(), 8, channel.depth);
  if (channel.shared > 1)
    // Each CTA of the cluster writes into the slot: lane l tells CTA l. Nothing written is
    // handed over, and what the matrix ops have read they have: at cluster scope the
    // arrival would be a fence of the whole GPU (MEMBAR.GPU), which takes longer than the step.
    ifThen(cmp(Predicate::ult, lane, channel.shared), [&] {
      create<mk_thread::BarrierArriveOp>(empty, /*cta=*/lane, /*bytes=*/Value());
    });
  else
    ifThen(eq(lane, 0), [&] { arrive(*this, empty); });
  return success();
}

LogicalResult Lowering::emitSend(SendOp op) {
  Channel channel(op.getMailbox().getDefiningOp());
  waitForSlot(channel, channel.empty, op.getPlace(), -1);
  SmallVector<Value> words = scalars(op.getValues());
  Value slot = at(channel.slots, op.getPlace(), channel.slotBytes, channel.depth);
  Value full = at(channel.full, op.getPlace(), 8, channel.depth);
  ifThen(eq(lane, 0), [&] {
    for (auto [i, word] : llvm::enumerate(words))
      store(word, slot, 8 * i);
    arrive(*this, full);
  });
  return success();
}

LogicalResult Lowering::emitReceive(ReceiveOp op) {
  Channel channel(op.getMailbox().getDefiningOp());
  waitForSlot(channel, channel.full, op.getPlace(), -1);
  Value slot = at(channel.slots, op.getPlace(), channel.slotBytes, channel.depth);
  for (auto [i, result] : llvm::enumerate(op.getValues()))
    set(result, fromLane0(load(i64, slot, 8 * i)));
  // The shuffle has brought all lanes here.
  Value empty = at(channel.empty, op.getPlace(), 8, channel.depth);
  ifThen(eq(lane, 0), [&] { arrive(*this, empty); });
  return success();
}

//===----------------------------------------------------------------------===//
// Turns
//===----------------------------------------------------------------------===//

/// Named barriers of the warpgroups' turns, of this one and of the other one: who passes arrives at
/// the other's, who waits waits at his own. The first turn is given away in advance.
std::pair<Value, Value> Lowering::turnBarriers() {
  int64_t first = warps.getBarrier("turn");
  // Read anew: kept, the warpgroup's number would take a register from the fragments.
  Value mine = add(shr(readNumber(), 7), first - 1);
  return {mine, sub(c32(2 * first + 1), mine)};
}

static int64_t handover(Value cursor) {
  Value channel = cursor.getDefiningOp<CursorOp>().getChannel();
  return getSharedOffset(channel.getDefiningOp(), "handover");
}

void Lowering::emitTurnWait(ValueRange taken) {
  barrier(turnBarriers().first, 256);
  for (Value value : taken) {
    const Cursor &cursor = cursors[value];
    Value word = load(i32, add(sharedBase, handover(value)));
    write(cursor.stage, shr(word, 1));
    write(cursor.phase, and_(word, 1));
  }
}

void Lowering::emitTurnPass(ValueRange handed) {
  Value other = turnBarriers().second;
  for (Value value : handed) {
    const Cursor &cursor = cursors[value];
    Value word = or_(shl(read(cursor.stage, i32), 1), read(cursor.phase, i32));
    // Without a branch: matrix ops are in flight.
    storeWords(word, add(sharedBase, handover(value)), 4, partitionThread, /*inverted=*/true);
  }
  arriveAt(other, 256);
}

//===----------------------------------------------------------------------===//
// Items
//===----------------------------------------------------------------------===//

/// The ticket of those who get none any more: no loop has so many items.
static constexpr int64_t kNoTicket = int64_t(1) << 62;

LogicalResult Lowering::emitTicket(TicketOp op) {
  Value counter = loadParam(params.loops[op.getLoop()], i64);
  set(op, onceForAll([&] {
        return valueIfFine(c64(kNoTicket), [&] {
          return resize(
              atomicAdd(counter, c32(1), MemOrder::Relaxed, MemScope::Gpu), i64);
        });
      }));
  return success();
}

LogicalResult Lowering::emitPop(PopOp op) {
  unsigned number = *resources.indexOf(op.getQueue());
  int64_t at = params.queues[number];
  Value entry = scalar(op.getEntry()), wanted = add(epoch, 1);
  entry = check(op, {MK_READ_QUEUE, 0, int64_t(number), {}, at + abi::kQueueCapacity}, entry);
  Value flag = add(loadParam(at + abi::kQueueReady, i64), shl(entry, 2));
  waitWord(flag, wanted, /*equal=*/true, MemScope::Gpu, MK_WAIT_QUEUE, number,
           Waited{at + abi::kQueueReady}, wanted);
  // What the record speaks of may be read by the copy engine next.
  fenceAsyncGlobal();
  int64_t width = op.getRecord().size();
  Value record = add(loadParam(at, i64), mul(entry, 8 * width));
  Value failed = agreeOnFailure();
  if (waitFailed)
    write(waitFailed, failed);
  for (auto [i, word] : llvm::enumerate(op.getRecord()))
    set(word, loadIfFine(i64, add(record, 8 * i), failed));
  return success();
}
