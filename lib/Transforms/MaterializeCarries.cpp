//===- MaterializeCarries.cpp - Carry tiles in place ----------------------===//
//
// For `iter_args(%x = ...)` and `yield %y` one-shot bufferisation needs the
// buffer of %y to be that of %x. Where %y is the result of a chain of in-place
// updates of %x that holds anyway; elsewhere %y is copied into %x. All yielded
// values have been computed before any of them is copied; but a yielded value that
// *is* another carried tile (a rotation), or that tile updated in place, would be
// overwritten before it is read, so it is copied aside first.
//
// Branches that yield different tiles, or updates of these, yield copies: one-shot bufferisation
// takes what a branch yields for the same buffer, and an update in one branch for one of the
// other's tile.
//
//===----------------------------------------------------------------------===//
#include "Functions.h"
#include "mkernel/Dialect/Tile/Tile.h"
#include "mlir/Dialect/Bufferization/IR/Bufferization.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/SCF/IR/SCF.h"

using namespace mlir;
using namespace mlir::mk;

/// What an op updates in place to give `value`; null if it does something else. A loop does, whose
/// own carried tiles have been seen to.
static Value getUpdated(Value value) {
  if (auto op = value.getDefiningOp<DestinationStyleOpInterface>())
    return op.getTiedOpOperand(cast<OpResult>(value))->get();
  if (auto loop = value.getDefiningOp<scf::ForOp>())
    return loop.getInitArgs()[cast<OpResult>(value).getResultNumber()];
  return {};
}

/// Whether `value` is `carried` updated in place: nothing else uses what the
/// chain of ops passes on.
static bool isUpdateOf(Value value, BlockArgument carried) {
  if (!carried.hasOneUse())
    return false;
  while (Value init = getUpdated(value)) {
    if (value.getParentBlock() != carried.getOwner() || !value.hasOneUse())
      return false;
    if (init == carried)
      return true;
    value = init;
  }
  return false;
}

/// Where a chain of updates in place begins.
static Value getFirst(Value value) {
  while (Value init = getUpdated(value))
    value = init;
  return value;
}
static bool isInNewBuffer(Value value) {
  return getFirst(value).getDefiningOp<tensor::EmptyOp>() != nullptr;
}

static Value copy(OpBuilder &b, Location loc, Value tile) {
  auto type = cast<RankedTensorType>(tile.getType());
  Value empty = tensor::EmptyOp::create(b, loc, type.getShape(), type.getElementType());
  return linalg::CopyOp::create(b, loc, tile, empty).getResult(0);
}

static void materialize(scf::IfOp branch) {
  for (unsigned i = 0, e = branch.getNumResults(); i != e; ++i) {
    OpOperand *yielded[] = {&branch.thenYield()->getOpOperand(i),
                            &branch.elseYield()->getOpOperand(i)};
    if (!isa<RankedTensorType>(branch.getType(i)) ||
        getFirst(yielded[0]->get()) == getFirst(yielded[1]->get()))
      continue;
    for (OpOperand *operand : yielded) {
      OpBuilder b(operand->getOwner());
      if (!isInNewBuffer(operand->get()))
        operand->set(copy(b, branch.getLoc(), operand->get()));
    }
  }
}

/// Carried tiles that begin as the same one have a buffer each.
static void separateInits(scf::ForOp loop) {
  OpBuilder b(loop);
  llvm::SmallPtrSet<Value, 4> seen;
  for (OpOperand &init : loop.getInitArgsMutable())
    if (isa<RankedTensorType>(init.get().getType()) && !seen.insert(init.get()).second)
      init.set(copy(b, loop.getLoc(), init.get()));
}

static void materialize(scf::ForOp loop) {
  separateInits(loop);
  auto yield = cast<scf::YieldOp>(loop.getBody()->getTerminator());
  OpBuilder b(yield);
  Location loc = loop.getLoc();
  SmallVector<std::pair<OpOperand *, BlockArgument>> copies;
  for (auto [operand, carried] : llvm::zip(yield->getOpOperands(), loop.getRegionIterArgs())) {
    if (!isa<RankedTensorType>(operand.get().getType()) || operand.get() == carried ||
        isUpdateOf(operand.get(), carried))
      continue;
    copies.emplace_back(&operand, carried);
  }
  // Values that may share the buffer of a carried tile.
  for (auto [operand, carried] : copies) {
    bool isAlone = copies.size() == 1 && getFirst(operand->get()) != carried;
    if (isAlone || isInNewBuffer(operand->get()))
      continue;
    operand->set(copy(b, loc, operand->get()));
  }
  for (auto [operand, carried] : copies)
    operand->set(bufferization::MaterializeInDestinationOp::create(b, loc, operand->get().getType(),
                                                                   operand->get(), carried)
                     .getResult());
}

LogicalResult mk::materializeCarries(Operation *op) {
  if (auto loop = dyn_cast<scf::ForOp>(op))
    materialize(loop);
  if (auto branch = dyn_cast<scf::IfOp>(op))
    materialize(branch);
  if (isa<scf::WhileOp>(op) && llvm::any_of(op->getOperandTypes(), llvm::IsaPred<TensorType>))
    return op->emitOpError() << "carries a tile, which cannot be lowered for the host target yet; "
                                "use scf.for or mk.fold";
  return success();
}
