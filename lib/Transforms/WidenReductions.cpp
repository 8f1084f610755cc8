//===- WidenReductions.cpp - Sums of 16-bit floats are f32 ----------------===//
#include "mkernel/Dialect/Tile/Tile.h"
#include "mkernel/Transforms/Passes.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/IR/ImplicitLocOpBuilder.h"

namespace mlir::mk {
#define GEN_PASS_DEF_WIDENREDUCTIONSPASS
#include "mkernel/Transforms/Passes.h.inc"
} // namespace mlir::mk

using namespace mlir;
using namespace mlir::mk;

namespace {
struct WidenReductionsPass : mk::impl::WidenReductionsPassBase<WidenReductionsPass> {
  void runOnOperation() override {
    getOperation().walk([](ReduceOp op) {
      auto type = cast<RankedTensorType>(op.getType());
      bool rounds = op.getKind() != Reduction::Max && op.getKind() != Reduction::Min;
      if (!rounds || !isa<BFloat16Type, Float16Type>(type.getElementType()))
        return;
      ImplicitLocOpBuilder b(op.getLoc(), op);
      auto widen = [&](RankedTensorType narrow) { return narrow.clone(b.getF32Type()); };
      Value wide = arith::ExtFOp::create(
          b, widen(cast<RankedTensorType>(op.getSource().getType())), op.getSource());
      Value sum = ReduceOp::create(b, widen(type), op.getKind(), wide, op.getAxis());
      op.replaceAllUsesWith(Value(arith::TruncFOp::create(b, type, sum)));
      op.erase();
    });
  }
};
} // namespace
