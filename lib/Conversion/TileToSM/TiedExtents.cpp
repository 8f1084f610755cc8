//===- TiedExtents.cpp - Extents of tiles that change together ------------===//
#include "TiedExtents.h"
#include "RolePlan.h"

using namespace mlir;
using namespace mlir::mk_sm;

void TiedExtents::tie(Value a, int64_t dimOfA, Value b, int64_t dimOfB) {
  classes.unionSets(extent(a, dimOfA), extent(b, dimOfB));
}

void TiedExtents::tieAll(Value a, Value b) {
  auto type = dyn_cast<RankedTensorType>(a.getType());
  // One constant may be used for tiles that have nothing else in common.
  if (!type || !isTile(b) || isLayoutFree(a) || isLayoutFree(b) ||
      type.getShape() != cast<RankedTensorType>(b.getType()).getShape())
    return;
  for (int64_t d = 0; d < type.getRank(); ++d)
    tie(a, d, b, d);
}

void TiedExtents::tieSlice(Value whole, Value part, ArrayRef<int64_t> axes) {
  int64_t rank = cast<RankedTensorType>(whole.getType()).getRank();
  for (int64_t d = 0, kept = 0; d < rank; ++d)
    if (!llvm::is_contained(axes, d))
      tie(whole, d, part, kept++);
}

bool mk_sm::forEachFlow(Operation *op, function_ref<void(Value, Value)> visit) {
  auto visitAll = [&](ValueRange from, ValueRange to) {
    for (auto [x, y] : llvm::zip(from, to))
      visit(x, y);
  };
  if (auto loop = dyn_cast<scf::ForOp>(op)) {
    visitAll(loop.getInits(), loop.getRegionIterArgs());
    visitAll(loop.getRegionIterArgs(), loop.getResults());
    visitAll(loop.getYieldedValues(), loop.getRegionIterArgs());
  } else if (auto loop = dyn_cast<scf::WhileOp>(op)) {
    visitAll(loop.getInits(), loop.getBeforeArguments());
    visitAll(loop.getConditionOp().getArgs(), loop.getAfterArguments());
    visitAll(loop.getAfterArguments(), loop.getResults());
    visitAll(loop.getYieldOp().getResults(), loop.getBeforeArguments());
  } else if (auto branch = dyn_cast<scf::IfOp>(op)) {
    if (branch.getNumResults()) {
      visitAll(branch.thenYield().getResults(), branch.getResults());
      visitAll(branch.elseYield().getResults(), branch.getResults());
    }
  } else {
    return false;
  }
  return true;
}

void TiedExtents::look(Operation *op) {
  if (forEachFlow(op, [&](Value from, Value to) { tieAll(from, to); }))
    return;
  if (auto dot = dyn_cast<mk::DotOp>(op)) {
    bool ta = dot.getTransposeA(), tb = dot.getTransposeB();
    tie(dot.getLhs(), ta, dot.getResult(), 0);
    tie(dot.getRhs(), !tb, dot.getResult(), 1);
    tie(dot.getLhs(), !ta, dot.getRhs(), tb);
    tieAll(dot.getAcc(), dot.getResult());
  } else if (auto reduce = dyn_cast<mk::ReduceOp>(op)) {
    tieSlice(reduce.getSource(), reduce.getResult(), {int64_t(reduce.getAxis())});
  } else if (auto broadcast = dyn_cast<mk::BroadcastOp>(op)) {
    tieSlice(broadcast.getResult(), broadcast.getSource(), broadcast.getDims());
  } else if (auto transpose = dyn_cast<mk::TransposeOp>(op)) {
    for (int64_t d : {0, 1})
      tie(transpose.getSource(), d, transpose.getResult(), 1 - d);
  } else if (op->getNumResults() && isTile(op->getResult(0))) {
    for (Value operand : op->getOperands())
      tieAll(op->getResult(0), operand);
  }
}

TiedExtents::TiedExtents(Operation *role) {
  role->walk([&](Operation *op) { look(op); });
}

bool TiedExtents::areTied(Value a, int64_t dimOfA, Value b, int64_t dimOfB) const {
  return (a == b && dimOfA == dimOfB) || classes.isEquivalent(extent(a, dimOfA), extent(b, dimOfB));
}

SmallVector<int64_t> TiedExtents::getShape(Value tile, Value of, int64_t dim, int64_t size) const {
  SmallVector<int64_t> shape(cast<RankedTensorType>(tile.getType()).getShape());
  for (auto [d, value] : llvm::enumerate(shape))
    if (areTied(tile, d, of, dim))
      value = size;
  return shape;
}
