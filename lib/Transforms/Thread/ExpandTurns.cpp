//===- ExpandTurns.cpp - Turns of two warpgroups --------------------------===//
#include "Expand.h"

using namespace mlir;
using namespace mlir::mk_thread;

/// Threads of both warpgroups.
static constexpr int64_t kThreads = 2 * mk::kWarpgroupThreads;

/// Which of the two warpgroups this is. The thread's number is read anew: kept, the warpgroup's
/// would take a register from the fragments.
static Value readGroup(Emitter &e) { return sub(e, shr(e, ThreadIdOp::create(e), 7), 1); }

/// Where a warpgroup leaves a place for the other one, in a word of its own: a word that both write
/// could be overwritten before the slower warps have read it, as nothing makes those of a warpgroup
/// meet in a turn.
static Value findWord(Emitter &e, int64_t offset, Value group) {
  return e.shared(add(e, shl(e, group, 2), offset));
}

static SmallVector<Value> takeTurn(TakeTurnOp op, Emitter &e) {
  Value group = readGroup(e);
  SyncOp::create(e, add(e, group, op.getFirst()), kThreads);
  Value other = op.getWords().empty() ? Value() : xor_(e, group, 1);
  SmallVector<Value> places;
  for (int64_t offset : op.getWords()) {
    Value word = load(e, e.i32, findWord(e, offset, other));
    places.push_back(shr(e, word, 1));
    places.push_back(and_(e, word, 1));
  }
  return places;
}

static void passTurn(PassTurnOp op, Emitter &e) {
  Value group = readGroup(e);
  for (auto [i, offset] : llvm::enumerate(op.getWords())) {
    Value word = or_(e, shl(e, op.getPlaces()[2 * i], 1), op.getPlaces()[2 * i + 1]);
    // Without a branch: matrix ops are in flight.
    StoreOp::create(e, word, findWord(e, offset, group), 4, op.getThread(), /*inverted=*/true);
  }
  ArriveOp::create(e, sub(e, e.c32(op.getFirst() + 1), group), kThreads);
}

void mk_thread::expandTurns(ModuleOp module) {
  replaceEach<TakeTurnOp>(module, takeTurn);
  expandEach<PassTurnOp>(module, passTurn);
}
