//===- Registration.cpp - All dialects and passes -------------------------===//
#include "mkernel/Compiler/Registration.h"
#include "mkernel/Conversion/Passes.h"
#include "mkernel/Dialect/SM/SM.h"
#include "mkernel/Dialect/Thread/Thread.h"
#include "mkernel/Dialect/Tile/Tile.h"
#include "mkernel/Target/Backend.h"
#include "mkernel/Transforms/Passes.h"
#include "mkernel/Transforms/Reference.h"
#include "mkernel/Transforms/SM/Passes.h"
#include "mkernel/Transforms/Sizes/Passes.h"
#include "mkernel/Transforms/Thread/Passes.h"
#include "mkernel/Verify/Passes.h"
#include "mlir/IR/DialectRegistry.h"
#include "mlir/InitAllDialects.h"
#include "mlir/InitAllExtensions.h"
#include "mlir/InitAllPasses.h"
#include "mlir/Target/LLVMIR/Dialect/Builtin/BuiltinToLLVMIRTranslation.h"
#include "mlir/Target/LLVMIR/Dialect/LLVMIR/LLVMToLLVMIRTranslation.h"
#include "mlir/Target/LLVMIR/Dialect/NVVM/NVVMToLLVMIRTranslation.h"

using namespace mlir;

void mk::registerEverything(DialectRegistry &registry) {
  registerAllDialects(registry);
  registerAllExtensions(registry);
  registerBuiltinDialectTranslation(registry);
  registerLLVMDialectTranslation(registry);
  registerNVVMDialectTranslation(registry);
  registry.insert<MkDialect, mk_sm::MkSMDialect, mk_thread::MkThreadDialect>();
  for (const TargetBackend *backend : getTargetBackends())
    backend->registerDialects(registry);
}

void mk::registerEveryPass() {
  registerAllPasses();
  registerMkTransformsPasses();
  registerMkSizesTransformsPasses();
  registerMkConversionPasses();
  registerMkVerifyPasses();
  mk_sm::registerMkSMTransformsPasses();
  mk_thread::registerMkThreadTransformsPasses();
  registerReferencePasses();
  for (const TargetBackend *backend : getTargetBackends())
    backend->registerPipelines();
}
