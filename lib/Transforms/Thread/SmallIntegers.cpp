//===- SmallIntegers.cpp - Two integers of up to 8 bits in a word ---------===//
#include "SmallIntegers.h"
#include "mlir/IR/Matchers.h"
#include "llvm/ADT/TypeSwitch.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace mlir::mk_thread;

using Step = SmallInteger::Step;

/// All bits of a byte, and its sign.
static constexpr int64_t kByte = 0xff, kSign = 0x80;
static constexpr int64_t kWordBits = 32;

namespace {
/// What is known of a value on the way from its source. Of i8 a number from 0 to 255 stands for the
/// signed one as well, as long as it has no offset.
struct State : SmallInteger {
  /// Of a word whose upper bits are not masked yet: the lowest bit that counts, and what came in
  /// from above.
  std::optional<int64_t> openFrom;
  enum class Fill { None, Zeros, Signs, Both } fill = Fill::None;

  void add(Step step, int64_t number) { steps.emplace_back(step, number); }

  /// Those bits of a number without an offset.
  void mask(int64_t bits) {
    bits &= kByte;
    if ((most & bits) != most || !llvm::isMask_64(most))
      add(Step::And, bits);
    most = std::min(most, bits);
  }

  /// So many bits of the word, from the first one that counts on. False if they lie in two bytes.
  bool close(int64_t count) {
    int64_t shift = *openFrom % 8;
    if (count < 1 || shift + count > 8)
      return false;
    byte = *openFrom / 8;
    openFrom.reset();
    if (shift)
      add(Step::Shr, shift);
    most = kByte >> shift;
    mask(llvm::maskTrailingOnes<uint64_t>(count));
    return true;
  }

  /// The highest of `count` bits is a sign.
  void extendSign(int64_t count) {
    int64_t sign = int64_t(1) << (count - 1);
    add(Step::Xor, sign);
    most = 2 * sign - 1;
    offset = -sign;
  }

  /// Whether it is the same number with a sign and without.
  bool isPlain() const { return !openFrom && (offset != 0 || most < kSign); }

  /// Back from a byte whose sign was extended, of which the bits above do not count.
  void dropSign() {
    if (offset != -kSign || steps.empty() || steps.back() != std::pair(Step::Xor, kSign))
      return;
    steps.pop_back();
    offset = 0;
  }
};
} // namespace

static std::optional<State> find(Value value);

static std::optional<int64_t> getConstant(Value value) {
  APInt number;
  if (!matchPattern(value, m_ConstantInt(&number)) || number.getBitWidth() > 64)
    return std::nullopt;
  return number.getSExtValue();
}

/// As a number of more bits than `width`. Of more than 8 the number has its sign already.
static bool widen(State &state, bool isSigned, int64_t width) {
  if (state.openFrom)
    return false;
  if (!isSigned)
    return state.offset >= 0;
  if (width == 8 && !state.isPlain())
    state.extendSign(8);
  return true;
}

static bool shiftWordRight(State &state, int64_t by, bool isSigned) {
  using Fill = State::Fill;
  if (by && isSigned)
    state.fill = state.fill == Fill::None ? Fill::Signs : state.fill;
  else if (by)
    state.fill = state.fill == Fill::None || state.fill == Fill::Zeros ? Fill::Zeros : Fill::Both;
  *state.openFrom += by;
  int64_t left = kWordBits - *state.openFrom;
  if (left > 8 || (state.fill != Fill::Zeros && state.fill != Fill::Signs))
    return left > 0;
  if (!state.close(left))
    return false;
  if (state.fill == Fill::Signs)
    state.extendSign(left);
  return true;
}

static bool shiftRight(State &state, int64_t by, bool isSigned, int64_t width) {
  if (by < 0 || by >= width)
    return false;
  if (state.openFrom)
    return shiftWordRight(state, by, isSigned);
  bool hasSign = isSigned && width == 8 && !state.isPlain();
  if (isSigned && state.offset && by < 8) {
    state.dropSign();
    hasSign = !state.offset;
  }
  if (state.offset)
    return false;
  if (by)
    state.add(Step::Shr, std::min<int64_t>(by, 8));
  state.most >>= by;
  if (hasSign)
    state.extendSign(8 - by);
  return true;
}

