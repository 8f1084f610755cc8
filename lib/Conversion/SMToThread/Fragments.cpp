//===- Fragments.cpp - Ops on what a thread holds of a tile ---------------===//
#include "Lowering.h"

using namespace mlir;
using namespace mlir::mk;
using namespace mlir::mk::sm;
using namespace mlir::mk_sm;

Value Lowering::readThreadInPartition() {
  Value number = readNumber();
  if (isOneWarp())
    return and_(number, 31);
  return partition.getTeams() > 1 ? and_(number, partition.getNumThreads() - 1) : sub(number, 128);
}

//===----------------------------------------------------------------------===//
// Broadcasts and masks
//===----------------------------------------------------------------------===//

LogicalResult Lowering::lower(BroadcastOp op) {
  auto from = cast<RankedTensorType>(op.getSource().getType());
  auto to = cast<RankedTensorType>(op.getType());
  auto spread = [&] { return create<mk_thread::SpreadOp>(to, scalar(op.getSource())); };
  // One value is the same everywhere.
  DenseElementsAttr constant;
  if (matchPattern(op.getSource(), m_Constant(&constant)))
    set(op, this->constant(DenseElementsAttr::get(to, constant.getSplatValue<Attribute>())));
  else if (from.getRank() == 0)
    set(op, spread().getFragment());
  else if (auto slice = dyn_cast_or_null<SliceAttr>(from.getEncoding());
           !slice || slice.getOf() != to.getEncoding() || op.getDims() != ArrayRef(slice.getAxis()))
    return exchange(op.getSource(), op.getResult(), op.getDims());
  else
    return setFragment(op, spread);
  return success();
}

LogicalResult Lowering::lower(MaskOp op) {
  SmallVector<Value> source = elements(op.getSource()), symbols = scalars(op.getSymbols());
  Value thread = readThreadInPartition();
  set(op, create<mk_thread::MaskElementsOp>(TypeRange(ValueRange(source)), source, op.getType(),
                                            op.getSet(), symbols, scalar(op.getOtherwise()), thread)
              .getResults());
  return success();
}

//===----------------------------------------------------------------------===//
// Elementwise
//===----------------------------------------------------------------------===//

LogicalResult Lowering::emitScalarOrElementwise(Operation *op) {
  if (!mk_thread::hasCode(op))
    return refuse(op);
  if (BroadcastOp factors = findFactors(op))
    return emitScaling(op, factors);
  if (isa<RankedTensorType>(op->getResult(0).getType()))
    return setFragment(op, [&] {
      OperationState state(loc, op->getName(), scalars(op->getOperands()), op->getResultTypes(),
                           op->getAttrs());
      state.attributes.erase(kDeferredAttr);
      return b.create(state);
    });
  set(op->getResult(0), mk_thread::compute(*this, op, scalars(op->getOperands())));
  return success();
}

// Sums that follow a running maximum are scaled whenever it grows, which after the first
// turns is seldom: the factors of nearly all rows are one then. (FlashAttention-4 calls it
// conditional rescaling.) Nothing is approximated: x * 1 is x.
BroadcastOp Lowering::findFactors(Operation *op) {
  auto type = dyn_cast<RankedTensorType>(op->getResult(0).getType());
  if (!isa<arith::MulFOp>(op) || !type || !type.getElementType().isF32() ||
      !isa_and_nonnull<MmaAttr>(type.getEncoding()) ||
      getNumElements(type) < getThresholds().getGuardedElements() ||
      !isa<scf::ForOp>(op->getParentOp()) ||
      !llvm::is_contained(op->getBlock()->getTerminator()->getOperands(), op->getResult(0)))
    return {};
  for (Value operand : op->getOperands())
    if (auto broadcast = operand.getDefiningOp<BroadcastOp>())
      if (auto source = dyn_cast<RankedTensorType>(broadcast.getSource().getType());
          source && source.getEncoding() == SliceAttr::get(op->getContext(), broadcast.getDims()[0],
                                                           type.getEncoding()))
        return broadcast;
  return {};
}

LogicalResult Lowering::emitScaling(Operation *op, BroadcastOp broadcast) {
  bool isSecond = op->getOperand(1) == broadcast.getResult();
  Value tile = op->getOperand(isSecond ? 0 : 1);
  SmallVector<Value> factors = elements(broadcast.getSource()), source = elements(tile);
  set(op->getResult(0), create<mk_thread::ScaleElementsOp>(TypeRange(ValueRange(source)), source,
                                                           cast<RankedTensorType>(tile.getType()),
                                                           factors, broadcast.getDims()[0])
                            .getResults());
  return success();
}
