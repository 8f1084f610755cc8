//===- Sender.cpp - Tiles that a warp of its own sends --------------------===//
//
// The consumer puts a tile into the staging area, says in shared memory where it goes, and works on; the sender, a warp of
// the producer's warpgroup, has the copy engine store it. A link that all SMs store to takes what is under way in turn, and
// what the engine fetches for the same SM stands behind it: with tiles of 64 KiB under way on all SMs, products that went on
// beside took 21 % longer. So the sender has one piece under way at a time, and takes its time: pieces are spread over
// three quarters of the time since the tile before, up to what the target's description says: others wait for it. It does not pause while the consumer waits for others, and sends all
// that is left at once where it waits for the sender.
//
//===----------------------------------------------------------------------===//
#include "Lowering.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"

using namespace mlir;
using namespace mlir::mk;
using namespace mlir::mk::sm;
using namespace mlir::mk_sm;
using Predicate = arith::CmpIPredicate;

/// The words of a post, by their offsets: the store's number, from 1 (0: there are no more), whether its
/// tile is sent, the element of the signal, where the tile begins, the ranks; whether the consumer waits.
static constexpr int64_t kNumber = 0, kSends = 4, kElement = 8, kOffsets = 12, kPeers = 32, kHurry = 64;
static_assert(kPeers + 4 * kMostPeers == kHurry && kHurry + 4 <= kPostBytes);
/// What the consumer waits for.
enum Hurry { kForNobody, kForOthers, kForSender };
/// The sender sleeps so long at a time, in nanoseconds: a tile takes longer on any machine.
static constexpr int64_t kNap = 200;
/// Threads of the sender, and of the warp of the consumer that calls it.
static constexpr int64_t kCalled = 64;

SmallVector<mk_sm::StoreOp> Lowering::getPosted() {
  SmallVector<mk_sm::StoreOp> posted;
  kernel.walk([&](mk_sm::StoreOp op) {
    if (op.getPosted())
      posted.push_back(op);
  });
  return posted;
}

void Lowering::awaitSent() {
  if (!posting || !warps.getSender())
    return;
  tellSender(kForSender);
  waitBarrier(add(sharedBase, memory.sent), read(cursors[posting].phase, i32), c32(0), /*number=*/-1,
              /*ofPut=*/true);
}

void Lowering::tellSender(int64_t hurry) {
  if (posting && warps.getSender())
    ifThen(eq(partitionThread, 0),
           [&] { storeSharedHere(c32(hurry), add(sharedBase, offsetOf("post")), kHurry); });
}

void Lowering::hurrySender() { tellSender(kForOthers); }

void Lowering::post(mk_sm::StoreOp op, ArrayRef<Value> peers, Value sends) {
  Value element = op.getSignal() ? signalElement(op, op.getSignal(), op.getSignalIndex()) : c64(0);
  // The signal releases what the consumer has had the engine store itself, too.
  WalkResult sendsItself = partition.walk([](mk_sm::StoreOp other) {
    return other.getPosted() ? WalkResult::advance() : WalkResult::interrupt();
  });
  if (op.getSignal() && sendsItself.wasInterrupted())
    ifThen(eq(and_(thread, 127), 0),
           [&] { create<mk_thread::WaitGroupOp>(0, /*read=*/false); });
  barrierPartition();
  ifThen(cmp(Predicate::ult, partitionThread, 32), [&] {
    ifThen(eq(partitionThread, 0), [&] {
      Value at = add(sharedBase, offsetOf("post"));
      auto write = [&](Value word, int64_t offset) { storeSharedHere(resize(word, i32), at, offset); };
      SmallVector<mk_sm::StoreOp> posted = getPosted();
      write(c32(llvm::find(posted, op) - posted.begin() + 1), kNumber);
      write(sends, kSends);
      write(c32(kForNobody), kHurry);
      write(element, kElement);
      for (auto [d, offset] : llvm::enumerate(scalars(op.getOffsets())))
        write(offset, kOffsets + 4 * d);
      for (auto [i, peer] : llvm::enumerate(peers))
        write(peer, kPeers + 4 * i);
      if (op.getSignal())
        recordSignal(op.getSignal(), element);
    });
    syncWarp();
    arriveAt(c32(warps.getBarrier("request")), kCalled);
  });
  advance(op.getPosting());
}

// All that was posted has been sent, at the end of each partition.
void Lowering::dismissSender() {
  ifThen(cmp(Predicate::ult, sub(thread, 128), 32), [&] {
    ifThen(eq(thread, 128), [&] {
      storeSharedHere(c32(0), add(sharedBase, offsetOf("post")), kNumber);
    });
    syncWarp();
    arriveAt(c32(warps.getBarrier("request")), kCalled);
  });
}

void Lowering::emitSender() {
  readThread();
  loadParams();
  Value more = variable(i32, c32(1)), last = variable(i32, c32(0));
  write(last, readTime());
  auto loop = scf::WhileOp::create(b, loc, TypeRange(), ValueRange());
  OpBuilder::InsertionGuard guard(b);
  b.createBlock(&loop.getBefore());
  scf::ConditionOp::create(b, loc, cmp(Predicate::ne, read(more, i32), 0), ValueRange());
  b.createBlock(&loop.getAfter());
  barrier(c32(warps.getBarrier("request")), kCalled);
  Value number = fromLane0(loadSharedHere(i32, add(sharedBase, offsetOf("post")), kNumber));
  write(more, number);
  Value now = readTime(), took = sub(now, read(last, i32));
  write(last, now);
  for (auto [i, op] : llvm::enumerate(getPosted()))
    ifThen(and_(eq(number, i + 1), eq(lane, 0)), [&] { sendPosted(op, took); });
  syncWarp();
  scf::YieldOp::create(b, loc);
}

