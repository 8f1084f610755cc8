//===- ScalarsToLLVM.cpp - Arithmetic and branches, op by op --------------===//
#include "mkernel/Conversion/Passes.h"
#include "mlir/Conversion/ArithCommon/AttrToLLVMConverter.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Arith/Transforms/Passes.h"
#include "mlir/Dialect/ControlFlow/IR/ControlFlowOps.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Transforms/DialectConversion.h"
#include "mlir/Transforms/WalkPatternRewriteDriver.h"

namespace mlir::mk {
#define GEN_PASS_DEF_CONVERTSCALARSTOLLVMPASS
#include "mkernel/Conversion/Passes.h.inc"
} // namespace mlir::mk

using namespace mlir;

/// Whether LLVM has the type under the same name.
static bool isScalar(Type type) {
  return type.isSignlessInteger() || isa<Float16Type, BFloat16Type, Float32Type, Float64Type>(type);
}

/// Whether the op says no more than its operands, its flags and its results.
static bool isPlain(Operation *op) {
  return llvm::all_of(op->getOperandTypes(), isScalar) &&
         llvm::all_of(op->getResultTypes(), isScalar) &&
         op->getDiscardableAttrDictionary().empty();
}

/// Replaces an op that is a constant or one of its operands.
static bool replaceByFold(Operation *op, PatternRewriter &rewriter) {
  SmallVector<Value> values;
  // Of what folds in place there are no values.
  if (failed(rewriter.tryFold(op, values)) || values.empty())
    return false;
  rewriter.replaceOp(op, values);
  return true;
}

template <typename From, typename To> static void copyFlags(From from, To to) {
  if constexpr (requires { from.getOverflowFlags(); })
    to.setOverflowFlags(arith::convertArithOverflowFlagsToLLVM(from.getOverflowFlags()));
  // Conversions have none in LLVM.
  if constexpr (requires { from.getFastmath(); to.getFastmathFlags(); })
    to.setFastmathFlags(arith::convertArithFastMathFlagsToLLVM(from.getFastmath()));
}

namespace {
template <typename From, typename To> struct ReplacePattern : OpRewritePattern<From> {
  using OpRewritePattern<From>::OpRewritePattern;

  LogicalResult matchAndRewrite(From from, PatternRewriter &rewriter) const override {
    if (!isPlain(from))
      return failure();
    if constexpr (requires { from.getIsExact(); })
      if (from.getIsExact())
        return failure();
    if constexpr (requires { from.getRoundingmode(); })
      if (from.getRoundingmode())
        return failure();
    if (replaceByFold(from, rewriter))
      return success();
    auto to = To::create(rewriter, from.getLoc(), from->getResultTypes(), from->getOperands());
    copyFlags(from, to);
    rewriter.replaceOp(from, to);
    return success();
  }
};

template <typename From, typename To, typename Predicate>
struct ComparePattern : OpRewritePattern<From> {
  using OpRewritePattern<From>::OpRewritePattern;

  LogicalResult matchAndRewrite(From from, PatternRewriter &rewriter) const override {
    if (!isPlain(from))
      return failure();
    if (replaceByFold(from, rewriter))
      return success();
    // The predicates have the same numbers.
    auto to = To::create(rewriter, from.getLoc(), from.getType(),
                         static_cast<Predicate>(from.getPredicate()), from.getLhs(), from.getRhs());
    copyFlags(from, to);
    rewriter.replaceOp(from, to);
    return success();
  }
};
} // namespace

static LogicalResult convertConstant(arith::ConstantOp op, PatternRewriter &rewriter) {
  if (!isPlain(op))
    return failure();
  rewriter.replaceOpWithNewOp<LLVM::ConstantOp>(op, op.getType(), op.getValue());
  return success();
}

/// What is said of a loop stays on the branch.
template <typename To, typename... Args>
static LogicalResult replaceBranch(Operation *op, PatternRewriter &rewriter, Args &&...args) {
  if (!llvm::all_of(op->getOperandTypes(), LLVM::isCompatibleOuterType))
    return failure();
  auto to = To::create(rewriter, op->getLoc(), std::forward<Args>(args)...);
  to->setDiscardableAttrs(op->getDiscardableAttrDictionary());
  rewriter.replaceOp(op, to);
  return success();
}

static LogicalResult convertBranch(cf::BranchOp op, PatternRewriter &rewriter) {
  return replaceBranch<LLVM::BrOp>(op, rewriter, op.getDestOperands(), op.getDest());
}

