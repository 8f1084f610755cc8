//===- Stores.cpp - Fragments to memory through the copy engine -----------===//
//
// What the engine cannot store either goes from the staging area, by the threads, or straight from
// registers.
//
//===----------------------------------------------------------------------===//
#include "Bounds.h"
#include "Boxes.h"
#include "Faults.h"
#include "Lowerings.h"
#include "Peers.h"
#include "Sender.h"
#include "Timeline.h"

using namespace mlir;
using namespace mlir::mk;
using namespace mlir::mk::sm;
using namespace mlir::mk_sm;

/// Whether every use of the buffers begins with the first one free for it: all stores through them
/// take whole rounds.
static bool takesWholeRounds(Operation *staging, int64_t buffers, int64_t chunk) {
  return llvm::all_of(staging->getUsers(), [&](Operation *user) {
    auto store = dyn_cast<mk_sm::StoreOp>(user);
    if (!store || store.getByRows())
      return true;
    int64_t count = countStoreParts(store.getTile().getType(), chunk);
    return count && count % buffers == 0;
  });
}

namespace {
/// What exists of a tile: [from, left) of its rows and columns, i32. Offsets may be negative.
struct TileLimits {
  TileLimits(PartitionBuilder &p, const Buffer &buffer, ArrayRef<Value> offsets,
             ArrayRef<int64_t> tile, ValueRange valid) {
    SmallVector<Value> left = limits(p, buffer, offsets, tile, valid);
    auto from = [&](int64_t d) { return narrow(p, sub(p, p.c64(0), offsets.end()[d - 2])); };
    rowsFrom = from(0), rowsLeft = narrow(p, left[0]);
    columnsFrom = from(1), columnsLeft = narrow(p, left[1]);
  }
  Value rowsFrom, rowsLeft, columnsFrom, columnsLeft;
};
} // namespace

/// The copy engine stores with each of the maps where `usable` holds, else threads to each of the
/// buffers. No maps: the tile is posted.
static void stageTile(PartitionBuilder &p, mk_sm::StoreOp op, ArrayRef<Buffer> to, ValueRange maps,
                      Value usable) {
  awaitSent(p);
  RankedTensorType tile = op.getTile().getType();
  int64_t buffers = op.getStaging().getType().getBuffers();
  Operation *staging = op.getStaging().getDefiningOp();
  SmallVector<Value> offsets = p.scalars(op.getOffsets());
  for (Value &offset : offsets)
    offset = resize(p, offset, p.i32);
  bool regular = takesWholeRounds(staging, buffers, p.info.getChunk());
  auto staged = mk_thread::StageFragmentOp::create(
      p, p.scalar(op.getTile()), getSharedOffset(staging, "buffers"), buffers, regular,
      p.info.getWarps().getBarrier("warpgroup"), usable, maps, offsets, getStagedRows(op),
      op.getAdd(), op.getUnrolled());
  Block &block = staged.getOtherwise().emplaceBlock();
  block.addArguments({p.i32, p.i32, p.i32}, {p.getLoc(), p.getLoc(), p.getLoc()});
  Value source = block.getArgument(0), row = block.getArgument(1), column = block.getArgument(2);
  mk_thread::MemScopeAttr scope;
  if (op.getAdd())
    scope = mk_thread::MemScopeAttr::get(
        p.getContext(), op.getPeer() && p.info.hasPeers() ? MemScope::Sys : MemScope::Gpu);
  auto storeByThreads = [&](const Buffer &buffer) {
    Value thread = and_(p, mk_thread::ThreadIdOp::create(p), kWarpgroupThreads - 1);
    SmallVector<Value> offsets = p.scalars(op.getOffsets()), strides = byteStrides(p, buffer);
    Value start = add(p, elementAddress(p, buffer, offsets),
                      mul(p, resize(p, row, p.i64), strides.end()[-2]));
    start = add(p, start, mul(p, strides.back(), resize(p, column, p.i64)));
    TileLimits exist(p, buffer, offsets, tile.getShape(), op.getValid());
    mk_thread::StoreBufferOp::create(p, source, start, strides.end()[-2], strides.back(), row,
                                     column, exist.rowsFrom, exist.rowsLeft, exist.columnsFrom,
                                     exist.columnsLeft, countStoreRows(tile), tile.getElementType(),
                                     scope, thread);
  };
  within(p, staged.getOtherwise(), [&] { llvm::for_each(to, storeByThreads); });
}

