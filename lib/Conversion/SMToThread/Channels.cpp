//===- Channels.cpp - Rings and mailboxes ---------------------------------===//
//
// How a slot is waited for, and given back: mk-thread-expand-channels.
//
//===----------------------------------------------------------------------===//
#include "Lowerings.h"
#include "Structure.h"
#include "mkernel/ABI/Gpu.h"
#include "mkernel/Dialect/Thread/ShareGroup.h"

using namespace mlir;
using namespace mlir::mk;
using namespace mlir::mk::sm;
using namespace mlir::mk_sm;

/// Waits for a slot that is to be filled, or is full.
static void takeSlot(PartitionBuilder &p, Value slot, Value ring, ValueRange place, bool fills) {
  Channel channel(ring.getDefiningOp());
  auto taken =
      mk_thread::TakeSlotOp::create(p, fills, channel.place, p.scalar(place[0]), p.scalar(place[1]),
                                    p.makeReport(MK_WAIT_RING, channel.number));
  p.set(slot, {taken.getSlot(), taken.getFull()});
}

/// Whether rows of a list are brought into slots of the ring.
static bool isGathered(Value ring) {
  return llvm::any_of(ring.getUsers(), [](Operation *user) {
    auto acquire = dyn_cast<AcquireOp>(user);
    return acquire && llvm::any_of(acquire.getSlot().getUsers(), [](Operation *use) {
             auto copy = dyn_cast<CopyOp>(use);
             return copy && copy.getRows();
           });
  });
}

static void lowerRelease(ReleaseOp op, PartitionBuilder &p) {
  Channel channel(op.getRing().getDefiningOp());
  if (op.getRead())
    mk_thread::SyncWarpOp::create(p);
  Value writers;
  for (ShareGroup group : channel.groups) {
    Value mask = mk_thread::makeMask(p, group, p.cta, p.info.params.cluster);
    writers = writers ? or_(p, writers, mask) : mask;
  }
  mk_thread::ReleaseSlotOp::create(p, channel.place, p.scalar(op.getPlace()[0]), p.lane, writers);
}

static void lowerSend(SendOp op, PartitionBuilder &p) {
  Channel channel(op.getMailbox().getDefiningOp());
  mk_thread::SendWordsOp::create(p, p.scalars(op.getValues()), channel.place,
                                 p.scalar(op.getPlace()[0]), p.scalar(op.getPlace()[1]), p.lane,
                                 p.makeReport(MK_WAIT_RING, -1));
}

static void lowerReceive(ReceiveOp op, PartitionBuilder &p) {
  Channel channel(op.getMailbox().getDefiningOp());
  SmallVector<Type> types(op.getValues().size(), p.i64);
  auto words = mk_thread::ReceiveWordsOp::create(
      p, types, channel.place, p.scalar(op.getPlace()[0]), p.scalar(op.getPlace()[1]), p.lane,
      p.makeReport(MK_WAIT_RING, -1));
  for (auto [result, word] : llvm::zip(op.getValues(), words.getWords()))
    p.set(result, word);
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
void sm::takeTurn(PartitionBuilder &p, ValueRange taken) {
  SmallVector<Type> types(2 * taken.size(), p.i32);
  auto turn = mk_thread::TakeTurnOp::create(p, types, p.info.getWarps().getBarrier("turn"),
                                            findHandovers(taken));
  for (auto [i, value] : llvm::enumerate(taken)) {
    write(p, p.cursor(value).stage, turn.getPlaces()[2 * i]);
    write(p, p.cursor(value).phase, turn.getPlaces()[2 * i + 1]);
  }
}

void sm::passTurn(PartitionBuilder &p, ValueRange handed) {
  SmallVector<Value> places;
  for (Value value : handed) {
    places.push_back(read(p, p.cursor(value).stage, p.i32));
    places.push_back(read(p, p.cursor(value).phase, p.i32));
  }
  mk_thread::PassTurnOp::create(p, p.info.getWarps().getBarrier("turn"), findHandovers(handed),
                                places, p.partitionThread);
}

void sm::populateChannelLowerings(LoweringTable &table) {
  table.add([](CursorOp op, PartitionBuilder &p) { p.addCursor(op); },
            [](PositionOp op, PartitionBuilder &p) {
              auto [stage, phase] = p.cursor(op.getCursor());
              p.set(op.getStage(), read(p, stage, p.i32));
              p.set(op.getParity(), read(p, phase, p.i32));
            },
            [](AdvanceOp op, PartitionBuilder &p) { p.advance(op.getCursor()); },
            [](AcquireOp op, PartitionBuilder &p) {
              takeSlot(p, op.getSlot(), op.getRing(), op.getPlace(), /*fills=*/true);
            },
            [](mk_sm::WaitOp op, PartitionBuilder &p) {
              takeSlot(p, op.getSlot(), op.getRing(), op.getPlace(), /*fills=*/false);
              // What threads wrote, without waiting for it, the matrix engine is to read.
              if (isGathered(op.getRing()))
                mk_thread::FenceAsyncOp::create(p, /*shared=*/true, /*global=*/false);
            },
            [](CommitOp op, PartitionBuilder &p) {
              mk_thread::CommitSlotOp::create(p, p.elements(op.getSlot())[1]);
            },
            [](TurnWaitOp op, PartitionBuilder &p) { takeTurn(p, op.getCursors()); },
            [](TurnPassOp op, PartitionBuilder &p) { passTurn(p, op.getCursors()); }, lowerRelease,
            lowerSend, lowerReceive);
}
