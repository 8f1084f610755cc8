//===- TransposeDots.cpp - Products that are computed transposed ----------===//
//
// Those of rows that an instruction does not take: C^T = B^T * A^T. What is made of the product in
// its fold follows, and so does what the fold and the loops around it carry. Behind these
// mk.transpose says that rows are columns; it moves nothing.
//
//===----------------------------------------------------------------------===//
#include "Functions.h"
#include "mkernel/Analysis/Dots.h"
#include "mkernel/Analysis/Remarks.h"
#include "mkernel/Analysis/Spread.h"
#include "mkernel/Dialect/Tile/Tile.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/Matchers.h"
#include "mlir/IR/PatternMatch.h"
#include "mlir/Transforms/GreedyPatternRewriteDriver.h"

using namespace mlir;
using namespace mlir::mk;

static constexpr StringRef kPass = "mk-transpose-dots";

/// Steps until it is given up: a kernel takes some tens.
static constexpr int64_t kMostRewrites = 10000;

static RankedTensorType transpose(Type type) {
  auto tile = cast<RankedTensorType>(type);
  return RankedTensorType::get({tile.getDimSize(1), tile.getDimSize(0)}, tile.getElementType());
}

static bool isMatrix(Type type) {
  auto tile = dyn_cast<RankedTensorType>(type);
  return tile && tile.getRank() == 2 && tile.hasStaticShape();
}

static bool hasOtherRows(DotOp dot, MatrixUnitAttr unit) {
  auto type = cast<RankedTensorType>(dot.getType());
  return type.hasStaticShape() && isTransposed(unit, type.getDimSize(0), type.getDimSize(1));
}

/// One of the values that a fold or an scf.for carries.
struct Carried {
  Operation *loop = nullptr;
  unsigned index = 0;

  /// Their bodies have one argument in front of those that are carried.
  Block &body() const { return loop->getRegion(0).front(); }
  BlockArgument argument() const { return body().getArgument(1 + index); }
  OpOperand &init() const {
    if (auto fold = dyn_cast<FoldOp>(loop))
      return fold.getInitsMutable()[index];
    return cast<scf::ForOp>(loop).getInitArgsMutable()[index];
  }
  OpOperand &yielded() const { return body().getTerminator()->getOpOperand(index); }
  OpResult result() const { return loop->getResult(index); }
};

/// Which value that a loop carries the tile is; no loop if it is none.
static Carried findCarried(Value tile) {
  auto argument = dyn_cast<BlockArgument>(tile);
  Operation *loop = argument ? argument.getOwner()->getParentOp() : nullptr;
  if (!isa_and_nonnull<FoldOp, scf::ForOp>(loop) || argument.getArgNumber() == 0)
    return {};
  return {loop, argument.getArgNumber() - 1};
}

/// Whether what the loop carries can be transposed: it begins with the same everywhere, or with
/// what a loop around it carries from one of its ends to the next, and parts are not combined by a
/// function of such tiles.
static bool canCarryTransposed(Carried carried) {
  if (auto fold = dyn_cast<FoldOp>(carried.loop);
      fold && isa_and_nonnull<SymbolRefAttr>(fold.getCombineAttr()))
    return false;
  Value init = carried.init().get();
  Carried around = findCarried(init);
  return isSpread(init) ||
         (around.loop && around.loop == carried.loop->getParentOp() &&
          around.yielded().get() == carried.result() && canCarryTransposed(around));
}

/// Whether it is a transposed tile that was computed, and not what a loop carries: only such
/// transpositions are moved, or two of them would follow each other for ever.
static bool isOfProduct(Value tile) {
  auto transpose = tile.getDefiningOp<TransposeOp>();
  Operation *source = transpose ? transpose.getSource().getDefiningOp() : nullptr;
  return source && !isSpread(transpose) && source->getBlock() == transpose->getBlock() &&
         (isa<DotOp, FoldOp, scf::ForOp>(source) || OpTrait::hasElementwiseMappableTraits(source));
}

static Value makeTranspose(PatternRewriter &b, Location loc, Value tile) {
  return b.createOrFold<TransposeOp>(loc, transpose(tile.getType()), tile);
}

namespace {
struct SwapOperands : OpRewritePattern<DotOp> {
  SwapOperands(MLIRContext *context, MatrixUnitAttr unit) : OpRewritePattern(context), unit(unit) {}

