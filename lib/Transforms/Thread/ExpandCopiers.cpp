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
        store(e, *word, at, CopyRequest::offsetOf(i));
    if (request.full)
      BarrierExpectOp::create(e, request.full, copiers.getWarps(),
                              /*times=*/Value()); // a byte each
    StoreSharedOp::create(e, add(e, number, 1), posted, 0);
  });
  meet(e, copiers);
}

static void requestCopy(RequestCopyOp op, Emitter &e) {
  bool listed = bool(op.getList());
  CopyRequest request{op.getBase(),        listed ? op.getList() : op.getStart(),
                      op.getRowStride(),   op.getColumnStride(),
                      op.getRowsFrom(),    op.getRowsLeft(),
                      op.getBytesFrom(),   op.getBytesLeft(),
                      e.c32(op.getRows()), e.c32(op.getChunks()),
                      e.c32(op.getSize()), op.getDest(),
                      op.getBarrier(),     e.c32(listed ? CopyRequest::Listed : CopyRequest::Plain),
                      op.getEntriesFrom(), op.getEntriesBelow(),
                      op.getListStride()};
  post(e, op.getCopiers(), op.getLane(), request);
}

static void requestRows(RequestRowsOp op, Emitter &e) {
  CopyRequest request;
  request.kind = e.c32(CopyRequest::Select);
  request.rowStride = op.getRowStride();
  request.rowsFrom = op.getRowsFrom();
  request.rowsLeft = op.getRowsLeft();
  request.rows = e.c32(op.getRows());
  request.start = op.getList();
  request.entriesFrom = op.getEntriesFrom();
  request.entriesBelow = op.getEntriesBelow();
  request.listStride = op.getListStride();
  post(e, op.getCopiers(), op.getLane(), request);
}

static void requestSelected(RequestSelectedOp op, Emitter &e) {
  CopyRequest request;
  request.kind = e.c32(CopyRequest::Selected);
  request.base = op.getBase();
  request.bytesLeft = op.getBytesLeft();
  request.rows = e.c32(op.getRows());
  request.chunks = e.c32(op.getChunks());
  request.dest = op.getDest();
  request.full = op.getBarrier();
  post(e, op.getCopiers(), op.getLane(), request);
}

static void dismissCopiers(DismissCopiersOp op, Emitter &e) {
  CopyRequest end;
  end.kind = e.c32(CopyRequest::Plain);
  end.size = e.c32(0);
  post(e, op.getCopiers(), op.getLane(), end);
}

namespace {
/// What a warp of the copiers does.
class Service {
public:
  Service(ServeCopiesOp op, Emitter &e)
      : e(e), op(op), copiers(op.getCopiers()), thread(ThreadIdOp::create(e)),
        lane(laneOf(e, thread)), warp(uniform(e, warpOf(e, thread))),
        more(variable(e, e.i32, e.c32(1))), taken(variable(e, e.i32, e.c32(0))),
        pending(variable(e, e.i32, e.c32(0))) {
    int64_t most = 0;
    for (size_t i = 0; i < op.getLists().size(); i += 2)
      most = std::max(most, Copier::countRows(op.getLists()[i], copiers.getWarps()));
    for (int64_t i = 0; i < most; ++i)
      places.push_back(variable(e, e.i32, e.c32(0)));
  }

  void run();

private:
  /// With these words of the request; all, if none is named.
  Copier copierAt(Value number, ArrayRef<Value CopyRequest::*> words = {});
  void take(Value number, Value open);
  void finish(Value number, Value open);
  void startSelected(Copier copier);
  void selectRows(Value number);
  /// One of several, by a word: for what else, the last.
  void choose(Value word, ArrayRef<std::pair<int64_t, function_ref<void()>>> cases,
              function_ref<void()> other);

  Emitter &e;
  ServeCopiesOp op;
  CopiersAttr copiers;
  Value thread, lane, warp;
  // Whether there will be more; how many were taken, and how many of them not finished.
  Value more, taken, pending;
  SmallVector<Value> places; // of the rows that are remembered
};
} // namespace

Copier Service::copierAt(Value number, ArrayRef<Value CopyRequest::*> words) {
  Copier copier{e, {}, op.getSizes(), sub(e, warp, 1), lane, copiers.getWarps()};
  Value at = requestAt(e, copiers, number);
  auto wanted = [&](Value *word) {
    return words.empty() || llvm::any_of(words, [&](Value CopyRequest::*member) {
             return &(copier.request.*member) == word;
           });
  };
  for (auto [i, word] : llvm::enumerate(copier.request.words()))
    if (wanted(word))
      *word = load(e, i < CopyRequest::kLongWords ? e.i64 : e.i32, at, CopyRequest::offsetOf(i));
  return copier;
}

void Service::choose(Value word, ArrayRef<std::pair<int64_t, function_ref<void()>>> cases,
                     function_ref<void()> other) {
  if (cases.empty())
    return other();
  auto [number, body] = cases.front();
  ifThenElse(e, eq(e, word, number), body, [&] { choose(word, cases.drop_front(), other); });
}

void Service::startSelected(Copier copier) {
  ArrayRef<int64_t> lists = op.getLists();
  for (size_t i = 0; i < lists.size(); i += 2) {
    auto copy = [&] { copier.startSelected(lists[i], lists[i + 1], places); };
    if (lists.size() == 2)
      copy();
    else
      ifThen(
          e,
          and_(e, eq(e, copier.request.rows, lists[i]), eq(e, copier.request.chunks, lists[i + 1])),
          copy);
  }
  // Whoever waits for the tile has the matrix engine see it (FenceAsyncOp).
  NVVM::CpAsyncMBarrierArriveOp::create(e, toPointer(e, copier.request.full));
  SyncWarpOp::create(e);
  ifThen(e, eq(e, lane, 0), [&] { BarrierCompleteOp::create(e, copier.request.full, 1); });
}

