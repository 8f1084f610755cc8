//===- SlowCopies.cpp - Copies without the copy engine --------------------===//
//
// The producer is one warp with few registers. What the copy engine cannot do,
// three more warps of its warpgroup do, which otherwise sleep: the producer
// leaves a request in shared memory and meets them at one barrier, then, when
// the tile is there, at another. They take 16 bytes of a row at a time, as one load
// where the addresses allow it, else element by element.
//
//===----------------------------------------------------------------------===//
#include "Lowering.h"

using namespace mlir;
using namespace mlir::mk;
using namespace mlir::mk::sm;
using namespace mlir::mk_sm;
using Predicate = arith::CmpIPredicate;

static constexpr int64_t kRequestBarrier = 12, kDoneBarrier = 13;
static constexpr int64_t kHelpers = 96;

namespace {
/// Offsets of a request. `size` is that of an element, 0 ends the helpers' work.
enum Request {
  kBase = 0,      // i64, address of the tile's first element
  kRowBytes = 8,  // i64
  kColumnBytes = 16, // i64
  kDest = 24,     // i32, as all that follow
  kRowsFrom = 28, // [from, left): what exists
  kRowsLeft = 32,
  kColumnsFrom = 36,
  kColumnsLeft = 40,
  kRows = 44,     // of the tile
  kUnits = 48,    // of 16 bytes in a row
  kPad = 52,
  kSize = 56,
};
} // namespace

void Lowering::requestCopy(CopyOp op, const Buffer &from, Value dest,
                           ArrayRef<Value> offsets, ArrayRef<Value> left) {
  RankedTensorType tile = op.getTileType();
  int64_t size = getElementBytes(tile.getElementType());
  int64_t rows = tile.getShape().end()[-2], columns = tile.getShape().back();
  Value request = add(sharedBase, shared.request);
  auto put = [&](int64_t offset, Value value) { store(value, request, offset); };
  // In 32 bits: a tile has few elements.
  auto narrow = [&](Value value) {
    return resize(minS(maxS(value, c64(0)), c64(1 << 20)), i32);
  };
  ifThen(eq(lane, 0), [&] {
    put(kBase, elementAddress(from, offsets));
    put(kRowBytes, mul(from.strides.end()[-2], size));
    put(kColumnBytes, mul(from.strides.back(), size));
    put(kDest, dest);
    Value rowsLeft = narrow(left.end()[-2]);
    // Leading dimensions of the tile are 1.
    for (Value limit : left.drop_back(2))
      rowsLeft = select(cmp(Predicate::sge, limit, 1), rowsLeft, c32(0));
    put(kRowsLeft, rowsLeft);
    put(kColumnsLeft, narrow(left.back()));
    // Offsets in front of the buffer are outside as well.
    put(kRowsFrom, narrow(sub(c64(0), offsets.end()[-2])));
    put(kColumnsFrom, narrow(sub(c64(0), offsets.back())));
    put(kRows, c32(rows));
    put(kUnits, c32(columns * size / 16));
    Value pad = c32(0);
    if (op.getPad()) {
      pad = scalar(op.getPad());
      if (!pad.getType().isInteger())
        pad = LLVM::BitcastOp::create(b, loc, b.getIntegerType(8 * size), pad);
      pad = resize(pad, i32);
    }
    put(kPad, pad);
    put(kSize, c32(size));
  });
  barrier(c32(kRequestBarrier), kHelpers + 32);
  barrier(c32(kDoneBarrier), kHelpers + 32);
}

void Lowering::dismissHelpers() {
  ifThen(eq(lane, 0),
         [&] { store(c32(0), add(sharedBase, shared.request), kSize); });
  barrier(c32(kRequestBarrier), kHelpers + 32);
}

/// `low` <= value < `high`.
static Value isWithin(Emitter &e, Value value, Value low, Value high) {
  return e.and_(e.cmp(Predicate::sge, value, low),
                e.cmp(Predicate::slt, value, high));
}

