//===- DivisionsTest.cpp - Quotients are right, and all of them shifted ---===//
#include "Target/SM90/Divisions.h"
#include "llvm/Analysis/ConstantFolding.h"
#include "llvm/IR/IRBuilder.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/LLVMContext.h"
#include "llvm/IR/Module.h"
#include "llvm/IR/PatternMatch.h"
#include "llvm/IR/Verifier.h"
#include "gtest/gtest.h"

#include <random>

using namespace llvm;

namespace {

/// quotient * 2^32 + remainder of (x >> zeros) by a constant, so that the highest bits are known.
Function *divide(Module &module, unsigned zeros, uint32_t divisor) {
  Type *word = Type::getInt32Ty(module.getContext());
  Type *wide = Type::getInt64Ty(module.getContext());
  auto *function = Function::Create(FunctionType::get(wide, {word}, false),
                                    GlobalValue::ExternalLinkage, "divide", module);
  IRBuilder<> b(BasicBlock::Create(module.getContext(), "", function));
  Value *x = b.CreateLShr(function->getArg(0), zeros);
  Value *quotient = b.CreateZExt(b.CreateUDiv(x, b.getInt32(divisor)), wide);
  Value *remainder = b.CreateZExt(b.CreateURem(x, b.getInt32(divisor)), wide);
  b.CreateRet(b.CreateOr(b.CreateShl(quotient, 32), remainder));
  return function;
}

uint64_t run(Function &function, uint32_t x) {
  DenseMap<Value *, Constant *> values;
  values[function.getArg(0)] = ConstantInt::get(function.getArg(0)->getType(), x);
  for (Instruction &op : function.getEntryBlock()) {
    SmallVector<Constant *> operands;
    for (Value *operand : op.operands())
      operands.push_back(isa<Constant>(operand) ? cast<Constant>(operand) : values.at(operand));
    if (isa<ReturnInst>(op))
      return cast<ConstantInt>(operands.front())->getZExtValue();
    values[&op] = ConstantFoldInstOperands(&op, operands, function.getParent()->getDataLayout());
  }
  return ~uint64_t(0);
}

/// What ptxas may take for mul.hi: bits 32 and up of a product, as they are.
bool isHighWord(Instruction &op) {
  using namespace PatternMatch;
  return match(&op, m_Trunc(m_LShr(m_Mul(m_Value(), m_Value()), m_SpecificInt(32))));
}

void check(unsigned zeros, uint32_t divisor, ArrayRef<uint32_t> others) {
  LLVMContext context;
  Module module("divisions", context);
  Function *function = divide(module, zeros, divisor);
  mlir::mk::shiftQuotients(module);
  ASSERT_FALSE(verifyModule(module, &errs()));
  for (Instruction &op : instructions(*function)) {
    ASSERT_TRUE(isPowerOf2_32(divisor) ||
                (op.getOpcode() != Instruction::UDiv && op.getOpcode() != Instruction::URem));
    for (User *user : op.users())
      ASSERT_FALSE(isHighWord(op) && isa<ZExtInst>(user)) << "by " << divisor;
  }
  uint32_t most = UINT32_MAX >> zeros;
  SmallVector<uint32_t> numbers{0,
                                1,
                                divisor - 1,
                                divisor,
                                divisor + 1,
                                most,
                                most - 1,
                                most / divisor * divisor,
                                most / divisor * divisor - 1};
  numbers.append(others.begin(), others.end());
  for (uint32_t number : numbers)
    for (uint32_t given : {number << zeros, number}) {
      uint32_t x = given >> zeros;
      ASSERT_EQ(run(*function, given), uint64_t(x / divisor) << 32 | x % divisor)
          << x << " by " << divisor << ", of which " << zeros << " bits are known";
    }
}

TEST(Divisions, AreRightAndShifted) {
  std::mt19937 random(20261128);
  SmallVector<uint32_t> divisors{40,         112,        UINT32_MAX, UINT32_MAX - 1,
                                 0x80000001, 0x7fffffff, 641,        6700417};
  for (uint32_t i = 1; i < 200; ++i)
    divisors.push_back(i);
  for (int i = 0; i < 200; ++i)
    divisors.push_back(std::max<uint32_t>(1, random() >> random() % 32));
  for (uint32_t divisor : divisors) {
    SmallVector<uint32_t> others;
    for (int i = 0; i < 20; ++i)
      others.push_back(random() >> random() % 32);
    for (unsigned zeros : {0u, 1u, unsigned(random() % 31)})
      ASSERT_NO_FATAL_FAILURE(check(zeros, divisor, others));
  }
}

} // namespace
