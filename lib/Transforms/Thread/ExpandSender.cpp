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

using namespace mlir;
using namespace mlir::mk_thread;
using Predicate = arith::CmpIPredicate;

/// The words of a post, by their offsets: the tile's number (0: there are no more), whether it is
/// sent, the element of the signal, where the tile begins, the ranks.
static constexpr int64_t kNumber = 0, kSends = 4, kElement = 8, kOffsets = 12, kPeers = 32;
static_assert(kPeers + 4 * kMostPeers == kPostHurry && kPostHurry + 4 <= kPostBytes);
/// The sender sleeps so long at a time, in nanoseconds: a tile takes longer on any machine.
static constexpr int64_t kBackoff = 200;

static void writePost(PostTileOp op, Emitter &e) {
  Value at = e.add(e.sharedBase, op.getPost());
  auto write = [&](Value word, int64_t offset) {
    e.storeSharedHere(e.resize(word, e.i32), at, offset);
  };
  write(e.c32(op.getNumber()), kNumber);
  if (!op.getNumber())
    return;
  write(op.getSends(), kSends);
  write(e.c32(kForNobody), kPostHurry);
  write(op.getElement(), kElement);
  for (auto [d, offset] : llvm::enumerate(op.getCoordinates()))
    write(offset, kOffsets + 4 * d);
  for (auto [i, peer] : llvm::enumerate(op.getPeers()))
    write(peer, kPeers + 4 * i);
  if (op.getSpan())
    e.create<MomentOp>(*op.getSpan(), e.resize(op.getElement(), e.i32));
}

static void postTile(PostTileOp op, Emitter &e) {
  e.ifThen(e.cmp(Predicate::ult, op.getThread(), 32), [&] {
    e.ifThen(e.eq(op.getThread(), 0), [&] { writePost(op, e); });
    e.syncWarp();
    e.arriveAt(e.c32(op.getBarrier()), kPostCallers);
  });
}

static void flushSender(FlushSenderOp op, Emitter &e) {
  Value hurry = e.c32(op.getParity() ? kForSender : kForOthers);
  e.ifThen(e.eq(op.getThread(), 0),
           [&] { e.storeSharedHere(hurry, e.add(e.sharedBase, op.getPost()), kPostHurry); });
  if (op.getParity())
    e.create<BarrierWaitOp>(e.add(e.sharedBase, *op.getSent()), op.getParity(), e.c32(0),
                            *op.getReport(),
                            /*doubleDeadline=*/false);
}

/// Nanoseconds, as a number of 32 bits.
static Value readTime(Emitter &e) {
  return e.resize(NVVM::GlobalTimerOp::create(e.b, e.loc, e.i64), e.i32);
}

/// Sleeps until `time`, or until the consumer waits.
static void napUntil(Emitter &e, Value post, Value time) {
  auto mayBackOff = [&] {
    Value hurry = e.loadSharedHere(e.i32, post, kPostHurry);
    Value isEarly = e.cmp(Predicate::slt, e.sub(readTime(e), time), 0);
    return e.and_(isEarly, e.eq(hurry, kForNobody));
  };
  e.whileTrue(mayBackOff, [&] { NVVM::NanosleepOp::create(e.b, e.loc, e.c32(kBackoff)); });
}

