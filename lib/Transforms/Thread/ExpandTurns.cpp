//===- ExpandTurns.cpp - Turns of two warpgroups --------------------------===//
#include "Expand.h"

using namespace mlir;
using namespace mlir::mk_thread;

/// Threads of both warpgroups.
static constexpr int64_t kThreads = 2 * mk::kWarpgroupThreads;

/// The named barrier of this warpgroup's turns. The thread's number is read anew: kept, the
/// warpgroup's would take a register from the fragments.
static Value ownBarrier(Emitter &e, int64_t first) {
  return add(e, shr(e, ThreadIdOp::create(e), 7), first - 1);
}

static SmallVector<Value> takeTurn(TakeTurnOp op, Emitter &e) {
  SyncOp::create(e, ownBarrier(e, op.getFirst()), kThreads);
  SmallVector<Value> places;
  for (int64_t offset : op.getWords()) {
    Value word = load(e, e.i32, e.shared(offset));
    places.push_back(shr(e, word, 1));
    places.push_back(and_(e, word, 1));
  }
  return places;
}

static void passTurn(PassTurnOp op, Emitter &e) {
  Value other = sub(e, e.c32(2 * op.getFirst() + 1), ownBarrier(e, op.getFirst()));
  for (auto [i, offset] : llvm::enumerate(op.getWords())) {
    Value word = or_(e, shl(e, op.getPlaces()[2 * i], 1), op.getPlaces()[2 * i + 1]);
    // Without a branch: matrix ops are in flight.
    StoreOp::create(e, word, e.shared(offset), 4, op.getThread(), /*inverted=*/true);
  }
  ArriveOp::create(e, other, kThreads);
}

void mk_thread::expandTurns(ModuleOp module) {
  replaceEach<TakeTurnOp>(module, takeTurn);
  expandEach<PassTurnOp>(module, passTurn);
}
