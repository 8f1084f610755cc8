//===- Stores.cpp - Fragments to memory through the copy engine -----------===//
//
// Each warpgroup puts 64 rows of 128 bytes at a time into one of its buffers, in the
// engine's 128-byte swizzle, and one of its threads sends them off. A buffer is used
// again once the engine has read it. What the engine cannot store either goes from there,
// by the threads, or straight from registers. Of a transposed tile a warpgroup holds columns, in
// blocks of 64, 128 bytes of each row.
//
//===----------------------------------------------------------------------===//
#include "Taker.h"
#include <numeric>

using namespace mlir;
using namespace mlir::mk;
using namespace mlir::mk::sm;
using namespace mlir::mk_sm;

LogicalResult Lowering::emitStaged(mk_sm::StoreOp op) {
  FailureOr<Buffer> to = buffer(op, op.getDest());
  Taker taker(*this);
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
    usable = endsByItself(usable, *to, offsets, shape, op.getValid());
    usable = takesBox(usable, op.getOffsets(), element, /*stores=*/true);
    storeThroughStaging(op, *to, {}, map, usable, taker);
    raiseHere({});
    return success();
  }
  SmallVector<Value> peers, maps;
  SmallVector<Buffer> buffers;
  Value usable = takesBox(cbool(true), op.getOffsets(), element, /*stores=*/true);
  for (Value rank : op.getPeers()) {
    Value peer = existingPeer(scalar(rank));
    awaitReady(peer);
    Buffer remote = atPeer(*to, peer);
    auto [map, isUsable] = peerMap(remote, box, peer);
    usable = endsByItself(and_(isUsable, usable), remote, offsets, shape, op.getValid());
    maps.push_back(map);
    peers.push_back(peer);
    buffers.push_back(remote);
  }
  // Behind what may have failed until here.
  usable = and_(usable, isFine());
  if (op.getPosted() && warps.getSender()) {
    storeThroughStaging(op, buffers, peers, /*map=*/Value(), usable, taker);
    return success();
  }
  for (auto [map, remote] : llvm::zip(maps, buffers))
    storeThroughStaging(op, remote, {}, map, usable, taker);
  raiseHere(peers.front());
  return success();
}

/// Emits `body` for the number that `number` turns out to be, of `count` ones from `from` on.
/// Bits are tested, and not the number compared, of which LLVM would make a jump through a table:
/// ptxas knows nothing uniform behind that.
void Lowering::forCase(Value number, int64_t from, int64_t count,
                       function_ref<void(int64_t)> body) {
  if (count == 1)
    return body(from);
  int64_t half = int64_t(llvm::PowerOf2Ceil(count)) / 2;
  ifThenElse(
      eq(and_(number, half), 0), [&] { forCase(number, from, half, body); },
      [&] { forCase(number, from + half, count - half, body); });
}

namespace {
/// How far the tiles of two warpgroups are apart; in one direction.
struct GroupStep {
  int64_t rows = 0, columns = 0;

  explicit GroupStep(RankedTensorType tile) {
    if (auto transposed = dyn_cast<TransposedAttr>(tile.getEncoding()))
      columns = transposed.getWarpgroups() > 1 ? tile.getDimSize(1) / transposed.getWarpgroups() : 0;
    else if (int64_t groups = cast<MmaAttr>(tile.getEncoding()).getWarpgroups(); groups > 1)
      rows = tile.getDimSize(0) / groups;
  }
};
} // namespace

