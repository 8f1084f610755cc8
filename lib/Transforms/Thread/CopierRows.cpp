//===- CopierRows.cpp - Rows that a warp brings ---------------------------===//
//
// A line is what lies of a row in one chunk; its piece p (of 16 bytes) lies at
// p ^ (row % 8). Four lines are an item; warps take items of a chunk in turn, and nobody else
// touches their bytes. Lines are brought by cp.async, which needs no registers and leaves
// many under way, in pieces of 16 or 8 bytes where all addresses are aligned so, else of 4.
// It writes zeros where a row ends. A row that begins within a word is brought from that word
// on; when it is there, lanes shift it to its place, with what the last word of a line
// lacks. What is rare (offsets in front of the argument, an innermost stride, the end of the
// last row) goes element by element. A tile has a multiple of 8 rows.
//
//===----------------------------------------------------------------------===//
#include "Copier.h"

using namespace mlir;
using namespace mlir::mk_thread;

/// Lines from one item of a warp to its next.
int64_t Copier::getStepLines() { return kItemLines * warps; }

/// The start of the word in which an address lies.
static Value toWord(Emitter &e, Value address) { return and_(e, address, -4); }

/// Of an i32 that is not negative.
static Value toI64(Emitter &e, Value value) { return resize(e, value, e.i64); }

Value Copier::addressOf(Value row, Value byte) {
  if (byList)
    row = loadEntry(row);
  return add(e, add(e, request.base, toI64(e, byte)),
             mul(e, resize(e, row, e.i64, byList), request.rowStride));
}

/// i1: elements of a row lie side by side.
Value Copier::isDense() { return eq(e, request.columnStride, toI64(e, request.size)); }

Value Copier::exists(Value row) {
  if (byList)
    return isRow(loadEntry(row));
  return and_(e, sge(e, row, request.rowsFrom), slt(e, row, request.rowsLeft));
}

/// i1: some rows begin within a word.
Value Copier::hasMisalignedRows() {
  Value low = and_(e, or_(e, request.base, request.rowStride), 3);
  return and_(e, isDense(), ne(e, low, 0));
}

//===----------------------------------------------------------------------===//
// Bringing
//===----------------------------------------------------------------------===//

/// In pieces of `unit` bytes, of as many rows at once as the lanes suffice for. `whole`: there
/// is nothing to test.
void Copier::fetchPieces(int64_t unit, bool whole) {
  int64_t lanes = chunkBytes / unit, together = mk::kWarpThreads / lanes;
  Value at = shl(e, and_(e, lane, lanes - 1), llvm::Log2_64(unit));
  Value first = add(e, shl(e, warp, 2), shr(e, lane, llvm::Log2_64(lanes)));
  Value step = mul(e, request.rowStride, getStepLines());
  forRange(e, request.chunks, [&](Value chunk) {
    Value byte = add(e, mul(e, chunk, chunkBytes), at);
    // Bytes of the piece that exist in a row, if it does and begins with a word.
    Value left = sub(e, request.bytesLeft, byte);
    Value to = add(e, request.dest, mul(e, add(e, mul(e, chunk, request.rows), first), chunkBytes));
    auto loop = scf::ForOp::create(e, first, request.rows, e.c32(getStepLines()),
                                   ValueRange{addressOf(first, byte), to});
    OpBuilder::InsertionGuard guard(e);
    e.setInsertionPointToStart(loop.getBody());
    Value row = loop.getInductionVar(), from = loop.getRegionIterArg(0);
    to = loop.getRegionIterArg(1);
    for (int64_t k = 0; k < kItemLines; k += together) {
      Value thisRow = add(e, row, k);
      Value source = k ? add(e, from, mul(e, request.rowStride, k)) : from;
      Value bytes;
      if (!whole) {
        bytes = left;
        // Of a row without any not even the rest of a word.
        if (unit == 4) {
          Value rest = resize(e, and_(e, source, 3), e.i32);
          bytes = select(e, sgt(e, request.bytesLeft, 0), add(e, left, rest), e.c32(0));
        }
        bytes = minS(e, maxS(e, bytes, 0), unit);
        // Part of a piece counts as an access to all of it: not behind the last row.
        Value isWhole = resize(e, eq(e, bytes, unit), e.i32);
        Value last = add(e, sub(e, request.rowsLeft, 1), isWhole);
        Value isValid = and_(e, sge(e, thisRow, request.rowsFrom), slt(e, thisRow, last));
        Value word = unit == 4 ? toWord(e, source) : source;
        isValid = and_(e, isValid, uge(e, word, request.start));
        bytes = select(e, isValid, bytes, e.c32(0));
      }
      if (unit == 4)
        source = toWord(e, source);
      Value place = xor_(e, swizzle(e, thisRow), at);
      Value dest = add(e, add(e, to, place), k * chunkBytes);
      NVVM::CpAsyncOp::create(
          e, toPointer(e, dest), toPointer(e, source), unit,
          unit == 16 ? NVVM::LoadCacheModifierKind::CG : NVVM::LoadCacheModifierKind::CA, bytes);
    }
    scf::YieldOp::create(e, e.getLoc(),
                         ValueRange{add(e, from, step), add(e, to, getStepLines() * chunkBytes)});
  });
}

