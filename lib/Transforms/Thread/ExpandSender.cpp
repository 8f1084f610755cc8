//===- ExpandSender.cpp - Tiles that a warp of its own sends --------------===//
//
// The consumer says in shared memory where a tile of the staging area goes, and works on; the
// sender has the copy engine store it. A link that all SMs store to takes what is under way in
// turn, and what the engine fetches for the same SM stands behind it: with tiles of 64 KiB under
// way on all SMs, products that went on beside took 21 % longer. So the sender has one piece under
// way at a time, and takes its time.
//
//===----------------------------------------------------------------------===//
#include "Expand.h"
#include "mkernel/ABI/Gpu.h"
#include "mkernel/Dialect/SM/SM.h"

#include <numeric>

using namespace mlir;
using namespace mlir::mk_thread;

/// The words of a post, by their offsets: the tile's number (0: there are no more), whether it is
/// sent, the element of the signal, where the tile begins, the ranks.
static constexpr int64_t kNumber = 0, kSends = 4, kElement = 8, kOffsets = 12, kPeers = 32;
static_assert(kPeers + 4 * kMostPeers == kPostPacing && kPostPacing + 4 <= kPostBytes);

static void writePost(PostTileOp op, Emitter &e) {
  Value at = e.shared(op.getPost());
  auto write = [&](Value word, int64_t offset) {
    StoreSharedOp::create(e, resize(e, word, e.i32), at, offset);
  };
  write(e.c32(op.getNumber()), kNumber);
  if (!op.getNumber())
    return;
  write(op.getSends(), kSends);
  write(e.c32(kPaced), kPostPacing);
  write(op.getElement(), kElement);
  for (auto [d, offset] : llvm::enumerate(op.getCoordinates()))
    write(offset, kOffsets + 4 * d);
  for (auto [i, peer] : llvm::enumerate(op.getPeers()))
    write(peer, kPeers + 4 * i);
  if (op.getSpan())
    MomentOp::create(e, *op.getSpan(), resize(e, op.getElement(), e.i32));
}

static void postTile(PostTileOp op, Emitter &e) {
  ifThen(e, ult(e, op.getThread(), mk::kWarpThreads), [&] {
    ifThen(e, eq(e, op.getThread(), 0), [&] { writePost(op, e); });
    SyncWarpOp::create(e);
    ArriveOp::create(e, e.c32(op.getBarrier()), kPostCallers);
  });
}

static void flushSender(FlushSenderOp op, Emitter &e) {
  Value pacing = e.c32(op.getParity() ? kDrained : kUnpaced);
  ifThen(e, eq(e, op.getThread(), 0),
         [&] { StoreSharedOp::create(e, pacing, e.shared(op.getPost()), kPostPacing); });
  if (op.getParity())
    BarrierWaitOp::create(e, e.shared(*op.getSent()), op.getParity(), e.c32(0), *op.getReport(),
                          /*doubleDeadline=*/false);
}

/// Nanoseconds, as a number of 32 bits.
static Value readTime(Emitter &e) {
  return resize(e, NVVM::GlobalTimerOp::create(e, e.i64), e.i32);
}

/// Sleeps until `time`, or until the consumer waits.
static void napUntil(Emitter &e, Value post, Value time) {
  auto mayBackOff = [&] {
    Value pacing = LoadSharedOp::create(e, e.i32, post, kPostPacing);
    Value isEarly = slt(e, sub(e, readTime(e), time), 0);
    return and_(e, isEarly, eq(e, pacing, kPaced));
  };
  whileTrue(e, mayBackOff,
            [&] { NVVM::NanosleepOp::create(e, e.c32(e.sm.getThresholds().getPostedNap())); });
}

/// Time between pieces that go away, so many in all: they take a share of what the last tile took.
static Value getPause(Emitter &e, ServePostsOp op, Value took, Value away, int64_t pieces) {
  int64_t share = e.sm.getThresholds().getPostedShare(), whole = 100;
  int64_t common = std::gcd(share, whole);
  share /= common, whole /= common;
  Value pauses = maxS(e, mul(e, away, whole * pieces), 1);
  Value time = mul(e, minS(e, maxS(e, took, 0), op.getSpread() * whole / share), share);
  return divU(e, time, pauses);
}

