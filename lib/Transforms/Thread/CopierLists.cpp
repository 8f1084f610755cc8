//===- CopierLists.cpp - Rows of a list that a warp brings ----------------===//
//
// As in CopierRows.cpp, but which row comes next stands in a list in memory. Where rows lie stays
// in registers, one for each row of which a lane brings a piece: in a step of a product there is
// nothing to do but to add and to copy. What does not consist of aligned pieces of 16 bytes goes
// element by element, and is looked up each time.
//
//===----------------------------------------------------------------------===//
#include "Copier.h"

using namespace mlir;
using namespace mlir::mk_thread;

/// The place of a row that does not exist.
static constexpr int64_t kNoPlace = -1;
static constexpr int64_t kPieceBytes = 16;

/// The entry for a tile's row, kNoRow where the list has none.
Value Copier::loadEntry(Value row) {
  Value listed = and_(e, sge(e, row, request.rowsFrom), slt(e, row, request.rowsLeft));
  Value places =
      mul(e, resize(e, row, e.i64), resize(e, request.listStride, e.i64, /*isSigned=*/true));
  Value at = add(e, request.start, shl(e, places, 2));
  return LoadOp::create(e, e.i32, at, 4, resize(e, listed, e.i32), e.c32(kNoRow)).getResult(0);
}

Value Copier::isRow(Value entry) {
  return and_(e, sge(e, entry, request.entriesFrom), slt(e, entry, request.entriesBelow));
}

void Copier::selectRows(int64_t rows, ArrayRef<Value> places) {
  Value first = add(e, shl(e, warp, 2), shr(e, lane, 3));
  int64_t step = getStepLines(), count = countRows(rows, warps);
  SmallVector<Value> entries; // on their way together
  for (int64_t i = 0; i < count; ++i)
    entries.push_back(loadEntry(add(e, first, i * step)));
  for (auto [entry, place] : llvm::zip(entries, places)) {
    // Not negative, of a row.
    Value number = resize(e, sub(e, entry, request.entriesFrom), e.i64);
    Value at = shr(e, mul(e, number, request.rowStride), llvm::Log2_64(kPieceBytes));
    write(e, place, select(e, isRow(entry), resize(e, at, e.i32), e.c32(kNoPlace)));
  }
}

void Copier::startSelected(int64_t rows, int64_t chunks, ArrayRef<Value> places) {
  Value piece = shl(e, and_(e, lane, 7), 4);
  Value first = add(e, shl(e, warp, 2), shr(e, lane, 3));
  Value base = add(e, request.base, resize(e, piece, e.i64));
  int64_t step = getStepLines(), period = e.sm.getSwizzleRows();
  SmallVector<Value> gone; // by chunk: nothing exists there
  for (int64_t chunk = 0; chunk < chunks; ++chunk)
    gone.push_back(sge(e, add(e, piece, chunk * chunkBytes), request.bytesLeft));
  // By a row's place in the swizzle's period.
  llvm::DenseMap<int64_t, Value> lines;
  for (int64_t i = 0; i < countRows(rows, warps); ++i) {
    int64_t skipped = i * step, in = skipped % period;
    Value &line = lines[in];
    if (!line) {
      Value row = add(e, first, in);
      line = add(e, request.dest, xor_(e, swizzle(e, row), piece));
      line = add(e, line, mul(e, row, chunkBytes));
    }
    Value place = read(e, places[i], e.i32);
    Value from = add(e, base, mul(e, resize(e, place, e.i64), kPieceBytes));
    Value noRow = eq(e, place, kNoPlace);
    Value to = add(e, line, (skipped - in) * chunkBytes);
    auto copy = [&] {
      for (int64_t chunk = 0; chunk < chunks; ++chunk)
        CopyPieceOp::create(e, add(e, from, chunk * chunkBytes),
                            add(e, to, chunk * rows * chunkBytes),
                            resize(e, or_(e, noRow, gone[chunk]), e.i32));
    };
    if (skipped + step <= rows)
      copy();
    else
      ifThen(e, slt(e, add(e, first, skipped), rows), copy);
  }
}
