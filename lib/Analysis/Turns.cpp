//===- Turns.cpp - How often loops fill a ring ----------------------------===//
#include "mkernel/Analysis/Turns.h"
#include "mlir/Interfaces/LoopLikeInterface.h"

using namespace mlir;
using namespace mlir::mk_sm;

/// How often an op in a partition runs for each of its items; nothing where that is not known.
static std::optional<int64_t> countTurns(Operation *op) {
  int64_t count = 1;
  for (op = op->getParentOp(); !isa<ItemsOp, PartitionOp>(op); op = op->getParentOp()) {
    auto loop = dyn_cast<LoopLikeOpInterface>(op);
    if (!loop)
      continue;
    std::optional<APInt> trips = loop.getStaticTripCount();
    if (!trips)
      return std::nullopt;
    count *= std::max<int64_t>(trips->getZExtValue(), 1);
  }
  return count;
}

bool mk_sm::isShort(CreateRingOp ring, int64_t few) {
  int64_t count = 0;
  for (Operation *user : ring->getUsers()) {
    if (!isa<AcquireOp>(user))
      continue;
    std::optional<int64_t> turns = countTurns(user);
    if (!turns)
      return false;
    count += *turns;
  }
  return count && count < few;
}
