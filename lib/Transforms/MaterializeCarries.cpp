//===- MaterializeCarries.cpp - Carry tiles in place ----------------------===//
//
// For `iter_args(%x = ...)` and `yield %y` one-shot bufferisation needs the
// buffer of %y to be that of %x. Where %y is the result of a chain of in-place
// updates of %x that holds anyway; elsewhere %y is copied into %x. All yielded
// values have been computed before any of them is copied; but a yielded value that
// *is* another carried tile (a rotation) would be overwritten before it is
// read, so it is copied aside first.
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

  /// Whether `value` is `carried` updated in place: nothing else uses what the
  /// chain of destination-style ops passes on.
  static bool isUpdateOf(Value value, BlockArgument carried) {
    if (!carried.hasOneUse())
      return false;
    while (auto op = value.getDefiningOp<DestinationStyleOpInterface>()) {
      if (op->getBlock() != carried.getOwner() || !value.hasOneUse())
        return false;
      Value init = op.getTiedOpOperand(cast<OpResult>(value))->get();
      if (init == carried)
        return true;
      value = init;
    }
    return false;
  }

  LogicalResult materialize(scf::ForOp loop) {
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
      auto type = cast<RankedTensorType>(operand->get().getType());
      Value empty = tensor::EmptyOp::create(b, loc, type.getShape(),
                                            type.getElementType());
      operand->set(linalg::CopyOp::create(b, loc, operand->get(), empty)
                       .getResult(0));
    }
    for (auto [operand, carried] : copies)
      operand->set(bufferization::MaterializeInDestinationOp::create(
                       b, loc, operand->get().getType(), operand->get(), carried)
                       .getResult());
    return success();
  }

  void runOnOperation() override {
    WalkResult result = getOperation()->walk([&](Operation *op) -> WalkResult {
      if (auto loop = dyn_cast<scf::ForOp>(op))
        return materialize(loop);
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