  LogicalResult matchAndRewrite(DotOp dot, PatternRewriter &b) const override {
    Type type = dot.getType();
    if (!hasOtherRows(dot, unit))
      return failure();
    // The matrix unit takes its right operand from shared memory only.
    if (!dot.getLhs().getDefiningOp<LoadOp>() || !dot.getRhs().getDefiningOp<LoadOp>())
      return failure();
    Carried carried = findCarried(dot.getAcc());
    bool follows = isa_and_nonnull<FoldOp>(carried.loop) && dot->getBlock() == &carried.body() &&
                   carried.yielded().get() == dot.getResult();
    if (!isSpread(dot.getAcc()) && !(follows && canCarryTransposed(carried)))
      return failure();
    mk_sm::passed(dot, kPass) << remark::add("computes {0} rows as columns",
                                             cast<RankedTensorType>(type).getDimSize(0));
    Value acc = makeTranspose(b, dot.getLoc(), dot.getAcc());
    auto product = DotOp::create(b, dot.getLoc(), acc.getType(), dot.getRhs(), dot.getLhs(), acc,
                                 /*transpose_a=*/!dot.getTransposeB(),
                                 /*transpose_b=*/!dot.getTransposeA(), dot.getPrecisionAttr(),
                                 /*swapped=*/true);
    b.replaceOpWithNewOp<TransposeOp>(dot, type, product);
    return success();
  }

  MatrixUnitAttr unit;
};

/// What is spread out is spread out the other way, and so is what is chosen of it.
struct TransposeSpread : OpRewritePattern<TransposeOp> {
  using OpRewritePattern::OpRewritePattern;

  LogicalResult matchAndRewrite(TransposeOp op, PatternRewriter &b) const override {
    auto type = cast<RankedTensorType>(op.getType());
    Operation *source = op.getSource().getDefiningOp();
    if (auto splat = dyn_cast_or_null<tensor::SplatOp>(source)) {
      b.replaceOpWithNewOp<tensor::SplatOp>(op, splat.getInput(), type);
      return success();
    }
    if (auto iota = dyn_cast_or_null<IotaOp>(source)) {
      b.replaceOpWithNewOp<IotaOp>(op, type, 1 - iota.getAxis());
      return success();
    }
    if (auto broadcast = dyn_cast_or_null<BroadcastOp>(source)) {
      SmallVector<int64_t> dims(broadcast.getDims());
      for (int64_t &dim : dims)
        dim = 1 - dim;
      llvm::sort(dims);
      b.replaceOpWithNewOp<BroadcastOp>(op, type, broadcast.getSource(), dims);
      return success();
    }
    if (auto mask = dyn_cast_or_null<MaskOp>(source); mask && isSpread(mask)) {
      MLIRContext *context = op.getContext();
      IntegerSet set = mask.getSet();
      IntegerSet swapped =
          set.replaceDimsAndSymbols({getAffineDimExpr(1, context), getAffineDimExpr(0, context)},
                                    {}, set.getNumDims(), set.getNumSymbols());
      Value tile = makeTranspose(b, op.getLoc(), mask.getSource());
      b.replaceOpWithNewOp<MaskOp>(op, type, tile, swapped, mask.getSymbols(), mask.getOtherwise());
      return success();
    }
    if (auto select = dyn_cast_or_null<arith::SelectOp>(source); select && isSpread(select)) {
      SmallVector<Value> tiles = llvm::map_to_vector(
          select->getOperands(), [&](Value tile) { return makeTranspose(b, op.getLoc(), tile); });
      b.replaceOpWithNewOp<arith::SelectOp>(op, tiles[0], tiles[1], tiles[2]);
      return success();
    }
    DenseElementsAttr elements;
    if (!source || !matchPattern(source, m_Constant(&elements)) || !elements.isSplat())
      return failure();
    b.replaceOpWithNewOp<arith::ConstantOp>(
        op, DenseElementsAttr::get(type, elements.getSplatValue<Attribute>()));
    return success();
  }
};

/// In a fold what is made of a transposed product is transposed; in an scf.for it is as it was.
struct SinkTranspose : RewritePattern {
  SinkTranspose(MLIRContext *context) : RewritePattern(MatchAnyOpTypeTag(), 1, context) {}

