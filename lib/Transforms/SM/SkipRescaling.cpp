//===- SkipRescaling.cpp - Sums whose factors are mostly one --------------===//
//
// Sums that follow a running maximum are scaled whenever it grows, which after the first
// turns is seldom: the factors of nearly all rows are one then. (FlashAttention-4 calls it
// conditional rescaling.) Nothing is approximated: x * 1 is x.
//
//===----------------------------------------------------------------------===//
#include "Functions.h"
#include "mkernel/Analysis/Remarks.h"
#include "mlir/Dialect/Arith/IR/Arith.h"

using namespace mlir;
using namespace mlir::mk_sm;

static constexpr StringRef kSkipRescaling = "mk-sm-skip-rescaling";

void mk_sm::skipRescaling(arith::MulFOp op) {
  auto loop = dyn_cast<scf::ForOp>(op->getParentOp());
  auto isCarried = [&](Value value) { return llvm::is_contained(loop.getRegionIterArgs(), value); };
  if (!loop || !getRowFactors(op))
    return;
  if (!llvm::is_contained(loop.getYieldedValues(), op.getResult())) {
    if (llvm::any_of(op->getOperands(), isCarried))
      missed(op, kSkipRescaling)
          << "multiplies in each iteration: what it gives is used there, and "
             "only what the loop carries on as it is may be left out";
    return;
  }
  int64_t least = mk::getSm(op).getThresholds().getGuardedElements();
  int64_t count = getNumElements(cast<RankedTensorType>(op.getType()));
  if (count < least) {
    missed(op, kSkipRescaling) << remark::add(
        "multiplies in each turn: a thread has {0} elements, and looking at "
        "factors pays from {1} on",
        count, least);
    return;
  }
  op->setAttr(kRescalingAttr, UnitAttr::get(op.getContext()));
  passed(op, kSkipRescaling) << "is left out by warps whose factors are one";
}
