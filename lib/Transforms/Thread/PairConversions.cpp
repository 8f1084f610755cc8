//===- PairConversions.cpp - Two elements are converted at a time ---------===//
//
// Instructions for fp8 take two elements. For integers of up to 8 bits there is a faster way than
// the instruction (I2F, which is carried out by the special function unit): behind an exponent, the
// last bits of a mantissa are an integer and a power of two. That is taken off without an error,
// and with it what a constant has been added. What is done with their bits in front of that is done
// with two of them at once, too.
//
//===----------------------------------------------------------------------===//
#include "SmallIntegers.h"
#include "mlir/IR/Matchers.h"

using namespace mlir;
using namespace mlir::mk_thread;

namespace {
/// Ops that may go together have the same kind: what they are, and what they make of what.
struct Conversion {
  Operation *op = nullptr;
  SmallInteger from; // of fp8 the source alone
  Type type;         // of the result, of fp8 the narrow one

  bool isLike(const Conversion &other) const {
    bool areIntegers = isa<arith::SIToFPOp, arith::UIToFPOp>(op);
    return type == other.type &&
           (areIntegers ? isa<arith::SIToFPOp, arith::UIToFPOp>(other.op)
                        : op->getName() == other.op->getName()) &&
           from.isLike(other.from);
  }
};

/// Two numbers in a word, and what is added to each.
struct Pair {
  Value word;
  int64_t apart; // bytes, from the first to the second
  int64_t mask;  // bits of the word that count, where these are two
  int64_t most, offset;
  bool isSigned;
};
} // namespace

static Conversion takeWhole(Operation &op, Value from, Type type) {
  Conversion conversion{&op, SmallInteger(), type};
  conversion.from.source = from;
  return conversion;
}