  LogicalResult matchAndRewrite(Operation *op, PatternRewriter &b) const override {
    if (!OpTrait::hasElementwiseMappableTraits(op) || op->getNumResults() != 1 ||
        !isMatrix(op->getResult(0).getType()) || !isa<FoldOp>(op->getParentOp()))
      return failure();
    bool isAny = false;
    for (Value operand : op->getOperands()) {
      Carried carried = findCarried(operand);
      bool isProduct = isOfProduct(operand);
      isAny |= isProduct;
      // What the fold carries follows where it is this that it yields.
      bool follows = carried.loop == op->getParentOp() && canCarryTransposed(carried) &&
                     carried.yielded().get() == op->getResult(0);
      if (!isProduct && !isSpread(operand) && !follows)
        return failure();
    }
    if (!isAny)
      return failure();
    OperationState state(op->getLoc(), op->getName());
    for (Value operand : op->getOperands())
      state.addOperands(isMatrix(operand.getType()) ? makeTranspose(b, op->getLoc(), operand)
                                                    : operand);
    state.addTypes(transpose(op->getResult(0).getType()));
    state.addAttributes(op->getAttrs());
    Operation *fresh = b.create(state);
    b.replaceOpWithNewOp<TransposeOp>(op, op->getResult(0).getType(), fresh->getResult(0));
    return success();
  }
};

/// A loop that yields what is transposed carries it as it was before.
template <typename Loop> struct CarryTransposed : OpRewritePattern<Loop> {
  using OpRewritePattern<Loop>::OpRewritePattern;

  LogicalResult matchAndRewrite(Loop loop, PatternRewriter &b) const override {
    for (unsigned index = 0; index != loop->getNumResults(); ++index) {
      Carried carried = {loop, index};
      OpOperand &yielded = carried.yielded();
      if (!isOfProduct(yielded.get()) || !isMatrix(carried.result().getType()) ||
          !canCarryTransposed(carried))
        continue;
      auto last = yielded.get().getDefiningOp<TransposeOp>();
      Type before = last.getType();
      BlockArgument argument = carried.argument();
      b.setInsertionPoint(loop);
      Value init = makeTranspose(b, loop.getLoc(), carried.init().get());
      b.modifyOpInPlace(loop, [&] {
        carried.init().set(init);
        carried.result().setType(init.getType());
        argument.setType(init.getType());
      });
      b.modifyOpInPlace(yielded.getOwner(), [&] { yielded.set(last.getSource()); });
      b.setInsertionPointToStart(&carried.body());
      auto inside = TransposeOp::create(b, loop.getLoc(), before, argument);
      b.replaceAllUsesExcept(argument, inside, inside);
      b.setInsertionPointAfter(loop);
      auto outside = TransposeOp::create(b, loop.getLoc(), before, carried.result());
      b.replaceAllUsesExcept(carried.result(), outside, outside);
      return success();
    }
    return failure();
  }
};
} // namespace

void mk::transposeDots(KernelOp kernel) {
  TargetAttr target = findTarget(kernel);
  SmAttr sm = getSm(kernel);
  if (!sm || (target && !target.getSm()))
    return;
  MatrixUnitAttr unit = sm.getMatrixUnit();
  if (!holdsAny(kernel, [&](DotOp dot) { return hasOtherRows(dot, unit); }))
    return;
  RewritePatternSet patterns(kernel.getContext());
  patterns.add<SwapOperands>(kernel.getContext(), unit);
  patterns
      .add<TransposeSpread, SinkTranspose, CarryTransposed<FoldOp>, CarryTransposed<scf::ForOp>>(
          kernel.getContext());
  // Each step leaves what is right: where they do not come to an end, that stays.
  GreedyRewriteConfig config;
  config.setMaxNumRewrites(kMostRewrites);
  (void)applyPatternsGreedily(kernel, std::move(patterns), config);
  kernel.walk([&](DotOp dot) {
    if (hasOtherRows(dot, unit))
      mk_sm::missed(dot, kPass) << remark::add(
          "leaves {0} rows as they are: an operand is not loaded, or the sum is "
          "neither the same everywhere nor carried by loops that begin so, yield "
          "this product and combine by no function",
          cast<RankedTensorType>(dot.getType()).getDimSize(0));
  });
}