static bool shiftLeft(State &state, int64_t by, int64_t width) {
  if (by < 0 || by > 7 || state.offset || state.openFrom)
    return false;
  if (width > 8 && (state.most << by) > kByte)
    return false;
  state.add(Step::Shl, by);
  state.most = std::min(state.most << by, kByte);
  return true;
}

static bool applyMask(State &state, int64_t bits) {
  if (state.openFrom)
    return llvm::isMask_64(bits) && state.close(llvm::countr_one(uint64_t(bits)));
  if (bits >= 0 && bits <= kByte)
    state.dropSign();
  if (state.offset)
    return false;
  state.mask(bits);
  return true;
}

static bool flip(State &state, Step step, int64_t bits) {
  if (state.offset || state.openFrom || bits < 0 || bits > kByte)
    return false;
  state.add(step, bits);
  state.most = llvm::NextPowerOf2(state.most | bits) - 1;
  return true;
}

/// Numbers of 8 bits that wrap around do not follow.
static bool shift(State &state, int64_t by, int64_t width) {
  int64_t least = state.offset + by, most = least + state.most;
  if (state.openFrom || least < -kSign || most > (width == 8 ? kSign - 1 : kByte) ||
      (width == 8 && !state.isPlain()))
    return false;
  state.offset = least;
  return true;
}

/// Some bits of a number, the highest one a sign: shifted to the upper end of a word and back.
static std::optional<State> findSignedBits(arith::ShLIOp up, int64_t down, int64_t width) {
  std::optional<int64_t> by = getConstant(up.getRhs());
  std::optional<State> state = find(up.getLhs());
  int64_t count = width - down;
  if (!state || !by || *by < 0 || down < *by || down >= width || count > 8)
    return std::nullopt;
  int64_t first = down - *by;
  if (first + count <= 8)
    state->dropSign();
  if (!shiftRight(*state, first, /*isSigned=*/false, width) ||
      !applyMask(*state, llvm::maskTrailingOnes<uint64_t>(count)))
    return std::nullopt;
  state->extendSign(count);
  return state;
}

static std::optional<State> findOfOp(Operation *op) {
  int64_t width = op->getResult(0).getType().getIntOrFloatBitWidth();
  int64_t bits = 0;
  if (op->getNumOperands() == 2) {
    std::optional<int64_t> number = getConstant(op->getOperand(1));
    if (!number)
      return std::nullopt;
    bits = *number;
  }
  if (auto shift = dyn_cast<arith::ShRSIOp>(op))
    if (auto up = shift.getLhs().getDefiningOp<arith::ShLIOp>())
      return findSignedBits(up, bits, width);
  std::optional<State> state = find(op->getOperand(0));
  if (!state)
    return std::nullopt;
  int64_t from = op->getOperand(0).getType().getIntOrFloatBitWidth();
  int64_t unsignedBits = width == 8 ? bits & kByte : bits;
  bool ok =
      llvm::TypeSwitch<Operation *, bool>(op)
          .Case([&](arith::ExtSIOp) { return widen(*state, /*isSigned=*/true, from); })
          .Case([&](arith::ExtUIOp) { return widen(*state, /*isSigned=*/false, from); })
          .Case([&](arith::TruncIOp) { return width == 8 && applyMask(*state, kByte); })
          .Case([&](arith::AndIOp) { return applyMask(*state, unsignedBits); })
          .Case([&](arith::OrIOp) { return flip(*state, Step::Or, unsignedBits); })
          .Case([&](arith::XOrIOp) { return flip(*state, Step::Xor, unsignedBits); })
          .Case([&](arith::ShLIOp) { return shiftLeft(*state, bits, width); })
          .Case([&](arith::ShRUIOp) { return shiftRight(*state, bits, /*isSigned=*/false, width); })
          .Case([&](arith::ShRSIOp) { return shiftRight(*state, bits, /*isSigned=*/true, width); })
          .Case([&](arith::AddIOp) { return shift(*state, bits, width); })
          .Case([&](arith::SubIOp) { return shift(*state, -bits, width); });
  return ok ? state : std::nullopt;
}

