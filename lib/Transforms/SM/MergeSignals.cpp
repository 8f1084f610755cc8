//===- MergeSignals.cpp - One fence for the signals of a loop -------------===//
#include "Accesses.h"
#include "Functions.h"
#include "mkernel/Analysis/Remarks.h"
#include "mkernel/Dialect/SM/SM.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/IRMapping.h"
#include "mlir/IR/Iterators.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"

using namespace mlir;
using namespace mlir::mk_sm;

static constexpr StringRef kMergeSignals = "mk-sm-merge-signals";

/// The first op that raises a signal of a peer that the loop goes over, not counting inner loops,
/// or null.
static Operation *findSignal(scf::ForOp loop) {
  auto isOver = [&](Value peer) { return peer && !loop.isDefinedOutsideOfLoop(peer); };
  Operation *found = nullptr;
  loop.getBody()->walk<WalkOrder::PreOrder>([&](Operation *op) {
    if (isa<SignalAllOp, scf::ForOp>(op))
      return WalkResult::skip();
    auto signal = dyn_cast<mk::SignalOp>(op);
    auto store = dyn_cast<mk::StoreOp>(op);
    if (!(signal && isOver(signal.getPeer())) &&
        !(store && store.getSignal() && isOver(store.getPeer())))
      return WalkResult::advance();
    found = op;
    return WalkResult::interrupt();
  });
  return found;
}

/// Whether signals of the loop stand between a store in it and what the role loads or stores in the
/// same memory: then it is they that give the two an order.
static bool areOrdered(scf::ForOp loop) {
  auto kernel = loop->getParentOfType<mk::KernelOp>();
  bool isBehind = false; // a signal of the same iteration
  WalkResult result = loop.getBody()->walk([&](Operation *op) -> WalkResult {
    std::optional<Access> store = getAccess(kernel, op);
    if (store && store->writes && (!store->isRemote || isBehind)) {
      WalkResult others = loop->getParentOfType<mk::RoleOp>().walk([&](Operation *other) {
        std::optional<Access> access = getAccess(kernel, other);
        bool meets = access && !access->isRemote && shareMemory(*access, *store);
        return meets ? WalkResult::interrupt() : WalkResult::advance();
      });
      if (others.wasInterrupted())
        return WalkResult::interrupt();
    }
    auto raising = dyn_cast<mk::StoreOp>(op);
    isBehind |= isa<mk::SignalOp>(op) || (raising && raising.getSignal());
    return WalkResult::advance();
  });
  return result.wasInterrupted();
}

/// Why signals have to stay where they are; empty if they need not.
static StringRef getObstacle(scf::ForOp loop) {
  StringRef obstacle;
  loop.getBody()->walk([&](Operation *op) {
    if (auto signal = dyn_cast<mk::SignalOp>(op)) {
      if (signal.getStrong())
        obstacle = "a signal of its loop is strong";
    } else if (auto store = dyn_cast<mk::StoreOp>(op)) {
      if (store.getStrong())
        obstacle = "a signal of its loop is strong";
    } else if (auto store = dyn_cast<StoreOp>(op)) {
      if (store.getPosted())
        obstacle = "a store of its loop is left to the sender, which raises its signal";
    } else if (auto branch = dyn_cast<scf::IfOp>(op)) {
      if (branch.getNumResults())
        obstacle = "its loop has branches with results";
    } else if ((!isMemoryEffectFree(op) || op->getNumRegions()) &&
               !op->hasTrait<OpTrait::IsTerminator>()) {
      obstacle = "its loop does more than to store and to signal";
    }
  });
  std::optional<APInt> trips = loop.getStaticTripCount();
  int64_t ranks = loop->getParentOfType<mk::KernelOp>().getMeshOp().getNumRanks();
  if (!trips || trips->ugt(ranks) || !loop.getResults().empty())
    return "it is in a loop over an unknown number of peers";
  if (obstacle.empty() && areOrdered(loop))
    return "its loop stores what the role loads or stores elsewhere, too, and a signal between the "
           "two orders them";
  return obstacle;
}

/// Signals of stores become ops of their own.
static void detachSignals(scf::ForOp loop) {
  loop.getBody()->walk([&](mk::StoreOp store) {
    if (!store.getSignal())
      return;
    OpBuilder b(store->getContext());
    b.setInsertionPointAfter(store);
    mk::SignalOp::create(b, store.getLoc(), store.getSignal(), store.getSignalIndex(),
                         store.getPeer());
    store.getSignalMutable().clear();
    store.getSignalIndexMutable().clear();
  });
}

/// For these values of the loop's counter.
static void raiseTogether(scf::ForOp loop, ArrayRef<Value> counters, OpBuilder &b) {
  OpBuilder::InsertionGuard guard(b);
  auto group = SignalAllOp::create(b, loop.getLoc());
  b.createBlock(&group.getBody());
  for (Value counter : counters) {
    IRMapping mapping;
    mapping.map(loop.getInductionVar(), counter);
    for (Operation &op : loop.getBody()->without_terminator())
      b.clone(op, mapping);
  }
  group.getBody().walk<WalkOrder::PostOrder, ReverseIterator>([](Operation *op) {
    if (isa<mk::StoreOp, StoreOp>(op) || isOpTriviallyDead(op))
      op->erase();
  });
}

void mk_sm::mergeSignals(scf::ForOp loop) {
  Operation *first = findSignal(loop);
  std::optional<APInt> count = loop.getStaticTripCount();
  if (!first || (count && count->ule(1)))
    return;
  if (StringRef obstacle = getObstacle(loop); !obstacle.empty()) {
    missed(first, kMergeSignals) << "waits until what is before it is done, in each iteration: "
                                 << obstacle.str();
    return;
  }
  detachSignals(loop);
  uint64_t trips = count->getZExtValue(), signals = 0;
  loop.getBody()->walk([&](mk::SignalOp) { ++signals; });
  // One iteration may have more by itself.
  uint64_t most = mk::getSm(loop).getThresholds().getMergedSignals();
  uint64_t groups = llvm::divideCeil(trips, std::max<uint64_t>(most / signals, 1));
  passed(first, kMergeSignals) << remark::add("is raised {0} times; fences: {1}", trips, groups);
  OpBuilder b(loop->getContext());
  b.setInsertionPointAfter(loop);
  SmallVector<Value> counters{loop.getLowerBound()};
  while (counters.size() != trips)
    counters.push_back(arith::AddIOp::create(b, loop.getLoc(), counters.back(), loop.getStep()));
  for (uint64_t group = 0; group != groups; ++group) {
    uint64_t begin = group * trips / groups, end = (group + 1) * trips / groups;
    raiseTogether(loop, ArrayRef(counters).slice(begin, end - begin), b);
  }
  loop.getBody()->walk([](mk::SignalOp signal) { signal.erase(); });
  if (isOpTriviallyDead(loop))
    loop.erase();
}
