//===- OpenPeers.cpp - Peers of stores where sizes are open ---------------===//
//
// Of a kernel whose dimensions have no values yet nothing is followed. Who a store goes to
// follows from the mesh alone as a rule, and across a net axis it never arrives.
//
//===----------------------------------------------------------------------===//
#include "Verify.h"

using namespace mlir;
using namespace mlir::mk;

namespace {
/// What index arithmetic gives on one rank; null where that is not known.
class RankEvaluator {
public:
  RankEvaluator(MeshOp mesh, int64_t rank) : mesh(mesh), rank(rank) {}

  Attribute evaluate(Value value) {
    auto [it, fresh] = known.try_emplace(value);
    // It calls itself for each operand: no deeper than stacks are.
    constexpr size_t kMost = 10'000;
    if (!fresh || known.size() > kMost)
      return it->second;
    Attribute result;
    if (Operation *op = value.getDefiningOp())
      result = evaluate(op);
    return known[value] = result;
  }

private:
  Attribute evaluate(Operation *op) {
    Builder b(op->getContext());
    if (isa<RankOp>(op) && op->getNumOperands() == 0 && !cast<RankOp>(op).getAxes())
      return b.getIndexAttr(rank);
    if (auto coord = dyn_cast<CoordOp>(op); coord && !coord.getRank())
      return b.getIndexAttr(coordinate(mesh.findAxis(coord.getAxis())));
    if (op->getNumResults() != 1 || op->getNumRegions() != 0 || !isMemoryEffectFree(op) ||
        op->getDialect()->getNamespace() != "arith")
      return {};
    SmallVector<Attribute> operands;
    for (Value operand : op->getOperands())
      operands.push_back(evaluate(operand));
    SmallVector<OpFoldResult> folded;
    // A constant has no operands and folds to itself. What is folded in place is not meant
    // for an evaluation: it changes the op.
    if (llvm::is_contained(operands, Attribute()) || failed(op->fold(operands, folded)) ||
        folded.size() != 1)
      return {};
    if (auto value = dyn_cast<Value>(folded[0]))
      return evaluate(value);
    return cast<Attribute>(folded[0]);
  }

  int64_t coordinate(unsigned axis) {
    int64_t below = 1;
    for (unsigned i = axis + 1; i < mesh.getNumAxes(); ++i)
      below *= mesh.getAxis(i).getSize();
    return rank / below % mesh.getAxis(axis).getSize();
  }

  MeshOp mesh;
  int64_t rank;
  llvm::DenseMap<Value, Attribute> known;
};
} // namespace

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
    RankEvaluator evaluator(mesh, rank);
    for (Operation *op : ops) {
      auto peer = dyn_cast_or_null<IntegerAttr>(evaluator.evaluate(findDirectPeer(op)));
      if (!peer || peer.getInt() < 0 || peer.getInt() >= ranks)
        continue;
      StringRef axis = findNetAxis(mesh, rank, peer.getInt());
      if (!axis.empty())
        return op->emitOpError()
               << "crosses net axis '" << axis << "' (from rank " << rank << " to rank "
               << peer.getInt() << "), where "
               << (isa<StoreOp>(op) ? "only the transport reaches: store to symmetric memory "
                                      "here and mk.put it"
                                    : "the transport cannot add: put to a place of its own "
                                      "for each source and add there");
    }
  }
  return success();
}
