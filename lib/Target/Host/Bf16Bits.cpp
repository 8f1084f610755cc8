//===- Bf16Bits.cpp - bf16 that is only handed on, as bits ----------------===//
//
// Where a CPU has no bf16, LLVM's x86 backend holds one in a register as f32. What is
// chosen by a select, or used in another block than where it was made, is widened and
// narrowed again, by a function of the compiler's library that older ones lack. Bits
// need neither. Behind all optimisation, which would turn it back.
//
//===----------------------------------------------------------------------===//
#include "HostMachine.h"
#include "llvm/IR/IRBuilder.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/Module.h"

using namespace llvm;

static Type *bitsOf(Type *type) {
  return type->getWithNewType(Type::getInt16Ty(type->getContext()));
}

static Value *select(SelectInst *select) {
  IRBuilder<> b(select);
  Type *bits = bitsOf(select->getType());
  Value *chosen =
      b.CreateSelect(select->getCondition(), b.CreateBitCast(select->getTrueValue(), bits),
                     b.CreateBitCast(select->getFalseValue(), bits));
  return b.CreateBitCast(chosen, select->getType());
}

static Value *merge(PHINode *phi) {
  IRBuilder<> b(phi);
  Type *bits = bitsOf(phi->getType());
  PHINode *merged = b.CreatePHI(bits, phi->getNumIncomingValues());
  // A block that comes in twice brings one value.
  SmallDenseMap<BasicBlock *, Value *> incoming;
  for (unsigned i = 0, e = phi->getNumIncomingValues(); i != e; ++i) {
    BasicBlock *from = phi->getIncomingBlock(i);
    Value *&value = incoming[from];
    if (!value) {
      b.SetInsertPoint(from->getTerminator());
      value = b.CreateBitCast(phi->getIncomingValue(i), bits);
    }
    merged->addIncoming(value, from);
  }
  b.SetInsertPoint(phi->getParent(), phi->getParent()->getFirstInsertionPt());
  return b.CreateBitCast(merged, phi->getType());
}

/// Uses in other blocks get the bits.
static void forwardBits(Instruction *made) {
  SmallVector<Use *> uses;
  for (Use &use : made->uses())
    if (cast<Instruction>(use.getUser())->getParent() != made->getParent())
      uses.push_back(&use);
  if (uses.empty())
    return;
  IRBuilder<> b(made->getParent(), std::next(made->getIterator()));
  Value *bits = b.CreateBitCast(made, bitsOf(made->getType()));
  for (Use *use : uses) {
    b.SetInsertPoint(cast<Instruction>(use->getUser()));
    use->set(b.CreateBitCast(bits, made->getType()));
  }
}

void mlir::mk::keepBf16AsBits(Module &module) {
  for (Function &function : module) {
    auto collect = [&](auto wanted) {
      SmallVector<Instruction *> found;
      for (Instruction &instruction : instructions(function))
        if (instruction.getType()->getScalarType()->isBFloatTy() && wanted(instruction))
          found.push_back(&instruction);
      return found;
    };
    auto isMoved = [](Instruction &i) { return isa<SelectInst, PHINode>(i); };
    for (Instruction *moved : collect(isMoved)) {
      auto *phi = dyn_cast<PHINode>(moved);
      moved->replaceAllUsesWith(phi ? merge(phi) : select(cast<SelectInst>(moved)));
      moved->eraseFromParent();
    }
    for (Instruction *made : collect([](Instruction &) { return true; }))
      forwardBits(made);
  }
}