void Service::selectRows(Value number) {
  Copier copier =
      copierAt(number, {&CopyRequest::start, &CopyRequest::rowStride, &CopyRequest::rowsFrom,
                        &CopyRequest::rowsLeft, &CopyRequest::rows, &CopyRequest::entriesFrom,
                        &CopyRequest::entriesBelow, &CopyRequest::listStride});
  llvm::SmallDenseSet<int64_t> done;
  ArrayRef<int64_t> lists = op.getLists();
  for (size_t i = 0; i < lists.size(); i += 2) {
    if (!done.insert(lists[i]).second)
      continue;
    auto select = [&] { copier.selectRows(lists[i], places); };
    if (lists.size() == 2)
      select();
    else
      ifThen(e, eq(e, copier.request.rows, lists[i]), select);
  }
}

void Service::take(Value number, Value open) {
  meet(e, copiers);
  SmallVector<Value CopyRequest::*> words{&CopyRequest::size};
  // What is there in each step of a product is read at once.
  if (!places.empty())
    words = {&CopyRequest::kind,   &CopyRequest::base, &CopyRequest::bytesLeft, &CopyRequest::rows,
             &CopyRequest::chunks, &CopyRequest::dest, &CopyRequest::full,      &CopyRequest::size};
  Copier head = copierAt(number, words);
  auto isTaken = [&] {
    NVVM::CpAsyncCommitGroupOp::create(e);
    write(e, pending, add(e, open, 1));
    write(e, taken, add(e, number, 1));
  };
  auto plain = [&] {
    ifThenElse(
        e, ne(e, head.request.size, 0),
        [&] {
          copierAt(number).start();
          isTaken();
        },
        [&] { write(e, more, e.c32(0)); });
  };
  if (places.empty())
    return plain();
  // Requests under way follow each other. One that nothing is left to do for is among them if it is
  // behind one.
  auto isDone = [&] {
    ifThenElse(
        e, eq(e, open, 0), [&] { write(e, taken, add(e, number, 1)); }, isTaken);
  };
  auto listed = isTaken; // each row is brought at the end
  auto select = [&] {
    selectRows(number);
    isDone();
  };
  auto selected = [&] {
    startSelected(head);
    isDone();
  };
  choose(head.request.kind,
         {{CopyRequest::Selected, selected},
          {CopyRequest::Select, select},
          {CopyRequest::Listed, listed}},
         plain);
}

void Service::finish(Value number, Value open) {
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
  auto complete = [&] {
    // The matrix engine reads what was written here.
    FenceAsyncOp::create(e, /*shared=*/true, /*global=*/false);
    SyncWarpOp::create(e);
    ifThen(e, eq(e, lane, 0), [&] {
      Value full = copierAt(number, {&CopyRequest::full}).request.full;
      FenceOp::create(e, MemScope::Cta);
      BarrierCompleteOp::create(e, full, 1);
    });
  };
  auto plain = [&] {
    copierAt(number).finish(arrive);
    complete();
  };
  auto listed = [&] {
    Copier copier = copierAt(number);
    copier.byList = true;
    copier.finish(arrive);
    complete();
  };
  auto nothing = [] {};
  if (places.empty())
    plain();
  else
    choose(copierAt(number, {&CopyRequest::kind}).request.kind,
           {{CopyRequest::Selected, nothing},
            {CopyRequest::Select, nothing},
            {CopyRequest::Listed, listed}},
           plain);
  write(e, pending, sub(e, open, 1));
}

// Nobody waits for a request while there is one to finish: the consumer may wait for that.
void Service::run() {
  Value posted = e.shared(copiers.getPosted());
  auto goesOn = [&] { return ne(e, or_(e, read(e, more, e.i32), read(e, pending, e.i32)), 0); };
  whileTrue(e, goesOn, [&] {
    Value number = read(e, taken, e.i32), open = read(e, pending, e.i32);
    Value isIdle = eq(e, open, 0);
    auto decide = [&] {
      // All lanes decide alike.
      Value isNew = ne(e, fromLane0(e, LoadSharedOp::create(e, e.i32, posted, 0)), number);
      Value takes = or_(e, isIdle, and_(e, isNew, slt(e, open, kDepth)));
      takes = and_(e, takes, ne(e, read(e, more, e.i32), 0));
      ifThenElse(
          e, takes, [&] { take(number, open); }, [&] { finish(sub(e, number, open), open); });
    };
    // Who has nothing under way waits for a request without looking for one: with lists in each
    // step, else so seldom that it is not worth the code.
    if (places.empty())
      decide();
    else
      ifThenElse(
          e, isIdle, [&] { take(number, open); }, decide);
  });
}

static void serveCopies(ServeCopiesOp op, Emitter &e) { Service(op, e).run(); }

void mk_thread::expandCopiers(ModuleOp module) {
  expandEach<RequestCopyOp>(module, requestCopy);
  expandEach<RequestRowsOp>(module, requestRows);
  expandEach<RequestSelectedOp>(module, requestSelected);
  expandEach<DismissCopiersOp>(module, dismissCopiers);
  expandEach<ServeCopiesOp>(module, serveCopies);
}
