//===- SliceProducers.cpp - Compute only what a slice needs ---------------===//
//
// Upstream's tile-and-fuse follows one consumer at a time; here a whole
// straight-line function is walked from its end, so that a producer is looked
// at when all of its consumers have said what they need of it.
//
//===----------------------------------------------------------------------===//
#include "mkernel/Transforms/Reference.h"
#include "mlir/Dialect/Affine/ViewLikeInterfaceUtils.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Dialect/Tensor/Transforms/Transforms.h"
#include "mlir/IR/Dominance.h"
#include "mlir/IR/PatternMatch.h"
#include "mlir/Interfaces/InferTypeOpInterface.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"
#include "mlir/Interfaces/TilingInterface.h"
#include "mlir/Transforms/CSE.h"

using namespace mlir;
using namespace mlir::mk;

namespace {
/// More different parts of one producer than this, and it is cheaper whole.
constexpr size_t kMaxSlices = 4;

struct Slicer : RewriterBase::Listener {
  func::FuncOp function;
  IRRewriter rewriter;
  Operation *current = nullptr; // whose consumers have been visited

  explicit Slicer(func::FuncOp function) : function(function), rewriter(function.getContext()) {
    rewriter.setListener(this);
  }

  /// Whoever is visited may turn out to be a common subexpression: what stands before is next.
  void notifyOperationErased(Operation *op) override {
    if (op == current)
      current = op->getPrevNode();
  }

  /// Extents that consumers ask for are computed from the operands instead.
  void resolveDims(Operation *op) {
    SmallVector<tensor::DimOp> dims;
    for (Operation *user : op->getUsers())
      if (auto dim = dyn_cast<tensor::DimOp>(user))
        if (dim.getConstantIndex())
          dims.push_back(dim);
    if (dims.empty())
      return;
    rewriter.setInsertionPoint(op);
    ReifiedRankedShapedTypeDims shapes;
    if (failed(reifyResultShapes(rewriter, op, shapes)))
      return;
    for (tensor::DimOp dim : dims) {
      unsigned result = cast<OpResult>(dim.getSource()).getResultNumber();
      OpFoldResult extent = shapes[result][*dim.getConstantIndex()];
      rewriter.setInsertionPoint(op);
      rewriter.replaceOp(dim, getValueOrCreateConstantIndexOp(rewriter, dim.getLoc(), extent));
    }
  }

  /// The slices that are all the uses of an op; empty if it has other uses.
  SmallVector<tensor::ExtractSliceOp> slicesOf(Operation *op) {
    SmallVector<tensor::ExtractSliceOp> slices;
    for (Operation *user : op->getUsers()) {
      auto slice = dyn_cast<tensor::ExtractSliceOp>(user);
      if (!slice || slice->getBlock() != op->getBlock())
        return {};
      slices.push_back(slice);
    }
    return slices;
  }

  /// The value of a slice, without the whole of its source; null if there is no way to compute it.
  Value compute(tensor::ExtractSliceOp slice, Operation *producer) {
    rewriter.setInsertionPoint(slice);
    if (isa<tensor::EmptyOp>(producer))
      return tensor::EmptyOp::create(rewriter, slice.getLoc(), slice.getMixedSizes(),
                                     slice.getType().getElementType());
    if (auto outer = dyn_cast<tensor::ExtractSliceOp>(producer)) {
      SmallVector<OpFoldResult> offsets, sizes, strides;
      // What is asked for first are rows of a result, which the file does not have.
      Location loc = slice.getLoc() == function.getLoc() ? outer.getLoc() : slice.getLoc();
      if (failed(affine::mergeOffsetsSizesAndStrides(
              rewriter, loc, outer, slice, outer.getDroppedDims(), offsets, sizes, strides)))
        return {};
      return tensor::ExtractSliceOp::create(rewriter, loc, slice.getType(), outer.getSource(),
                                            offsets, sizes, strides);
    }
    if (!isa<TilingInterface>(producer))
      return {};
    // A result whose map is no permutation of loops, as (m) -> (m, 0), is computed whole:
    // upstream has no tiles of it, and would say so as an error.
    if (auto structured = dyn_cast<linalg::LinalgOp>(producer))
      if (!structured.getIndexingMapMatchingResult(cast<OpResult>(slice.getSource()))
               .isProjectedPermutation())
        return {};
    FailureOr<TilingResult> tiled = tensor::replaceExtractSliceWithTiledProducer(
        rewriter, slice, cast<OpResult>(slice.getSource()));
    if (failed(tiled) || tiled->tiledValues.size() != 1)
      return {};
    return tiled->tiledValues.front();
  }

  void visit(Operation *op) {
    resolveDims(op);
    SmallVector<tensor::ExtractSliceOp> slices = slicesOf(op);
    if (slices.size() > 1) {
      DominanceInfo dominance(function);
      eliminateCommonSubExpressions(rewriter, dominance, function);
      if (current != op)
        return;
      slices = slicesOf(op);
    }
    if (slices.size() > kMaxSlices)
      return;
    for (tensor::ExtractSliceOp slice : slices) {
      // A slice that drops dimensions of extent one is one that does not, reshaped.
      if (slice.getType().getRank() != slice.getSourceType().getRank() &&
          !isa<tensor::ExtractSliceOp>(op))
        continue;
      Value value = compute(slice, op);
      if (!value)
        return;
      if (value.getType() != slice.getType()) {
        rewriter.setInsertionPoint(slice);
        value = tensor::CastOp::create(rewriter, slice.getLoc(), slice.getType(), value);
      }
      rewriter.replaceOp(slice, value);
    }
  }

  void run() {
    DominanceInfo dominance(function);
    eliminateCommonSubExpressions(rewriter, dominance, function);
    Block &body = function.getBody().front();
    for (current = body.getTerminator()->getPrevNode(); current;) {
      Operation *op = current;
      if (!isOpTriviallyDead(op))
        visit(op);
      if (current != op)
        continue;
      if (isOpTriviallyDead(op))
        rewriter.eraseOp(op);
      else
        current = op->getPrevNode();
    }
  }
};
} // namespace

void mk::sliceProducers(func::FuncOp function) { Slicer(function).run(); }
