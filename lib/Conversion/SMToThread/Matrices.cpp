//===- Matrices.cpp - Products on the tensor cores ------------------------===//
//
// A matrix op becomes one instruction of the matrix unit for each step along K, block of 64
// rows and block of up to 256 columns. What a descriptor says of a staged tile (PTX ISA, "Matrix
// descriptor"; strides in units of 16 bytes):
//   rows along the contraction (K-major): 8 rows lie 1024 bytes from the next 8, a
//     step along K is 32 bytes, after four of them the next chunk begins;
//   columns along it (MN-major, 16-bit types only): 64 rows of the product lie
//     in one chunk, the next chunk begins rows * 128 bytes further, and a
//     step of 16 along K is 16 rows of 128 bytes.
//
//===----------------------------------------------------------------------===//
#include "Lowering.h"

using namespace mlir;
using namespace mlir::mk;
using namespace mlir::mk::sm;
using namespace mlir::mk_sm;

namespace {
/// A staged operand: `extent` rows of the product (or columns) and K.
struct Operand {
  RankedTensorType tile;
  bool kMajor;
  int64_t rows() const { return tile.getShape().end()[-2]; }

  /// Constant part of a descriptor.
  uint64_t descriptor() const {
    uint64_t swizzle128 = uint64_t(1) << 62;
    uint64_t stride = uint64_t(1024 >> 4) << 32;
    uint64_t leading = kMajor ? 1 : rows() * kChunkBytes >> 4;
    return swizzle128 | stride | leading << 16;
  }
  /// Byte offset of step `step` along K at row (or column) `first`, a multiple of 64
  /// unless K-major.
  int64_t offset(int64_t step, int64_t first) const {
    if (kMajor)
      return step / 4 * rows() * kChunkBytes + step % 4 * 32 + first * kChunkBytes;
    return first / 64 * rows() * kChunkBytes + step * 16 * kChunkBytes;
  }
};
} // namespace

static StringRef getMatrixType(Type type) {
  if (type.isBF16())
    return "bf16";
  if (type.isF16())
    return "f16";
  if (type.isF32())
    return "tf32";
  if (isa<Float8E4M3FNType>(type))
    return "e4m3";
  if (isa<Float8E5M2Type>(type))
    return "e5m2";
  return {};
}

/// Columns of one instruction: as many as possible.
static int64_t getColumns(int64_t n, int64_t most) {
  if (n <= most)
    return n;
  for (int64_t columns = most / 64 * 64; columns >= 64; columns -= 64)
    if (n % columns == 0)
      return columns;
  return 0;
}

static bool isZeroFragment(ArrayRef<Value> elements) {
  return llvm::all_equal(elements) && isZero(elements.front());
}

LogicalResult Lowering::emitFence(MmaFenceOp op) {
  SmallVector<Value> words;
  for (Value fragment : op.getFragments())
    if (!isZeroFragment(elements(fragment)))
      llvm::append_range(words, pack(elements(fragment)));
  words = create<mk_thread::WgmmaFenceOp>(TypeRange(ValueRange(words)), words).getResults();
  ArrayRef<Value> left = words;
  for (auto [from, to] : llvm::zip(op.getFragments(), op.getResults())) {
    SmallVector<Value> old(elements(from));
    // Zero needs no registers: the first product starts from nothing.
    if (isZeroFragment(old)) {
      set(to, old);
      continue;
    }
    int64_t taken = pack(old).size();
    set(to, unpack(left.take_front(taken), old.front().getType(), old.size()));
    left = left.drop_front(taken);
  }
  return success();
}

LogicalResult Lowering::emitMmaWait(MmaWaitOp op) {
  SmallVector<Value> words;
  for (Value fragment : op.getFragments())
    llvm::append_range(words, pack(elements(fragment)));
  words = create<mk_thread::WgmmaWaitOp>(TypeRange(ValueRange(words)), op.getPending(), words)
              .getResults();
  ArrayRef<Value> left = words;
  for (auto [from, to] : llvm::zip(op.getFragments(), op.getResults())) {
    SmallVector<Value> old(elements(from));
    int64_t taken = pack(old).size();
    set(to, unpack(left.take_front(taken), old.front().getType(), old.size()));
    left = left.drop_front(taken);
  }
  return success();
}

