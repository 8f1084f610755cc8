//===- AgreeOnFailure.cpp - Where threads agree that a launch has failed --===//
//
// A launch that has failed goes on to its end (SMToThread/Faults.cpp), and waits return at once.
// What a thread reads then decides which barriers it comes to, so threads that meet at barriers
// have to read the same: 0 once they have agreed on the failure. A warp agrees at each read. A
// consumer does so behind each wait, which costs a barrier.
//
//===----------------------------------------------------------------------===//
#include "mkernel/Analysis/Resources.h"
#include "mkernel/Dialect/SM/SM.h"
#include "mkernel/Transforms/SM/Passes.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"

namespace mlir::mk_sm {
#define GEN_PASS_DEF_AGREEONFAILUREPASS
#include "mkernel/Transforms/SM/Passes.h.inc"
} // namespace mlir::mk_sm

using namespace mlir;
using namespace mlir::mk_sm;

/// Whether the number follows from parameters and the thread's place alone.
static bool isStable(Value value) {
  if (auto arg = dyn_cast<BlockArgument>(value)) {
    Operation *op = arg.getOwner()->getParentOp();
    if (isa<mk::KernelOp>(op))
      return true;
    if (auto items = dyn_cast<ItemsOp>(op))
      return arg.getArgNumber() < 2 && isStable(items.getTotal());
    auto loop = dyn_cast<scf::ForOp>(op);
    return loop && arg == loop.getInductionVar() && isStable(loop.getLowerBound()) &&
           isStable(loop.getUpperBound());
  }
  Operation *op = value.getDefiningOp();
  return op->getNumRegions() == 0 && isMemoryEffectFree(op) &&
         llvm::all_of(op->getOperands(), [](Value operand) {
           return isa<BaseMemRefType>(operand.getType()) || isStable(operand);
         });
}

namespace {
struct AgreeOnFailurePass : mk_sm::impl::AgreeOnFailurePassBase<AgreeOnFailurePass> {
  using AgreeOnFailurePassBase::AgreeOnFailurePassBase;

  /// Whether what is loaded, or from where, has no meaning after a failure.
  bool isUncertain(memref::LoadOp load) {
    // With checks an index that is wrong is found.
    return !mk::isNeverWritten(load.getMemRef()) ||
           (!bounds && !llvm::all_of(load.getIndices(), isStable));
  }

  void visit(PartitionOp partition) {
    auto kernel = partition->getParentOfType<mk::KernelOp>();
    bool waits = !kernel.getBody().getOps<mk::PrepareOp>().empty();
    SmallVector<memref::LoadOp> loads;
    partition.walk([&](Operation *op) {
      waits |= isa<mk::WaitOp, PopOp>(op);
      if (auto load = dyn_cast<memref::LoadOp>(op); load && isUncertain(load))
        loads.push_back(load);
    });
    if (partition.getKind() == PartitionKind::Consumer) {
      if (!waits || loads.empty())
        return;
      partition.setAgrees(true);
    }
    for (memref::LoadOp load : loads) {
      OpBuilder b(load);
      auto agreed = LoadAgreedOp::create(b, load.getLoc(), load.getType(), load.getMemRef(),
                                         load.getIndices());
      load.replaceAllUsesWith(agreed.getResult());
      load.erase();
    }
  }

  void runOnOperation() override {
    getOperation().walk([&](PartitionOp partition) { visit(partition); });
    // One may wait for what nobody writes any more. Tickets end by themselves, and so does what
    // stands beside roles, where nobody waits.
    getOperation().walk([&](scf::WhileOp loop) {
      scf::ConditionOp condition = loop.getConditionOp();
      if (!loop->getParentOfType<PartitionOp>() || drawsItems(loop) ||
          condition.getCondition().getDefiningOp<UntilFailedOp>())
        return;
      OpBuilder b(condition);
      condition.getConditionMutable().assign(
          UntilFailedOp::create(b, loop.getLoc(), condition.getCondition()).getResult());
    });
  }
};
} // namespace
