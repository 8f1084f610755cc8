//===- RestToLLVM.cpp - Arithmetic and branches that are left --------------===//
#include "mkernel/Conversion/Passes.h"
#include "mlir/Conversion/ArithToLLVM/ArithToLLVM.h"
#include "mlir/Conversion/ControlFlowToLLVM/ControlFlowToLLVM.h"
#include "mlir/Conversion/LLVMCommon/ConversionTarget.h"
#include "mlir/Conversion/LLVMCommon/TypeConverter.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/ControlFlow/IR/ControlFlowOps.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Transforms/DialectConversion.h"

namespace mlir::mk {
#define GEN_PASS_DEF_CONVERTRESTTOLLVMPASS
#include "mkernel/Conversion/Passes.h.inc"
} // namespace mlir::mk

using namespace mlir;

namespace {
struct ConvertRestToLLVMPass : mk::impl::ConvertRestToLLVMPassBase<ConvertRestToLLVMPass> {
  void runOnOperation() override {
    SmallVector<Operation *> rest;
    getOperation().walk([&](Operation *op) {
      if (isa_and_nonnull<arith::ArithDialect, cf::ControlFlowDialect>(op->getDialect()))
        rest.push_back(op);
    });
    if (rest.empty())
      return;
    LLVMTypeConverter types(&getContext());
    RewritePatternSet patterns(&getContext());
    arith::populateArithToLLVMConversionPatterns(types, patterns);
    cf::populateControlFlowToLLVMConversionPatterns(types, patterns);
    LLVMConversionTarget target(getContext());
    if (failed(applyPartialConversion(rest, target, std::move(patterns))))
      signalPassFailure();
  }
};
} // namespace
