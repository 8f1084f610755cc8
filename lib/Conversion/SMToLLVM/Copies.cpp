//===- Copies.cpp - Tiles from memory into slots --------------------------===//
//
// A staged tile lies as columns of chunks of 128 bytes, each swizzled; the copy
// engine fills a chunk a box. Where it cannot (no tensor map, a part that is not
// valid, a pad that is not zero) the producer's warp does it by itself, 16 bytes
// of a chunk's row at a time.
//
//===----------------------------------------------------------------------===//
#include "Lowering.h"

using namespace mlir;
using namespace mlir::mk;
using namespace mlir::mk::sm;
using namespace mlir::mk_sm;
using Predicate = arith::CmpIPredicate;

/// Issues one box; coordinates innermost first.
static void issueBox(Emitter &e, Value map, Value dest, Value barrier,
                     ArrayRef<Value> coordinates) {
  size_t rank = coordinates.size();
  SmallVector<Value> operands{dest, map, barrier};
  std::string text = "cp.async.bulk.tensor." + std::to_string(rank) +
                     "d.shared::cluster.global.mbarrier::complete_tx::bytes "
                     "[$0], [$1, {";
  for (size_t i = 0; i != rank; ++i) {
    text += (i ? ", $" : "$") + std::to_string(3 + i);
    operands.push_back(coordinates[rank - 1 - i]);
  }
  e.ptx(text + "}], [$2];", {}, operands);
}

LogicalResult Lowering::emitCopy(CopyOp op) {
  FailureOr<Buffer> from = buffer(op, op.getSource());
  if (failed(from))
    return failure();
  RankedTensorType tile = op.getTileType();
  ArrayRef<int64_t> shape = tile.getShape();
  int64_t before = 0;
  for (Type other : op.getSlot().getType().getTiles().take_front(op.getIndex()))
    before += getStagedBytes(cast<RankedTensorType>(other));
  Value dest = add(elements(op.getSlot())[0], before);
  Value full = elements(op.getSlot())[1];
  SmallVector<Value> offsets = scalars(op.getOffsets());
  SmallVector<int64_t> box = getCopyBox(tile, from->type);
  auto [map, usable] = tensorMap(*from, box);

  Value pad = op.getPad();
  bool zeroPad = !pad || isZero(scalar(pad));
  SmallVector<Value> left = limits(*from, offsets, shape.size(), op.getValid());
  // The copy engine reads zero outside the buffer, and knows of nothing else.
  Value fast = usable;
  if (map && !zeroPad) {
    fast = and_(usable, covers(left, shape));
  } else if (map && !op.getValid().empty()) {
    int64_t lead = offsets.size() - shape.size();
    for (auto [d, valid] : llvm::enumerate(op.getValid())) {
      Value there = sub(from->sizes[lead + d], offsets[lead + d]);
      Value needed = minS(there, c64(shape[d]));
      fast = and_(fast, cmp(Predicate::sge, scalar(valid), needed));
    }
  }
  auto copyFast = [&] {
    ifThen(eq(lane, 0), [&, map = map] {
      int64_t bytes = getStagedBytes(tile);
      ptx("mbarrier.expect_tx.relaxed.cta.shared::cta.b64 [$0], " + std::to_string(bytes) +
              ";",
          {}, full);
      SmallVector<Value> start;
      for (Value offset : offsets)
        start.push_back(resize(offset, i32));
      int64_t rows = shape.end()[-2], size = getElementBytes(tile.getElementType());
      int64_t columns = kChunkBytes / size, boxRows = box.end()[-2];
      for (int64_t c = 0; c < shape.back() / columns; ++c)
        for (int64_t r = 0; r < rows; r += boxRows) {
          SmallVector<Value> at(start);
          at.back() = add(at.back(), c * columns);
          at.end()[-2] = add(at.end()[-2], r);
          issueBox(*this, map, add(dest, (c * rows + r) * kChunkBytes), full, at);
        }
    });
  };
  auto slowly = [&] { copySlowly(op, *from, dest, offsets, left); };
  if (map)
    ifThenElse(fast, copyFast, slowly);
  else
    slowly();
  return success();
}

void Lowering::copySlowly(CopyOp op, const Buffer &from, Value dest,
                          ArrayRef<Value> offsets, ArrayRef<Value> left) {
  RankedTensorType tile = op.getTileType();
  int64_t size = getElementBytes(tile.getElementType());
  int64_t rows = tile.getShape().end()[-2], columns = tile.getShape().back();
  int64_t perUnit = 16 / size, unitsInRow = columns / perUnit;
  Type word = b.getIntegerType(8 * size);
  Value pad = cint(word, 0);
  if (op.getPad()) {
    pad = scalar(op.getPad());
    if (!pad.getType().isInteger())
      pad = LLVM::BitcastOp::create(b, loc, word, pad);
  }
  // In 32 bits: a tile has few elements.
  auto narrow = [&](Value value) {
    return resize(minS(maxS(value, c64(0)), c64(1 << 20)), i32);
  };
  Value rowsLeft = narrow(left.end()[-2]), columnsLeft = narrow(left.back());
  // Leading dimensions of the tile are 1.
  for (Value limit : left.drop_back(2))
    rowsLeft = select(cmp(Predicate::sge, limit, 1), rowsLeft, c32(0));
  // Offsets in front of the buffer are outside as well.
  auto skipped = [&](Value offset) {
    return narrow(sub(c64(0), offset));
  };
  Value rowsFrom = skipped(offsets.end()[-2]), columnsFrom = skipped(offsets.back());
  Value base = elementAddress(from, offsets);
  Value rowBytes = mul(from.strides.end()[-2], size);
  Value columnBytes = mul(from.strides.back(), size);
  forRange(lane, c32(rows * unitsInRow), c32(32), [&](Value unit) {
    Value row = divU(unit, unitsInRow), piece = remU(unit, unitsInRow);
    Value first = mul(piece, perUnit);
    Value rowThere = and_(cmp(Predicate::slt, row, rowsLeft),
                          cmp(Predicate::sge, row, rowsFrom));
    Value address = add(base, add(mul(resize(row, i64), rowBytes),
                                  mul(resize(first, i64), columnBytes)));
    // Piece p of row r lies at p ^ (r % 8) of its chunk's row.
    Value chunk = shr(piece, 3);
    Value swizzled = xor_(and_(piece, 7), and_(row, 7));
    Value to = add(dest, add(mul(add(mul(chunk, rows), row), kChunkBytes),
                             shl(swizzled, 4)));
    forRange(c32(0), c32(perUnit), c32(1), [&](Value i) {
      Value column = add(first, i);
      Value there = and_(rowThere, and_(cmp(Predicate::slt, column, columnsLeft),
                                        cmp(Predicate::sge, column, columnsFrom)));
      auto value = scf::IfOp::create(b, loc, TypeRange(word), there, true);
      {
        OpBuilder::InsertionGuard guard(b);
        b.setInsertionPointToStart(value.thenBlock());
        scf::YieldOp::create(
            b, loc, load(word, add(address, mul(resize(i, i64), columnBytes))));
        b.setInsertionPointToStart(value.elseBlock());
        scf::YieldOp::create(b, loc, pad);
      }
      store(value.getResult(0), add(to, mul(i, size)));
    });
  });
  // The matrix engine reads what was written here.
  fenceAsyncShared();
  syncWarp();
}
