//===- LowerReference.cpp - The reference as native code ------------------===//
#include "ExpandShapes.h"
#include "GuardAllocations.h"
#include "mkernel/Analysis/ReferenceDims.h"
#include "mkernel/Dialect/Tile/Dims.h"
#include "mkernel/Transforms/CallGraph.h"
#include "mkernel/Transforms/Reference.h"
#include "mlir/Dialect/Affine/IR/AffineOps.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Bufferization/IR/BufferizableOpInterface.h"
#include "mlir/Dialect/Bufferization/IR/Bufferization.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Linalg/Transforms/Transforms.h"
#include "mlir/Dialect/Linalg/Utils/Utils.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/MemRef/Transforms/Transforms.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Tensor/Transforms/Transforms.h"
#include "mlir/Pass/PassManager.h"
#include "mlir/Transforms/GreedyPatternRewriteDriver.h"
#include "mlir/Transforms/Passes.h"

using namespace mlir;
using namespace mlir::mk;

namespace {

/// Upstream ops that consist of others are taken apart, so that what follows
/// knows generic ops and slices only.
LogicalResult decompose(ModuleOp module) {
  IRRewriter rewriter(module.getContext());
  SmallVector<linalg::AggregatedOpInterface> aggregates;
  module.walk([&](linalg::AggregatedOpInterface op) { aggregates.push_back(op); });
  for (linalg::AggregatedOpInterface op : aggregates) {
    if (op->getNumResults() == 0)
      return op->emitOpError("works on buffers and cannot be used in a reference; use tensors");
    rewriter.setInsertionPoint(op);
    FailureOr<SmallVector<Value>> values = op.decomposeOperation(rewriter);
    assert(succeeded(values) && "that of tensors cannot fail");
    rewriter.replaceOp(op, *values);
  }
  SmallVector<linalg::LinalgOp> named;
  module.walk([&](linalg::LinalgOp op) {
    if (!isa<linalg::GenericOp>(op))
      named.push_back(op);
  });
  for (linalg::LinalgOp op : named) {
    rewriter.setInsertionPoint(op);
    (void)linalg::generalizeNamedOp(rewriter, op);
  }
  RewritePatternSet patterns(module.getContext());
  tensor::populateDecomposeTensorConcatPatterns(patterns);
  linalg::populateDecomposePadPatterns(patterns);
  return applyPatternsGreedily(module, std::move(patterns));
}

/// Upstream turns memref.copy between strided buffers into a call of a library
/// that packages do not have.
void lowerCopies(ModuleOp module) {
  SmallVector<memref::CopyOp> copies;
  module.walk([&](memref::CopyOp copy) { copies.push_back(copy); });
  for (memref::CopyOp copy : copies) {
    OpBuilder builder(copy);
    linalg::makeMemRefCopyOp(builder, copy.getLoc(), copy.getSource(), copy.getTarget());
    copy.erase();
  }
}

/// Upstream says of an op only that it was not bufferized.
LogicalResult verifyBufferizable(ModuleOp module) {
  WalkResult result = module.walk([](Operation *op) -> WalkResult {
    if (isa<bufferization::BufferizableOpInterface>(op) || isOpTriviallyDead(op) ||
        (llvm::none_of(op->getOperandTypes(), llvm::IsaPred<TensorType>) &&
         llvm::none_of(op->getResultTypes(), llvm::IsaPred<TensorType>)))
      return WalkResult::advance();
    return refuseInReference(op);
  });
  return failure(result.wasInterrupted());
}

struct LowerReferencePass : PassWrapper<LowerReferencePass, OperationPass<ModuleOp>> {
  MLIR_DEFINE_EXPLICIT_INTERNAL_INLINE_TYPE_ID(LowerReferencePass)

  LowerReferencePass() = default;
  LowerReferencePass(const LowerReferencePass &other) : PassWrapper(other) {}

  Option<std::string> function{*this, "function", llvm::cl::desc("name of the reference"),
                               llvm::cl::init("reference")};
  Option<bool> destinations{
      *this, "destinations",
      llvm::cl::desc("the last arguments, as many as results, stand for the results' extents"),
      llvm::cl::init(false)};

