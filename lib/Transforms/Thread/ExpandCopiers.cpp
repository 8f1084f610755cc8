//===- ExpandCopiers.cpp - Copies without the copy engine -----------------===//
//
// The producer leaves a request in shared memory, has a barrier wait for the copiers, other warps
// of its warpgroup, and goes on when they have come for it. They have up to kDepth requests under
// way, and finish them in turn.
//
//===----------------------------------------------------------------------===//
#include "Copier.h"

using namespace mlir;
using namespace mlir::mk_thread;

/// Requests that are under way at the same time. No field of a target: shared memory has room for
/// one more (`kRequests`), and the code has a place for each.
static constexpr int64_t kDepth = 3;
// The producer writes a request before the copiers come for it, when those under way may be kDepth.
static_assert(kRequests == kDepth + 1 && llvm::isPowerOf2_64(kRequests));

static Value requestAt(Emitter &e, CopiersAttr copiers, Value number) {
  return e.shared(
      add(e, mul(e, and_(e, number, kRequests - 1), kRequestBytes), copiers.getRequests()));
}

/// Producer and copiers meet.
static void meet(Emitter &e, CopiersAttr copiers) {
  SyncOp::create(e, e.c32(copiers.getBarrier()), 32 * (copiers.getWarps() + 1));
}

/// Lane 0 writes a request, and counts it; then the copiers have come.
static void post(Emitter &e, CopiersAttr copiers, Value lane, CopyRequest request) {
  Value posted = e.shared(copiers.getPosted());
  ifThen(e, eq(e, lane, 0), [&] {
    Value number = LoadSharedOp::create(e, e.i32, posted, 0);
    Value at = requestAt(e, copiers, number);
    for (auto [i, word] : llvm::enumerate(request.words()))
      if (*word)
        store(e, *word, at, 8 * i);
    if (request.full)
      BarrierExpectOp::create(e, request.full, copiers.getWarps()); // a byte each
    StoreSharedOp::create(e, add(e, number, 1), posted, 0);
  });
  meet(e, copiers);
}

static void requestCopy(RequestCopyOp op, Emitter &e) {
  CopyRequest request{op.getBase(),
                      op.getStart(),
                      op.getRowStride(),
                      op.getColumnStride(),
                      op.getList() ? op.getList() : e.c64(0),
                      op.getRowsFrom(),
                      op.getRowsLeft(),
                      op.getBytesFrom(),
                      op.getBytesLeft(),
                      e.c32(op.getRows()),
                      e.c32(op.getChunks()),
                      e.c32(op.getSize()),
                      op.getDest(),
                      op.getBarrier(),
                      op.getEntriesFrom(),
                      op.getEntriesBelow()};
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
  Value thread = ThreadIdOp::create(e), lane = laneOf(e, thread),
        warp = uniform(e, warpOf(e, thread));
  auto copierAt = [&](Value number) {
    Copier copier{e, {}, op.getSizes(), sub(e, warp, 1), lane, copiers.getWarps()};
    Value at = requestAt(e, copiers, number);
    for (auto [i, word] : llvm::enumerate(copier.request.words()))
      *word = load(e, i < CopyRequest::kLongWords ? e.i64 : e.i32, at, 8 * i);
    return copier;
  };
  auto either = [&](Copier &copier, function_ref<void()> plain, function_ref<void()> listed) {
    if (!op.getLists())
      return plain();
    ifThenElse(
        e, eq(e, copier.request.list, 0), plain, [&] {
          copier.byList = true;
          listed();
        });
  };
  Value posted = e.shared(copiers.getPosted());
  // Whether there will be more; how many were taken, and how many of them not finished.
  Value more = variable(e, e.i32, e.c32(1)), taken = variable(e, e.i32, e.c32(0)),
        pending = variable(e, e.i32, e.c32(0));
  auto goesOn = [&] { return ne(e, or_(e, read(e, more, e.i32), read(e, pending, e.i32)), 0); };
  whileTrue(e, goesOn, [&] {
    Value number = read(e, taken, e.i32), open = read(e, pending, e.i32);
    // All lanes decide alike.
    Value isNew = ne(e, fromLane0(e, LoadSharedOp::create(e, e.i32, posted, 0)), number);
    Value takes = or_(e, eq(e, open, 0), and_(e, isNew, slt(e, open, kDepth)));
    takes = and_(e, takes, ne(e, read(e, more, e.i32), 0));
    auto take = [&] {
      meet(e, copiers);
      Copier copier = copierAt(number);
      ifThenElse(
          e, ne(e, copier.request.size, 0),
          [&] {
            either(copier, [&] { copier.start(); }, [&] { copier.startListed(); });
            NVVM::CpAsyncCommitGroupOp::create(e);
            write(e, pending, add(e, open, 1));
            write(e, taken, add(e, number, 1));
          },
          [&] { write(e, more, e.c32(0)); });
    };
    auto finish = [&] {
      Copier copier = copierAt(sub(e, number, open));
      auto arrive = [&] {
        auto waitFor = [&](int64_t others) { NVVM::CpAsyncWaitGroupOp::create(e, others); };
        static_assert(kDepth == 3);
        ifThenElse(
            e, eq(e, open, 1), [&] { waitFor(0); },
            [&] {
              ifThenElse(
                  e, eq(e, open, 2), [&] { waitFor(1); }, [&] { waitFor(2); });
            });
        // Lanes go on with what others have brought.
        SyncWarpOp::create(e);
      };
      either(
          copier, [&] { copier.finish(arrive); }, [&] { copier.finishListed(arrive); });
      // The matrix engine reads what was written here.
      FenceAsyncOp::create(e, /*shared=*/true, /*global=*/false);
      SyncWarpOp::create(e);
      ifThen(e, eq(e, lane, 0), [&] {
        FenceOp::create(e, MemScope::Cta);
        BarrierCompleteOp::create(e, copier.request.full, 1);
      });
      write(e, pending, sub(e, open, 1));
    };
    ifThenElse(e, takes, take, finish);
  });
}

void mk_thread::expandCopiers(ModuleOp module) {
  expandEach<RequestCopyOp>(module, requestCopy);
  expandEach<DismissCopiersOp>(module, dismissCopiers);
  expandEach<ServeCopiesOp>(module, serveCopies);
}
