//===- Channels.cpp - Rings and mailboxes ---------------------------------===//
//
// A slot has a barrier `full`, at which the producer arrives once and the copy
// engine counts bytes, and a barrier `empty`, at which each warp of the consumer
// arrives once: where a cluster fills slots together, each warp of all its CTAs. Their
// bytes may come before the own producer does: its arrival ends the phase. Each use of a channel counts stage and parity by itself: acquire
// and wait ahead of release.
//
//===----------------------------------------------------------------------===//
#include "Lowering.h"
#include "mkernel/ABI/Gpu.h"

using namespace mlir;
using namespace mlir::mk;
using namespace mlir::mk::sm;
using namespace mlir::mk_sm;
using Predicate = arith::CmpIPredicate;

Lowering::Cursor &Lowering::cursor(Operation *channel, StringRef use,
                                   int64_t firstParity) {
  auto [it, isNew] = cursors.try_emplace({channel, use.str()});
  if (isNew) {
    it->second.stage = variable(i32, c32(0));
    it->second.phase = variable(i32, c32(firstParity));
  }
  return it->second;
}

void Lowering::advance(Cursor &cursor, int64_t depth) {
  Value phase = read(cursor.phase, i32);
  if (depth == 1) {
    write(cursor.phase, xor_(phase, 1));
    return;
  }
  Value next = add(read(cursor.stage, i32), 1);
  Value wraps = eq(next, depth);
  write(cursor.stage, select(wraps, c32(0), next));
  write(cursor.phase, xor_(phase, resize(wraps, i32)));
}

Value Lowering::at(int64_t offset, Cursor &cursor, int64_t stride,
                   int64_t depth) {
  Value base = add(sharedBase, offset);
  if (depth == 1)
    return base;
  return add(base, mul(read(cursor.stage, i32), stride));
}

/// The rings that the partition takes slots from.
SmallVector<Operation *> Lowering::getRingsInUse() {
  SmallVector<Operation *> rings;
  partition.walk([&](mk_sm::WaitOp op) {
    Operation *ring = op.getRing().getDefiningOp();
    if (!llvm::is_contained(rings, ring))
      rings.push_back(ring);
  });
  return rings;
}

// The team before has waited for all slots up to its place, and releases them itself.
void Lowering::takeRings() {
  for (Operation *ring : getRingsInUse()) {
    Value word = load(i32, add(sharedBase, getSharedOffset(ring, "handover")));
    for (StringRef use : {"wait", "release"}) {
      Cursor &cursor = this->cursor(ring, use, 0);
      write(cursor.stage, shr(word, 1));
      write(cursor.phase, and_(word, 1));
    }
  }
}

void Lowering::handRingsOver() {
  for (Operation *ring : getRingsInUse()) {
    Cursor &cursor = this->cursor(ring, "wait", 0);
    Value word = or_(shl(read(cursor.stage, i32), 1), read(cursor.phase, i32));
    // Without a branch: matrix ops are in flight.
    storeWords(word, add(sharedBase, getSharedOffset(ring, "handover")), 4, partitionThread,
               /*inverted=*/true);
  }
}

static void arrive(Emitter &e, Value barrier) {
  e.create<mk_thread::BarrierArriveOp>(barrier, /*cta=*/Value(), /*bytes=*/Value());
}

/// The declaration of a channel; channels are declared beside partitions, so
/// nothing stands between.
static Operation *declaration(Value channel) { return channel.getDefiningOp(); }

LogicalResult Lowering::emitAcquire(AcquireOp op) {
  Operation *ring = declaration(op.getRing());
  Channel channel(ring);
  // The first round finds every slot free: the phase before the first is over.
  Cursor &cursor = this->cursor(ring, "acquire", 1);
  waitBarrier(at(channel.empty, cursor, 8, channel.depth),
              read(cursor.phase, i32), read(cursor.stage, i32), channel.number);
  set(op, {at(channel.slots, cursor, channel.slotBytes, channel.depth),
           at(channel.full, cursor, 8, channel.depth)});
  advance(cursor, channel.depth);
  return success();
}

