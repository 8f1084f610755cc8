//===- Evaluate.cpp - Numbers that values fold to -------------------------===//
#include "mkernel/Transforms/Evaluate.h"

using namespace mlir;
using namespace mlir::mk;

/// The constant that a pure value folds to; null if it is none.
static Attribute evaluate(Value value) {
  Operation *op = value.getDefiningOp();
  if (!op || op->getNumRegions() || op->getNumResults() != 1)
    return {};
  Builder builder(op->getContext());
  if (auto param = dyn_cast<ParamOp>(op))
    return param.getNumber() ? builder.getIndexAttr(*param.getNumber())
                             : evaluate(param.getDefaultValue());
  if (auto size = dyn_cast<SizeOp>(op)) {
    KernelOp kernel = getKernel(op);
    if (!kernel)
      return {};
    MeshOp mesh = kernel.getMeshOp();
    int64_t ranks = size.getAxis()
                        ? mesh.getAxis(mesh.findAxis(*size.getAxis())).getSize()
                        : mesh.getNumRanks();
    return ShapedType::isDynamic(ranks) ? Attribute() : builder.getIndexAttr(ranks);
  }
  if (!isMemoryEffectFree(op))
    return {};
  SmallVector<Attribute> operands;
  for (Value operand : op->getOperands())
    operands.push_back(evaluate(operand));
  SmallVector<OpFoldResult> results;
  if (failed(op->fold(operands, results)) || results.size() != 1)
    return {};
  if (auto attr = dyn_cast<Attribute>(results.front()))
    return attr;
  return evaluate(cast<Value>(results.front()));
}

std::optional<int64_t> mk::evaluateIndex(Value value) {
  if (auto number = dyn_cast_or_null<IntegerAttr>(evaluate(value)))
    return number.getInt();
  return std::nullopt;
}
