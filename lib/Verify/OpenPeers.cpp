//===- OpenPeers.cpp - Peers of stores where sizes are open ---------------===//
//
// Of a kernel whose dimensions have no values yet nothing is followed. Who a store goes to
// follows from the mesh alone as a rule, and across a net axis it never arrives.
//
//===----------------------------------------------------------------------===//
#include "Verify.h"
#include "mkernel/Analysis/Evaluate.h"

using namespace mlir;
using namespace mlir::mk;

/// Who gets what is stored or added there; null if the op goes to no peer, or through the
/// transport.
static Value findDirectPeer(Operation *op) {
  if (auto store = dyn_cast<StoreOp>(op))
    return store.getPeer();
  if (auto put = dyn_cast<PutOp>(op); put && put.getReduction())
    return put.getPeer();
  return {};
}

/// Whether it is done whatever ranks and data are.
static bool isUnconditional(Operation *op) {
  for (Operation *parent = op->getParentOp(); !isa<KernelOp>(parent);
       parent = parent->getParentOp())
    if (isa<scf::IfOp, scf::WhileOp>(parent))
      return false;
  return true;
}

LogicalResult mlir::mk::verifyOpenPeers(KernelOp kernel) {
  MeshOp mesh = kernel.getMeshOp();
  int64_t ranks = mesh.getNumRanks();
  // A few tell as much as all.
  constexpr int64_t kMostRanks = 64;
  SmallVector<Operation *> ops;
  kernel.walk([&](Operation *op) {
    if (findDirectPeer(op) && isUnconditional(op))
      ops.push_back(op);
  });
  for (int64_t rank = 0; !ops.empty() && rank != std::min(ranks, kMostRanks); ++rank) {
    IndexEvaluator evaluator(mesh, rank);
    for (Operation *op : ops) {
      std::optional<int64_t> peer = evaluator.getRank(findDirectPeer(op));
      if (!peer)
        continue;
      StringRef axis = mesh.findNetAxis(rank, *peer);
      if (!axis.empty())
        return op->emitOpError()
               << "crosses net axis '" << axis << "' (from rank " << rank << " to rank " << *peer
               << "), where "
               << (isa<StoreOp>(op)
                       ? "only the transport reaches: store to symmetric memory here and mk.put it"
                       : "the transport cannot add: put to a place of its own for each source and "
                         "add there");
    }
  }
  return success();
}
