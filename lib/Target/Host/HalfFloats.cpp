//===- HalfFloats.cpp - Conversions that a CPU has no instructions for ----===//
//
// For floats of 16 bits LLVM calls functions of the compiler's library, which packages do without:
// they get these. What rounds, rounds to nearest, ties to even; NaNs stay NaNs, and become quiet.
//
//===----------------------------------------------------------------------===//
#include "HostMachine.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/IR/IRBuilder.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/Module.h"
#include "llvm/Transforms/Utils/ModuleUtils.h"

using namespace llvm;

namespace {
/// Bits of f32 (IEEE 754), by their number or as a float.
class Bits {
public:
  explicit Bits(IRBuilder<> &b) : b(b) {}

  Value *of(Value *value) { return b.CreateBitCast(value, b.getInt32Ty()); }
  Value *toFloat(Value *bits) { return b.CreateBitCast(bits, b.getFloatTy()); }
  Value *add(Value *x, uint32_t y) { return b.CreateAdd(x, b.getInt32(y)); }
  Value *add(Value *x, Value *y) { return b.CreateAdd(x, y); }
  Value *bitAnd(Value *x, uint32_t y) { return b.CreateAnd(x, b.getInt32(y)); }
  Value *isAbove(Value *x, uint32_t y) { return b.CreateICmpUGT(x, b.getInt32(y)); }
  /// The bit that decides where to round in the middle: the last one that stays.
  Value *lastOf(Value *x, unsigned dropped) { return bitAnd(b.CreateLShr(x, dropped), 1); }

  IRBuilder<> &b;
};

constexpr uint32_t kSign = 0x80000000, kInfinity = 0x7f800000;
constexpr unsigned kDropped = 13; // bits of the mantissa that f16 has not
} // namespace

static Value *toBf16(Bits bits, Value *value) {
  IRBuilder<> &b = bits.b;
  Value *x = bits.of(value);
  Value *isNan = bits.isAbove(bits.bitAnd(x, ~kSign), kInfinity);
  Value *rounded = b.CreateLShr(bits.add(bits.add(x, 0x7fff), bits.lastOf(x, 16)), 16);
  Value *nan = b.CreateOr(b.CreateLShr(x, 16), b.getInt32(0x40));
  return b.CreateTrunc(b.CreateSelect(isNan, nan, rounded), b.getInt16Ty());
}

static Value *toHalf(Bits bits, Value *value) {
  IRBuilder<> &b = bits.b;
  Value *x = bits.of(value), *magnitude = bits.bitAnd(x, ~kSign);
  // 2^16 and above, infinity, NaN.
  Value *beyond =
      b.CreateSelect(bits.isAbove(magnitude, kInfinity), b.getInt32(0x7e00), b.getInt32(0x7c00));
  // Below 2^-14: an addition rounds at the last bit that f16 has there.
  constexpr uint32_t kHalf = 126u << 23;
  Value *small =
      b.CreateSub(bits.of(b.CreateFAdd(bits.toFloat(magnitude), bits.toFloat(b.getInt32(kHalf)))),
                  b.getInt32(kHalf));
  Value *normal = b.CreateLShr(bits.add(bits.add(magnitude, (uint32_t(15 - 127) << 23) + 0xfff),
                                        bits.lastOf(magnitude, kDropped)),
                               kDropped);
  Value *rounded =
      b.CreateSelect(b.CreateICmpULT(magnitude, b.getInt32(113u << 23)), small, normal);
  rounded = b.CreateSelect(bits.isAbove(magnitude, (143u << 23) - 1), beyond, rounded);
  Value *sign = b.CreateLShr(bits.bitAnd(x, kSign), 16);
  return b.CreateTrunc(b.CreateOr(rounded, sign), b.getInt16Ty());
}

static Value *fromHalf(Bits bits, Value *value) {
  IRBuilder<> &b = bits.b;
  Value *x = b.CreateZExt(value, b.getInt32Ty());
  Value *magnitude = b.CreateShl(bits.bitAnd(x, 0x7fff), kDropped);
  Value *normal = bits.add(magnitude, (127u - 15) << 23);
  // Of infinity and NaN the exponent has all bits.
  Value *special = bits.add(normal, (128u - 16) << 23);
  Value *quiet = b.CreateSelect(bits.isAbove(special, kInfinity),
                                b.CreateOr(special, b.getInt32(0x400000)), special);
  constexpr uint32_t kLeast = 113u << 23; // 2^-14
  Value *small = bits.of(
      b.CreateFSub(bits.toFloat(bits.add(magnitude, kLeast)), bits.toFloat(b.getInt32(kLeast))));
  Value *result = b.CreateSelect(bits.isAbove(magnitude, (0x7c00u << kDropped) - 1), quiet, normal);
  result =
      b.CreateSelect(b.CreateICmpULT(magnitude, b.getInt32(0x400u << kDropped)), small, result);
  Value *sign = b.CreateShl(bits.bitAnd(x, 0x8000), 16);
  return bits.toFloat(b.CreateOr(result, sign));
}

static bool isShort(Type *type) {
  return type->getScalarType()->isHalfTy() || type->getScalarType()->isBFloatTy();
}

static bool usesShortFloats(Module &module) {
  return llvm::any_of(module, [](Function &function) {
    return llvm::any_of(instructions(function), [](Instruction &instruction) {
      return isShort(instruction.getType()) ||
             llvm::any_of(instruction.operands(), [](Use &use) { return isShort(use->getType()); });
    });
  });
}

static Function *define(Module &module, StringRef name, Type *to, Type *from,
                        function_ref<Value *(Bits, Value *)> convert) {
  auto *function = Function::Create(FunctionType::get(to, {from}, /*isVarArg=*/false),
                                    GlobalValue::ExternalLinkage, name, module);
  function->setVisibility(GlobalValue::HiddenVisibility);
  IRBuilder<> b(BasicBlock::Create(module.getContext(), "", function));
  Value *value = function->getArg(0);
  if (from->isHalfTy())
    value = b.CreateBitCast(value, b.getInt16Ty());
  b.CreateRet(b.CreateBitCast(convert(Bits(b), value), to));
  appendToCompilerUsed(module, {function});
  return function;
}

static SmallVector<Function *> defineAll(Module &module) {
  LLVMContext &context = module.getContext();
  Type *f32 = Type::getFloatTy(context), *f16 = Type::getHalfTy(context),
       *bf16 = Type::getBFloatTy(context);
  return {define(module, "__truncsfbf2", bf16, f32, toBf16),
          define(module, "__truncsfhf2", f16, f32, toHalf),
          define(module, "__extendhfsf2", f32, f16, fromHalf)};
}

void mlir::mk::addHalfConversions(llvm::Module &module, const HostCpu &cpu) {
  if (!usesShortFloats(module))
    return;
  for (Function *function : defineAll(module)) {
    function->addFnAttr("target-cpu", cpu.name);
    if (!cpu.features.empty())
      function->addFnAttr("target-features", cpu.features);
  }
}