Value Lowering::readTime() {
  return resize(NVVM::GlobalTimerOp::create(b, loc, i64), i32);
}

/// Sleeps until `time`, or until the consumer waits.
void Lowering::napUntil(Value time) {
  auto loop = scf::WhileOp::create(b, loc, TypeRange(), ValueRange());
  OpBuilder::InsertionGuard guard(b);
  b.createBlock(&loop.getBefore());
  Value hurry = loadSharedHere(i32, add(sharedBase, offsetOf("post")), kHurry);
  Value isEarly = cmp(Predicate::slt, sub(readTime(), time), 0);
  scf::ConditionOp::create(b, loc, and_(isEarly, eq(hurry, kForNobody)), ValueRange());
  b.createBlock(&loop.getAfter());
  NVVM::NanosleepOp::create(b, loc, c32(kNap));
  scf::YieldOp::create(b, loc);
}

/// One thread sends the tile to one rank after the other. `took` is the time since the last tile.
void Lowering::sendPosted(mk_sm::StoreOp op, Value took) {
  Operation *role = op->getParentOp();
  while (!isa<RoleOp, PrepareOp>(role))
    role = role->getParentOp();
  loc = op.getLoc();
  partition = findPartition(role, PartitionKind::Producer);
  memory = ScopeMemory(role);
  RankedTensorType tile = op.getTile().getType();
  int64_t size = getElementBytes(tile.getElementType()), columns = kChunkBytes / size;
  int64_t groups = cast<MmaAttr>(tile.getEncoding()).getWarpgroups(), n = tile.getDimSize(1);
  int64_t chunks = countStoreChunks(tile, kChunkBytes), parts = countStoreParts(tile, kChunkBytes);
  int64_t rowsOfPart = countStoreRows(tile), rowsOfPiece = getThresholds().getPostedRows();
  int64_t pieces = rowsOfPart / rowsOfPiece;
  int64_t buffers = op.getStaging().getType().getBuffers();
  Value at = add(sharedBase, offsetOf("post"));
  auto word = [&](int64_t offset) { return loadSharedHere(i32, at, offset); };
  Value base = add(sharedBase, getSharedOffset(op.getStaging().getDefiningOp(), "buffers"));
  Buffer to = *buffer(op, op.getDest());
  Value own = resize(ownRank(), i32), away = c32(0);
  for (size_t i = 0; i != op.getPeers().size(); ++i)
    away = add(away, resize(cmp(Predicate::ne, word(kPeers + 4 * i), own), i32));
  int64_t all = groups * parts * pieces;
  Value pauses = maxS(mul(away, 4 * all), c32(1));
  Value time = mul(minS(maxS(took, c32(0)), c32(getThresholds().getPostedSpread() * 4 / 3)), 3);
  Value pause = b.createOrFold<arith::DivUIOp>(loc, time, pauses), next = variable(i32, c32(0));
  write(next, readTime());
  auto send = [&](Value i) {
    Value peer = loadSharedHere(i32, add(at, mul(i, 4)), kPeers);
    Value map = peerMap(to, getStoreBox(op), resize(peer, i64)).first;
    Value isAway = cmp(Predicate::ne, peer, own);
    // Piece by piece, the parts of all warpgroups one behind the other.
    forRange(c32(0), c32(all), c32(1), [&](Value k) {
      ifThen(isAway, [&] {
        napUntil(read(next, i32));
        write(next, add(read(next, i32), pause));
      });
      Value piece = remU(k, pieces), whole = divU(k, pieces);
      Value part = remU(whole, parts), group = divU(whole, parts);
      Value slot = add(mul(group, buffers), part);
      Value source = add(base, add(mul(slot, kStagingBytes), mul(piece, rowsOfPiece * kChunkBytes)));
      Value row = add(mul(divU(part, chunks), rowsOfPart), mul(piece, rowsOfPiece));
      row = add(row, mul(group, tile.getDimSize(0) / groups));
      SmallVector<Value> coordinates;
      for (size_t d = 0; d != op.getOffsets().size(); ++d)
        coordinates.push_back(word(kOffsets + 4 * d));
      coordinates.end()[-2] = add(coordinates.end()[-2], row);
      coordinates.back() = add(coordinates.back(), minS(mul(remU(part, chunks), columns), c32(n - columns)));
      create<mk_thread::StoreTensorOp>(source, map, coordinates, op.getAdd());
      create<mk_thread::CommitGroupOp>();
      ifThen(and_(isAway, cmp(Predicate::ne, word(kHurry), kForSender)), [&] {
        create<mk_thread::WaitGroupOp>(0, /*read=*/false);
      });
    });
  };
  ifThen(cmp(Predicate::ne, word(kSends), 0), [&] {
    forRange(c32(0), c32(op.getPeers().size()), c32(1), send);
    create<mk_thread::WaitGroupOp>(0, /*read=*/false);
  });
  if (op.getSignal()) {
    // Stores reach across links only, and so does their signal.
    Value here = add(loadParam(signalArray(op.getSignal()).param, i64),
                     shl(resize(word(kElement), i64), 2));
    Value there = sub(heapOf(resize(word(kPeers), i64)), heapOf(ownRank()));
    ifFine([&] { reduceAdd(add(here, there), c32(1), MemOrder::Release, MemScope::Sys); });
  }
  create<mk_thread::BarrierArriveOp>(add(sharedBase, memory.sent), /*cta=*/Value(), /*bytes=*/Value());
}
