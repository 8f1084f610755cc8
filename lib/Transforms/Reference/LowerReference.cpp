//===- LowerReference.cpp - The reference as native code ------------------===//
#include "mkernel/Transforms/Reference.h"
#include "mlir/Conversion/LLVMCommon/TypeConverter.h"
#include "mlir/Dialect/Affine/IR/AffineOps.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Bufferization/IR/Bufferization.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Linalg/Transforms/Transforms.h"
#include "mlir/Dialect/Linalg/Utils/Utils.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
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
  module.walk(
      [&](linalg::AggregatedOpInterface op) { aggregates.push_back(op); });
  for (linalg::AggregatedOpInterface op : aggregates) {
    rewriter.setInsertionPoint(op);
    FailureOr<SmallVector<Value>> values = op.decomposeOperation(rewriter);
    if (failed(values))
      return op->emitOpError("has no decomposition and cannot be used in a "
                             "reference; write it with other linalg ops");
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
    linalg::makeMemRefCopyOp(builder, copy.getLoc(), copy.getSource(),
                             copy.getTarget());
    copy.erase();
  }
}

/// `@mk_reference(descriptors, row, rows)` around the wrapper that upstream
/// makes, which takes each descriptor by pointer.
LogicalResult addEntry(ModuleOp module, ArrayRef<int64_t> ranks) {
  auto wrapper =
      module.lookupSymbol<LLVM::LLVMFuncOp>("_mlir_ciface_mk_reference_rows");
  auto rows = module.lookupSymbol<LLVM::LLVMFuncOp>("mk_reference_rows");
  if (!wrapper || !rows)
    return module.emitError("the reference was not lowered to a function");
  for (LLVM::LLVMFuncOp function : {wrapper, rows})
    function.setLinkage(LLVM::Linkage::Internal);
  OpBuilder builder = OpBuilder::atBlockEnd(module.getBody());
  // The caller's buffers do not overlap; without this each store to an output
  // would stop a sum from being kept in registers. A descriptor is expanded to
  // two pointers, of which the second is used, an offset, sizes and strides.
  unsigned position = 0;
  for (int64_t rank : ranks) {
    rows.setArgAttr(position + 1, LLVM::LLVMDialect::getNoAliasAttrName(),
                    builder.getUnitAttr());
    position += 3 + 2 * rank;
  }
  Location loc = wrapper.getLoc();
  Type pointer = LLVM::LLVMPointerType::get(module.getContext());
  Type i64 = builder.getI64Type();
  auto entry = LLVM::LLVMFuncOp::create(
      builder, loc, "mk_reference",
      LLVM::LLVMFunctionType::get(
          LLVM::LLVMVoidType::get(module.getContext()), {pointer, i64, i64}));
  Block *block = entry.addEntryBlock(builder);
  builder.setInsertionPointToStart(block);
  SmallVector<Value> operands;
  for (unsigned i = 0; i != ranks.size(); ++i) {
    Value slot = LLVM::GEPOp::create(builder, loc, pointer, pointer,
                                     block->getArgument(0),
                                     ArrayRef<LLVM::GEPArg>{int32_t(i)});
    operands.push_back(LLVM::LoadOp::create(builder, loc, pointer, slot));
  }
  operands.push_back(block->getArgument(1));
  operands.push_back(block->getArgument(2));
  LLVM::CallOp::create(builder, loc, wrapper, operands);
  LLVM::ReturnOp::create(builder, loc, ValueRange());
  return success();
}