static LogicalResult convertCondBranch(cf::CondBranchOp op, PatternRewriter &rewriter) {
  if (op.getBranchWeights())
    return failure();
  return replaceBranch<LLVM::CondBrOp>(op, rewriter, op.getCondition(), op.getTrueDest(),
                                       op.getTrueDestOperands(), op.getFalseDest(),
                                       op.getFalseDestOperands());
}

static void addPatterns(RewritePatternSet &patterns) {
  patterns.add<
      ReplacePattern<arith::AddIOp, LLVM::AddOp>, ReplacePattern<arith::SubIOp, LLVM::SubOp>,
      ReplacePattern<arith::MulIOp, LLVM::MulOp>, ReplacePattern<arith::DivUIOp, LLVM::UDivOp>,
      ReplacePattern<arith::DivSIOp, LLVM::SDivOp>, ReplacePattern<arith::RemUIOp, LLVM::URemOp>,
      ReplacePattern<arith::RemSIOp, LLVM::SRemOp>, ReplacePattern<arith::AndIOp, LLVM::AndOp>,
      ReplacePattern<arith::OrIOp, LLVM::OrOp>, ReplacePattern<arith::XOrIOp, LLVM::XOrOp>,
      ReplacePattern<arith::ShLIOp, LLVM::ShlOp>, ReplacePattern<arith::ShRUIOp, LLVM::LShrOp>,
      ReplacePattern<arith::ShRSIOp, LLVM::AShrOp>, ReplacePattern<arith::ExtUIOp, LLVM::ZExtOp>,
      ReplacePattern<arith::ExtSIOp, LLVM::SExtOp>, ReplacePattern<arith::TruncIOp, LLVM::TruncOp>,
      ReplacePattern<arith::SelectOp, LLVM::SelectOp>, ReplacePattern<arith::AddFOp, LLVM::FAddOp>,
      ReplacePattern<arith::SubFOp, LLVM::FSubOp>, ReplacePattern<arith::MulFOp, LLVM::FMulOp>,
      ReplacePattern<arith::DivFOp, LLVM::FDivOp>, ReplacePattern<arith::NegFOp, LLVM::FNegOp>,
      ReplacePattern<arith::ExtFOp, LLVM::FPExtOp>, ReplacePattern<arith::TruncFOp, LLVM::FPTruncOp>,
      ReplacePattern<arith::BitcastOp, LLVM::BitcastOp>,
      ComparePattern<arith::CmpIOp, LLVM::ICmpOp, LLVM::ICmpPredicate>,
      ComparePattern<arith::CmpFOp, LLVM::FCmpOp, LLVM::FCmpPredicate>>(patterns.getContext());
  patterns.add(convertConstant);
  patterns.add(convertBranch);
  patterns.add(convertCondBranch);
}

/// Ops that LLVM's are too few for, as upstream's pass arith-expand expands them. Conversions look
/// at each op that they are given, of which nearly all would stay.
template <typename... OpTs> static LogicalResult expandOps(ModuleOp module) {
  SmallVector<Operation *> ops;
  module.walk([&](Operation *op) {
    if (isa<OpTs...>(op))
      ops.push_back(op);
  });
  RewritePatternSet patterns(module.getContext());
  arith::populateArithExpandOpsPatterns(patterns);
  ConversionTarget target(*module.getContext());
  target.addLegalDialect<arith::ArithDialect>();
  target.addIllegalOp<OpTs...>();
  return ops.empty() ? success() : applyPartialConversion(ops, target, std::move(patterns));
}

namespace {
struct ConvertScalarsToLLVMPass
    : mk::impl::ConvertScalarsToLLVMPassBase<ConvertScalarsToLLVMPass> {
  void runOnOperation() override {
    if (failed(
            expandOps<arith::CeilDivSIOp, arith::CeilDivUIOp, arith::FloorDivSIOp, arith::MaxSIOp,
                      arith::MaxUIOp, arith::MinSIOp, arith::MinUIOp, arith::MaximumFOp,
                      arith::MinimumFOp, arith::MaxNumFOp, arith::MinNumFOp>(getOperation())))
      return signalPassFailure();
    RewritePatternSet patterns(&getContext());
    addPatterns(patterns);
    walkAndApplyPatterns(getOperation(), std::move(patterns));
  }
};
} // namespace