LogicalResult Lowering::emitMma(MmaOp op) {
  RankedTensorType acc = op.getAcc().getType();
  auto tileOf = [](Value value) {
    if (auto staged = dyn_cast<StagedType>(value.getType()))
      return staged.getTile();
    return cast<RankedTensorType>(value.getType());
  };
  Operand a{tileOf(op.getLhs()), !op.getTransposeA()};
  Operand y{tileOf(op.getRhs()), op.getTransposeB()};
  bool inRegisters = !isa<StagedType>(op.getLhs().getType());
  Type type = a.tile.getElementType();
  Type typeB = y.tile.getElementType();
  StringRef name = getMatrixType(type), nameB = getMatrixType(typeB);
  int64_t bytes = getElementBytes(type);
  bool mixed = bytes == 1 && getElementBytes(typeB) == 1 && !nameB.empty();
  if (name.empty() || (type != typeB && !mixed))
    return op.emitOpError() << "multiplies " << type << " by " << typeB
                            << "; the matrix unit takes two of bf16, f16, f32 (as tf32), or "
                               "any of f8E4M3FN and f8E5M2";
  if (bytes != 2 && ((!inRegisters && !a.kMajor) || !y.kMajor))
    return op.emitOpError()
           << "of " << type
           << " has an operand whose rows do not lie along the contraction; "
              "the matrix unit takes these for 16-bit types only: store "
           << (y.kMajor ? "the left operand as M x K"
                        : "the right operand as N x K and use transpose_b");
  if (bytes != 2 && inRegisters)
    return op.emitOpError() << "takes a left operand of " << type
                            << " in registers, where its elements lie in other "
                               "threads than those of an accumulator; stage it, "
                               "or convert it to bf16";
  int64_t m = acc.getDimSize(0), n = acc.getDimSize(1);
  int64_t warpgroups = cast<MmaAttr>(acc.getEncoding()).getWarpgroups();
  int64_t k = a.tile.getShape().end()[a.kMajor ? -1 : -2], stepK = 32 / bytes;
  int64_t most = getSm(op).getMatrixUnit().getColumns();
  int64_t columns = getColumns(n, most), rowsOfGroup = m / warpgroups;
  if (!columns)
    return op.emitOpError() << "has " << n
                            << " columns, more than the " << most << " of one instruction of "
                            << getSmTarget(op).getName()
                            << " and no multiple of 64; the nearest are "
                            << n / 64 * 64 << " and " << llvm::alignTo(n, 64);
  if (k % stepK)
    return op.emitOpError() << "contracts " << k << " elements of " << type
                            << ", no multiple of the " << stepK
                            << " of one instruction";

  auto descriptor = [&](Value address, const Operand &operand) {
    // In a cluster the CTA's place is in the upper bits of an address; a descriptor has
    // 18 bits of it.
    if (cluster > 1)
      address = and_(address, 0x3ffff);
    Value low = resize(shr(address, 4), i64);
    return or_(low, c64(static_cast<int64_t>(operand.descriptor())));
  };
  Value aBase;
  SmallVector<Value> aWords;
  if (inRegisters) {
    aWords = pack(elements(op.getLhs()));
  } else {
    // The warpgroup's own rows.
    int64_t stride = a.offset(0, rowsOfGroup);
    Value address = scalar(op.getLhs());
    if (warpgroups > 1)
      address = add(address, mul(group, stride));
    aBase = descriptor(address, a);
  }
  Value bBase = descriptor(scalar(op.getRhs()), y);
  SmallVector<Value> sums(elements(op.getAcc()));
  bool zero = isZeroFragment(sums);
  if (op.getAccumulate() && zero)
    return op.emitOpError() << "says when its accumulator counts, but that is "
                               "the constant zero";
  int64_t perBlock = n / 2, perPart = columns / 2, stepWords = 4;
  for (int64_t row = 0; row < rowsOfGroup; row += 64)
    for (int64_t column = 0; column < n; column += columns)
      for (int64_t step = 0; step < k / stepK; ++step) {
        SmallVector<Value> left{aBase};
        if (inRegisters) {
          int64_t first = row / 64 * (k / 4) + step * stepWords;
          left.assign(aWords.begin() + first, aWords.begin() + first + stepWords);
        }
        // The first step may start from nothing.
        Value counts = step == 0 && op.getAccumulate() ? scalar(op.getAccumulate()) : Value();
        auto part = MutableArrayRef(sums).slice(
            row / 64 * perBlock + column / columns * perPart, perPart);
        auto result = create<mk_thread::WgmmaOp>(
            SmallVector<Type>(perPart, f32), columns, stepK, name, nameB, left,
            inRegisters ? 0 : a.offset(step, row) >> 4, bBase, y.offset(step, column) >> 4,
            step == 0 && zero ? ValueRange() : ValueRange(part), counts,
            /*transpose_left=*/!inRegisters && !a.kMajor, /*transpose_right=*/!y.kMajor);
        llvm::copy(result.getResults(), part.begin());
      }
  create<mk_thread::WgmmaCommitOp>();
  set(op.getResult(), sums);
  return success();
}
