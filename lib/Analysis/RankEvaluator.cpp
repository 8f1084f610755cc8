//===- RankEvaluator.cpp - Index arithmetic on one rank -------------------===//
#include "mkernel/Analysis/RankEvaluator.h"

using namespace mlir;
using namespace mlir::mk;

std::optional<int64_t> RankEvaluator::evaluateRank(Value value) {
  auto result = dyn_cast_or_null<IntegerAttr>(evaluate(value));
  if (!result || result.getInt() < 0 || result.getInt() >= mesh.getNumRanks())
    return std::nullopt;
  return result.getInt();
}

Attribute RankEvaluator::evaluate(Value value) {
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

Attribute RankEvaluator::evaluate(Operation *op) {
  Builder b(op->getContext());
  if (auto own = dyn_cast<RankOp>(op); own && !own.getAxes())
    return b.getIndexAttr(rank);
  if (auto coord = dyn_cast<CoordOp>(op); coord && !coord.getRank())
    return b.getIndexAttr(mesh.getCoordinate(rank, mesh.findAxis(coord.getAxis())));
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
