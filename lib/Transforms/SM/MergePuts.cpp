//===- MergePuts.cpp - One put to all peers of a loop ---------------------===//
#include "Functions.h"
#include "mkernel/Analysis/Remarks.h"
#include "mkernel/Dialect/SM/SM.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/IRMapping.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"

using namespace mlir;
using namespace mlir::mk_sm;

/// Peers of each op where one is not enough: as many as never spill.
static constexpr uint64_t kPeersOfSeveral = MulticastOp::kMostPeers - 1;

/// Why the loop's puts cannot be one; empty if they can.
static StringRef getObstacle(scf::ForOp loop, mk::PutOp put) {
  if (StringRef obstacle = MulticastOp::getObstacle(put); !obstacle.empty())
    return obstacle;
  for (Operation &op : loop.getBody()->without_terminator())
    if (&op != put && !isPure(&op))
      return "stands in a loop beside another op that has an effect";
  for (OpOperand &operand : put->getOpOperands())
    if (&operand != &put.getPeerMutable() && !loop.isDefinedOutsideOfLoop(operand.get()))
      return "has another source, place or signal for each peer";
  std::optional<APInt> trips = loop.getStaticTripCount();
  int64_t ranks = put->getParentOfType<mk::KernelOp>().getMeshOp().getNumRanks();
  if (!trips || !loop.getResults().empty() || trips->ugt(ranks))
    return "is in a loop over an unknown number of peers";
  return {};
}

static void merge(scf::ForOp loop, mk::PutOp put) {
  uint64_t trips = loop.getStaticTripCount()->getZExtValue();
  Location loc = put.getLoc();
  OpBuilder b(loop);
  SmallVector<Value> peers;
  Value peer = loop.getLowerBound();
  for (uint64_t i = 0; i != trips; ++i) {
    if (i)
      peer = arith::AddIOp::create(b, loc, peer, loop.getStep());
    IRMapping mapping;
    mapping.map(loop.getInductionVar(), peer);
    for (Operation &op : loop.getBody()->without_terminator())
      if (&op != put)
        b.clone(op, mapping);
    peers.push_back(mapping.lookupOrDefault(put.getPeer()));
  }
  // Groups as even as can be. A fourth peer spills in some kernels, but spares a second reading.
  uint64_t groups = trips > MulticastOp::kMostPeers ? llvm::divideCeil(trips, kPeersOfSeveral) : 1;
  for (uint64_t group = 0, first = 0; group != groups; ++group) {
    uint64_t next = (group + 1) * trips / groups;
    ArrayRef<Value> members = ArrayRef(peers).slice(first, next - first);
    first = next;
    OpBuilder::InsertionGuard guard(b);
    if (members.size() > 1) {
      auto op = MulticastOp::create(b, loc, members.drop_front());
      b.createBlock(&op.getBody());
    }
    auto fresh = cast<mk::PutOp>(b.clone(*put));
    fresh.getPeerMutable().assign(members.front());
  }
  loop.erase();
}

void mk_sm::mergePuts(scf::ForOp loop) {
  auto puts = loop.getOps<mk::PutOp>();
  mk::PutOp put = puts.empty() ? mk::PutOp() : *puts.begin();
  if (!put || loop.isDefinedOutsideOfLoop(put.getPeer()))
    return;
  if (StringRef obstacle = getObstacle(loop, put); !obstacle.empty()) {
    missed(put, "mk-sm-merge-puts") << "goes to one peer after the other: it " << obstacle.str();
    return;
  }
  if (loop.getStaticTripCount()->ule(1))
    return;
  passed(put, "mk-sm-merge-puts") << remark::add("reads its source once for {0} peers",
                                                 loop.getStaticTripCount()->getZExtValue());
  merge(loop, put);
}
