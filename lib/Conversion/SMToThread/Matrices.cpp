//===- Matrices.cpp - Products on the tensor cores ------------------------===//
//
// Which instructions a product becomes: mk-thread-expand-products.
//
//===----------------------------------------------------------------------===//
#include "Lowerings.h"
#include "mkernel/Analysis/Dots.h"

using namespace mlir;
using namespace mlir::mk;
using namespace mlir::mk::sm;
using namespace mlir::mk_sm;

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

static void lowerMmaFence(MmaFenceOp op, PartitionBuilder &p) {
  // Zero needs no registers: the first product starts from nothing.
  auto isHeld = [&](Value fragment) { return !isZero(p.scalar(fragment)); };
  SmallVector<Value> words = p.packAll(llvm::filter_to_vector(op.getFragments(), isHeld)), results;
  words = mk_thread::WgmmaFenceOp::create(p, TypeRange(ValueRange(words)), words).getResults();
  for (auto [from, to] : llvm::zip(op.getFragments(), op.getResults()))
    isHeld(from) ? results.push_back(to) : p.set(to, p.scalar(from));
  p.unpackAll(results, words);
}

static void lowerMmaWait(MmaWaitOp op, PartitionBuilder &p) {
  SmallVector<Value> words = p.packAll(op.getFragments());
  p.unpackAll(op.getResults(), mk_thread::WgmmaWaitOp::create(p, TypeRange(ValueRange(words)),
                                                              op.getPending(), words)
                                   .getResults());
}

static LogicalResult lowerMma(MmaOp op, PartitionBuilder &p) {
  RankedTensorType acc = op.getAcc().getType();
  auto tileOf = [](Value value) {
    if (auto staged = dyn_cast<StagedType>(value.getType()))
      return staged.getTile();
    return cast<RankedTensorType>(value.getType());
  };
  RankedTensorType a = tileOf(op.getLhs()), y = tileOf(op.getRhs());
  bool transposeA = op.getTransposeA(), transposeB = !op.getTransposeB();
  bool inRegisters = !isa<StagedType>(op.getLhs().getType());
  Type type = a.getElementType(), typeB = y.getElementType();
  StringRef name = getMatrixType(type), nameB = getMatrixType(typeB);
  int64_t bytes = getElementBytes(type);
  bool mixed = bytes == 1 && getElementBytes(typeB) == 1 && !nameB.empty();
  if (name.empty() || (type != typeB && !mixed))
    return op.emitOpError() << "multiplies " << type << " by " << typeB
                            << "; the matrix unit takes two of bf16, f16, f32 (as tf32), or "
                               "any of f8E4M3FN and f8E5M2";
  if (bytes != 2 && ((!inRegisters && transposeA) || transposeB))
    return op.emitOpError() << "of " << type
                            << " has an operand whose rows do not lie along the contraction; "
                               "the matrix unit takes these for 16-bit types only: store "
                            << (transposeB ? "the right operand as N x K and use transpose_b"
                                           : "the left operand as M x K");
  if (bytes != 2 && inRegisters)
    return op.emitOpError() << "takes a left operand of " << type
                            << " in registers, where its elements lie in other "
                               "threads than those of an accumulator; stage it, "
                               "or convert it to bf16";
  MatrixUnitAttr unit = getSm(op).getMatrixUnit();
  int64_t m = acc.getDimSize(0), n = acc.getDimSize(1);
  int64_t warpgroups = cast<MmaAttr>(acc.getEncoding()).getWarpgroups();
  int64_t k = a.getShape().end()[transposeA ? -2 : -1], stepK = unit.getKBytes() / bytes;
  int64_t most = unit.getColumns(), inChunk = getSm(op).getChunk() / 2;
  int64_t columns = mk::getInstructionColumns(getSm(op), n), rowsOfGroup = m / warpgroups;
  if (!columns)
    return op.emitOpError() << "has " << n << " columns, more than the " << most
                            << " of one instruction of " << getSmTarget(op).getName()
                            << " and no multiple of " << inChunk << "; the nearest are "
                            << n / inChunk * inChunk << " and " << llvm::alignTo(n, inChunk);
  if (k % stepK)
    return op.emitOpError() << "contracts " << k << " elements of " << type
                            << ", no multiple of the " << stepK << " of one instruction";

  SmallVector<Value> left, sums;
  bool isZeroSum = isZero(p.scalar(op.getAcc()));
  if (op.getAccumulate() && isZeroSum)
    return op.emitOpError() << "says when its accumulator counts, but that is "
                               "the constant zero";
  int64_t rowsOfA = a.getShape().end()[-2];
  if (!isZeroSum)
    sums = p.elements(op.getAcc());
  if (inRegisters) {
    left = p.packAll(op.getLhs());
  } else {
    // The warpgroup's own rows: chunks of 64 where columns lie along the contraction.
    int64_t stride =
        (transposeA ? rowsOfGroup / unit.getRows() * rowsOfA : rowsOfGroup) * p.info.getChunk();
    Value address = p.scalar(op.getLhs());
    left.push_back(warpgroups > 1 ? add(p, address, mul(p, p.group, stride)) : address);
  }
  Value right = p.scalar(op.getRhs()),
        counts = op.getAccumulate() ? p.scalar(op.getAccumulate()) : Value();
  auto product = mk_thread::ProductOp::create(
      p, getElementTypes(acc), rowsOfGroup, n, k, columns, name, nameB, left,
      inRegisters ? 0 : rowsOfA, right, y.getShape().end()[-2], sums, counts,
      /*transpose_left=*/!inRegisters && transposeA, /*transpose_right=*/transposeB);
  p.set(op.getResult(), product.getResults());
  return success();
}

void sm::populateMatrixLowerings(LoweringTable &table) {
  table.add(lowerMmaFence, lowerMmaWait, lowerMma);
}