/// One thread sends the tile to one rank after the other. `took` is the time since the last tile.
static void sendTile(Emitter &e, PostedAttr tile, ServePostsOp op, Value took) {
  int64_t pieceRows = tile.getPieceRows(), pieces = tile.getPartRows() / pieceRows;
  int64_t chunks = llvm::divideCeil(tile.getColumns(), tile.getChunk());
  int64_t parts = tile.getRows() / tile.getPartRows() * chunks;
  Value at = e.add(e.sharedBase, op.getPost());
  auto word = [&](int64_t offset) { return e.loadSharedHere(e.i32, at, offset); };
  Value base = e.add(e.sharedBase, tile.getStaging());
  Value own = e.resize(e.ownRank(), e.i32), away = e.c32(0);
  for (int64_t i = 0; i != tile.getPeers(); ++i)
    away = e.add(away, e.resize(e.cmp(Predicate::ne, word(kPeers + 4 * i), own), e.i32));
  int64_t all = tile.getGroups() * parts * pieces;
  Value pauses = e.maxS(e.mul(away, 4 * all), e.c32(1));
  Value time = e.mul(e.minS(e.maxS(took, e.c32(0)), e.c32(op.getSpread() * 4 / 3)), 3);
  Value pause = e.b.createOrFold<arith::DivUIOp>(e.loc, time, pauses),
        next = e.variable(e.i32, e.c32(0));
  e.write(next, readTime(e));
  auto send = [&](Value i) {
    Value peer = e.loadSharedHere(e.i32, e.add(at, e.mul(i, 4)), kPeers);
    Value number = e.add(e.c64(tile.getMap()), e.resize(peer, e.i64));
    Value map = e.add(e.launchFieldHere(offsetof(mk_gpu_launch, peer_maps)),
                      e.mul(number, MK_GPU_TENSOR_MAP_BYTES));
    Value isAway = e.cmp(Predicate::ne, peer, own);
    // Piece by piece, the parts of all warpgroups one behind the other.
    e.forRange(e.c32(0), e.c32(all), e.c32(1), [&](Value k) {
      e.ifThen(isAway, [&] {
        napUntil(e, at, e.read(next, e.i32));
        e.write(next, e.add(e.read(next, e.i32), pause));
      });
      Value piece = e.remU(k, pieces), whole = e.divU(k, pieces);
      Value part = e.remU(whole, parts), group = e.divU(whole, parts);
      Value slot = e.add(e.mul(group, tile.getBuffers()), part);
      Value source = e.add(base, e.add(e.mul(slot, kBufferRows * kChunkBytes),
                                       e.mul(piece, pieceRows * kChunkBytes)));
      Value row = e.add(e.mul(e.divU(part, chunks), tile.getPartRows()), e.mul(piece, pieceRows));
      row = e.add(row, e.mul(group, tile.getRows()));
      SmallVector<Value> coordinates;
      for (int64_t d = 0; d != tile.getCoordinates(); ++d)
        coordinates.push_back(word(kOffsets + 4 * d));
      coordinates.end()[-2] = e.add(coordinates.end()[-2], row);
      Value column = e.minS(e.mul(e.remU(part, chunks), tile.getChunk()),
                            e.c32(tile.getColumns() - tile.getChunk()));
      coordinates.back() = e.add(coordinates.back(), column);
      e.create<StoreTensorOp>(source, map, coordinates, tile.getAdd());
      e.create<CommitGroupOp>();
      e.ifThen(e.and_(isAway, e.cmp(Predicate::ne, word(kPostHurry), kForSender)),
               [&] { e.create<WaitGroupOp>(0, /*read=*/false); });
    });
  };
  e.ifThen(e.cmp(Predicate::ne, word(kSends), 0), [&] {
    e.forRange(e.c32(0), e.c32(tile.getPeers()), e.c32(1), send);
    e.create<WaitGroupOp>(0, /*read=*/false);
  });
  // Stores reach across links only, and so does their signal.
  if (tile.getSignal() >= 0)
    e.create<RaiseOp>(tile.getSignal(), e.resize(word(kElement), e.i64), 1, MemScope::Sys,
                      /*relaxed=*/false, e.resize(word(kPeers), e.i64), /*cta=*/Value(),
                      /*strong=*/false,
                      /*team=*/Value(), ReportAttr(), SpanAttr());
  e.create<BarrierArriveOp>(e.add(e.sharedBase, tile.getSent()), /*cta=*/Value(),
                            /*bytes=*/Value());
}

static void servePosts(ServePostsOp op, Emitter &e) {
  Value lane = e.and_(e.readNumber(), 31);
  Value more = e.variable(e.i32, e.c32(1)), last = e.variable(e.i32, e.c32(0));
  e.write(last, readTime(e));
  e.whileTrue([&] { return e.cmp(Predicate::ne, e.read(more, e.i32), 0); },
              [&] {
                e.barrier(e.c32(op.getBarrier()), kPostCallers);
                Value number = e.fromLane0(
                    e.loadSharedHere(e.i32, e.add(e.sharedBase, op.getPost()), kNumber));
                e.write(more, number);
                Value now = readTime(e), took = e.sub(now, e.read(last, e.i32));
                e.write(last, now);
                for (auto [i, tile] : llvm::enumerate(op.getTiles().getAsRange<PostedAttr>()))
                  e.ifThen(e.and_(e.eq(number, i + 1), e.eq(lane, 0)),
                           [&, tile = tile] { sendTile(e, tile, op, took); });
                e.syncWarp();
              });
}

void mk_thread::expandSender(ModuleOp module) {
  expandEach<PostTileOp>(module, postTile);
  expandEach<FlushSenderOp>(module, flushSender);
  expandEach<ServePostsOp>(module, servePosts);
}
