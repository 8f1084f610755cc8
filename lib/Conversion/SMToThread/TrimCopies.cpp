//===- TrimCopies.cpp - What is not valid of a staged tile ----------------===//
//
// Seldom: where a part of an argument ends within a tile and the rest of it is not to be seen, or
// where a pad is not zero. The producer's lanes write over the tile in its slot. By then nothing
// but this slot is waited for: those in front are full or under way.
//
//===----------------------------------------------------------------------===//
#include "Lowering.h"
#include "mkernel/ABI/Gpu.h"

using namespace mlir;
using namespace mlir::mk;
using namespace mlir::mk::sm;
using namespace mlir::mk_sm;
using Predicate = arith::CmpIPredicate;

/// A number of rows or columns in 32 bits: a tile has few.
Value Lowering::narrow(Value value) {
  return resize(minS(maxS(value, c64(0)), c64(1 << 20)), i32);
}

// `valid` may end what the argument, which reads as zero behind its end, does not end. A pad that
// is not zero is wanted wherever nothing is.
Value Lowering::isCut(CopyOp op, const TileCopy &copy) {
  ArrayRef<int64_t> shape = copy.tile.getShape();
  if (!op.getPad() || isZero(scalar(op.getPad()))) {
    Value always = cbool(true);
    Value whole = isBoundedByBuffer(always, copy.from, copy.offsets, shape, op.getValid());
    return whole == always ? Value() : not_(whole);
  }
  Value whole = cbool(true);
  for (auto [limit, extent] :
       llvm::zip(limits(copy.from, copy.offsets, shape, op.getValid()), shape))
    whole = and_(whole, cmp(Predicate::sge, limit, extent));
  for (Value offset : copy.offsets)
    whole = and_(whole, cmp(Predicate::sge, offset, int64_t(0)));
  return not_(whole);
}

void Lowering::awaitLanding(CopyOp op, function_ref<void(Value)> bring) {
  Value landing = add(sharedBase, memory.landing);
  bring(landing);
  ifThen(eq(lane, 0), [&] {
    create<mk_thread::BarrierArriveOp>(landing, /*cta=*/Value(), /*bytes=*/Value());
  });
  Value phase = read(cursors[op.getLanding()].phase, i32);
  auto slot = op.getSlot().getDefiningOp<AcquireOp>();
  int64_t ring = slot ? Channel(slot.getRing().getDefiningOp()).number : -1;
  create<mk_thread::BarrierWaitOp>(landing, phase, c32(0), makeReport(MK_WAIT_RING, ring),
                                   /*patient=*/true);
  advance(op.getLanding());
}

void Lowering::trim(CopyOp op, const TileCopy &copy) {
  int64_t size = getElementBytes(copy.tile.getElementType());
  int64_t rows = copy.tile.getShape().end()[-2];
  int64_t chunks = llvm::divideCeil(copy.tile.getShape().back() * size, kChunkBytes);
  auto [rowsFrom, rowsLeft, columnsFrom, columnsLeft] = findExisting(copy, op.getValid());
  // A pad in each element of a word.
  Value pad = op.getPad() ? scalar(op.getPad()) : c32(0);
  if (!pad.getType().isInteger())
    pad = create<LLVM::BitcastOp>(b.getIntegerType(8 * size), pad);
  pad = resize(pad, i32);
  for (int64_t bytes = size; bytes < 4 && op.getPad(); bytes *= 2)
    pad = or_(pad, shl(pad, 8 * bytes));
  create<mk_thread::TrimTileOp>(copy.dest, rowsFrom, rowsLeft, columnsFrom, columnsLeft, rows,
                                chunks, size, pad, lane);
}

/// [from, left) of the rows and of the columns of a tile, where elements exist.
std::array<Value, 4> Lowering::findExisting(const TileCopy &copy, ValueRange valid) {
  int64_t rank = copy.offsets.size();
  SmallVector<Value> result;
  for (int64_t d = rank - 2; d < rank; ++d) {
    Value left = sub(sizeOf(copy.from, d), copy.offsets[d]);
    if (!valid.empty())
      left = minS(left, scalar(valid[valid.size() - rank + d]));
    result.push_back(narrow(sub(c64(0), copy.offsets[d])));
    result.push_back(narrow(left));
  }
  // Dimensions in front of them have one place.
  for (int64_t d = 0; d < rank - 2; ++d) {
    Value exists = cmp(Predicate::ult, copy.offsets[d], sizeOf(copy.from, d));
    result[1] = select(exists, result[1], c32(0));
  }
  for (size_t d = 0; d + 2 < valid.size(); ++d)
    result[1] = select(cmp(Predicate::sge, scalar(valid[d]), 1), result[1], c32(0));
  return {result[0], result[1], result[2], result[3]};
}
