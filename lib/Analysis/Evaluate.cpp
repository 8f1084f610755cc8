//===- Evaluate.cpp - Numbers that values fold to -------------------------===//
#include "mkernel/Analysis/Evaluate.h"
#include "mkernel/Support/Checked.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"

using namespace mlir;
using namespace mlir::mk;

/// Of index arithmetic on numbers: the result, or that it does not fit, where
/// upstream's folders give what is left of it.
static std::optional<mkernel::checked::Number> computeChecked(Operation *op,
                                                              ArrayRef<Attribute> operands) {
  if (op->getNumOperands() != 2 || !op->getOperand(0).getType().isIndex())
    return std::nullopt;
  auto lhs = dyn_cast_or_null<IntegerAttr>(operands[0]);
  auto rhs = dyn_cast_or_null<IntegerAttr>(operands[1]);
  if (!lhs || !rhs)
    return std::nullopt;
  int64_t a = lhs.getInt(), b = rhs.getInt();
  if (isa<arith::AddIOp>(op))
    return mkernel::checked::add(a, b);
  if (isa<arith::SubIOp>(op))
    return mkernel::checked::sub(a, b);
  if (isa<arith::MulIOp>(op))
    return mkernel::checked::mul(a, b);
  return std::nullopt;
}

/// Upstream's folders, which put a constant last in place: here a copy of the op has it there.
static LogicalResult fold(Operation *op, SmallVector<Attribute> &operands,
                          SmallVectorImpl<OpFoldResult> &results) {
  bool swaps = op->hasTrait<OpTrait::IsCommutative>() && op->getNumOperands() == 2 &&
               operands[0] && !operands[1];
  if (!swaps)
    return op->fold(operands, results);
  std::swap(operands[0], operands[1]);
  Operation *copy = op->clone();
  copy->setOperands({op->getOperand(1), op->getOperand(0)});
  LogicalResult folded = copy->fold(operands, results);
  copy->destroy();
  return folded;
}

/// It calls itself for each operand: no deeper than stacks are.
static constexpr int64_t kDeepest = 10'000;

Attribute IndexEvaluator::compute(Value value) {
  Operation *op = value.getDefiningOp();
  if (!op || op->getNumRegions() || op->getNumResults() != 1)
    return {};
  Builder builder(op->getContext());
  if (auto param = dyn_cast<ParamOp>(op))
    // A default is nothing that follows from a mesh.
    return param.getNumber() ? builder.getIndexAttr(*param.getNumber())
           : mesh            ? Attribute()
                             : evaluate(param.getDefaultValue());
  if (auto size = dyn_cast<SizeOp>(op)) {
    KernelOp kernel = getKernel(op);
    if (!kernel)
      return {};
    MeshOp mesh = kernel.getMeshOp();
    int64_t ranks = size.getAxis() ? mesh.getAxis(mesh.findAxis(*size.getAxis())).getSize()
                                   : mesh.getNumRanks();
    return ShapedType::isDynamic(ranks) ? Attribute() : builder.getIndexAttr(ranks);
  }
  if (auto own = dyn_cast<RankOp>(op); own && mesh && !own.getAxes())
    return builder.getIndexAttr(rank);
  if (auto own = dyn_cast<CoordOp>(op); own && mesh && !own.getRank())
    return builder.getIndexAttr(mesh.getCoordinate(rank, mesh.findAxis(own.getAxis())));
  if (auto likely = dyn_cast<LikelyOp>(op)) {
    Attribute value = evaluate(likely.getValue());
    return value || !guesses ? value : evaluate(likely.getUsual());
  }
  if (!isMemoryEffectFree(op))
    return {};
  SmallVector<Attribute> operands;
  for (Value operand : op->getOperands())
    operands.push_back(evaluate(operand));
  if (auto number = computeChecked(op, operands)) {
    if (*number)
      return builder.getIndexAttr(**number);
    wrapping.insert(op);
    return {};
  }
  SmallVector<OpFoldResult> results;
  if (failed(fold(op, operands, results)) || results.size() != 1)
    return {};
  if (auto attr = dyn_cast<Attribute>(results.front()))
    return attr;
  return evaluate(cast<Value>(results.front()));
}

Attribute IndexEvaluator::evaluate(Value value) {
  // What is used twice is computed once: a chain of such values would take 2^n.
  auto it = known.find(value);
  if (it != known.end())
    return it->second;
  if (depth == kDeepest)
    return {};
  ++depth;
  Attribute result = compute(value);
  --depth;
  known[value] = result;
  return result;
}

std::optional<int64_t> IndexEvaluator::getIndex(Value value) {
  if (auto number = dyn_cast_or_null<IntegerAttr>(evaluate(value)))
    return number.getInt();
  return std::nullopt;
}

std::optional<int64_t> IndexEvaluator::getRank(Value value) {
  std::optional<int64_t> number = getIndex(value);
  return number && *number >= 0 && *number < mesh.getNumRanks() ? number : std::nullopt;
}

void IndexEvaluator::assume(Value value, int64_t number) {
  known[value] = Builder(value.getContext()).getIndexAttr(number);
}

std::optional<int64_t> mk::evaluateIndex(Value value) { return IndexEvaluator().getIndex(value); }

Value mk::getLoopEnd(Value index) {
  auto argument = dyn_cast<BlockArgument>(index);
  Operation *around = argument ? argument.getOwner()->getParentOp() : nullptr;
  if (auto loop = dyn_cast_or_null<ForeachOp>(around)) {
    unsigned number = argument.getArgNumber();
    return number < loop.getBounds().size() ? loop.getBounds()[number] : Value();
  }
  auto loop = dyn_cast_or_null<scf::ForOp>(around);
  bool counts = loop && argument == loop.getInductionVar() &&
                getConstantIntValue(loop.getLowerBound()).value_or(-1) >= 0;
  return counts ? loop.getUpperBound() : Value();
}

static void collectParams(Value value, SetVector<Value> &seen, SmallVector<ParamOp> &params) {
  Operation *op = value.getDefiningOp();
  if (!op || !seen.insert(value))
    return;
  auto param = dyn_cast<ParamOp>(op);
  if (param)
    params.push_back(param);
  if (!param || !param.getNumber())
    for (Value input : getInputs(op))
      collectParams(input, seen, params);
}

SmallVector<ParamOp> mk::getParamsOf(Value value) {
  SetVector<Value> seen;
  SmallVector<ParamOp> params;
  collectParams(value, seen, params);
  return params;
}
