//===- ExpandProducts.cpp - Products in single instructions ---------------===//
//
// One instruction of the matrix unit for each block of 64 rows, block of columns and step along the
// contraction. What a descriptor says of a staged tile (PTX ISA, "Matrix descriptor"; strides in
// units of 16 bytes):
//   rows along the contraction (K-major): 8 rows lie 1024 bytes from the next 8, a
//     step along K is 32 bytes, after four of them the next chunk begins;
//   columns along it (MN-major, 16-bit types only): 64 rows of the product lie
//     in one chunk, the next chunk begins rows * 128 bytes further, and a
//     step of 16 along K is 16 rows of 128 bytes.
//
//===----------------------------------------------------------------------===//
#include "Expand.h"

using namespace mlir;
using namespace mlir::mk_thread;

namespace {
/// A staged operand, of which a chunk has so many rows.
struct Operand {
  int64_t rows;
  bool kMajor;

  Value descriptor(Emitter &e, Value address, int64_t cluster) const {
    // In a cluster the CTA's place is in the upper bits of an address; a descriptor has
    // 18 bits of it.
    if (cluster > 1)
      address = and_(e, address, 0x3ffff);
    uint64_t swizzle128 = uint64_t(1) << 62, stride = uint64_t(1024 >> 4) << 32;
    uint64_t leading = kMajor ? 1 : rows * kChunkBytes >> 4;
    Value low = resize(e, shr(e, address, 4), e.i64);
    return or_(e, low, static_cast<int64_t>(swizzle128 | stride | leading << 16));
  }
  /// How far step `step` along K at row (or column) `first`, a multiple of 64 unless K-major, lies
  /// from the first one, in units of 16 bytes.
  int64_t offset(int64_t step, int64_t first) const {
    int64_t bytes = kMajor ? step / 4 * rows * kChunkBytes + step % 4 * 32 + first * kChunkBytes
                           : first / 64 * rows * kChunkBytes + step * 16 * kChunkBytes;
    return bytes >> 4;
  }
};
} // namespace

static SmallVector<Value> multiply(ProductOp op, Emitter &e) {
  int64_t cluster = op->getParentOfType<KernelOp>().getCluster(),
          stepK = 32 / getMatrixBytes(op.getLeftType());
  int64_t k = op.getDepth(), n = op.getColumns(), width = op.getWidth();
  Operand a{int64_t(op.getLeftRows()), !op.getTransposeLeft()},
      y{int64_t(op.getRightRows()), !op.getTransposeRight()};
  bool inRegisters = op.getLeft().size() != 1;
  Value aBase = inRegisters ? Value() : a.descriptor(e, op.getLeft().front(), cluster);
  Value bBase = y.descriptor(e, op.getRight(), cluster);
  bool zero = op.getAcc().empty();
  SmallVector<Value> sums(op.getAcc());
  sums.resize(op.getResults().size());
  int64_t perBlock = n / 2, perPart = width / 2, stepWords = 4;
  for (int64_t row = 0; row < int64_t(op.getRows()); row += 64)
    for (int64_t column = 0; column < n; column += width)
      for (int64_t step = 0; step < k / stepK; ++step) {
        ValueRange left = aBase;
        if (inRegisters)
          left = op.getLeft().slice(row / 64 * (k / 4) + step * stepWords, stepWords);
        // The first step may start from nothing.
        Value counts = step == 0 ? op.getAccumulate() : Value();
        auto part =
            MutableArrayRef(sums).slice(row / 64 * perBlock + column / width * perPart, perPart);
        auto result = WgmmaOp::create(
            e, SmallVector<Type>(perPart, e.f32), width, stepK, op.getLeftType(), op.getRightType(),
            left, inRegisters ? 0 : a.offset(step, row), bBase, y.offset(step, column),
            step == 0 && zero ? ValueRange() : ValueRange(part), counts, op.getTransposeLeft(),
            op.getTransposeRight());
        llvm::copy(result.getResults(), part.begin());
      }
  WgmmaCommitOp::create(e);
  return sums;
}

void mk_thread::expandProducts(ModuleOp module) { replaceEach<ProductOp>(module, multiply); }
