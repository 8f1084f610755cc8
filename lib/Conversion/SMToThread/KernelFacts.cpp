//===- KernelFacts.cpp - What a kernel does as a whole --------------------===//
#include "KernelFacts.h"

using namespace mlir;
using namespace mlir::mk;
using namespace mlir::mk_sm;

static bool holdsAny(Operation *scope, function_ref<bool(Operation *)> is) {
  return scope
      ->walk(
          [&](Operation *op) { return is(op) ? WalkResult::interrupt() : WalkResult::advance(); })
      .wasInterrupted();
}

static bool mayReachOut(Operation *op) {
  auto signal = dyn_cast<SignalOp>(op);
  return isa<PutOp>(op) || (signal && signal.getPeer());
}

bool mk::sm::reachesOut(Operation *scope) { return holdsAny(scope, mayReachOut); }

static bool onlyMoversCommunicate(KernelOp kernel) {
  return !holdsAny(kernel, [](Operation *op) {
    auto partition = op->getParentOfType<PartitionOp>();
    if (!partition || partition.getKind() == PartitionKind::Mover)
      return false;
    auto store = dyn_cast<mk_sm::StoreOp>(op);
    auto direct = dyn_cast<mk::StoreOp>(op);
    return mayReachOut(op) || (store && !store.getPeers().empty()) || (direct && direct.getPeer());
  });
}

sm::KernelFacts mk::sm::findFacts(KernelOp kernel, const KernelResources &resources) {
  KernelFacts facts;
  bool hasPeers = kernel.getMeshOp().getNumRanks() != 1;
  auto warps = *kernel.getBody().getOps<WarpsOp>().begin();
  facts.waitsForOthers =
      !resources.signals.empty() || !resources.queues.empty() || resources.prepare || hasPeers;
  facts.keepsCounts =
      facts.waitsForOthers || !resources.counters.empty() || holds<TicketOp>(kernel);
  facts.onlyMoversCommunicate = hasPeers && warps.getMovers() && onlyMoversCommunicate(kernel);
  kernel.walk([&](mk_sm::StoreOp op) {
    if (op.getPosted())
      facts.posted.push_back(op);
  });
  return facts;
}
