//===- JsonConstant.cpp - Descriptions that travel in a module ------------===//
#include "mkernel/Target/Common.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"

using namespace mlir;

FailureOr<llvm::json::Object> mk::takeJsonConstant(ModuleOp module, StringRef name,
                                                   StringRef describes) {
  auto global = module.lookupSymbol<LLVM::GlobalOp>(name);
  auto text = global ? dyn_cast_or_null<StringAttr>(global.getValueOrNull()) : StringAttr();
  if (!text)
    return module.emitError("has no @") << name << ", the constant string that " << describes;
  llvm::Expected<llvm::json::Value> parsed = llvm::json::parse(text.getValue());
  if (!parsed)
    return global.emitError("@") << name << " is not JSON: " << llvm::toString(parsed.takeError());
  llvm::json::Object *object = parsed->getAsObject();
  if (!object)
    return global.emitError("@") << name << " is not a JSON object";
  global.erase();
  return std::move(*object);
}