/// Threads store what is in the buffers, a row at a time.
static void stageRows(PartitionBuilder &p, mk_sm::StoreOp op, const Buffer &to) {
  awaitSent(p);
  RankedTensorType tile = op.getTile().getType();
  Operation *staging = op.getStaging().getDefiningOp();
  bool alone = llvm::all_of(staging->getUsers(), [](Operation *user) {
    auto store = dyn_cast<mk_sm::StoreOp>(user);
    return !store || store.getByRows();
  });
  SmallVector<Value> offsets = p.scalars(op.getOffsets()), strides = byteStrides(p, to);
  TileLimits exist(p, to, offsets, tile.getShape(), op.getValid());
  mk_thread::StageRowsOp::create(
      p, p.scalar(op.getTile()), getSharedOffset(staging, "buffers"),
      op.getStaging().getType().getBuffers(), alone, p.info.getWarps().getBarrier("warpgroup"),
      elementAddress(p, to, offsets), strides.end()[-2], strides.back(), exist.rowsFrom,
      exist.rowsLeft, exist.columnsFrom, exist.columnsLeft, op.getUnrolled());
}

static void lowerStagedStore(mk_sm::StoreOp op, PartitionBuilder &p) {
  Buffer to = getBuffer(p, op, op.getDest());
  // The copy engine drops what lies outside the buffer, and only that.
  SmallVector<Value> offsets = p.scalars(op.getOffsets());
  ArrayRef<int64_t> shape = op.getTile().getType().getShape();
  Type element = op.getTile().getType().getElementType();
  SmallVector<int64_t> box = getStoreBox(op);
  auto raiseFor = [&](Value peer) {
    if (!op.getSignal())
      return;
    Value element = signalElement(p, op, op.getSignal(), op.getSignalIndex());
    p.elect([&] {
      raiseSignal(p, signalArray(p, op.getSignal()), element, /*amount=*/1, peer);
      recordSignal(p, op.getSignal(), element);
    });
  };
  if (!op.getPeer() || !p.info.hasPeers()) {
    if (!op.getInside())
      checkStore(p, op, to, op.getOffsets(), shape, op.getValid());
    if (op.getByRows())
      return stageRows(p, op, to);
    auto [map, usable] = tensorMap(p, to, box);
    usable = isBoundedByBuffer(p, usable, to, offsets, shape, op.getValid());
    usable = isBoxAddressable(p, usable, op.getOffsets(), element, /*stores=*/true);
    stageTile(p, op, to, map, usable);
    raiseFor({});
    return;
  }
  SmallVector<Value> peers, maps;
  SmallVector<Buffer> buffers;
  Value usable = isBoxAddressable(p, p.cbool(true), op.getOffsets(), element, /*stores=*/true);
  for (Value rank : op.getPeers()) {
    Value peer = existingPeer(p, p.scalar(rank));
    awaitReady(p, peer);
    Buffer remote = atPeer(p, to, peer);
    auto [map, isUsable] = peerMap(p, remote, box, peer);
    usable = isBoundedByBuffer(p, and_(p, isUsable, usable), remote, offsets, shape, op.getValid());
    maps.push_back(map);
    peers.push_back(peer);
    buffers.push_back(remote);
  }
  // Behind what may have failed until here.
  usable = and_(p, usable, isFine(p));
  if (op.getPosted() && p.info.getWarps().getSender()) {
    stageTile(p, op, buffers, /*maps=*/{}, usable);
    postTile(p, op, peers, usable);
    return;
  }
  stageTile(p, op, buffers, maps, usable);
  raiseFor(peers.front());
}

void sm::populateStoreLowerings(LoweringTable &table) { table.add(lowerStagedStore); }
