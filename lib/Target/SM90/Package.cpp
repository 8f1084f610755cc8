//===- Package.cpp - PTX as part of a package -----------------------------===//
#include "mkernel/Target/SM90/Emit.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"

using namespace mlir;

FailureOr<llvm::json::Object> mk::takeGpuMetadata(ModuleOp module) {
  auto global = module.lookupSymbol<LLVM::GlobalOp>("mk_gpu");
  auto text = global ? dyn_cast_or_null<StringAttr>(global.getValueOrNull())
                     : StringAttr();
  if (!text)
    return module.emitError("has no @mk_gpu, the constant string that says how "
                            "the kernel is launched");
  llvm::Expected<llvm::json::Value> parsed = llvm::json::parse(text.getValue());
  if (!parsed)
    return global.emitError("is not JSON: ")
           << llvm::toString(parsed.takeError());
  llvm::json::Object *object = parsed->getAsObject();
  if (!object)
    return global.emitError("is not a JSON object");
  global.erase();
  return std::move(*object);
}

void mk::addDeviceCode(ModuleOp host, StringRef ptx) {
  OpBuilder b = OpBuilder::atBlockEnd(host.getBody());
  Location loc = host.getLoc();
  std::string text = ptx.str() + '\0';
  LLVM::GlobalOp::create(
      b, loc, LLVM::LLVMArrayType::get(b.getI8Type(), text.size()),
      /*isConstant=*/true, LLVM::Linkage::External, "mk_device_code",
      b.getStringAttr(text), /*alignment=*/16);
  LLVM::GlobalOp::create(b, loc, b.getI64Type(), /*isConstant=*/true,
                         LLVM::Linkage::External, "mk_device_bytes",
                         b.getI64IntegerAttr(ptx.size()));
}
