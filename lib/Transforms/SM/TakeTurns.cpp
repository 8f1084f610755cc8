//===- TakeTurns.cpp - Two warpgroups issue dots alternately --------------===//
#include "Functions.h"
#include "Loops.h"
#include "mkernel/Analysis/Remarks.h"
#include "mkernel/Support/Counted.h"

using namespace mlir;
using namespace mlir::mk_sm;

static constexpr StringRef kTakeTurns = "mk-sm-take-turns";

void mk_sm::takeTurns(ModuleOp module) {
  for (scf::ForOp loop : getDotLoops(module)) {
    auto partition = loop->getParentOfType<PartitionOp>();
    // What is issued before the first wait for a part of it.
    Operation *first = nullptr, *last = nullptr;
    unsigned dots = 0;
    bool waits = false;
    for (Operation &op : *loop.getBody()) {
      if (auto wait = dyn_cast<MmaWaitOp>(op); wait && !waits) {
        if (wait.getPending() == 0)
          break;
        waits = true;
      }
      if (isa<MmaOp, MmaFenceOp>(op) && !waits) {
        first = first ? first : &op;
        last = &op;
        dots += isa<MmaOp>(op);
      }
    }
    if (!computesBetweenDots(loop))
      continue;
    if (!waits || dots < 2) {
      missed(loop, kTakeTurns) << "waits for each dot at once, so warpgroups have nothing to "
                                  "compute while dots of the other one run";
      continue;
    }
    if (partition.getTeams() != 1) {
      missed(loop, kTakeTurns) << "is run by teams, which take turns over items";
      continue;
    }
    if (partition.getNumWarpgroups() != 2) {
      std::string warpgroups = mkernel::counted(partition.getNumWarpgroups(), "warpgroup");
      missed(loop, kTakeTurns) << remark::add(
          "is run by {0}; two take turns: use tiles of {1} rows", warpgroups,
          2 * mk::getSm(loop).getMatrixUnit().getRows());
      continue;
    }
    passed(loop, kTakeTurns) << "has two warpgroups issue dots in turn";
    OpBuilder b(first);
    TurnWaitOp::create(b, loop.getLoc(), ValueRange());
    b.setInsertionPointAfter(last);
    TurnPassOp::create(b, loop.getLoc(), ValueRange());
  }
}
