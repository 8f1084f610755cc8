//===- Divisions.cpp - Quotients that ptxas gets right --------------------===//
#include "Divisions.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/Analysis/ValueTracking.h"
#include "llvm/IR/IRBuilder.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/Module.h"
#include "llvm/IR/PatternMatch.h"
#include "llvm/Support/DivisionByConstantInfo.h"

/// x / divisor, which is neither 0 nor a power of two. T. Granlund and P. L. Montgomery, "Division
/// by Invariant Integers using Multiplication" (PLDI 1994), as LLVM's code generator does it, but
/// that the product is always shifted by more than a word.
static llvm::Value *multiply(llvm::IRBuilder<> &b, llvm::Value *x, const llvm::APInt &divisor,
                             unsigned leadingZeros) {
  auto info = llvm::UnsignedDivisionByConstantInfo::get(divisor, leadingZeros);
  auto product = [&](llvm::Value *of, const llvm::APInt &by, unsigned shift) {
    llvm::Value *wide =
        b.CreateNUWMul(b.CreateZExt(of, b.getInt64Ty()), b.getInt64(by.getZExtValue()));
    return b.CreateTrunc(b.CreateLShr(wide, 32 + shift), b.getInt32Ty());
  };
  if (info.IsAdd) {
    // The multiplier has 33 bits, of which the first is 1.
    llvm::Value *high = product(x, info.Magic, 0);
    llvm::Value *half = b.CreateAdd(b.CreateLShr(b.CreateSub(x, high), 1), high);
    return b.CreateLShr(half, info.PostShift);
  }
  x = b.CreateLShr(x, info.PreShift);
  // Of divisors from 3 on, a multiplier that needs no shift is less than half of a word.
  return info.PostShift ? product(x, info.Magic, info.PostShift) : product(x, info.Magic << 1, 1);
}

static void expand(llvm::Instruction &op, const llvm::DataLayout &layout) {
  using namespace llvm::PatternMatch;
  llvm::Value *x = nullptr;
  const llvm::APInt *divisor = nullptr;
  bool divides = match(&op, m_UDiv(m_Value(x), m_APInt(divisor)));
  if (!divides && !match(&op, m_URem(m_Value(x), m_APInt(divisor))))
    return;
  if (!op.getType()->isIntegerTy(32) || divisor->isZero() || divisor->isPowerOf2())
    return;
  llvm::IRBuilder<> b(&op);
  unsigned leadingZeros =
      std::min(llvm::computeKnownBits(x, layout).countMinLeadingZeros(), divisor->countl_zero());
  llvm::Value *quotient = multiply(b, x, *divisor, leadingZeros);
  llvm::Value *result =
      divides ? quotient : b.CreateSub(x, b.CreateMul(quotient, b.getInt(*divisor)));
  result->takeName(&op);
  op.replaceAllUsesWith(result);
  op.eraseFromParent();
}

void mlir::mk::shiftQuotients(llvm::Module &module) {
  for (llvm::Function &function : module)
    for (llvm::Instruction &op : llvm::make_early_inc_range(llvm::instructions(function)))
      expand(op, module.getDataLayout());
}
