//===- Merge.cpp - Modules in the LLVM dialect ----------------------------===//
#include "Merge.h"
#include "mkernel/Target/Common.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/IR/SymbolTable.h"

using namespace mlir;
using namespace mlir::mk;

static constexpr StringRef kMetadata = "mk_metadata";

void mk::mergeModule(ModuleOp to, ModuleOp from) {
  for (Operation &op : llvm::make_early_inc_range(from.getOps())) {
    StringAttr name = SymbolTable::getSymbolName(&op);
    Operation *other = SymbolTable::lookupSymbolIn(to, name);
    if (!other) {
      op.moveBefore(to.getBody(), to.getBody()->end());
      continue;
    }
    auto moved = dyn_cast<LLVM::LLVMFuncOp>(op);
    auto existing = dyn_cast<LLVM::LLVMFuncOp>(other);
    // The others' names begin with mk_reference.
    assert(moved && existing && moved.isExternal() && existing.isExternal() &&
           moved.getFunctionType() == existing.getFunctionType());
    (void)moved, (void)existing;
  }
}

void mk::setMetadata(ModuleOp module, const llvm::json::Value &metadata) {
  std::string text;
  llvm::raw_string_ostream(text) << metadata;
  OpBuilder builder = OpBuilder::atBlockBegin(module.getBody());
  auto type = LLVM::LLVMArrayType::get(builder.getI8Type(), text.size());
  LLVM::GlobalOp::create(builder, module.getLoc(), type, /*isConstant=*/true,
                         LLVM::Linkage::Internal, kMetadata, builder.getStringAttr(text));
}

bool mk::hasMetadata(ModuleOp module) {
  return static_cast<bool>(module.lookupSymbol<LLVM::GlobalOp>(kMetadata));
}

FailureOr<llvm::json::Object> mk::takeMetadata(ModuleOp module) {
  return takeJsonConstant(module, kMetadata, "describes the package");
}
