//===- ExpandCopiers.cpp - Copies without the copy engine -----------------===//
//
// The producer leaves a request in shared memory, has a barrier wait for the copiers, other warps of
// its warpgroup, and goes on when they have come for it. They have up to kDepth requests under way,
// and finish them in turn.
//
//===----------------------------------------------------------------------===//
#include "Copier.h"
#include "Expand.h"

using namespace mlir;
using namespace mlir::mk_thread;
using Predicate = arith::CmpIPredicate;

/// Requests that are under way at the same time.
static constexpr int64_t kDepth = 3;
// The producer writes a request before the copiers come for it, when those under way may be
// kDepth.
static_assert(kRequests == kDepth + 1 && llvm::isPowerOf2_64(kRequests));

static Value requestAt(Emitter &e, CopiersAttr copiers, Value number) {
  return e.add(e.sharedBase, e.add(e.mul(e.and_(number, kRequests - 1), kRequestBytes), copiers.getRequests()));
}

/// Producer and copiers meet.
static void meet(Emitter &e, CopiersAttr copiers) {
  e.barrier(e.c32(copiers.getBarrier()), 32 * (copiers.getWarps() + 1));
}

/// Lane 0 writes a request, and counts it; then the copiers have come.
static void post(Emitter &e, CopiersAttr copiers, Value lane, CopyRequest request) {
  Value posted = e.add(e.sharedBase, copiers.getPosted());
  e.ifThen(e.eq(lane, 0), [&] {
    Value number = e.loadSharedHere(e.i32, posted);
    Value at = requestAt(e, copiers, number);
    for (auto [i, word] : llvm::enumerate(request.words()))
      if (*word)
        e.store(*word, at, 8 * i);
    if (request.full)
      e.create<BarrierExpectOp>(request.full, copiers.getWarps()); // a byte each
    e.storeSharedHere(e.add(number, 1), posted, 0);
  });
  meet(e, copiers);
}

static void requestCopy(RequestCopyOp op, Emitter &e) {
  CopyRequest request{op.getBase(), op.getStart(), op.getRowStride(), op.getColumnStride(),
                      op.getRowsFrom(), op.getRowsLeft(), op.getBytesFrom(), op.getBytesLeft(),
                      e.c32(op.getRows()), e.c32(op.getChunks()), e.c32(op.getSize()),
                      op.getDest(), op.getBarrier()};
  post(e, op.getCopiers(), op.getLane(), request);
}

static void dismissCopiers(DismissCopiersOp op, Emitter &e) {
  CopyRequest end;
  end.size = e.c32(0);
  post(e, op.getCopiers(), op.getLane(), end);
}

// Nobody waits for a request while there is one to finish: the consumer may wait for that.
static void serveCopies(ServeCopiesOp op, Emitter &e) {
  CopiersAttr copiers = op.getCopiers();
  Value thread = e.readNumber(), lane = e.and_(thread, 31), warp = e.uniform(e.shr(thread, 5));
  auto copierAt = [&](Value number) {
    Copier copier{e, {}, op.getSizes(), e.sub(warp, 1), lane, copiers.getWarps()};
    Value at = requestAt(e, copiers, number);
    for (auto [i, word] : llvm::enumerate(copier.request.words()))
      *word = e.load(i < 4 ? e.i64 : e.i32, at, 8 * i);
    return copier;
  };
  Value posted = e.add(e.sharedBase, copiers.getPosted());
  // Whether there will be more; how many were taken, and how many of them not finished.
  Value more = e.variable(e.i32, e.c32(1)), taken = e.variable(e.i32, e.c32(0)),
        pending = e.variable(e.i32, e.c32(0));
  auto goesOn = [&] {
    return e.cmp(Predicate::ne, e.or_(e.read(more, e.i32), e.read(pending, e.i32)), 0);
  };
  e.whileTrue(goesOn, [&] {
    Value number = e.read(taken, e.i32), open = e.read(pending, e.i32);
    // All lanes decide alike.
    Value isNew = e.cmp(Predicate::ne, e.fromLane0(e.loadSharedHere(e.i32, posted)), number);
    Value takes = e.or_(e.eq(open, 0), e.and_(isNew, e.cmp(Predicate::slt, open, kDepth)));
    takes = e.and_(takes, e.cmp(Predicate::ne, e.read(more, e.i32), 0));
    auto take = [&] {
      meet(e, copiers);
      Copier copier = copierAt(number);
      e.ifThenElse(
          e.cmp(Predicate::ne, copier.request.size, 0),
          [&] {
            copier.start();
            e.create<NVVM::CpAsyncCommitGroupOp>();
            e.write(pending, e.add(open, 1));
            e.write(taken, e.add(number, 1));
          },
          [&] { e.write(more, e.c32(0)); });
    };
    auto finish = [&] {
      Copier copier = copierAt(e.sub(number, open));
      copier.finish([&] {
        auto waitFor = [&](int64_t others) { e.create<NVVM::CpAsyncWaitGroupOp>(others); };
        static_assert(kDepth == 3);
        e.ifThenElse(e.eq(open, 1), [&] { waitFor(0); }, [&] {
          e.ifThenElse(e.eq(open, 2), [&] { waitFor(1); }, [&] { waitFor(2); });
        });
        // Lanes go on with what others have brought.
        e.syncWarp();
      });
      // The matrix engine reads what was written here.
      e.fenceAsyncShared();
      e.syncWarp();
      e.ifThen(e.eq(lane, 0), [&] {
        e.fence(MemScope::Cta);
        e.create<BarrierCompleteOp>(copier.request.full, 1);
      });
      e.write(pending, e.sub(open, 1));
    };
    e.ifThenElse(takes, take, finish);
  });
}

void mk_thread::expandCopiers(ModuleOp module) {
  expandEach<RequestCopyOp>(module, requestCopy);
  expandEach<DismissCopiersOp>(module, dismissCopiers);
  expandEach<ServeCopiesOp>(module, serveCopies);
}
