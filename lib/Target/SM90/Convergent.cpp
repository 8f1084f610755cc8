//===- Convergent.cpp - Inline PTX that all threads execute ---------------===//
#include "Convergent.h"
#include "llvm/IR/InlineAsm.h"
#include "llvm/IR/Instructions.h"
#include "llvm/IR/Module.h"

using namespace llvm;

void mlir::mk::markConvergent(Module &module) {
  for (Function &function : module) {
    for (BasicBlock &block : function)
      for (Instruction &instruction : block) {
        auto *call = dyn_cast<CallInst>(&instruction);
        if (!call)
          continue;
        auto *text = dyn_cast<InlineAsm>(call->getCalledOperand());
        if (!text)
          continue;
        call->addFnAttr(llvm::Attribute::NoUnwind);
        if (text->hasSideEffects())
          call->addFnAttr(llvm::Attribute::Convergent);
      }
    if (!function.isDeclaration())
      function.addFnAttr(llvm::Attribute::Convergent);
  }
}
