//===- TakeTurns.cpp - Two warpgroups issue dots alternately --------------===//
#include "Loops.h"
#include "mkernel/Transforms/SM/Passes.h"

namespace mlir::mk_sm {
#define GEN_PASS_DEF_TAKETURNSPASS
#include "mkernel/Transforms/SM/Passes.h.inc"
} // namespace mlir::mk_sm

using namespace mlir;
using namespace mlir::mk_sm;

namespace {
struct TakeTurnsPass : mk_sm::impl::TakeTurnsPassBase<TakeTurnsPass> {
  using TakeTurnsPassBase::TakeTurnsPassBase;

  /// Work on fragments besides that of the tensor cores.
  static bool isFragmentWork(Operation &op) {
    return !isa<MmaOp, MmaFenceOp, MmaWaitOp, scf::YieldOp>(op) &&
           llvm::any_of(op.getResultTypes(), llvm::IsaPred<RankedTensorType>);
  }

  void runOnOperation() override {
    for (scf::ForOp loop : getDotLoops(getOperation())) {
      auto partition = loop->getParentOfType<PartitionOp>();
      if (partition.getNumWarpgroups() != 2 || partition.getTeams() != 1)
        continue;
      // What is issued before the first wait for a part of it.
      Operation *first = nullptr, *last = nullptr;
      unsigned dots = 0;
      bool waits = false, works = false;
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
        works |= isFragmentWork(op);
      }
      if (!waits || !works || dots < 2)
        continue;
      OpBuilder b(first);
      TurnWaitOp::create(b, loop.getLoc());
      b.setInsertionPointAfter(last);
      TurnPassOp::create(b, loop.getLoc());
    }
  }
};
} // namespace