static std::optional<Conversion> findConversion(Operation &op) {
  if (isa<arith::SIToFPOp, arith::UIToFPOp>(op)) {
    Type type = op.getResult(0).getType();
    auto number = findSmallInteger(op.getOperand(0), isa<arith::SIToFPOp>(op));
    if (number && (type.isF32() || type.isF16() || type.isBF16()))
      return Conversion{&op, std::move(*number), type};
  }
  if (auto narrow = dyn_cast<ToFp8Op>(op);
      narrow && matchPattern(narrow.getHigh(), m_AnyZeroFloat()))
    return takeWhole(op, narrow.getLow(), narrow.getType());
  // What is there of one element only.
  if (auto wide = dyn_cast<FromFp8Op>(op))
    if (auto byte = wide.getBits().getDefiningOp<arith::ExtUIOp>())
      return takeWhole(op, byte.getIn(), wide.getType());
  return std::nullopt;
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

static Pair place(Emitter &e, const SmallInteger &low, const SmallInteger &high) {
  bool areBytes = low.steps.empty() && low.source.getType().isInteger(8);
  if (areBytes)
    return {resize(e, joinBytes(e, low.source, high.source), e.i32),
            1,
            0,
            low.most,
            low.offset,
            low.isSigned};
  MaskedPair pair = computePair(e, low, high);
  return {pair.word, 2, pair.mask, low.most, low.offset, low.isSigned};
}

/// Signed bytes become numbers that are 128 more.
static void liftSigns(Emitter &e, Pair &pair) {
  if (!pair.isSigned)
    return;
  pair.word = xor_(e, pair.word, 0x8080);
  pair.isSigned = false;
  pair.offset -= 128;
}

// 2^23 and the number: bits of f32 are whole numbers there.
static std::array<Value, 2> toSingles(Emitter &e, Pair pair) {
  liftSigns(e, pair);
  if (pair.apart == 2)
    pair.word = and_(e, pair.word, int64_t(int32_t(pair.mask)));
  std::array<Value, 2> results;
  for (auto [i, result] : llvm::enumerate(results)) {
    Value bits = permute(e, pair.word, 0x4b000000, 0x7440 + int64_t(i) * pair.apart);
    result = LLVM::FSubOp::create(e, LLVM::BitcastOp::create(e, e.f32, bits),
                                  e.cf32((1 << 23) - pair.offset));
  }
  return results;
}

static Value splatHalf(Emitter &e, Type type, double value) {
  return LLVM::ConstantOp::create(
      e, VectorType::get(2, type),
      DenseElementsAttr::get(VectorType::get(2, type), e.getFloatAttr(type, value)));
}

/// 16 bits of each number, the byte and `exponent` above it.
static Value placeInHalves(Emitter &e, const Pair &pair, int64_t exponent) {
  if (pair.apart == 2)
    return MaskedOrOp::create(e, pair.word, int32_t(pair.mask), exponent << 24 | exponent << 8);
  return permute(e, pair.word, exponent, 0x4140);
}

// 1024 and the number.
static std::array<Value, 2> toHalves(Emitter &e, Pair pair) {
  Type type = e.getF16Type();
  liftSigns(e, pair);
  Value numbers =
      LLVM::BitcastOp::create(e, VectorType::get(2, type), placeInHalves(e, pair, 0x64));
  return split(e, LLVM::FSubOp::create(e, numbers, splatHalf(e, type, 1024 - pair.offset)));
}

// Mantissas of bf16 have 7 bits: 128 and these, and by the eighth, which is the last of the
// exponent, 128 or 256.
static std::array<Value, 2> toBrains(Emitter &e, const Pair &pair) {
  Type type = e.getBF16Type(), two = VectorType::get(2, type);
  Value bits = placeInHalves(e, pair, 0x43);
  auto number = [&](Value bits) { return LLVM::BitcastOp::create(e, two, bits); };
  if (pair.most < 128)
    return split(e, LLVM::FSubOp::create(e, number(bits), splatHalf(e, type, 128 - pair.offset)));
  Value low = number(and_(e, bits, int64_t(int32_t(0xff7fff7f))));
  Value high = number(and_(e, bits, int64_t(int32_t(0xff80ff80))));
  if (pair.isSigned)
    return split(e, LLVM::FSubOp::create(e, low, high));
  // Whole numbers up to 256 have all their bits, and even ones up to 512.
  int64_t taken = 256 - pair.offset;
  if (taken > 256 && taken % 2) {
    low = LLVM::FSubOp::create(e, low, splatHalf(e, type, 1));
    --taken;
  }
  high = LLVM::FSubOp::create(e, high, splatHalf(e, type, taken));
  return split(e, LLVM::FAddOp::create(e, low, high));
}

/// What stands for the results of the two.
static std::array<Value, 2> convert(Emitter &e, const Conversion &first, const Conversion &second) {
  if (auto narrow = dyn_cast<ToFp8Op>(first.op)) {
    Value both = ToFp8Op::create(e, first.type, first.from.source, second.from.source);
    return {and_(e, both, 0xff), shr(e, both, 8)};
  }
  if (isa<FromFp8Op>(first.op)) {
    Value both =
        FromFp8Op::create(e, first.type, joinBytes(e, first.from.source, second.from.source));
    return {and_(e, both, 0xffff), shr(e, both, 16)};
  }
  Pair pair = place(e, first.from, second.from);
  if (first.type.isF32())
    return toSingles(e, std::move(pair));
  return first.type.isF16() ? toHalves(e, std::move(pair)) : toBrains(e, pair);
}

/// The second may come with the first: it takes nothing from between the two.
static bool isReadyAt(const Conversion &second, const Conversion &first) {
  Operation *def = second.from.source.getDefiningOp();
  return !def || def->getBlock() != first.op->getBlock() || def->isBeforeInBlock(first.op);
}

static void pairIn(Block &block, Emitter &e) {
  SmallVector<Conversion> open; // of each kind the last one that has none yet
  for (Operation &op : llvm::make_early_inc_range(block)) {
    std::optional<Conversion> second = findConversion(op);
    if (!second)
      continue;
    auto *first = llvm::find_if(open, [&](const Conversion &c) { return second->isLike(c); });
    if (first == open.end()) {
      open.push_back(std::move(*second));
      continue;
    }
    if (!isReadyAt(*second, *first)) {
      *first = std::move(*second);
      continue;
    }
    e.setLoc(first->op->getLoc());
    e.setInsertionPoint(first->op);
    auto [low, high] = convert(e, *first, *second);
    first->op->replaceAllUsesWith(ValueRange(low));
    second->op->replaceAllUsesWith(ValueRange(high));
    first->op->erase();
    second->op->erase();
    open.erase(first);
  }
}

void mk_thread::pairConversions(KernelOp kernel) {
  Emitter emitter(kernel.getContext(), kernel.getLoc());
  emitter.enter(kernel);
  kernel.walk([&](Block *block) { pairIn(*block, emitter); });
}