/// Everything but the entry is internal, under names that a kernel's code
/// cannot have.
LogicalResult finish(ModuleOp module) {
  WalkResult result = module.walk([&](Operation *op) -> WalkResult {
    if (isa<ModuleOp>(op) || isa<LLVM::LLVMDialect>(op->getDialect()))
      return WalkResult::advance();
    return op->emitOpError("cannot be used in a reference: upstream's "
                           "lowerings do not reach it");
  });
  if (result.wasInterrupted())
    return failure();
  SymbolTable symbols(module);
  SmallVector<Operation *> internal;
  for (Operation &op : module.getOps()) {
    if (auto function = dyn_cast<LLVM::LLVMFuncOp>(op)) {
      if (function.isExternal() || function.getSymName() == "mk_reference")
        continue;
      function.setLinkage(LLVM::Linkage::Internal);
      internal.push_back(function);
    } else if (auto global = dyn_cast<LLVM::GlobalOp>(op)) {
      global.setLinkage(LLVM::Linkage::Internal);
      internal.push_back(global);
    }
  }
  for (Operation *op : internal) {
    std::string name =
        "mk_reference." + SymbolTable::getSymbolName(op).str();
    if (failed(symbols.rename(op, name)))
      return op->emitError() << "cannot be renamed to '" << name << "'";
  }
  return success();
}

struct LowerReferencePass
    : PassWrapper<LowerReferencePass, OperationPass<ModuleOp>> {
  MLIR_DEFINE_EXPLICIT_INTERNAL_INLINE_TYPE_ID(LowerReferencePass)

  LowerReferencePass() = default;
  LowerReferencePass(const LowerReferencePass &other) : PassWrapper(other) {}

  Option<std::string> function{*this, "function",
                               llvm::cl::desc("name of the reference"),
                               llvm::cl::init("reference")};

  StringRef getArgument() const override { return "mk-lower-reference"; }
  StringRef getDescription() const override {
    return "Lowers a reference on whole tensors to the LLVM dialect";
  }
  void getDependentDialects(DialectRegistry &registry) const override {
    registry.insert<affine::AffineDialect, arith::ArithDialect,
                    bufferization::BufferizationDialect, LLVM::LLVMDialect,
                    linalg::LinalgDialect, memref::MemRefDialect,
                    scf::SCFDialect, tensor::TensorDialect>();
    OpPassManager pm(ModuleOp::getOperationName());
    pm.addPass(createInlinerPass());
    buildReferenceBufferization(pm);
    buildReferenceToLLVM(pm);
    pm.getDependentDialects(registry);
  }

  LogicalResult
  run(llvm::function_ref<void(OpPassManager &)> build) {
    OpPassManager pm(ModuleOp::getOperationName());
    build(pm);
    return runPipeline(pm, getOperation());
  }

  LogicalResult lower() {
    ModuleOp module = getOperation();
    auto reference = module.lookupSymbol<func::FuncOp>(function);
    if (!reference || reference.isExternal())
      return module.emitError() << "there is no function @" << function
                                << " to lower as the reference";
    SmallVector<int64_t> ranks;
    for (TypeRange types : {TypeRange(reference.getArgumentTypes()),
                            TypeRange(reference.getResultTypes())})
      for (Type type : types)
        if (auto tensor = dyn_cast<RankedTensorType>(type))
          ranks.push_back(tensor.getRank());
    if (failed(run([](OpPassManager &pm) { pm.addPass(createInlinerPass()); })))
      return failure();
    if (failed(buildReferenceEntry(reference)) || failed(decompose(module)))
      return failure();
    auto entry = module.lookupSymbol<func::FuncOp>("mk_reference_rows");
    sliceProducers(entry);
    orderReferenceLoops(entry);
    if (failed(run(buildReferenceBufferization)))
      return failure();
    lowerCopies(module);
    if (failed(run(buildReferenceToLLVM)) ||
        failed(addEntry(module, ranks)))
      return failure();
    return finish(module);
  }

  void runOnOperation() override {
    if (failed(lower()))
      signalPassFailure();
  }
};
} // namespace

std::unique_ptr<Pass> mk::createLowerReferencePass() {
  return std::make_unique<LowerReferencePass>();
}
void mk::registerReferencePasses() { PassRegistration<LowerReferencePass>(); }
