//===- ExpandFolds.cpp - Folds as loops that carry tiles ------------------===//
#include "Functions.h"
#include "mkernel/Dialect/Tile/Tile.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/PatternMatch.h"
#include "mlir/Transforms/WalkPatternRewriteDriver.h"

using namespace mlir;
using namespace mlir::mk;

namespace {
struct ExpandFold : OpRewritePattern<FoldOp> {
  using OpRewritePattern::OpRewritePattern;

  LogicalResult matchAndRewrite(FoldOp op, PatternRewriter &rewriter) const override {
    Location loc = op.getLoc();
    Value zero = arith::ConstantIndexOp::create(rewriter, loc, 0);
    Value one = arith::ConstantIndexOp::create(rewriter, loc, 1);
    auto loop = scf::ForOp::create(rewriter, loc, zero, op.getCount(), one, op.getInits());
    Block &from = op.getBody().front(), &to = *loop.getBody();
    if (!to.empty())
      rewriter.eraseOp(to.getTerminator());
    auto yield = cast<YieldOp>(from.getTerminator());
    rewriter.setInsertionPoint(yield);
    rewriter.replaceOpWithNewOp<scf::YieldOp>(yield, yield.getValues());
    rewriter.mergeBlocks(&from, &to, to.getArguments());
    rewriter.replaceOp(op, loop);
    return success();
  }
};
} // namespace

void mk::expandFolds(ModuleOp module) {
  RewritePatternSet patterns(module.getContext());
  patterns.add<ExpandFold>(module.getContext());
  walkAndApplyPatterns(module, std::move(patterns));
}
