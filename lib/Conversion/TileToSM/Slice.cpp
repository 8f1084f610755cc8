//===- Slice.cpp - The part of a role that a partition needs --------------===//
#include "Slice.h"
#include "mkernel/Dialect/SM/SM.h"
#include "mlir/Dialect/SCF/IR/SCF.h"

using namespace mlir;
using namespace mlir::mk_sm;

LogicalResult Slice::addAll(ValueRange list) {
  for (Value value : list)
    if (failed(add(value)))
      return failure();
  return success();
}

/// An scf op is executed: whatever decides how often, or which branch.
LogicalResult Slice::addControl(Operation *op) {
  if (auto loop = dyn_cast<ItemsOp>(op))
    return add(loop.getTotal());
  if (auto loop = dyn_cast<scf::ForOp>(op))
    return addAll({loop.getLowerBound(), loop.getUpperBound(), loop.getStep()});
  if (auto loop = dyn_cast<scf::WhileOp>(op))
    return add(loop.getConditionOp().getCondition());
  if (auto branch = dyn_cast<scf::IfOp>(op))
    return add(branch.getCondition());
  return op->emitOpError() << "holds a part of a role, which cannot be split between the warps of "
                           << mk::getSmTarget(op).getName()
                           << ": use scf.for, scf.while and scf.if";
}

LogicalResult Slice::add(Operation *op) {
  if (!ops.insert(op).second)
    return success();
  if (op->getNumRegions()) {
    if (failed(addControl(op)))
      return failure();
  } else {
    FailureOr<SmallVector<Value>> operands = operandsOf(op);
    if (failed(operands) || failed(addAll(*operands)))
      return failure();
  }
  Operation *parent = op->getParentOp();
  return parent == role ? success() : add(parent);
}

LogicalResult Slice::addArgument(BlockArgument arg) {
  Operation *op = arg.getOwner()->getParentOp();
  if (auto loop = dyn_cast<scf::ForOp>(op)) {
    if (arg == loop.getInductionVar())
      return add(op);
    return addResult(loop.getTiedLoopResult(arg));
  }
  auto loop = dyn_cast<scf::WhileOp>(op);
  if (!loop)
    return add(op);
  unsigned i = arg.getArgNumber();
  if (arg.getOwner() == loop.getAfterBody())
    return failure(failed(add(loop.getConditionOp().getArgs()[i])) || failed(add(op)));
  return failure(failed(add(loop.getInits()[i])) ||
                 failed(add(loop.getYieldOp().getResults()[i])) || failed(add(op)));
}

LogicalResult Slice::addResult(OpResult result) {
  unsigned i = result.getResultNumber();
  Operation *op = result.getOwner();
  if (auto loop = dyn_cast<scf::ForOp>(op)) {
    // Carried and returned are the same.
    values.insert(result);
    values.insert(loop.getRegionIterArgs()[i]);
    return addAll({loop.getInits()[i], loop.getYieldedValues()[i]});
  }
  if (auto loop = dyn_cast<scf::WhileOp>(op))
    return add(loop.getConditionOp().getArgs()[i]);
  if (auto branch = dyn_cast<scf::IfOp>(op))
    return addAll({branch.thenYield().getResults()[i], branch.elseYield().getResults()[i]});
  return success();
}

LogicalResult Slice::add(Value value) {
  if (!role->getRegion(0).isAncestor(value.getParentRegion()) || !values.insert(value).second)
    return success();
  if (auto arg = dyn_cast<BlockArgument>(value))
    return failure(failed(addArgument(arg)) || failed(add(arg.getOwner()->getParentOp())));
  auto result = cast<OpResult>(value);
  return failure(failed(add(result.getOwner())) || failed(addResult(result)));
}