  StringRef getArgument() const override { return "mk-lower-reference"; }
  StringRef getDescription() const override {
    return "Lowers a reference on whole tensors to the LLVM dialect";
  }
  void getDependentDialects(DialectRegistry &registry) const override {
    registry.insert<affine::AffineDialect, arith::ArithDialect, bufferization::BufferizationDialect,
                    linalg::LinalgDialect, memref::MemRefDialect, scf::SCFDialect,
                    tensor::TensorDialect>();
    OpPassManager pm(ModuleOp::getOperationName());
    buildReferenceInput(pm);
    buildReferenceBufferization(pm);
    buildReferenceToLLVM(pm);
    pm.getDependentDialects(registry);
  }

  LogicalResult run(llvm::function_ref<void(OpPassManager &)> build) {
    OpPassManager pm(ModuleOp::getOperationName());
    build(pm);
    return runPipeline(pm, getOperation());
  }

  /// Afterwards the reference is the only function.
  LogicalResult inlineCalls(ModuleOp module, func::FuncOp reference) {
    module.walk([](Operation *op) {
      if (auto function = dyn_cast<func::FuncOp>(op))
        function.setNoInline(false);
      else if (auto call = dyn_cast<func::CallOp>(op))
        call.setNoInline(false);
    });
    if (failed(run(buildReferenceInput)))
      return failure();
    WalkResult result = module.walk([](func::CallIndirectOp op) -> WalkResult {
      return op.emitOpError("calls a function that is chosen when it runs; functions of a "
                            "reference are inlined: choose between calls by scf.if");
    });
    if (result.wasInterrupted())
      return failure();
    for (auto function : llvm::make_early_inc_range(module.getOps<func::FuncOp>()))
      if (function != reference)
        function.erase();
    return success();
  }

  LogicalResult lower() {
    ModuleOp module = getOperation();
    auto reference = module.lookupSymbol<func::FuncOp>(function);
    if (!reference || reference.isExternal())
      return module.emitError() << "there is no function @" << function
                                << " to lower as the reference";
    SmallVector<int64_t> ranks;
    unsigned dims = countReferenceDims(reference);
    TypeRange inputs = TypeRange(reference.getArgumentTypes()).drop_back(dims);
    if (destinations)
      inputs = inputs.drop_back(std::min<size_t>(inputs.size(), reference.getNumResults()));
    for (TypeRange types : {inputs, TypeRange(reference.getResultTypes())})
      for (Type type : types)
        if (auto tensor = dyn_cast<RankedTensorType>(type))
          ranks.push_back(tensor.getRank());
    WalkResult foreign = module.walk([&](Operation *op) -> WalkResult {
      if (auto call = dyn_cast<func::CallOp>(op))
        if (auto callee = module.lookupSymbol<func::FuncOp>(call.getCallee());
            callee && callee.isDeclaration())
          return op->emitOpError("calls @")
                 << call.getCallee() << ", which has no body: write it in this file";
      if (!isa<LLVM::LLVMDialect>(op->getDialect()))
        return WalkResult::advance();
      return refuseInReference(op);
    });
    ranks.append(dims, 1);
    if (foreign.wasInterrupted() || failed(verifyInlinedSize(module, reference, "a reference")) ||
        failed(inlineCalls(module, reference)) || failed(verifyDims(module)))
      return failure();
    if (failed(buildReferenceEntry(reference, destinations)) || failed(decompose(module)) ||
        failed(verifyBufferizable(module)))
      return failure();
    auto entry = module.lookupSymbol<func::FuncOp>("mk_reference_rows");
    guardExtents(entry);
    // Extents from those of the inputs: a use of the whole result would keep all of it alive.
    RewritePatternSet extents(module.getContext());
    memref::populateResolveRankedShapedTypeResultDimsPatterns(extents);
    (void)applyPatternsGreedily(entry, std::move(extents));
    sliceProducers(entry);
    orderReferenceLoops(entry);
    if (failed(run(buildReferenceBufferization)))
      return failure();
    lowerCopies(module);
    expandShapes(module);
    if (failed(guardAllocations(module)) || failed(run(buildReferenceToLLVM)) ||
        failed(addReferenceEntryPoint(module, ranks)))
      return failure();
    return hideReferenceSymbols(module);
  }

  void runOnOperation() override {
    if (failed(lower()))
      signalPassFailure();
  }
};
} // namespace

std::unique_ptr<Pass> mk::createLowerReferencePass(bool destinations) {
  auto pass = std::make_unique<LowerReferencePass>();
  pass->destinations = destinations;
  return pass;
}
void mk::registerReferencePasses() { PassRegistration<LowerReferencePass>(); }
