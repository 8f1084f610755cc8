//===- Stores.cpp - Fragments to memory through the copy engine -----------===//
//
// What the engine cannot store either goes from the staging area, by the threads, or straight from
// registers.
//
//===----------------------------------------------------------------------===//
#include "Lowering.h"

using namespace mlir;
using namespace mlir::mk;
using namespace mlir::mk::sm;
using namespace mlir::mk_sm;

LogicalResult Lowering::lower(mk_sm::StoreOp op) {
  FailureOr<Buffer> to = buffer(op, op.getDest());
  if (failed(to))
    return failure();
  // The copy engine drops what lies outside the buffer, and only that.
  SmallVector<Value> offsets = scalars(op.getOffsets());
  ArrayRef<int64_t> shape = op.getTile().getType().getShape();
  Type element = op.getTile().getType().getElementType();
  SmallVector<int64_t> box = getStoreBox(op);
  auto raiseHere = [&](Value peer) {
    if (!op.getSignal())
      return;
    Value element = signalElement(op, op.getSignal(), op.getSignalIndex());
    once([&] {
      raise(signalArray(op.getSignal()), element, /*amount=*/1, peer);
      recordSignal(op.getSignal(), element);
    });
  };
  if (!op.getPeer() || !hasPeers()) {
    auto [map, usable] = tensorMap(*to, box);
    usable = isBoundedByBuffer(usable, *to, offsets, shape, op.getValid());
    usable = isBoxAddressable(usable, op.getOffsets(), element, /*stores=*/true);
    stage(op, *to, map, usable);
    raiseHere({});
    return success();
  }
  SmallVector<Value> peers, maps;
  SmallVector<Buffer> buffers;
  Value usable = isBoxAddressable(cbool(true), op.getOffsets(), element, /*stores=*/true);
  for (Value rank : op.getPeers()) {
    Value peer = existingPeer(scalar(rank));
    awaitReady(peer);
    Buffer remote = atPeer(*to, peer);
    auto [map, isUsable] = peerMap(remote, box, peer);
    usable = isBoundedByBuffer(and_(isUsable, usable), remote, offsets, shape, op.getValid());
    maps.push_back(map);
    peers.push_back(peer);
    buffers.push_back(remote);
  }
  // Behind what may have failed until here.
  usable = and_(usable, isFine());
  if (op.getPosted() && warps.getSender()) {
    stage(op, buffers, /*map=*/Value(), usable);
    post(op, peers, usable);
    return success();
  }
  for (auto [map, remote] : llvm::zip(maps, buffers))
    stage(op, remote, map, usable);
  raiseHere(peers.front());
  return success();
}

void Lowering::stage(mk_sm::StoreOp op, ArrayRef<Buffer> to, Value map, Value usable) {
  awaitSent();
  RankedTensorType tile = op.getTile().getType();
  int64_t buffers = op.getStaging().getType().getBuffers();
  Operation *staging = op.getStaging().getDefiningOp();
  SmallVector<Value> offsets = scalars(op.getOffsets());
  for (Value &offset : offsets)
    offset = resize(offset, i32);
  // Whether every use of the buffers begins with the first one free for it.
  bool regular = true;
  for (Operation *user : staging->getUsers())
    if (auto other = dyn_cast<mk_sm::StoreOp>(user)) {
      int64_t count = countStoreParts(other.getTile().getType(), kChunkBytes);
      regular &= count && count % buffers == 0;
    }
  auto staged = create<mk_thread::StageFragmentOp>(
      scalar(op.getTile()), getSharedOffset(staging, "buffers"), buffers, regular,
      warps.getBarrier("warpgroup"), usable, map, offsets,
      op.getPosted() ? getThresholds().getPostedRows() : countStoreRows(tile), op.getAdd(),
      op.getUnrolled());
  Block &block = staged.getOtherwise().emplaceBlock();
  block.addArguments({i32, i32, i32}, {loc, loc, loc});
  Value source = block.getArgument(0), row = block.getArgument(1), column = block.getArgument(2);
  mk_thread::MemScopeAttr scope;
  if (op.getAdd())
    scope = mk_thread::MemScopeAttr::get(
        b.getContext(), op.getPeer() && hasPeers() ? MemScope::Sys : MemScope::Gpu);
  auto storeByThreads = [&](const Buffer &buffer) {
    Value thread = and_(readNumber(), 127);
    SmallVector<Value> offsets = scalars(op.getOffsets()), strides = byteStrides(buffer);
    Value start = add(elementAddress(buffer, offsets), mul(resize(row, i64), strides.end()[-2]));
    start = add(start, mul(strides.back(), resize(column, i64)));
    // What exists of the tile: [from, left) of its rows and columns. Offsets may be negative.
    SmallVector<Value> left = limits(buffer, offsets, tile.getShape(), op.getValid());
    auto from = [&](int64_t d) { return narrow(sub(c64(0), offsets.end()[d - 2])); };
    create<mk_thread::StoreBufferOp>(source, start, strides.end()[-2], strides.back(), row, column,
                                     from(0), narrow(left[0]), from(1), narrow(left[1]),
                                     countStoreRows(tile), tile.getElementType(), scope, thread);
  };
  within(staged.getOtherwise(), [&] { llvm::for_each(to, storeByThreads); });
}
