//===- ReferenceSymbols.cpp - Entry point of a lowered reference ----------===//
#include "GuardAllocations.h"
#include "mkernel/Transforms/Reference.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/IR/SymbolTable.h"

using namespace mlir;
using namespace mlir::mk;

LogicalResult mk::refuseInReference(Operation *op) {
  StringRef dialects[] = {"linalg", "tensor", "arith", "math", "scf"};
  StringRef dialect = op->getName().getDialectNamespace();
  InFlightDiagnostic diag = op->emitOpError() << "cannot be used in a reference";
  if (!llvm::is_contained(dialects, dialect))
    return diag << ", which is written with linalg, tensor, arith, math and scf";
  return diag << ": this op of " << dialect
              << " has no lowering here; write what it does as a linalg.generic, in which "
                 "tensor.extract reads any element";
}

LogicalResult mk::addReferenceEntryPoint(ModuleOp module, ArrayRef<int64_t> ranks) {
  auto wrapper = module.lookupSymbol<LLVM::LLVMFuncOp>("_mlir_ciface_mk_reference_rows");
  auto rows = module.lookupSymbol<LLVM::LLVMFuncOp>("mk_reference_rows");
  assert(wrapper && rows && "upstream's lowerings keep the names of functions");
  for (LLVM::LLVMFuncOp function : {wrapper, rows})
    function.setLinkage(LLVM::Linkage::Internal);
  guardMemory(rows);
  OpBuilder builder = OpBuilder::atBlockEnd(module.getBody());
  // The caller's buffers do not overlap; without this each store to an output
  // would stop a sum from being kept in registers. A descriptor is expanded to
  // two pointers, of which the second is used, an offset, sizes and strides.
  unsigned position = 0;
  for (int64_t rank : ranks) {
    rows.setArgAttr(position + 1, LLVM::LLVMDialect::getNoAliasAttrName(), builder.getUnitAttr());
    position += 3 + 2 * rank;
  }
  Location loc = wrapper.getLoc();
  Type pointer = LLVM::LLVMPointerType::get(module.getContext());
  Type i64 = builder.getI64Type();
  auto entry = LLVM::LLVMFuncOp::create(builder, loc, "mk_reference",
                                        LLVM::LLVMFunctionType::get(i64, {pointer, i64, i64}));
  Block *block = entry.addEntryBlock(builder);
  builder.setInsertionPointToStart(block);
  SmallVector<Value> operands;
  for (unsigned i = 0; i != ranks.size(); ++i) {
    Value slot = LLVM::GEPOp::create(builder, loc, pointer, pointer, block->getArgument(0),
                                     ArrayRef<LLVM::GEPArg>{int32_t(i)});
    operands.push_back(LLVM::LoadOp::create(builder, loc, pointer, slot));
  }
  operands.push_back(block->getArgument(1));
  operands.push_back(block->getArgument(2));
  auto status = LLVM::CallOp::create(builder, loc, wrapper, operands);
  LLVM::ReturnOp::create(builder, loc, status.getResults());
  return success();
}

LogicalResult mk::hideReferenceSymbols(ModuleOp module) {
  WalkResult result = module.walk([&](Operation *op) -> WalkResult {
    if (isa<ModuleOp>(op) || isa<LLVM::LLVMDialect>(op->getDialect()))
      return WalkResult::advance();
    return refuseInReference(op);
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
    std::string name = "mk_reference." + SymbolTable::getSymbolName(op).str();
    assert(!symbols.lookup(name) && "no function is left but the reference");
    if (failed(symbols.rename(op, name)))
      llvm_unreachable("every op with regions is known here");
  }
  return success();
}