void Copier::start() {
  ifThen(e, isDense(), [&] {
    Value low = or_(e, request.base, request.rowStride);
    auto isAligned = [&](int64_t bytes) { return eq(e, and_(e, low, bytes - 1), 0); };
    auto inWords = [&] {
      Value whole = and_(e, sge(e, request.rowsLeft, request.rows),
                         sge(e, request.bytesLeft, mul(e, request.chunks, chunkBytes)));
      whole = and_(e, whole, eq(e, or_(e, request.rowsFrom, request.bytesFrom), 0));
      whole = and_(e, whole, uge(e, toWord(e, request.base), request.start));
      ifThenElse(
          e, whole, [&] { fetchPieces(4, true); }, [&] { fetchPieces(4, false); });
    };
    ifThenElse(
        e, isAligned(16), [&] { fetchPieces(16, false); },
        [&] {
          ifThenElse(
              e, isAligned(8), [&] { fetchPieces(8, false); }, inWords);
        });
  });
}

//===----------------------------------------------------------------------===//
// Rows that begin within a word
//===----------------------------------------------------------------------===//

/// The word behind what was brought of a line, without what does not exist: of the lane's own among
/// the lines of kRoundItems items of the warp, from the one with row `first` on.
Value Copier::loadEnd(Value chunk, Value first) {
  Value item = add(e, mul(e, shr(e, lane, 2), warps), warp);
  Value row = add(e, first, add(e, shl(e, item, 2), and_(e, lane, 3)));
  Value byte = mul(e, add(e, chunk, 1), chunkBytes); // behind the line
  Value behind = addressOf(row, byte), word = toWord(e, behind);
  // What exists of the word's bytes; those behind the line are not looked at.
  Value left = add(e, sub(e, request.bytesLeft, byte), resize(e, and_(e, behind, 3), e.i32));
  Value isValid = and_(e, exists(row), slt(e, row, request.rows));
  isValid = and_(e, isValid, sgt(e, left, 0));
  Value isLast = eq(e, add(e, row, 1), request.rowsLeft);
  isValid = and_(e, isValid, or_(e, xor_(e, isLast, e.cbool(true)), sge(e, left, 4)));
  isValid = and_(e, isValid, uge(e, word, request.start));
  isValid = and_(e, isValid, slt(e, chunk, request.chunks));
  Value end = LoadOp::create(e, e.i32, word, 4, resize(e, isValid, e.i32), e.c32(0)).getResult(0);
  // In bits, up to 24 of them to be kept.
  Value keep = shl(e, minS(e, maxS(e, left, 0), 3), 3);
  Value mask = sub(e, arith::ShLIOp::create(e, e.c32(1), keep), 1);
  return select(e, sge(e, left, 4), end, and_(e, end, mask));
}

/// Moves each line to its place. A lane reads and writes one piece of a line, its own; the word
/// behind that comes from the next lane, or is the line's end.
void Copier::shiftRows(function_ref<void()> arrive) {
  int64_t roundRows = kRoundItems * getStepLines();
  Value piece = and_(e, lane, 7), line = shr(e, lane, 3);
  Value isLast = eq(e, piece, 7);
  Value rounds = mul(e, request.chunks, divU(e, add(e, request.rows, roundRows - 1), roundRows));
  Value early = loadEnd(e.c32(0), e.c32(0));
  arrive();
  auto loop =
      scf::ForOp::create(e, e.c32(0), rounds, e.c32(1), ValueRange{e.c32(0), e.c32(0), early});
  {
    OpBuilder::InsertionGuard guard(e);
    e.setInsertionPointToStart(loop.getBody());
    Value chunk = loop.getRegionIterArg(0), first = loop.getRegionIterArg(1);
    Value ends = loop.getRegionIterArg(2);
    Value next = add(e, first, roundRows);
    Value wraps = sge(e, next, request.rows);
    Value nextChunk = add(e, chunk, resize(e, wraps, e.i32));
    next = select(e, wraps, e.c32(0), next);
    Value later = loadEnd(nextChunk, next);
    Value start = add(e, request.dest, mul(e, mul(e, chunk, request.rows), chunkBytes));
    Value limit = minS(e, add(e, first, roundRows), request.rows);
    Value low = resize(e, request.base, e.i32), step = resize(e, request.rowStride, e.i32);
    auto items = scf::ForOp::create(e, add(e, first, shl(e, warp, 2)), limit, e.c32(getStepLines()),
                                    ValueRange{line});
    e.setInsertionPointToStart(items.getBody());
    Value row = add(e, items.getInductionVar(), line), holder = items.getRegionIterArg(0);
    Value at = add(e, add(e, start, mul(e, row, chunkBytes)), swizzle(e, xor_(e, piece, row)));
    SmallVector<Value> words = LoadOp::create(e, SmallVector<Type>(4, e.i32), at, 16).getResults();
    Value behind = shuffle(e, "down", words[0], e.c32(1));
    words.push_back(select(e, isLast, shuffle(e, "idx", ends, holder), behind));
    Value bits = shl(e, add(e, low, mul(e, row, step)), 3); // modulo 32
    SmallVector<Value> shifted;
    for (int64_t k = 0; k < 4; ++k)
      shifted.push_back(LLVM::FshrOp::create(e, e.i32, words[k + 1], words[k], bits));
    StoreOp::create(e, shifted, at, 16);
    scf::YieldOp::create(e, add(e, holder, kItemLines));
    e.setInsertionPointToEnd(loop.getBody());
    scf::YieldOp::create(e, ValueRange{nextChunk, next, later});
  }
}

