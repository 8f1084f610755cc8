//===- VerifyFile.cpp - What a file of kernels may hold -------------------===//
#include "VerifyFile.h"
#include "mkernel/Dialect/Tile/Tile.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"

using namespace mlir;
using namespace mlir::mk;

LogicalResult mk::verifyFile(ModuleOp module) {
  for (NamedAttribute attribute : module->getDiscardableAttrs())
    if (attribute.getName().getValue().starts_with("llvm."))
      return module.emitError() << "has attribute '" << attribute.getName().getValue()
                                << "', which is for modules of the LLVM dialect: drop it; --target "
                                   "and --cpu say what is compiled for";
  for (Operation &op : *module.getBody()) {
    if (isa<KernelOp, MeshOp>(op) && SymbolTable::getSymbolName(&op).getValue().starts_with("mk_"))
      return op.emitOpError()
             << "is named @" << SymbolTable::getSymbolName(&op).getValue()
             << "; names that begin with mk_ are for what it is compiled to: choose another";
    if (isa<LLVM::LLVMDialect>(op.getDialect()))
      return op.emitOpError()
             << "stands beside a kernel, where only mk.mesh, mk.kernel and func.func do";
  }
  return success();
}
