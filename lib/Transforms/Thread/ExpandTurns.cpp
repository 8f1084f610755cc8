//===- ExpandTurns.cpp - Turns of two warpgroups --------------------------===//
#include "Expand.h"

using namespace mlir;
using namespace mlir::mk_thread;

/// Threads of both warpgroups.
static constexpr int64_t kThreads = 256;

/// The named barrier of this warpgroup's turns. The thread's number is read anew: kept, the
/// warpgroup's would take a register from the fragments.
static Value ownBarrier(Emitter &e, int64_t first) { return e.add(e.shr(e.readNumber(), 7), first - 1); }

static SmallVector<Value> takeTurn(TakeTurnOp op, Emitter &e) {
  e.barrier(ownBarrier(e, op.getFirst()), kThreads);
  SmallVector<Value> places;
  for (int64_t offset : op.getWords()) {
    Value word = e.load(e.i32, e.add(e.sharedBase, offset));
    places.push_back(e.shr(word, 1));
    places.push_back(e.and_(word, 1));
  }
  return places;
}

static void passTurn(PassTurnOp op, Emitter &e) {
  Value other = e.sub(e.c32(2 * op.getFirst() + 1), ownBarrier(e, op.getFirst()));
  for (auto [i, offset] : llvm::enumerate(op.getWords())) {
    Value word = e.or_(e.shl(op.getPlaces()[2 * i], 1), op.getPlaces()[2 * i + 1]);
    // Without a branch: matrix ops are in flight.
    e.storeWords(word, e.add(e.sharedBase, offset), 4, op.getThread(), /*inverted=*/true);
  }
  e.arriveAt(other, kThreads);
}

void mk_thread::expandTurns(ModuleOp module) {
  replaceEach<TakeTurnOp>(module, takeTurn);
  expandEach<PassTurnOp>(module, passTurn);
}