/// One unit of a row element by element, four bytes at a time.
static void copyUnit(Emitter &e, int64_t size, Value address, Value columnBytes,
                     Value first, Value from, Value left, Value rowThere,
                     Value pad, Value to) {
  for (int64_t w = 0; w < 4; ++w) {
    Value word;
    for (int64_t k = 0; k < 4 / size; ++k) {
      Value column = e.add(first, w * 4 / size + k);
      Value there = e.and_(rowThere, isWithin(e, column, from, left));
      std::string type = size == 1 ? "u8" : size == 2 ? "u16" : "b32";
      Value value = e.tied("{ .reg .pred p; setp.ne.b32 p, $3, 0; @p ld.global." +
                               type + " $0, [$2]; }",
                           pad, {address, e.resize(there, e.i32)})[0];
      address = e.add(address, columnBytes);
      value = e.shl(size == 4 ? value : e.and_(value, (1 << (8 * size)) - 1),
                    8 * size * k);
      word = word ? e.or_(word, value) : value;
    }
    e.store(word, to, 4 * w);
  }
}

void Lowering::emitHelpers() {
  SmallVector<int64_t> sizes;
  kernel.walk([&](CopyOp op) {
    int64_t size = getElementBytes(op.getTileType().getElementType());
    if (!llvm::is_contained(sizes, size))
      sizes.push_back(size);
  });
  Value request = add(sharedBase, shared.request);
  auto get = [&](int64_t offset) { return load(i32, request, offset); };
  auto loop = scf::WhileOp::create(b, loc, TypeRange(i32), ValueRange());
  OpBuilder::InsertionGuard guard(b);
  b.createBlock(&loop.getBefore());
  barrier(c32(kRequestBarrier), kHelpers + 32);
  Value asked = get(kSize);
  scf::ConditionOp::create(b, loc, cmp(Predicate::ne, asked, 0), asked);
  Block *body = b.createBlock(&loop.getAfter(), {}, i32, loc);
  Value size = body->getArgument(0), units = get(kUnits), rows = get(kRows);
  forRange(sub(thread, 32), mul(rows, units), c32(kHelpers), [&](Value unit) {
    Value row = b.createOrFold<arith::DivUIOp>(loc, unit, units);
    Value piece = sub(unit, mul(row, units));
    Value rowThere = isWithin(*this, row, get(kRowsFrom), get(kRowsLeft));
    Value columnBytes = load(i64, request, kColumnBytes);
    // Piece p of row r lies at p ^ (r % 8) of its chunk's row.
    Value to = add(get(kDest), mul(add(mul(shr(piece, 3), rows), row), kChunkBytes));
    to = add(to, shl(and_(xor_(piece, row), 7), 4));
    for (int64_t s : sizes) {
      auto copy = [&] {
        int64_t count = 16 / s;
        Value first = mul(piece, count);
        Value address = add(load(i64, request, kBase),
                            mul(resize(row, i64), load(i64, request, kRowBytes)));
        address = add(address, mul(resize(first, i64), columnBytes));
        Value from = get(kColumnsFrom), left = get(kColumnsLeft);
        Value whole = and_(isWithin(*this, first, from, sub(left, count - 1)),
                           and_(rowThere, eq(columnBytes, s)));
        whole = and_(whole, eq(and_(resize(address, i32), 15), 0));
        ifThenElse(
            whole,
            [&] {
              Type vector = VectorType::get(4, i32);
              store(load(vector, address), to);
            },
            [&] {
              copyUnit(*this, s, address, columnBytes, first, from, left, rowThere,
                       get(kPad), to);
            });
      };
      if (sizes.size() == 1)
        copy();
      else
        ifThen(eq(size, s), copy);
    }
  });
  // The matrix engine reads what was written here.
  fenceAsyncShared();
  barrier(c32(kDoneBarrier), kHelpers + 32);
  scf::YieldOp::create(b, loc);
}
