//===- SelectBits.cpp - Choices between bf16 as between bits --------------===//
//
// Where a CPU has no bf16, LLVM's x86 backend widens both sides of a select to f32 and
// narrows what it chose, by a function of the compiler's library that older ones lack.
// The bits need neither. Behind all optimisation, which would turn it back.
//
//===----------------------------------------------------------------------===//
#include "HostMachine.h"
#include "llvm/IR/IRBuilder.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/Module.h"

void mlir::mk::selectBits(llvm::Module &module) {
  std::vector<llvm::SelectInst *> selects;
  for (llvm::Function &function : module)
    for (llvm::Instruction &instruction : llvm::instructions(function))
      if (auto *select = llvm::dyn_cast<llvm::SelectInst>(&instruction))
        if (select->getType()->getScalarType()->isBFloatTy())
          selects.push_back(select);
  for (llvm::SelectInst *select : selects) {
    llvm::IRBuilder<> b(select);
    llvm::Type *bits =
        select->getType()->getWithNewType(b.getInt16Ty());
    llvm::Value *chosen =
        b.CreateSelect(select->getCondition(),
                       b.CreateBitCast(select->getTrueValue(), bits),
                       b.CreateBitCast(select->getFalseValue(), bits));
    select->replaceAllUsesWith(b.CreateBitCast(chosen, select->getType()));
    select->eraseFromParent();
  }
}
