//===- Package.cpp - PTX as part of a package -----------------------------===//
#include "Emit.h"
#include "mkernel/Target/Common.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"

using namespace mlir;

FailureOr<llvm::json::Object> mk::takeGpuMetadata(ModuleOp module) {
  return takeJsonConstant(module, "mk_gpu", "says how the kernel is launched");
}

void mk::addDeviceCode(ModuleOp host, int64_t variant, StringRef ptx) {
  OpBuilder b = OpBuilder::atBlockEnd(host.getBody());
  Location loc = host.getLoc();
  std::string text = ptx.str() + '\0', number = std::to_string(variant);
  LLVM::GlobalOp::create(b, loc, LLVM::LLVMArrayType::get(b.getI8Type(), text.size()),
                         /*isConstant=*/true, LLVM::Linkage::External, "mk_device_code_" + number,
                         b.getStringAttr(text), /*alignment=*/16);
  LLVM::GlobalOp::create(b, loc, b.getI64Type(), /*isConstant=*/true, LLVM::Linkage::External,
                         "mk_device_bytes_" + number, b.getI64IntegerAttr(ptx.size()));
}