/// One thread sends the tile to one rank after the other. `took` is the time since the last tile.
static void sendTile(Emitter &e, PostedAttr tile, ServePostsOp op, Value took) {
  int64_t chunk = e.sm.getChunk(), pieceRows = tile.getPieceRows(),
          pieces = tile.getPartRows() / pieceRows;
  int64_t chunks = llvm::divideCeil(tile.getColumns(), tile.getChunk());
  int64_t parts = tile.getRows() / tile.getPartRows() * chunks;
  Value at = e.shared(op.getPost());
  auto word = [&](int64_t offset) { return LoadSharedOp::create(e, e.i32, at, offset); };
  Value base = e.shared(tile.getStaging());
  Value own = resize(e, ownRank(e), e.i32), away = e.c32(0);
  for (int64_t i = 0; i != tile.getPeers(); ++i)
    away = add(e, away, resize(e, ne(e, word(kPeers + 4 * i), own), e.i32));
  int64_t all = tile.getGroups() * parts * pieces;
  Value pause = getPause(e, op, took, away, all);
  Value next = variable(e, e.i32, e.c32(0));
  write(e, next, readTime(e));
  auto send = [&](Value i) {
    Value peer = LoadSharedOp::create(e, e.i32, add(e, at, mul(e, i, 4)), kPeers);
    Value number = add(e, e.c64(tile.getMap()), resize(e, peer, e.i64));
    Value map = add(e, readLaunchField(e, offsetof(mk_gpu_launch, peer_maps)),
                    mul(e, number, MK_GPU_TENSOR_MAP_BYTES));
    Value isAway = ne(e, peer, own);
    // Piece by piece, the parts of all warpgroups in sequence.
    forRange(e, all, [&](Value k) {
      ifThen(e, isAway, [&] {
        napUntil(e, at, read(e, next, e.i32));
        write(e, next, add(e, read(e, next, e.i32), pause));
      });
      Value piece = remU(e, k, pieces), whole = divU(e, k, pieces);
      Value part = remU(e, whole, parts), group = divU(e, whole, parts);
      Value slot = add(e, mul(e, group, tile.getBuffers()), part);
      Value source = add(
          e, base,
          add(e, mul(e, slot, mk_sm::getStagingBytes(chunk)), mul(e, piece, pieceRows * chunk)));
      Value row =
          add(e, mul(e, divU(e, part, chunks), tile.getPartRows()), mul(e, piece, pieceRows));
      row = add(e, row, mul(e, group, tile.getRows()));
      SmallVector<Value> coordinates;
      for (int64_t d = 0; d != tile.getCoordinates(); ++d)
        coordinates.push_back(word(kOffsets + 4 * d));
      coordinates.end()[-2] = add(e, coordinates.end()[-2], row);
      Value column = minS(e, mul(e, remU(e, part, chunks), tile.getChunk()),
                          tile.getColumns() - tile.getChunk());
      coordinates.back() = add(e, coordinates.back(), column);
      StoreTensorOp::create(e, source, map, coordinates, tile.getAdd());
      CommitGroupOp::create(e);
      ifThen(e, and_(e, isAway, ne(e, word(kPostPacing), kDrained)),
             [&] { WaitGroupOp::create(e, 0, /*read=*/false); });
    });
  };
  ifThen(e, ne(e, word(kSends), 0), [&] {
    forRange(e, tile.getPeers(), send);
    WaitGroupOp::create(e, 0, /*read=*/false);
  });
  // Stores reach across links only, and so does their signal.
  if (tile.getSignal() >= 0)
    RaiseOp::create(e, tile.getSignal(), resize(e, word(kElement), e.i64), 1, MemScope::Sys,
                    /*relaxed=*/false, resize(e, word(kPeers), e.i64), /*cta=*/Value(),
                    /*strong=*/false,
                    /*team=*/Value(), ReportAttr(), SpanAttr());
  BarrierArriveOp::create(e, e.shared(tile.getSent()), /*cta=*/Value(),
                          /*bytes=*/Value());
}

static void servePosts(ServePostsOp op, Emitter &e) {
  Value lane = laneOf(e, ThreadIdOp::create(e));
  Value more = variable(e, e.i32, e.c32(1)), last = variable(e, e.i32, e.c32(0));
  write(e, last, readTime(e));
  whileTrue(
      e, [&] { return ne(e, read(e, more, e.i32), 0); },
      [&] {
        SyncOp::create(e, e.c32(op.getBarrier()), kPostCallers);
        Value number =
            fromLane0(e, LoadSharedOp::create(e, e.i32, e.shared(op.getPost()), kNumber));
        write(e, more, number);
        Value now = readTime(e), took = sub(e, now, read(e, last, e.i32));
        write(e, last, now);
        for (auto [i, tile] : llvm::enumerate(op.getTiles().getAsRange<PostedAttr>()))
          ifThen(e, and_(e, eq(e, number, i + 1), eq(e, lane, 0)),
                 [&, tile = tile] { sendTile(e, tile, op, took); });
        SyncWarpOp::create(e);
      });
}

void mk_thread::expandSender(ModuleOp module) {
  expandEach<PostTileOp>(module, postTile);
  expandEach<FlushSenderOp>(module, flushSender);
  expandEach<ServePostsOp>(module, servePosts);
}
