//===- SelectVersion.cpp - Code that chooses a version --------------------===//
#include "Versions.h"
#include "mkernel/ABI/Launch.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/IR/Builders.h"

using namespace mlir;
using namespace mlir::mk;

OwningOpRef<ModuleOp> mk::buildSelect(MLIRContext &context, Location loc,
                                      ArrayRef<SelectedVersion> versions,
                                      ArrayRef<std::string> dims) {
  context.loadDialect<LLVM::LLVMDialect>();
  OwningOpRef<ModuleOp> module = ModuleOp::create(loc);
  OpBuilder b = OpBuilder::atBlockEnd(module->getBody());
  auto pointer = LLVM::LLVMPointerType::get(&context);
  Type i64 = b.getI64Type();
  auto function =
      LLVM::LLVMFuncOp::create(b, loc, "mk_select", LLVM::LLVMFunctionType::get(i64, {pointer}));
  Block *entry = function.addEntryBlock(b);
  b.setInsertionPointToStart(entry);
  auto number = [&](int64_t value) -> Value {
    return LLVM::ConstantOp::create(b, loc, i64, b.getI64IntegerAttr(value));
  };
  auto load = [&](Type type, Type element, Value base, int32_t index) -> Value {
    Value address =
        LLVM::GEPOp::create(b, loc, pointer, element, base, ArrayRef<LLVM::GEPArg>{index});
    return LLVM::LoadOp::create(b, loc, type, address);
  };
  Value sizes = load(pointer, b.getI8Type(), entry->getArgument(0), offsetof(mk_launch, dims));
  Value chosen = number(versions.back().number);
  // From the last but one: the first that serves wins.
  for (size_t i = versions.size() - 1; i-- > 0;) {
    Value fits;
    for (const auto &[name, most] : versions[i].serves) {
      auto dim = int32_t(llvm::find(dims, name) - dims.begin());
      Value one = LLVM::ICmpOp::create(b, loc, LLVM::ICmpPredicate::sle, load(i64, i64, sizes, dim),
                                       number(most));
      fits = fits ? LLVM::AndOp::create(b, loc, fits, one) : one;
    }
    chosen = LLVM::SelectOp::create(b, loc, fits, number(versions[i].number), chosen);
  }
  LLVM::ReturnOp::create(b, loc, chosen);
  return module;
}
