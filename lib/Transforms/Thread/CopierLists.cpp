//===- CopierLists.cpp - Rows of a list that a warp brings ----------------===//
//
// As in CopierRows.cpp, but which row comes next stands in a list in memory. Entries are loaded
// two items ahead. Where all pieces of 16 bytes exist whole or not at all, and are aligned, they are
// brought by cp.async; else elements, one at a time.
//
//===----------------------------------------------------------------------===//
#include "Copier.h"

using namespace mlir;
using namespace mlir::mk_thread;

/// No number of a row that exists.
static constexpr int64_t kNoRow = std::numeric_limits<int32_t>::min();

/// The number of a tile's row, behind the tile too; kNoRow where the list has none.
Value Copier::loadEntry(Value row) {
  Value listed = and_(e, sge(e, row, request.rowsFrom), slt(e, row, request.rowsLeft));
  listed = and_(e, listed, slt(e, row, request.rows));
  Value at = add(e, request.list, shl(e, resize(e, row, e.i64), 2));
  return LoadOp::create(e, e.i32, at, 4, resize(e, listed, e.i32), e.c32(kNoRow)).getResult(0);
}

Value Copier::isRow(Value entry) {
  return and_(e, sge(e, entry, request.entriesFrom), slt(e, entry, request.entriesBelow));
}

/// i1: aligned pieces of 16 bytes are all there is to bring.
Value Copier::isEven() {
  Value low = or_(e, request.base, request.rowStride);
  Value even = and_(e, isDense(), eq(e, and_(e, low, 15), 0));
  Value whole = sge(e, request.bytesLeft, mul(e, request.chunks, chunkBytes));
  whole = or_(e, whole, eq(e, and_(e, request.bytesLeft, 15), 0));
  return and_(e, and_(e, even, whole), eq(e, request.bytesFrom, 0));
}

void Copier::startListed() {
  ifThen(e, isEven(), [&] {
    Value piece = shl(e, and_(e, lane, 7), 4);
    Value first = add(e, shl(e, warp, 2), shr(e, lane, 3));
    int64_t step = getStepLines();
    auto loop = scf::ForOp::create(e, first, request.rows, e.c32(step),
                                   ValueRange{loadEntry(first), loadEntry(add(e, first, step))});
    OpBuilder::InsertionGuard guard(e);
    e.setInsertionPointToStart(loop.getBody());
    Value row = loop.getInductionVar(), entry = loop.getRegionIterArg(0);
    Value later = loadEntry(add(e, row, 2 * step));
    Value from = add(e, request.base, mul(e, resize(e, entry, e.i64, /*isSigned=*/true), request.rowStride));
    Value left = select(e, isRow(entry), request.bytesLeft, e.c32(0));
    Value place = add(e, request.dest, xor_(e, swizzle(e, row), piece));
    forRange(e, request.chunks, [&](Value chunk) {
      Value byte = add(e, mul(e, chunk, chunkBytes), piece);
      Value bytes = minS(e, maxS(e, sub(e, left, byte), 0), 16);
      Value line = add(e, mul(e, chunk, request.rows), row);
      NVVM::CpAsyncOp::create(e, toPointer(e, add(e, place, mul(e, line, chunkBytes))),
                              toPointer(e, add(e, from, resize(e, byte, e.i64))), 16,
                              NVVM::LoadCacheModifierKind::CG, bytes);
    });
    scf::YieldOp::create(e, e.getLoc(), ValueRange{loop.getRegionIterArg(1), later});
  });
}

void Copier::finishListed(function_ref<void()> arrive) {
  arrive();
  ifThen(e, xor_(e, isEven(), e.cbool(true)), [&] { completePieces(); });
}
