//===- MaterializeCarries.cpp - Carry tiles in place ----------------------===//
//
// For `iter_args(%x = ...)` and `yield %y` one-shot bufferisation needs the
// buffer of %y to be that of %x. Where %y is the result of a chain of in-place
// updates of %x that holds anyway; elsewhere %y is copied into %x. All yielded
// values have been computed before any of them is copied; but a yielded value that
// *is* another carried tile (a rotation) would be overwritten before it is
// read, so it is copied aside first.
//
// A loop whose result a branch yields starts from a copy of what is defined outside of
// the branch: the yielded value goes into that buffer again if an outer loop
// carries it, and is read after the buffer has been updated in one branch only.
//
//===----------------------------------------------------------------------===//
#include "mkernel/Dialect/Tile/Tile.h"
#include "mkernel/Transforms/Passes.h"
#include "mlir/Dialect/Bufferization/IR/Bufferization.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/SCF/IR/SCF.h"

namespace mlir::mk {
#define GEN_PASS_DEF_MATERIALIZECARRIESPASS
#include "mkernel/Transforms/Passes.h.inc"
} // namespace mlir::mk

using namespace mlir;
using namespace mlir::mk;

namespace {
struct MaterializeCarriesPass
    : mk::impl::MaterializeCarriesPassBase<MaterializeCarriesPass> {
  using MaterializeCarriesPassBase::MaterializeCarriesPassBase;

  /// What an op updates in place to give `value`; null if it does something else. A loop does, whose own
  /// carried tiles have been seen to.
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

  static Value copy(OpBuilder &b, Location loc, Value tile) {
    auto type = cast<RankedTensorType>(tile.getType());
    Value empty = tensor::EmptyOp::create(b, loc, type.getShape(),
                                          type.getElementType());
    return linalg::CopyOp::create(b, loc, tile, empty).getResult(0);
  }

  static void copyInits(scf::ForOp loop) {
    if (!isa<scf::IfOp>(loop->getParentOp()))
      return;
    OpBuilder b(loop);
    for (auto [init, result] :
         llvm::zip(loop.getInitArgsMutable(), loop.getResults()))
      if (isa<RankedTensorType>(result.getType()) &&
          init.get().getParentRegion() != loop->getParentRegion() &&
          llvm::any_of(result.getUsers(), llvm::IsaPred<scf::YieldOp>))
        init.set(copy(b, loop.getLoc(), init.get()));
  }

  static void materialize(scf::ForOp loop) {
    copyInits(loop);
    auto yield = cast<scf::YieldOp>(loop.getBody()->getTerminator());
    OpBuilder b(yield);
    Location loc = loop.getLoc();
    SmallVector<std::pair<OpOperand *, BlockArgument>> copies;
    for (auto [operand, carried] :
         llvm::zip(yield->getOpOperands(), loop.getRegionIterArgs())) {
      if (!isa<RankedTensorType>(operand.get().getType()) ||
          operand.get() == carried || isUpdateOf(operand.get(), carried))
        continue;
      copies.emplace_back(&operand, carried);
    }
    // Values that are carried tiles themselves, or that may share their buffer
    // because they come from outside of this iteration's computation.
    for (auto [operand, carried] : copies) {
      if (copies.size() == 1 ||
          operand->get().getDefiningOp<DestinationStyleOpInterface>())
        continue;
      operand->set(copy(b, loc, operand->get()));
    }
    for (auto [operand, carried] : copies)
      operand->set(bufferization::MaterializeInDestinationOp::create(
                       b, loc, operand->get().getType(), operand->get(), carried)
                       .getResult());
  }

  void runOnOperation() override {
    WalkResult result = getOperation()->walk([&](Operation *op) -> WalkResult {
      if (auto loop = dyn_cast<scf::ForOp>(op))
        materialize(loop);
      if (isa<scf::WhileOp>(op) &&
          llvm::any_of(op->getOperandTypes(), llvm::IsaPred<TensorType>))
        return op->emitOpError() << "carries a tile, which cannot be lowered for "
                                    "the host target yet; use scf.for or mk.fold";
      return WalkResult::advance();
    });
    if (result.wasInterrupted())
      signalPassFailure();
  }
};
} // namespace
