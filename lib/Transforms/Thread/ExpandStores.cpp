//===- ExpandStores.cpp - What the copy engine cannot store ---------------===//
//
// A part of a tile lies in its buffer row by row. A warp takes a row at a time, word by word, or
// four rows in pieces of 16 bytes.
//
//===----------------------------------------------------------------------===//
#include "Expand.h"

using namespace mlir;
using namespace mlir::mk_thread;
using Predicate = arith::CmpIPredicate;

static void storeBuffer(StoreBufferOp op, Emitter &e) {
  Type element = op.getElement();
  int64_t size = element.getIntOrFloatBitWidth() / 8, columns = kChunkBytes / size;
  Addition addition;
  if (op.getAdd())
    addition = {element, *op.getAdd()};
  Value rowBytes = op.getRowStride(), columnBytes = op.getColumnStride();
  auto columnsExist = [&](Value from, Value last) {
    return e.and_(e.cmp(Predicate::sge, from, op.getColumnsFrom()),
                  e.cmp(Predicate::slt, last, op.getColumnsLeft()));
  };
  // Piece p (16 bytes) of row r lies at p ^ (r % 8) of it.
  auto forPieces = [&](int64_t bytes, function_ref<void(Value, Value, Value, Value)> body) {
    int64_t perRow = kChunkBytes / bytes;
    e.forRange(op.getThread(), e.c32(op.getRows() * perRow), e.c32(128), [&](Value n) {
      e.keepRolled();
      Value row = e.divU(n, perRow), at = e.mul(e.remU(n, perRow), bytes);
      Value swizzled = e.xor_(at, e.shl(e.and_(row, 7), 4));
      Value tileRow = e.add(row, op.getRow());
      Value exists = e.and_(e.cmp(Predicate::sge, tileRow, op.getRowsFrom()),
                            e.cmp(Predicate::slt, tileRow, op.getRowsLeft()));
      body(exists, e.divU(at, size), e.add(op.getSource(), e.add(e.mul(row, kChunkBytes), swizzled)),
           e.add(op.getDest(), e.mul(e.resize(row, e.i64), rowBytes)));
    });
  };
  auto bytesAt = [&](Value row, Value column) {
    return e.add(row, e.mul(e.resize(column, e.i64), columnBytes));
  };
  auto singly = [&] {
    forPieces(4, [&](Value rowExists, Value column, Value from, Value row) {
      Value word = e.load(e.i32, from);
      for (int64_t k = 0; k < 4 / size; ++k) {
        Value at = e.add(column, k), inTile = e.add(at, op.getColumn());
        Value value = e.resize(e.shr(word, 8 * size * k), e.b.getIntegerType(8 * size));
        if (addition && element.isF32())
          value = LLVM::BitcastOp::create(e.b, e.loc, e.f32, value);
        e.storeWhere(e.and_(rowExists, columnsExist(inTile, inTile)), bytesAt(row, at), size, value, addition);
      }
    });
  };
  if (addition)
    return singly();
  auto inPieces = [&](int64_t bytes) {
    forPieces(bytes, [&](Value rowExists, Value column, Value from, Value row) {
      SmallVector<Value> words =
          bytes == 4 ? SmallVector<Value>{e.load(e.i32, from)}
                     : e.loadWords({e.i32, e.i32, e.i32, e.i32}, from, bytes);
      e.storeWhere(rowExists, bytesAt(row, column), bytes, words);
    });
  };
  Value together = e.and_(e.eq(columnBytes, size),
                          columnsExist(op.getColumn(), e.add(op.getColumn(), columns - 1)));
  Value bits = e.or_(op.getDest(), rowBytes);
  auto aligned = [&](int64_t bytes) { return e.and_(together, e.eq(e.and_(bits, bytes - 1), 0)); };
  e.ifThenElse(
      aligned(16), [&] { inPieces(16); },
      [&] {
        if (size == 4)
          return singly();
        e.ifThenElse(aligned(4), [&] { inPieces(4); }, singly);
      });
}

void mk_thread::expandStores(ModuleOp module) { expandEach<StoreBufferOp>(module, storeBuffer); }
