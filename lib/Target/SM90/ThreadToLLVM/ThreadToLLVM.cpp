//===- ThreadToLLVM.cpp - From the thread level to LLVM -------------------===//
//
// Each op of the thread level becomes an instruction, or a call of a routine (Blocks.h); what
// surrounds them (arith, scf) is left to upstream conversions. Patterns keep no state.
//
//===----------------------------------------------------------------------===//
#include "Ptx.h"
#include "mkernel/Conversion/Passes.h"
#include "mkernel/Dialect/Tile/Target.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"
#include "mlir/Transforms/WalkPatternRewriteDriver.h"

namespace mlir::mk {
#define GEN_PASS_DEF_CONVERTTHREADTOLLVMPASS
#include "mkernel/Conversion/Passes.h.inc"
} // namespace mlir::mk

using namespace mlir;
using namespace mlir::mk;
using namespace mlir::mk::thread;

/// The function that replaces a kernel: it has its body, and the parameters as an argument.
static Frame makeFunction(mk_thread::KernelOp kernel) {
  OpBuilder b(kernel);
  MLIRContext *context = b.getContext();
  Location loc = kernel.getLoc();
  Type i8 = b.getI8Type();
  mk::SmAttr sm = mk::getSm(kernel);
  Frame frame;
  frame.attr = kernel.getFrame();
  frame.shared = LLVM::GlobalOp::create(b, loc, LLVM::LLVMArrayType::get(i8, 0),
                                        /*isConstant=*/false, LLVM::Linkage::External, "mk_shared",
                                        Attribute(), sm.getSwizzleRows() * sm.getChunk(),
                                        /*addrSpace=*/3);
  auto type = LLVM::LLVMFunctionType::get(LLVM::LLVMVoidType::get(context),
                                          {LLVM::LLVMPointerType::get(context)});
  auto function = frame.function = LLVM::LLVMFuncOp::create(b, loc, kernel.getSymName(), type);
  // NVPTX names parameters after their function.
  frame.params = (kernel.getSymName() + "_param_0").str();
  auto dims = [&](int64_t x) { return b.getDenseI32ArrayAttr({static_cast<int32_t>(x), 1, 1}); };
  function->setAttr(NVVM::NVVMDialect::getKernelFuncAttrName(), b.getUnitAttr());
  function->setAttr(NVVM::NVVMDialect::getReqntidAttrName(), dims(kernel.getThreads()));
  // Without these two ptxas ignores setmaxnreg (C7508).
  function->setAttr(NVVM::NVVMDialect::getMinctasmAttrName(), b.getI32IntegerAttr(1));
  if (kernel.getCluster() > 1)
    function->setAttr(NVVM::NVVMDialect::getClusterDimAttrName(), dims(kernel.getCluster()));
  function.setArgAttr(0, LLVM::LLVMDialect::getByValAttrName(),
                      TypeAttr::get(LLVM::LLVMArrayType::get(i8, kernel.getParamBytes())));
  function.setArgAttr(0, LLVM::LLVMDialect::getAlignAttrName(), b.getI64IntegerAttr(64));
  function.setArgAttr(0, NVVM::NVVMDialect::getGridConstantAttrName(), b.getUnitAttr());
  function.getBody().takeBody(kernel.getBody());
  Block &entry = function.getBody().front();
  entry.addArgument(LLVM::LLVMPointerType::get(context), loc);
  b.setInsertionPointToEnd(&entry);
  LLVM::ReturnOp::create(b, loc, ValueRange());
  kernel.erase();
  return frame;
}

namespace {
struct ConvertThreadToLLVMPass : mk::impl::ConvertThreadToLLVMPassBase<ConvertThreadToLLVMPass> {
  void runOnOperation() override {
    SmallVector<mk_thread::KernelOp> kernels(getOperation().getOps<mk_thread::KernelOp>());
    if (kernels.size() > 1) {
      kernels[1].emitOpError(
          "is the second kernel of the module, and both would have the same shared "
          "memory; put it into a module of its own");
      return signalPassFailure();
    }
    for (mk_thread::KernelOp kernel : kernels) {
      if (failed(mk_thread::verifyExpanded(kernel)))
        return signalPassFailure();
      Frame frame = makeFunction(kernel);
      RewritePatternSet patterns(&getContext());
      addLaunchPatterns(patterns, frame);
      addSyncPatterns(patterns);
      addMemoryPatterns(patterns, frame);
      addCopyPatterns(patterns);
      addMatrixPatterns(patterns);
      addPredicatePatterns(patterns, frame);
      addWaitPatterns(patterns, frame);
      addCheckPatterns(patterns, frame);
      addSpanPatterns(patterns, frame);
      walkAndApplyPatterns(frame.function, std::move(patterns));
    }
  }
};
} // namespace
