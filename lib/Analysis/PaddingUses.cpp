//===- PaddingUses.cpp - What becomes of a tile's padding -----------------===//
#include "mkernel/Analysis/PaddingUses.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace mlir::mk;

bool PaddingUses::areDropped(Value tile, int64_t dim) {
  if (!seen.insert({tile, dim}).second)
    return true; // around a loop
  return llvm::all_of(tile.getUses(), [&](OpOperand &use) { return isDropped(use, dim); });
}

bool PaddingUses::isDropped(DotOp dot, unsigned operand, int64_t dim) {
  if (operand == 2)
    return areDropped(dot.getResult(), dim);
  bool transposed = operand ? dot.getTransposeB() : dot.getTransposeA();
  // The left one is M x K, the right one K x N.
  bool isSummed = (dim == (operand ? 0 : 1)) != transposed;
  return !isSummed && areDropped(dot.getResult(), operand);
}

/// Whether the mask keeps nothing with an index of `number` or more: a constraint says number - 1 -
/// index >= 0.
bool PaddingUses::isDropped(MaskOp mask, int64_t dim) {
  IntegerSet set = mask.getSet();
  MLIRContext *context = mask.getContext();
  for (auto [s, symbol] : llvm::enumerate(mask.getSymbols())) {
    if (!endsMasks || symbol != number)
      continue;
    AffineExpr end = getAffineSymbolExpr(s, context) - 1 - getAffineDimExpr(dim, context);
    for (unsigned i = 0; i != set.getNumConstraints(); ++i)
      if (!set.isEq(i) &&
          simplifyAffineExpr(set.getConstraint(i) - end, set.getNumDims(), set.getNumSymbols()) ==
              getAffineConstantExpr(0, context))
        return true;
  }
  return areDropped(mask.getResult(), dim);
}

bool PaddingUses::isYieldDropped(Operation *parent, unsigned result, int64_t dim) {
  if (isa<scf::IfOp>(parent))
    return areDropped(parent->getResult(result), dim);
  // What is carried into the next iteration meets another number there.
  Value carried;
  if (auto loop = dyn_cast<scf::ForOp>(parent))
    carried = loop.getRegionIterArg(result);
  // A function that combines parts might mix rows.
  if (auto fold = dyn_cast<FoldOp>(parent);
      fold && (!fold.getCombine() || isa<ReductionAttr>(*fold.getCombine())))
    carried = fold.getBody().getArgument(1 + result);
  return carried && !parent->getRegion(0).isAncestor(number.getParentRegion()) &&
         areDropped(carried, dim) && areDropped(parent->getResult(result), dim);
}

bool PaddingUses::isDropped(OpOperand &use, int64_t dim) {
  unsigned operand = use.getOperandNumber();
  return llvm::TypeSwitch<Operation *, bool>(use.getOwner())
      .Case([&](DotOp dot) { return isDropped(dot, operand, dim); })
      .Case([&](MaskOp mask) { return isDropped(mask, dim); })
      .Case([&](StoreOp store) { return isEnd(store, dim); })
      .Case([&](ReduceOp reduce) {
        int64_t axis = reduce.getAxis();
        return axis != dim && areDropped(reduce.getResult(), dim - (axis < dim));
      })
      .Case([&](BroadcastOp broadcast) {
        ArrayRef<int64_t> added = broadcast.getDims();
        int64_t to = -1;
        for (int64_t kept = -1; kept != dim; kept += !llvm::is_contained(added, to))
          ++to;
        return areDropped(broadcast.getResult(), to);
      })
      .Case([&](TransposeOp transpose) { return areDropped(transpose.getResult(), 1 - dim); })
      .Case([&](scf::ForOp loop) {
        return isYieldDropped(loop, operand - loop.getNumControlOperands(), dim);
      })
      .Case([&](FoldOp fold) {
        return isYieldDropped(fold, operand - fold.getInits().getBeginOperandIndex(), dim);
      })
      .Case([&](YieldOp yield) { return isYieldDropped(yield->getParentOp(), operand, dim); })
      .Case([&](scf::YieldOp yield) { return isYieldDropped(yield->getParentOp(), operand, dim); })
      .Default([&](Operation *op) {
        return OpTrait::hasElementwiseMappableTraits(op) && op->getNumResults() == 1 &&
               areDropped(op->getResult(0), dim);
      });
}

bool mk::isCopied(LoadOp load) {
  auto isMultiplied = [](OpOperand &use) {
    return isa<DotOp>(use.getOwner()) && use.getOperandNumber() < 2;
  };
  return !load->use_empty() && (load.getStaged() || llvm::all_of(load->getUses(), isMultiplied));
}
