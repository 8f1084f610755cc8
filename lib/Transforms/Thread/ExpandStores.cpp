//===- ExpandStores.cpp - What the copy engine cannot store ---------------===//
//
// A part of a tile lies in its buffer row by row. A warp takes a row at a time, word by word, or
// four rows in pieces of 16 bytes.
//
//===----------------------------------------------------------------------===//
#include "Expand.h"

using namespace mlir;
using namespace mlir::mk_thread;

static void storeBuffer(StoreBufferOp op, Emitter &e) {
  Type element = op.getElement();
  int64_t chunk = e.sm.getChunk();
  int64_t size = element.getIntOrFloatBitWidth() / 8, columns = chunk / size;
  Addition addition;
  if (op.getAdd())
    addition = {element, *op.getAdd()};
  Value rowBytes = op.getRowStride(), columnBytes = op.getColumnStride();
  auto columnsExist = [&](Value from, Value last) {
    return and_(e, sge(e, from, op.getColumnsFrom()), slt(e, last, op.getColumnsLeft()));
  };
  auto forPieces = [&](int64_t bytes, function_ref<void(Value, Value, Value, Value)> body) {
    int64_t perRow = chunk / bytes;
    forRange(e, op.getThread(), e.c32(op.getRows() * perRow), e.c32(mk::kWarpgroupThreads),
             [&](Value n) {
               keepRolled(e);
               Value row = divU(e, n, perRow), at = mul(e, remU(e, n, perRow), bytes);
               Value swizzled = xor_(e, at, swizzle(e, row));
               Value tileRow = add(e, row, op.getRow());
               Value exists =
                   and_(e, sge(e, tileRow, op.getRowsFrom()), slt(e, tileRow, op.getRowsLeft()));
               body(exists, divU(e, at, size),
                    add(e, op.getSource(), add(e, mul(e, row, chunk), swizzled)),
                    add(e, op.getDest(), mul(e, resize(e, row, e.i64), rowBytes)));
             });
  };
  auto bytesAt = [&](Value row, Value column) {
    return add(e, row, mul(e, resize(e, column, e.i64), columnBytes));
  };
  auto singly = [&] {
    forPieces(4, [&](Value rowExists, Value column, Value from, Value row) {
      Value word = load(e, e.i32, from);
      for (int64_t k = 0; k < 4 / size; ++k) {
        Value at = add(e, column, k), inTile = add(e, at, op.getColumn());
        Value value = resize(e, shr(e, word, 8 * size * k), e.getIntegerType(8 * size));
        if (op.getAdd() && element.isF32())
          value = LLVM::BitcastOp::create(e, e.f32, value);
        storeWhere(e, and_(e, rowExists, columnsExist(inTile, inTile)), bytesAt(row, at), size,
                   value, addition);
      }
    });
  };
  if (op.getAdd())
    return singly();
  auto inPieces = [&](int64_t bytes) {
    forPieces(bytes, [&](Value rowExists, Value column, Value from, Value row) {
      SmallVector<Type> types(4, e.i32);
      SmallVector<Value> words = bytes == 4 ? SmallVector<Value>{load(e, e.i32, from)}
                                            : LoadOp::create(e, types, from, bytes).getResults();
      storeWhere(e, rowExists, bytesAt(row, column), bytes, words);
    });
  };
  Value together = and_(e, eq(e, columnBytes, size),
                        columnsExist(op.getColumn(), add(e, op.getColumn(), columns - 1)));
  Value bits = or_(e, op.getDest(), rowBytes);
  auto aligned = [&](int64_t bytes) {
    return and_(e, together, eq(e, and_(e, bits, bytes - 1), 0));
  };
  ifThenElse(
      e, aligned(16), [&] { inPieces(16); },
      [&] {
        if (size == 4)
          return singly();
        ifThenElse(
            e, aligned(4), [&] { inPieces(4); }, singly);
      });
}

void mk_thread::expandStores(ModuleOp module) { expandEach<StoreBufferOp>(module, storeBuffer); }
