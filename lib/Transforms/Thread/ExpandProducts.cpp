//===- ExpandProducts.cpp - Products in single instructions ---------------===//
//
// One instruction of the matrix unit for each block of rows, block of columns and step along the
// contraction. What a descriptor says of a staged tile (PTX ISA, "Matrix descriptor"; strides in
// units of 16 bytes):
//   rows along the contraction (K-major): a stride from one period of the swizzle to the next; a
//     step along K is a part of a chunk, and behind the last part the next chunk begins;
//   columns along it (MN-major, 16-bit types only): the rows of one instruction are a chunk; a
//     stride from one chunk to the next, and a step along K is as many rows.
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
  mk::SmAttr sm;

  Value descriptor(Emitter &e, Value address, int64_t cluster) const {
    // In a cluster the CTA's place is in the upper bits of an address; a descriptor has
    // 18 bits of it.
    if (cluster > 1)
      address = and_(e, address, 0x3ffff);
    uint64_t swizzle128 = uint64_t(1) << 62;
    uint64_t stride = uint64_t(sm.getSwizzleRows() * sm.getChunk() >> 4) << 32;
    uint64_t leading = kMajor ? 1 : rows * sm.getChunk() >> 4;
    Value low = resize(e, shr(e, address, 4), e.i64);
    return or_(e, low, static_cast<int64_t>(swizzle128 | stride | leading << 16));
  }
  /// How far step `step` along K at row (or column) `first`, whole chunks of them unless K-major,
  /// lies from the first one, in units of 16 bytes.
  int64_t offset(int64_t step, int64_t first) const {
    int64_t chunk = sm.getChunk(), column = rows * chunk;
    mk::MatrixUnitAttr unit = sm.getMatrixUnit();
    int64_t parts = chunk / unit.getKBytes(), stepRows = unit.getKBytes() / 2;
    int64_t bytes = kMajor ? step / parts * column + step % parts * unit.getKBytes() + first * chunk
                           : first / unit.getRows() * column + step * stepRows * chunk;
    return bytes >> 4;
  }
};
} // namespace

static SmallVector<Value> multiply(ProductOp op, Emitter &e) {
  mk::MatrixUnitAttr unit = e.sm.getMatrixUnit();
  int64_t cluster = op->getParentOfType<KernelOp>().getCluster(),
          stepK = unit.getKBytes() / getMatrixBytes(op.getLeftType());
  int64_t k = op.getDepth(), n = op.getColumns(), width = op.getWidth();
  Operand a{int64_t(op.getLeftRows()), !op.getTransposeLeft(), e.sm},
      y{int64_t(op.getRightRows()), !op.getTransposeRight(), e.sm};
  bool inRegisters = op.getLeft().size() != 1;
  Value aBase = inRegisters ? Value() : a.descriptor(e, op.getLeft().front(), cluster);
  Value bBase = y.descriptor(e, op.getRight(), cluster);
  bool zero = op.getAcc().empty();
  SmallVector<Value> sums(op.getAcc());
  sums.resize(op.getResults().size());
  int64_t perBlock = n / 2, perPart = width / 2, stepWords = 4;
  for (int64_t row = 0; row < int64_t(op.getRows()); row += unit.getRows())
    for (int64_t column = 0; column < n; column += width)
      for (int64_t step = 0; step < k / stepK; ++step) {
        ValueRange left = aBase;
        if (inRegisters)
          left = op.getLeft().slice(row / unit.getRows() * (k / 4) + step * stepWords, stepWords);
        // The first step may start from nothing.
        Value counts = step == 0 ? op.getAccumulate() : Value();
        auto part = MutableArrayRef(sums).slice(
            row / unit.getRows() * perBlock + column / width * perPart, perPart);
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
