//===- SpreadWaits.cpp - Waits of a loop side by side ---------------------===//
//
// All threads of a consumer come to a wait, one of them asks, and the others wait for it at a
// barrier. Where a loop does nothing else, each thread asks for another iteration's signal instead,
// and there is one barrier behind all of them.
//
//===----------------------------------------------------------------------===//
#include "Functions.h"
#include "mkernel/Analysis/Remarks.h"

using namespace mlir;
using namespace mlir::mk_sm;

static constexpr StringRef kSpreadWaits = "mk-sm-spread-waits";

void mk_sm::spreadWaits(PartitionOp partition) {
  if (partition.getKind() != PartitionKind::Consumer)
    return;
  SmallVector<scf::ForOp> loops;
  partition.walk([&](scf::ForOp loop) {
    if (!loop.getOps<mk::WaitOp>().empty() && !isa<WaitAllOp>(loop->getParentOp()))
      loops.push_back(loop);
  });
  for (scf::ForOp loop : loops) {
    StringRef obstacle = WaitAllOp::getObstacle(loop);
    if (!obstacle.empty()) {
      missed(loop, kSpreadWaits) << "waits in one iteration after the other: it " << obstacle.str();
      continue;
    }
    passed(loop, kSpreadWaits) << "has threads wait side by side";
    OpBuilder b(loop);
    auto all = WaitAllOp::create(b, loop.getLoc());
    loop->moveBefore(b.createBlock(&all.getBody()), all.getBody().front().end());
  }
}