void Lowering::storeThroughStaging(mk_sm::StoreOp op, ArrayRef<Buffer> to, ArrayRef<Value> peers,
                                   Value map, Value usable, Taker &taker) {
  awaitSent();
  RankedTensorType tile = op.getTile().getType();
  int64_t size = getElementBytes(tile.getElementType());
  int64_t m = tile.getDimSize(0), n = tile.getDimSize(1), columns = kChunkBytes / size;
  bool transposed = isa<TransposedAttr>(tile.getEncoding());
  int64_t rowsOfPart = countStoreRows(tile);
  GroupStep step(tile);
  int64_t buffers = op.getStaging().getType().getBuffers();
  Operation *staging = op.getStaging().getDefiningOp();
  SmallVector<Value> offsets = scalars(op.getOffsets());
  for (Value &offset : offsets)
    offset = resize(offset, i32);

  Value lane, group, base, sender, barrierId, rowAddress, swizzle, quad;
  auto enter = [&] {
    enterPlaces(/*here=*/true);
    lane = placeLane, group = placeGroup;
    base = add(sharedBase, getSharedOffset(staging, "buffers"));
    base = add(base, mul(group, buffers * kStagingBytes));
    sender = eq(and_(placeThread, 127), 0), barrierId = warpgroupBarrier(group);
    // stmatrix takes the address of row l % 16 of 8 columns from lane l, the others
    // write where their elements are.
    if (transposed) {
      // Lane l gives the address of token l % 8 of 8 or, lanes 16 to 31, of the next 8, for the
      // first 8 columns of its warp's 16 or the others.
      rowAddress = add(base, shl(or_(and_(lane, 7), shr(and_(lane, 16), 1)), 7));
      Value piece = or_(shl(and_(placeWarp, 3), 1), and_(shr(lane, 3), 1));
      rowAddress = add(rowAddress, shl(xor_(piece, and_(lane, 7)), 4));
      return;
    }
    Value inWarp = shl(and_(placeWarp, 3), 4);
    Value ownRow = size == 2 ? and_(lane, 15) : shr(lane, 2);
    rowAddress = add(base, shl(add(inWarp, ownRow), 7));
    swizzle = shl(and_(size == 2 ? lane : shr(lane, 2), 7), 4);
    quad = and_(lane, 3);
  };
  // Whether every use of the buffers begins with the first one free for it.
  bool regular = true;
  for (Operation *user : staging->getUsers())
    if (auto other = dyn_cast<mk_sm::StoreOp>(user)) {
      int64_t count = countStoreParts(other.getTile().getType(), kChunkBytes);
      regular &= count && count % buffers == 0;
    }
  int64_t chunks = countStoreChunks(tile, kChunkBytes), parts = countStoreParts(tile, kChunkBytes);
  // The first of a part's registers.
  auto firstOf = [&](int64_t part) {
    int64_t rows = part / chunks, column = std::min(part % chunks * columns, n - columns);
    return transposed ? part % chunks * (m / 2) + rows * (rowsOfPart / 2) : rows * (n / 2) + column / 2;
  };
  auto fetch = [&](Taker &taker, int64_t part) {
    SmallVector<unsigned> own((transposed ? rowsOfPart : columns) / 2);
    std::iota(own.begin(), own.end(), firstOf(part));
    taker.load(op.getTile(), own);
  };
  auto fill = [&](Taker &taker, int64_t part) {
    int64_t first = firstOf(part);
    // What the part is computed from, while the engine reads the buffer; and the next one, while this one
    // is computed.
    fetch(taker, part);
    if (op.getUnrolled() && part + 1 != parts)
      fetch(taker, part + 1);
    int64_t offset = part % buffers * kStagingBytes;
    int64_t pending = regular || part ? buffers - 1 : 0;
    ifThen(sender, [&] {
      create<mk_thread::WaitGroupOp>(pending, /*read=*/true);
    });
    barrier(barrierId, 128);
    // Register 4 * j + 2 * half + k: column 8 * j + 2 * (l % 4) + k, row half.
    auto at = [&](int64_t j, int64_t half, int64_t k) {
      return taker.take(op.getTile(), first + 4 * j + 2 * half + k);
    };
    if (transposed) {
      int64_t blocks = rowsOfPart / 8;
      for (int64_t j = 0; j < blocks; j += 2) {
        SmallVector<Value> elements;
        // Behind an odd number of blocks the buffer has room, which nobody reads.
        for (int64_t q = 0; q < 4; ++q)
          for (int64_t k = 0; k < 2; ++k)
            elements.push_back(at(std::min(j + q / 2, blocks - 1), q % 2, k));
        SmallVector<Value> words = pack(elements);
        create<mk_thread::StMatrixOp>(add(rowAddress, offset + j * 8 * kChunkBytes), words[0],
                                      words[1], words[2], words[3], /*transpose=*/true);
      }
      return;
    }
    if (size == 2) {
      for (int64_t j = 0; j < 8; j += 2) {
        SmallVector<Value> elements;
        for (int64_t q = 0; q < 4; ++q)
          for (int64_t k = 0; k < 2; ++k)
            elements.push_back(at(j + q / 2, q % 2, k));
        SmallVector<Value> words = pack(elements);
        // Lanes 16 to 31 give the rows of the next 8 columns.
        Value piece = xor_(xor_(shl(shr(lane, 4), 4), swizzle), j << 4);
        create<mk_thread::StMatrixOp>(add(add(rowAddress, offset), piece), words[0], words[1],
                                      words[2], words[3], /*transpose=*/false);
      }
      return;
    }
    for (int64_t j = 0; j < columns / 8; ++j)
      for (int64_t half = 0; half < 2; ++half) {
        SmallVector<Value> pair{at(j, half, 0), at(j, half, 1)};
        Value row = add(rowAddress, offset + half * 8 * kChunkBytes);
        Value column = add(shl(quad, 3), 32 * j);
        Value piece = xor_(and_(column, ~15), swizzle);
        storeWords(pair, add(row, or_(piece, and_(column, 15))), 8);
      }
  };
  int64_t rowsOfBox = op.getPosted() ? getThresholds().getPostedRows() : rowsOfPart;
  auto leave = [&](const StagedPart &part) {
    fenceAsyncShared();
    barrier(barrierId, 128);
    auto send = [&] {
      // A group for each part: what waits for a buffer counts them.
      for (int64_t row = 0; row != rowsOfPart && peers.empty(); row += rowsOfBox) {
        SmallVector<Value> coordinates(offsets);
        coordinates.back() = add(coordinates.back(), part.column);
        coordinates.end()[-2] = add(coordinates.end()[-2], add(part.row, row));
        if (step.rows)
          coordinates.end()[-2] = add(coordinates.end()[-2], mul(group, step.rows));
        create<mk_thread::StoreTensorOp>(add(part.source, row * kChunkBytes), map, coordinates,
                                         op.getAdd());
      }
      create<mk_thread::CommitGroupOp>();
    };
    auto byThreads = [&] {
      // Empty: what waits for a buffer counts groups.
      create<mk_thread::CommitGroupOp>();
      for (const Buffer &buffer : to)
        storeByThreads(op, buffer, part);
    };
    ifThenElse(usable, [&] { ifThen(sender, send); }, byThreads);
  };
  auto whereIs = [&](Value part) {
    Value column = minS(mul(remU(part, chunks), columns), c32(n - columns));
    if (step.columns)
      column = add(column, mul(group, step.columns));
    return StagedPart{add(base, mul(remU(part, buffers), kStagingBytes)),
                      mul(divU(part, chunks), rowsOfPart), column};
  };
  if (op.getUnrolled()) {
    enter();
    for (int64_t part = 0; part < parts; ++part) {
      fill(taker, part);
      leave(whereIs(c32(part)));
    }
    if (!peers.empty())
      post(op, peers, usable);
    return;
  }
  forRange(c32(0), c32(parts), c32(1), [&](Value part) {
    keepRolled();
    enter();
    forCase(part, 0, parts, [&](int64_t number) {
      Taker own(*this);
      fill(own, number);
    });
    leave(whereIs(part));
  });
  if (!peers.empty())
    post(op, peers, usable);
}