LogicalResult Lowering::emitCommit(CommitOp op) {
  Value full = elements(op.getSlot())[1];
  ifThen(eq(lane, 0), [&] { arrive(*this, full); });
  return success();
}

LogicalResult Lowering::emitWaitRing(mk_sm::WaitOp op) {
  Operation *ring = declaration(op.getRing());
  Channel channel(ring);
  Cursor &cursor = this->cursor(ring, "wait", 0);
  Value full = at(channel.full, cursor, 8, channel.depth);
  waitBarrier(full, read(cursor.phase, i32), read(cursor.stage, i32),
              channel.number);
  set(op, {at(channel.slots, cursor, channel.slotBytes, channel.depth), full});
  advance(cursor, channel.depth);
  return success();
}

LogicalResult Lowering::emitRelease(ReleaseOp op) {
  Operation *ring = declaration(op.getRing());
  Channel channel(ring);
  Cursor &cursor = this->cursor(ring, "release", 0);
  Value empty = at(channel.empty, cursor, 8, channel.depth);
  if (channel.shared > 1)
    // Each CTA of the cluster writes into the slot: lane l tells CTA l. Nothing written is
    // handed over, and what the matrix ops have read they have: at cluster scope the
    // arrival would be a fence of the whole GPU (MEMBAR.GPU), dearer than the step.
    ifThen(cmp(Predicate::ult, lane, channel.shared), [&] {
      create<mk_thread::BarrierArriveOp>(empty, /*cta=*/lane, /*bytes=*/Value());
    });
  else
    ifThen(eq(lane, 0), [&] { arrive(*this, empty); });
  advance(cursor, channel.depth);
  return success();
}

LogicalResult Lowering::emitSend(SendOp op) {
  Operation *mailbox = declaration(op.getMailbox());
  Channel channel(mailbox);
  Cursor &cursor = this->cursor(mailbox, "send", 1);
  waitBarrier(at(channel.empty, cursor, 8, channel.depth),
              read(cursor.phase, i32), read(cursor.stage, i32), -1);
  SmallVector<Value> words = scalars(op.getValues());
  Value slot = at(channel.slots, cursor, channel.slotBytes, channel.depth);
  Value full = at(channel.full, cursor, 8, channel.depth);
  ifThen(eq(lane, 0), [&] {
    for (auto [i, word] : llvm::enumerate(words))
      store(word, slot, 8 * i);
    arrive(*this, full);
  });
  advance(cursor, channel.depth);
  return success();
}

LogicalResult Lowering::emitReceive(ReceiveOp op) {
  Operation *mailbox = declaration(op.getMailbox());
  Channel channel(mailbox);
  Cursor &cursor = this->cursor(mailbox, "receive", 0);
  waitBarrier(at(channel.full, cursor, 8, channel.depth),
              read(cursor.phase, i32), read(cursor.stage, i32), -1);
  Value slot = at(channel.slots, cursor, channel.slotBytes, channel.depth);
  for (auto [i, result] : llvm::enumerate(op.getValues()))
    set(result, fromLane0(load(i64, slot, 8 * i)));
  // The shuffle has brought all lanes here.
  Value empty = at(channel.empty, cursor, 8, channel.depth);
  ifThen(eq(lane, 0), [&] { arrive(*this, empty); });
  advance(cursor, channel.depth);
  return success();
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
  fenceAsync();
  int64_t width = op.getRecord().size();
  Value record = add(loadParam(at, i64), mul(entry, 8 * width));
  Value failed = agreeOnFailure();
  if (waitFailed)
    write(waitFailed, failed);
  for (auto [i, word] : llvm::enumerate(op.getRecord()))
    set(word, loadIfFine(i64, add(record, 8 * i), failed));
  return success();
}
