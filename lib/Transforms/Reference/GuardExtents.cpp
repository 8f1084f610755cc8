//===- GuardExtents.cpp - Operands whose extents disagree -----------------===//
//
// A slice of a result is computed from slices of operands, and a copy is its source: what
// is left when the reference runs has no extents that anything could compare. So extents are
// compared by ops of their own, which are there before that.
//
//===----------------------------------------------------------------------===//
#include "mkernel/Transforms/IndexMath.h"
#include "mkernel/Transforms/Reference.h"
#include "mlir/Dialect/ControlFlow/IR/ControlFlowOps.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"

using namespace mlir;
using namespace mlir::mk;

/// Every operand says the extent of a loop that the first one says.
static void guard(linalg::LinalgOp op) {
  IndexMath m{OpBuilder(op), op.getLoc()};
  auto extentOf = [&](OpOperand *operand, int64_t d) -> Value {
    return tensor::DimOp::create(m.b, m.loc, operand->get(), d);
  };
  SmallVector<std::pair<OpOperand *, int64_t>> first(op.getNumLoops());
  Value same;
  for (OpOperand &operand : op->getOpOperands()) {
    if (!isa<RankedTensorType>(operand.get().getType()))
      continue;
    for (auto [d, of] : llvm::enumerate(op.getMatchingIndexingMap(&operand).getResults())) {
      auto loop = dyn_cast<AffineDimExpr>(of);
      if (!loop)
        continue;
      auto &[other, otherDim] = first[loop.getPosition()];
      if (!other) {
        first[loop.getPosition()] = {&operand, d};
        continue;
      }
      Value equal = m.equal(extentOf(other, otherDim), extentOf(&operand, d));
      same = same ? m.make<arith::AndIOp>(same, equal) : equal;
    }
  }
  if (same)
    cf::AssertOp::create(m.b, m.loc, same, "bounds");
}

void mk::guardExtents(func::FuncOp function) {
  if (function.isExternal())
    return;
  SmallVector<linalg::LinalgOp> ops(function.getBody().front().getOps<linalg::LinalgOp>());
  llvm::for_each(ops, guard);
}
