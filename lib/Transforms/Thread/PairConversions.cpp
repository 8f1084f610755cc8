//===- PairConversions.cpp - Two elements are converted at a time ---------===//
//
// Instructions for fp8 take two elements. For integers of 8 bits there is a faster way than the
// instruction (I2F, which is carried out by the special function unit): behind an exponent, the
// last bits of a mantissa are an integer and a power of two. That is taken off without an error.
//
//===----------------------------------------------------------------------===//
#include "Expand.h"
#include "mlir/IR/Matchers.h"

using namespace mlir;
using namespace mlir::mk_thread;

namespace {
/// Ops that may go together have the same kind: what they are, and what they make of what.
struct Conversion {
  Operation *op = nullptr;
  Value from;
  Type type; // of the result, of fp8 the narrow one
  bool isSigned = false;

  bool isLike(const Conversion &other) const {
    return op->getName() == other.op->getName() && type == other.type && isSigned == other.isSigned;
  }
};
} // namespace

/// The 8 bits that an integer comes from, and whether they are signed; null if it is not the same
/// number.
static Value findByte(Value value, bool &isSigned) {
  if (auto wider = value.getDefiningOp<arith::ExtSIOp>(); wider && isSigned)
    value = wider.getIn();
  else if (auto wider = value.getDefiningOp<arith::ExtUIOp>())
    value = wider.getIn(), isSigned = false;
  return value.getType().isInteger(8) ? value : Value();
}

static std::optional<Conversion> findConversion(Operation &op) {
  if (isa<arith::SIToFPOp, arith::UIToFPOp>(op)) {
    bool isSigned = isa<arith::SIToFPOp>(op);
    Type type = op.getResult(0).getType();
    Value byte = findByte(op.getOperand(0), isSigned);
    if (byte && (type.isF32() || type.isF16() || type.isBF16()))
      return Conversion{&op, byte, type, isSigned};
  }
  if (auto narrow = dyn_cast<ToFp8Op>(op);
      narrow && matchPattern(narrow.getHigh(), m_AnyZeroFloat()))
    return Conversion{&op, narrow.getLow(), narrow.getType()};
  // What is there of one element only.
  if (auto wide = dyn_cast<FromFp8Op>(op))
    if (auto byte = wide.getBits().getDefiningOp<arith::ExtUIOp>())
      return Conversion{&op, byte.getIn(), wide.getType()};
  return std::nullopt;
}

/// Two bytes as one number, the first one below.
static Value joinBytes(Emitter &e, Value low, Value high) {
  auto type = VectorType::get(2, e.i8);
  Value bytes = LLVM::UndefOp::create(e, type);
  bytes = LLVM::InsertElementOp::create(e, bytes, low, e.c32(0));
  bytes = LLVM::InsertElementOp::create(e, bytes, high, e.c32(1));
  return LLVM::BitcastOp::create(e, e.i16, bytes);
}

static std::array<Value, 2> split(Emitter &e, Value pair) {
  return {LLVM::ExtractElementOp::create(e, pair, e.c32(0)),
          LLVM::ExtractElementOp::create(e, pair, e.c32(1))};
}

/// Bytes of `x` (numbered 0 to 3) and of `y` (4 to 7); a digit of `selector` for each.
static Value permute(Emitter &e, Value x, int64_t y, int64_t selector) {
  return NVVM::PermuteOp::create(e, e.i32, x, e.c32(y), e.c32(selector),
                                 NVVM::PermuteMode::DEFAULT);
}

/// Of numbers off by 128 where they are signed.
static Value liftSigns(Emitter &e, Value word, bool isSigned) {
  return isSigned ? xor_(e, word, 0x8080) : word;
}

// 2^23 and the number: bits of f32 are whole numbers there.
static std::array<Value, 2> toSingles(Emitter &e, Value word, bool isSigned) {
  word = liftSigns(e, word, isSigned);
  std::array<Value, 2> results;
  for (auto [i, result] : llvm::enumerate(results)) {
    Value bits = permute(e, word, 0x4b000000, 0x7440 + int64_t(i));
    result = LLVM::FSubOp::create(e, LLVM::BitcastOp::create(e, e.f32, bits),
                                  e.cf32((1 << 23) + (isSigned ? 128 : 0)));
  }
  return results;
}