static std::optional<State> find(Value value) {
  if (Operation *def = value.getDefiningOp();
      isa_and_nonnull<arith::ExtSIOp, arith::ExtUIOp, arith::TruncIOp, arith::AndIOp, arith::OrIOp,
                      arith::XOrIOp, arith::ShLIOp, arith::ShRUIOp, arith::ShRSIOp, arith::AddIOp,
                      arith::SubIOp>(def) &&
      value.getType().isInteger())
    if (std::optional<State> state = findOfOp(def))
      return state;
  State leaf;
  leaf.source = value;
  if (value.getType().isInteger(kWordBits))
    leaf.openFrom = 0;
  else if (!value.getType().isInteger(8))
    return std::nullopt;
  return leaf;
}

std::optional<SmallInteger> mk_thread::findSmallInteger(Value value, bool isSigned) {
  std::optional<State> state = find(value);
  if (!state || state->openFrom)
    return std::nullopt;
  if (isSigned && value.getType().isInteger(8) && !state->isPlain())
    state->extendSign(8);
  if (!isSigned && state->offset < 0)
    return std::nullopt;
  if (state->source.getType().isInteger(8) && state->steps.size() == 1) {
    state->dropSign();
    state->isSigned = state->steps.empty();
  }
  return *state;
}

Value mk_thread::joinBytes(Emitter &e, Value low, Value high) {
  auto type = VectorType::get(2, e.i8);
  Value bytes = LLVM::UndefOp::create(e, type);
  bytes = LLVM::InsertElementOp::create(e, bytes, low, e.c32(0));
  bytes = LLVM::InsertElementOp::create(e, bytes, high, e.c32(1));
  return LLVM::BitcastOp::create(e, e.i16, bytes);
}

MaskedPair mk_thread::computePair(Emitter &e, const SmallInteger &low, const SmallInteger &high) {
  auto twice = [](int64_t bits) { return bits << 16 | bits; };
  auto permute = [&](Value x, Value y, int64_t selector) {
    return NVVM::PermuteOp::create(e, e.i32, x, y, e.c32(selector), NVVM::PermuteMode::DEFAULT);
  };
  MaskedPair pair;
  if (low.source.getType().isInteger(8)) {
    pair.word = permute(resize(e, joinBytes(e, low.source, high.source), e.i32), e.c32(0), 0x4140);
  } else {
    int64_t x = low.byte, y = 4 + high.byte; // twice: what stands above the two does not count
    pair.word = permute(low.source, high.source, y << 12 | y << 8 | x << 4 | x);
    pair.mask = twice(kByte);
  }
  auto apply = [&] {
    if (pair.mask != 0xffffffff)
      pair.word = and_(e, pair.word, int64_t(int32_t(pair.mask)));
    pair.mask = 0xffffffff;
  };
  for (auto [step, number] : low.steps) {
    // Bits above the numbers may be shifted into them, and are masked there.
    if (step != Step::And && step != Step::Shr)
      apply();
    switch (step) {
    case Step::And:
      pair.mask &= twice(number);
      break;
    case Step::Xor:
      pair.word = xor_(e, pair.word, twice(number));
      break;
    case Step::Or:
      pair.word = or_(e, pair.word, twice(number));
      break;
    case Step::Shl:
      pair.word = shl(e, pair.word, number);
      pair.mask = twice(kByte);
      break;
    case Step::Shr:
      pair.word = shr(e, pair.word, number);
      pair.mask = (pair.mask >> number) & twice(kByte >> number);
      break;
    }
  }
  return pair;
}
