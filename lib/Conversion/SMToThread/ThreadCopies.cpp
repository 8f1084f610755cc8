//===- ThreadCopies.cpp - Copies without the copy engine ------------------===//
//
// The producer leaves a request in shared memory, has a barrier wait for the copiers, other warps of
// its warpgroup, and goes on when they have come for it. They have up to kDepth requests under way,
// and finish them in turn.
//
//===----------------------------------------------------------------------===//
#include "ThreadCopies.h"
#include "Lowering.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"

using namespace mlir;
using namespace mlir::mk;
using namespace mlir::mk::sm;
using namespace mlir::mk_sm;
using Predicate = arith::CmpIPredicate;

/// Requests that are under way at the same time. Fixed by the layout of shared memory, which has kRequests places.
static constexpr int64_t kDepth = 3;
// The producer writes a request before the copiers come for it, when those under way may be
// kDepth.
static_assert(kRequests == kDepth + 1 && llvm::isPowerOf2_64(kRequests));

Value Lowering::requestAt(Value number) {
  return add(sharedBase,
             add(mul(and_(number, kRequests - 1), kRequestBytes), offsetOf("requests")));
}

/// Lane 0 writes a request, and counts it; then the copiers have come.
void Lowering::post(CopyRequest request) {
  Value posted = add(sharedBase, offsetOf("posted"));
  ifThen(eq(lane, 0), [&] {
    Value number = loadSharedHere(i32, posted);
    Value at = requestAt(number);
    for (auto [i, word] : llvm::enumerate(request.words()))
      if (*word)
        store(*word, at, 8 * i);
    if (request.full)
      create<mk_thread::BarrierExpectOp>(request.full, warps.getNumCopiers()); // a byte each
    storeSharedHere(add(number, 1), posted, 0);
  });
  barrier(c32(warps.getBarrier("request")), 32 * (warps.getNumCopiers() + 1));
}

void Lowering::copyByThreads(const TileCopy &copy, Value landing) {
  int64_t size = getElementBytes(copy.tile.getElementType());
  ArrayRef<int64_t> shape = copy.tile.getShape();
  CopyRequest request;
  request.base = elementAddress(copy.from, copy.offsets);
  request.start = baseOf(copy.from);
  SmallVector<Value> strides = byteStrides(copy.from);
  request.rowStride = strides.end()[-2];
  request.columnStride = strides.back();
  auto [rowsFrom, rowsLeft, columnsFrom, columnsLeft] = findExisting(copy, /*valid=*/{});
  request.rowsFrom = rowsFrom;
  request.rowsLeft = rowsLeft;
  request.bytesFrom = mul(columnsFrom, size);
  request.bytesLeft = mul(columnsLeft, size);
  request.rows = c32(shape.end()[-2]);
  request.chunks = c32(llvm::divideCeil(shape.back() * size, kChunkBytes));
  request.size = c32(size);
  request.dest = copy.dest;
  request.full = landing;
  post(request);
}

void Lowering::dismissCopiers() {
  CopyRequest end;
  end.size = c32(0);
  post(end);
}

// Nobody waits for a request while there is one to finish: the consumer may wait for that.
void Lowering::emitCopiers() {
  SmallVector<int64_t> sizes;
  kernel.walk([&](CopyOp op) {
    int64_t size = getElementBytes(op.getTileType().getElementType());
    if (!llvm::is_contained(sizes, size))
      sizes.push_back(size);
  });
  readThread();
  auto copierAt = [&](Value number) {
    Copier copier{*this, {}, sizes, sub(warp, 1), lane, warps.getNumCopiers()};
    Value at = requestAt(number);
    for (auto [i, word] : llvm::enumerate(copier.request.words()))
      *word = load(i < 4 ? i64 : i32, at, 8 * i);
    return copier;
  };
  Value posted = add(sharedBase, offsetOf("posted"));
  // Whether there will be more; how many were taken, and how many of them not finished.
  Value more = variable(i32, c32(1)), taken = variable(i32, c32(0)),
        pending = variable(i32, c32(0));
  auto loop = scf::WhileOp::create(b, loc, TypeRange(), ValueRange());
  OpBuilder::InsertionGuard guard(b);
  b.createBlock(&loop.getBefore());
  scf::ConditionOp::create(
      b, loc, cmp(Predicate::ne, or_(read(more, i32), read(pending, i32)), 0), ValueRange());
  b.createBlock(&loop.getAfter());
  Value number = read(taken, i32), open = read(pending, i32);
  // All lanes decide alike.
  Value isNew = cmp(Predicate::ne, fromLane0(loadSharedHere(i32, posted)), number);
  Value takes = or_(eq(open, 0), and_(isNew, cmp(Predicate::slt, open, kDepth)));
  takes = and_(takes, cmp(Predicate::ne, read(more, i32), 0));
  auto take = [&] {
    barrier(c32(warps.getBarrier("request")), 32 * (warps.getNumCopiers() + 1));
    Copier copier = copierAt(number);
    ifThenElse(
        cmp(Predicate::ne, copier.request.size, 0),
        [&] {
          copier.start();
          create<NVVM::CpAsyncCommitGroupOp>();
          write(pending, add(open, 1));
          write(taken, add(number, 1));
        },
        [&] { write(more, c32(0)); });
  };
  auto finish = [&] {
    Copier copier = copierAt(sub(number, open));
    copier.finish([&] {
      auto waitFor = [&](int64_t others) { create<NVVM::CpAsyncWaitGroupOp>(others); };
      static_assert(kDepth == 3);
      ifThenElse(eq(open, 1), [&] { waitFor(0); }, [&] {
        ifThenElse(eq(open, 2), [&] { waitFor(1); }, [&] { waitFor(2); });
      });
      // Lanes go on with what others have brought.
      syncWarp();
    });
    // The matrix engine reads what was written here.
    fenceAsyncShared();
    syncWarp();
    ifThen(eq(lane, 0), [&] {
      fence(MemScope::Cta);
      create<mk_thread::BarrierCompleteOp>(copier.request.full, 1);
    });
    write(pending, sub(open, 1));
  };
  ifThenElse(takes, take, finish);
  scf::YieldOp::create(b, loc);
}