static Value splatHalf(Emitter &e, Type type, double value) {
  return LLVM::ConstantOp::create(
      e, VectorType::get(2, type),
      DenseElementsAttr::get(VectorType::get(2, type), e.getFloatAttr(type, value)));
}

/// 16 bits of each number, the byte and `exponent` above it.
static Value placeInHalves(Emitter &e, Value word, int64_t exponent) {
  return permute(e, word, exponent, 0x4140);
}

// 1024 and the number.
static std::array<Value, 2> toHalves(Emitter &e, Value word, bool isSigned) {
  Type type = e.getF16Type();
  Value lifted = placeInHalves(e, liftSigns(e, word, isSigned), 0x64);
  Value numbers = LLVM::BitcastOp::create(e, VectorType::get(2, type), lifted);
  numbers = LLVM::FSubOp::create(e, numbers, splatHalf(e, type, isSigned ? 1152 : 1024));
  return split(e, numbers);
}

// Mantissas of bf16 have 7 bits: 128 and these, and by the eighth, which is the last of the
// exponent, 128 or 256.
static std::array<Value, 2> toBrains(Emitter &e, Value word, bool isSigned) {
  Type type = e.getBF16Type(), pair = VectorType::get(2, type);
  Value bits = placeInHalves(e, word, 0x43);
  Value low = LLVM::BitcastOp::create(e, pair, and_(e, bits, int64_t(int32_t(0xff7fff7f))));
  Value high = LLVM::BitcastOp::create(e, pair, and_(e, bits, int64_t(int32_t(0xff80ff80))));
  Value numbers;
  if (isSigned)
    numbers = LLVM::FSubOp::create(e, low, high);
  else
    numbers = LLVM::FAddOp::create(e, low, LLVM::FSubOp::create(e, high, splatHalf(e, type, 256)));
  return split(e, numbers);
}

/// What stands for the results of the two.
static std::array<Value, 2> convert(Emitter &e, const Conversion &first, const Conversion &second) {
  if (auto narrow = dyn_cast<ToFp8Op>(first.op)) {
    Value both = ToFp8Op::create(e, first.type, first.from, second.from);
    return {and_(e, both, 0xff), shr(e, both, 8)};
  }
  Value word = joinBytes(e, first.from, second.from);
  if (isa<FromFp8Op>(first.op)) {
    Value both = FromFp8Op::create(e, first.type, word);
    return {and_(e, both, 0xffff), shr(e, both, 16)};
  }
  word = resize(e, word, e.i32);
  if (first.type.isF32())
    return toSingles(e, word, first.isSigned);
  return first.type.isF16() ? toHalves(e, word, first.isSigned) : toBrains(e, word, first.isSigned);
}

/// The second may come with the first: it takes nothing from between the two.
static bool isReadyAt(const Conversion &second, const Conversion &first) {
  Operation *def = second.from.getDefiningOp();
  return !def || def->getBlock() != first.op->getBlock() || def->isBeforeInBlock(first.op);
}

static void pairIn(Block &block, Emitter &e) {
  std::optional<Conversion> first;
  for (Operation &op : llvm::make_early_inc_range(block)) {
    std::optional<Conversion> second = findConversion(op);
    if (!second)
      continue;
    if (!first || !second->isLike(*first) || !isReadyAt(*second, *first)) {
      first = second;
      continue;
    }
    e.setLoc(first->op->getLoc());
    e.setInsertionPoint(first->op);
    auto [low, high] = convert(e, *first, *second);
    first->op->replaceAllUsesWith(ValueRange(low));
    second->op->replaceAllUsesWith(ValueRange(high));
    first->op->erase();
    second->op->erase();
    first.reset();
  }
}

void mk_thread::pairConversions(KernelOp kernel) {
  Emitter emitter(kernel.getContext(), kernel.getLoc());
  emitter.enter(kernel);
  kernel.walk([&](Block *block) { pairIn(*block, emitter); });
}