void Lowering::storeByThreads(mk_sm::StoreOp op, const Buffer &to, const StagedPart &part) {
  RankedTensorType tile = op.getTile().getType();
  mk_thread::MemScopeAttr scope;
  if (op.getAdd())
    scope = mk_thread::MemScopeAttr::get(b.getContext(),
                                         op.getPeer() && hasPeers() ? MemScope::Sys : MemScope::Gpu);
  enterPlaces();
  Value thread = and_(placeThread, 127);
  Value row = part.row;
  if (int64_t step = GroupStep(tile).rows)
    row = add(row, mul(placeGroup, step));
  SmallVector<Value> offsets = scalars(op.getOffsets());
  SmallVector<Value> strides = byteStrides(to);
  Value start = add(elementAddress(to, offsets), mul(resize(row, i64), strides.end()[-2]));
  start = add(start, mul(strides.back(), resize(part.column, i64)));
  // What exists of the tile: [from, left) of its rows and columns. Offsets may be negative.
  SmallVector<Value> left = limits(to, offsets, 2, op.getValid());
  auto from = [&](int64_t d) { return narrow(sub(c64(0), offsets.end()[d - 2])); };
  create<mk_thread::StoreBufferOp>(part.source, start, strides.end()[-2], strides.back(), row, part.column,
                                   from(0), narrow(left[0]), from(1), narrow(left[1]), countStoreRows(tile),
                                   tile.getElementType(), scope, thread);
}