//===----------------------------------------------------------------------===//
// Element by element
//===----------------------------------------------------------------------===//

/// 16 bytes of a row from byte `byte` on, an element of `size` bytes at a time.
void Copier::copyPiece(int64_t size, Value row, Value byte, Value to) {
  Value isRow = exists(row);
  Type type = size == 4 ? e.i32 : e.i16;
  Value from = add(e, addressOf(row, e.c32(0)),
                   mul(e, toI64(e, shr(e, byte, llvm::Log2_64(size))), request.columnStride));
  auto loop = scf::ForOp::create(e, byte, add(e, byte, 16), e.c32(4), from);
  OpBuilder::InsertionGuard guard(e);
  e.setInsertionPointToStart(loop.getBody());
  Value word = e.c32(0);
  from = loop.getRegionIterArg(0);
  for (int64_t k = 0; k < 4; k += size) {
    Value at = add(e, loop.getInductionVar(), k);
    Value isValid = and_(e, isRow, sge(e, at, request.bytesFrom));
    isValid = and_(e, isValid, slt(e, at, request.bytesLeft));
    Value element = LoadOp::create(e, type, from, size, resize(e, isValid, e.i32), e.cint(type, 0))
                        .getResult(0);
    word = or_(e, word, shl(e, resize(e, element, e.i32), 8 * k));
    from = add(e, from, request.columnStride);
  }
  StoreOp::create(e, word, add(e, to, and_(e, loop.getInductionVar(), 15)), 4);
  scf::YieldOp::create(e, from);
}

/// i1: the piece at a byte of a row was not brought, or not as it is to be.
Value Copier::isIncomplete(Value row, Value byte) {
  if (byList)
    return e.cbool(true);
  // The word in which a row begins may begin in front of the argument.
  Value cut = ult(e, toWord(e, addressOf(row, byte)), request.start);
  // The end of the last row: a word of it, when shifted, may be in two pieces.
  Value isLast = eq(e, add(e, row, 1), request.rowsLeft);
  isLast = and_(e, isLast, sgt(e, add(e, byte, 16 + 4), request.bytesLeft));
  Value isCut = and_(e, and_(e, exists(row), slt(e, byte, request.bytesLeft)), or_(e, cut, isLast));
  return or_(e, or_(e, isCut, slt(e, byte, request.bytesFrom)), xor_(e, isDense(), e.cbool(true)));
}

/// i1: some piece may be.
Value Copier::mayBeIncomplete() {
  Value front = ne(e, request.bytesFrom, 0);
  // No row comes before the first that exists.
  Value cut = ult(e, toWord(e, addressOf(request.rowsFrom, e.c32(0))), request.start);
  Value end = and_(e, sle(e, request.rowsLeft, request.rows),
                   slt(e, request.bytesLeft, add(e, mul(e, request.chunks, chunkBytes), 4)));
  return or_(e, or_(e, front, cut), or_(e, end, xor_(e, isDense(), e.cbool(true))));
}

void Copier::completePieces() {
  Value line = shr(e, lane, 3), piece = and_(e, lane, 7);
  forRange(e, request.chunks, [&](Value chunk) {
    Value byte = add(e, mul(e, chunk, chunkBytes), shl(e, piece, 4));
    Value start = add(e, request.dest, mul(e, mul(e, chunk, request.rows), chunkBytes));
    forRange(e, shl(e, warp, 2), request.rows, e.c32(getStepLines()), [&](Value item) {
      Value row = add(e, item, line);
      Value to = add(e, add(e, start, mul(e, row, chunkBytes)), swizzle(e, xor_(e, piece, row)));
      ifThen(e, isIncomplete(row, byte), [&] {
        for (int64_t size : sizes) {
          auto copy = [&] { copyPiece(size, row, byte, to); };
          if (sizes.size() == 1)
            copy();
          else
            ifThen(e, eq(e, request.size, size), copy);
        }
      });
    });
  });
}

void Copier::finish(function_ref<void()> arrive) {
  if (byList) {
    arrive();
    return completePieces();
  }
  if (llvm::any_of(sizes, [](int64_t size) { return size < 4; }))
    ifThenElse(
        e, hasMisalignedRows(), [&] { shiftRows(arrive); }, arrive);
  else
    arrive();
  ifThen(e, mayBeIncomplete(), [&] {
    SyncWarpOp::create(e);
    completePieces();
  });
}
