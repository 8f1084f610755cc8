//===- MergeElected.cpp - One thread does what is left to one -------------===//
//
// Each copy and each arrival of a slot has one thread of the warp elected for it. Those that follow
// each other are one branch: of a small tile these few instructions take as long as its products.
// There the arrival says how many bytes are expected, too.
//
//===----------------------------------------------------------------------===//
#include "Expand.h"
#include "mkernel/Dialect/Thread/Thread.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "llvm/ADT/SetVector.h"

using namespace mlir;
using namespace mlir::mk_thread;

/// Whether all it does is done by one thread of the warp.
static bool isElected(Operation &op) {
  auto branch = dyn_cast<scf::IfOp>(op);
  return branch && branch.getNumResults() == 0 && branch.elseBlock() == nullptr &&
         branch.getCondition().getDefiningOp<NVVM::ElectSyncOp>();
}

/// Whether it may as well stand in front of what one thread does: it touches nothing, or reads what
/// nobody writes.
static bool mayStandEarlier(Operation &op) {
  return isa<ParamOp, NVVM::ElectSyncOp>(op) ||
         (op.getNumRegions() == 0 && isMemoryEffectFree(&op));
}

/// What is expected at the barriers at which a thread arrives behind it, in the same block.
static void mergeExpectations(Block &block) {
  for (auto arrival : llvm::make_early_inc_range(block.getOps<BarrierArriveOp>())) {
    if (arrival.getCta() || arrival.getBytes())
      continue;
    SmallVector<BarrierExpectOp> expectations;
    for (auto expectation : block.getOps<BarrierExpectOp>())
      if (expectation.getBarrier() == arrival.getBarrier() && expectation->isBeforeInBlock(arrival))
        expectations.push_back(expectation);
    if (expectations.empty())
      continue;
    OpBuilder b(arrival);
    Location loc = arrival.getLoc();
    Value sum;
    for (BarrierExpectOp expectation : expectations) {
      Value bytes = arith::ConstantIntOp::create(b, loc, expectation.getBytes(), 32);
      if (expectation.getTimes())
        bytes = b.createOrFold<arith::MulIOp>(loc, expectation.getTimes(), bytes);
      sum = sum ? b.createOrFold<arith::AddIOp>(loc, sum, bytes) : bytes;
      expectation.erase();
    }
    arrival.getBytesMutable().assign(sum);
  }
}

void mk_thread::mergeElected(KernelOp kernel) {
  llvm::SmallSetVector<Operation *, 8> merged;
  kernel.walk([&](Block *block) {
    scf::IfOp last;
    SmallVector<Operation *> between;
    for (Operation &op : llvm::make_early_inc_range(*block)) {
      if (!isElected(op)) {
        between.push_back(&op);
        if (!mayStandEarlier(op))
          last = nullptr;
        continue;
      }
      auto branch = cast<scf::IfOp>(op);
      if (!last) {
        last = branch;
        between.clear();
        continue;
      }
      for (Operation *earlier : between)
        earlier->moveBefore(last);
      between.clear();
      Operation *end = last.thenBlock()->getTerminator();
      for (Operation &inner : llvm::make_early_inc_range(branch.thenBlock()->without_terminator()))
        inner.moveBefore(end);
      Operation *elect = branch.getCondition().getDefiningOp();
      branch.erase();
      if (elect->use_empty())
        elect->erase();
      merged.insert(last);
    }
  });
  for (Operation *branch : merged)
    mergeExpectations(*cast<scf::IfOp>(branch).thenBlock());
}
