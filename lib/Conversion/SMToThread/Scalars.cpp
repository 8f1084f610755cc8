//===- Scalars.cpp - Scalars and elementwise ops --------------------------===//
#include "Lowering.h"
#include "mlir/Dialect/Math/IR/Math.h"

using namespace mlir;
using namespace mlir::mk;
using namespace mlir::mk::sm;
using namespace mlir::mk_sm;

LogicalResult Lowering::emitScalarOrElementwise(Operation *op) {
  Dialect *dialect = op->getDialect();
  if (op->getNumResults() != 1 || op->getNumRegions() ||
      !isa<arith::ArithDialect, math::MathDialect>(dialect))
    return refuse(op);
  Type type = op->getResult(0).getType();
  int64_t n = count(type);
  if (op->hasAttr(kDeferredAttr)) {
    values[op->getResult(0)].assign(n, Value());
    putOff.insert(op->getResult(0));
    return success();
  }
  if (BroadcastOp factors = findFactors(op))
    return emitScaling(op, factors);
  values[op->getResult(0)].assign(n, Value());
  bool takes = llvm::any_of(op->getOperands(), [&](Value operand) {
    return putOff.contains(operand) &&
           !isa<arith::CmpFOp, arith::CmpIOp>(operand.getDefiningOp());
  });
  bool reloads = llvm::any_of(op->getOperands(), [](Value operand) {
    return isa_and_nonnull<ReloadOp>(operand.getDefiningOp());
  });
  int64_t part =
      reloads ? getThresholds().getGroupedElements() : getThresholds().getLoadedElements();
  for (int64_t first = 0; first < n; first += part) {
    // Loads that have waited for this, some at a time.
    int64_t end = std::min(n, first + part);
    if (takes)
      for (Value operand : op->getOperands())
        prefetch(operand, llvm::to_vector(llvm::seq<unsigned>(first, end)));
    for (int64_t i = first; i < end; ++i) {
      if (values[op->getResult(0)][i])
        continue;
      Value value = compute(op, i);
      if (!value)
        return refuse(op);
      values[op->getResult(0)][i] = value;
    }
    // Or LLVM would take all of them at the end, and what was loaded would stay.
    auto made = MutableArrayRef(values[op->getResult(0)]).slice(first, end - first);
    if (takes && (made[0].getType().isF32() || made[0].getType().isInteger(32)))
      llvm::copy(create<mk_thread::PinOp>(TypeRange(ValueRange(made)), made).getResults(),
                 made.begin());
  }
  return success();
}
