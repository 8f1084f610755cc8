//===- ExpandChannels.cpp - Rings and mailboxes become barriers -----------===//
//
// Where a cluster fills slots together, each warp of all its CTAs arrives at `empty`. Bytes may
// come before the own producer does: its arrival ends the phase.
//
//===----------------------------------------------------------------------===//
#include "Expand.h"

using namespace mlir;
using namespace mlir::mk_thread;

namespace {
/// The slot of an op.
template <typename OpT> struct Slot {
  OpT op;
  Emitter &e;
  ChannelAttr channel = op.getChannel();

  Value at(int64_t offset, int64_t stride) {
    Value base = e.shared(offset);
    return channel.getDepth() == 1 ? base : add(e, base, mul(e, op.getStage(), stride));
  }
  Value getFull() { return at(channel.getFull(), 8); }
  Value getEmpty() { return at(channel.getEmpty(), 8); }
  Value getTiles() { return at(channel.getSlots(), channel.getBytes()); }
  void wait(Value barrier) {
    BarrierWaitOp::create(e, barrier, op.getParity(), op.getStage(), op.getReport(),
                          /*doubleDeadline=*/true);
  }
};
} // namespace

static void initSlots(InitSlotsOp op, Emitter &e) {
  ChannelAttr channel = op.getChannel();
  for (int64_t stage = 0; stage < channel.getDepth(); ++stage) {
    BarrierInitOp::create(e, e.shared(channel.getFull() + 8 * stage), 1);
    BarrierInitOp::create(e, e.shared(channel.getEmpty() + 8 * stage), op.getReaders());
  }
}

static void arriveOnce(Emitter &e, Value lane, Value barrier) {
  ifThen(e, eq(e, lane, 0),
         [&] { BarrierArriveOp::create(e, barrier, /*cta=*/Value(), /*bytes=*/Value()); });
}

static SmallVector<Value> takeSlot(TakeSlotOp op, Emitter &e) {
  Slot<TakeSlotOp> slot{op, e};
  slot.wait(op.getEmpty() ? slot.getEmpty() : slot.getFull());
  Value tiles = slot.getTiles();
  return {tiles, slot.getFull()};
}

static void releaseSlot(ReleaseSlotOp op, Emitter &e) {
  Value empty = Slot<ReleaseSlotOp>{op, e}.getEmpty();
  if (!op.getWriters())
    return arriveOnce(e, op.getLane(), empty);
  // Other CTAs of the cluster write into the slot: lane l tells CTA l. Nothing written is
  // handed over, and what the matrix ops have read they have: at cluster scope the
  // arrival would be a fence of the whole GPU (MEMBAR.GPU), which takes longer than the step.
  std::optional<int64_t> mask = getConstantIntValue(op.getWriters());
  Value tells = mask && llvm::isMask_64(*mask)
                    ? ult(e, op.getLane(), llvm::popcount(uint64_t(*mask)))
                    : eq(e, and_(e, shr(e, op.getWriters(), op.getLane()), 1), 1);
  ifThen(e, tells,
         [&] { BarrierArriveOp::create(e, empty, /*cta=*/op.getLane(), /*bytes=*/Value()); });
}

static void sendWords(SendWordsOp op, Emitter &e) {
  Slot<SendWordsOp> slot{op, e};
  slot.wait(slot.getEmpty());
  Value tiles = slot.getTiles(), full = slot.getFull();
  ifThen(e, eq(e, op.getLane(), 0), [&] {
    for (auto [i, word] : llvm::enumerate(op.getWords()))
      store(e, word, tiles, 8 * i);
    BarrierArriveOp::create(e, full, /*cta=*/Value(), /*bytes=*/Value());
  });
}

static SmallVector<Value> receiveWords(ReceiveWordsOp op, Emitter &e) {
  Slot<ReceiveWordsOp> slot{op, e};
  slot.wait(slot.getFull());
  Value tiles = slot.getTiles();
  SmallVector<Value> words;
  for (size_t i = 0; i != op.getWords().size(); ++i)
    words.push_back(fromLane0(e, load(e, e.i64, tiles, 8 * i)));
  // The shuffle has brought all lanes here.
  arriveOnce(e, op.getLane(), slot.getEmpty());
  return words;
}

void mk_thread::expandChannels(ModuleOp module) {
  expandEach<InitSlotsOp>(module, initSlots);
  replaceEach<TakeSlotOp>(module, takeSlot);
  expandEach<CommitSlotOp>(module, [](CommitSlotOp op, Emitter &e) {
    ifElected(
        e, [&] { BarrierArriveOp::create(e, op.getFull(), /*cta=*/Value(), /*bytes=*/Value()); });
  });
  expandEach<ReleaseSlotOp>(module, releaseSlot);
  expandEach<SendWordsOp>(module, sendWords);
  replaceEach<ReceiveWordsOp>(module, receiveWords);
}
