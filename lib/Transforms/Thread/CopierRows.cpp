//===- CopierRows.cpp - Rows that a warp brings ---------------------------===//
//
// A line is 128 bytes of a row, what lies in one chunk; its piece p (of 16 bytes) lies at
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
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"

using namespace mlir;
using namespace mlir::mk_thread;
using Predicate = arith::CmpIPredicate;

/// Lines from one item of a warp to its next.
int64_t Copier::getStepLines() { return kItemLines * warps; }

/// The start of the word in which an address lies.
static Value toWord(Emitter &e, Value address) { return e.and_(address, -4); }

/// Of an i32 that is not negative.
static Value toI64(Emitter &e, Value value) { return e.resize(value, e.i64); }

Value Copier::addressOf(Value row, Value byte) {
  return e.add(e.add(request.base, toI64(e, byte)), e.mul(toI64(e, row), request.rowStride));
}

/// i1: elements of a row lie side by side.
Value Copier::isDense() {
  return e.cmp(Predicate::eq, request.columnStride, toI64(e, request.size));
}

Value Copier::exists(Value row) {
  return e.and_(e.cmp(Predicate::sge, row, request.rowsFrom),
                e.cmp(Predicate::slt, row, request.rowsLeft));
}

/// i1: some rows begin within a word.
Value Copier::hasMisalignedRows() {
  Value low = e.and_(e.or_(request.base, request.rowStride), 3);
  return e.and_(isDense(), e.cmp(Predicate::ne, low, int64_t(0)));
}

//===----------------------------------------------------------------------===//
// Bringing
//===----------------------------------------------------------------------===//

/// In pieces of `unit` bytes, of as many rows at once as the lanes suffice for. `whole`: there
/// is nothing to test.
void Copier::bringPieces(int64_t unit, bool whole) {
  int64_t lanes = kChunkBytes / unit, together = 32 / lanes;
  Value at = e.shl(e.and_(lane, lanes - 1), llvm::Log2_64(unit));
  Value first = e.add(e.shl(warp, 2), e.shr(lane, llvm::Log2_64(lanes)));
  Value step = e.mul(request.rowStride, getStepLines());
  e.forRange(e.c32(0), request.chunks, e.c32(1), [&](Value chunk) {
    Value byte = e.add(e.shl(chunk, 7), at);
    // Bytes of the piece that exist in a row, if it does and begins with a word.
    Value left = e.sub(request.bytesLeft, byte);
    Value to = e.add(request.dest, e.shl(e.add(e.mul(chunk, request.rows), first), 7));
    auto loop = scf::ForOp::create(e.b, e.loc, first, request.rows, e.c32(getStepLines()),
                                   ValueRange{addressOf(first, byte), to});
    OpBuilder::InsertionGuard guard(e.b);
    e.b.setInsertionPointToStart(loop.getBody());
    Value row = loop.getInductionVar(), from = loop.getRegionIterArg(0);
    to = loop.getRegionIterArg(1);
    for (int64_t k = 0; k < kItemLines; k += together) {
      Value thisRow = e.add(row, k);
      Value source = k ? e.add(from, e.mul(request.rowStride, k)) : from;
      Value bytes;
      if (!whole) {
        bytes = left;
        // Of a row without any not even the rest of a word.
        if (unit == 4) {
          Value rest = e.resize(e.and_(source, 3), e.i32);
          bytes = e.select(e.cmp(Predicate::sgt, request.bytesLeft, int64_t(0)), e.add(left, rest),
                           e.c32(0));
        }
        bytes = e.minS(e.maxS(bytes, e.c32(0)), e.c32(unit));
        // Part of a piece counts as an access to all of it: not behind the last row.
        Value isWhole = e.resize(e.eq(bytes, unit), e.i32);
        Value last = e.add(e.sub(request.rowsLeft, 1), isWhole);
        Value isValid = e.and_(e.cmp(Predicate::sge, thisRow, request.rowsFrom),
                               e.cmp(Predicate::slt, thisRow, last));
        Value word = unit == 4 ? toWord(e, source) : source;
        isValid = e.and_(isValid, e.cmp(Predicate::uge, word, request.start));
        bytes = e.select(isValid, bytes, e.c32(0));
      }
      if (unit == 4)
        source = toWord(e, source);
      Value place = e.xor_(e.shl(e.and_(thisRow, 7), 4), at);
      Value dest = e.add(e.add(to, place), k * kChunkBytes);
      e.create<NVVM::CpAsyncOp>(
          e.pointer(dest), e.pointer(source), unit,
          unit == 16 ? NVVM::LoadCacheModifierKind::CG : NVVM::LoadCacheModifierKind::CA, bytes);
    }
    scf::YieldOp::create(e.b, e.loc,
                         ValueRange{e.add(from, step), e.add(to, getStepLines() * kChunkBytes)});
  });
}

void Copier::start() {
  e.ifThen(isDense(), [&] {
    Value low = e.or_(request.base, request.rowStride);
    auto isAligned = [&](int64_t bytes) {
      return e.cmp(Predicate::eq, e.and_(low, bytes - 1), int64_t(0));
    };
    auto inWords = [&] {
      Value whole = e.and_(e.cmp(Predicate::sge, request.rowsLeft, request.rows),
                           e.cmp(Predicate::sge, request.bytesLeft, e.shl(request.chunks, 7)));
      whole = e.and_(whole, e.eq(e.or_(request.rowsFrom, request.bytesFrom), 0));
      whole = e.and_(whole, e.cmp(Predicate::uge, toWord(e, request.base), request.start));
      e.ifThenElse(
          whole, [&] { bringPieces(4, true); }, [&] { bringPieces(4, false); });
    };
    e.ifThenElse(
        isAligned(16), [&] { bringPieces(16, false); },
        [&] {
          e.ifThenElse(
              isAligned(8), [&] { bringPieces(8, false); }, inWords);
        });
  });
}

//===----------------------------------------------------------------------===//
// Rows that begin within a word
//===----------------------------------------------------------------------===//

/// The word behind what was brought of a line, without what does not exist: of the lane's own among
/// the lines of kRoundItems items of the warp, from the one with row `first` on.
Value Copier::loadEnd(Value chunk, Value first) {
  Value item = e.add(e.mul(e.shr(lane, 2), warps), warp);
  Value row = e.add(first, e.add(e.shl(item, 2), e.and_(lane, 3)));
  Value byte = e.shl(e.add(chunk, 1), 7); // behind the line
  Value behind = addressOf(row, byte), word = toWord(e, behind);
  // What exists of the word's bytes; those behind the line are not looked at.
  Value left = e.add(e.sub(request.bytesLeft, byte), e.resize(e.and_(behind, 3), e.i32));
  Value isValid = e.and_(exists(row), e.cmp(Predicate::slt, row, request.rows));
  isValid = e.and_(isValid, e.cmp(Predicate::sgt, left, int64_t(0)));
  Value isLast = e.cmp(Predicate::eq, e.add(row, 1), request.rowsLeft);
  isValid = e.and_(isValid, e.or_(e.not_(isLast), e.cmp(Predicate::sge, left, 4)));
  isValid = e.and_(isValid, e.cmp(Predicate::uge, word, request.start));
  isValid = e.and_(isValid, e.cmp(Predicate::slt, chunk, request.chunks));
  Value end = e.loadWords(e.i32, word, 4, e.resize(isValid, e.i32), e.c32(0))[0];
  // In bits, up to 24 of them to be kept.
  Value keep = e.shl(e.minS(e.maxS(left, e.c32(0)), e.c32(3)), 3);
  Value mask = e.sub(arith::ShLIOp::create(e.b, e.loc, e.c32(1), keep), 1);
  return e.select(e.cmp(Predicate::sge, left, 4), end, e.and_(end, mask));
}

/// Moves each line to its place. A lane reads and writes one piece of a line, its own; the word
/// behind that comes from the next lane, or is the line's end.
void Copier::shiftRows(function_ref<void()> arrive) {
  int64_t roundRows = kRoundItems * getStepLines();
  Value piece = e.and_(lane, 7), line = e.shr(lane, 3);
  Value isLast = e.eq(piece, 7);
  Value rounds = e.mul(request.chunks, e.divU(e.add(request.rows, roundRows - 1), roundRows));
  Value early = loadEnd(e.c32(0), e.c32(0));
  arrive();
  auto loop = scf::ForOp::create(e.b, e.loc, e.c32(0), rounds, e.c32(1),
                                 ValueRange{e.c32(0), e.c32(0), early});
  {
    OpBuilder::InsertionGuard guard(e.b);
    e.b.setInsertionPointToStart(loop.getBody());
    Value chunk = loop.getRegionIterArg(0), first = loop.getRegionIterArg(1);
    Value ends = loop.getRegionIterArg(2);
    Value next = e.add(first, roundRows);
    Value wraps = e.cmp(Predicate::sge, next, request.rows);
    Value nextChunk = e.add(chunk, e.resize(wraps, e.i32));
    next = e.select(wraps, e.c32(0), next);
    Value later = loadEnd(nextChunk, next);
    Value start = e.add(request.dest, e.shl(e.mul(chunk, request.rows), 7));
    Value limit = e.minS(e.add(first, roundRows), request.rows);
    Value low = e.resize(request.base, e.i32), step = e.resize(request.rowStride, e.i32);
    auto items = scf::ForOp::create(e.b, e.loc, e.add(first, e.shl(warp, 2)), limit,
                                    e.c32(getStepLines()), ValueRange{line});
    e.b.setInsertionPointToStart(items.getBody());
    Value row = e.add(items.getInductionVar(), line), holder = items.getRegionIterArg(0);
    Value at = e.add(e.add(start, e.shl(row, 7)), e.shl(e.and_(e.xor_(piece, row), 7), 4));
    SmallVector<Value> words = e.loadWords({e.i32, e.i32, e.i32, e.i32}, at, 16);
    Value behind = e.shuffle("down", words[0], e.c32(1));
    words.push_back(e.select(isLast, e.shuffle("idx", ends, holder), behind));
    Value bits = e.shl(e.add(low, e.mul(row, step)), 3); // modulo 32
    SmallVector<Value> shifted;
    for (int64_t k = 0; k < 4; ++k)
      shifted.push_back(LLVM::FshrOp::create(e.b, e.loc, e.i32, words[k + 1], words[k], bits));
    e.storeWords(shifted, at, 16);
    scf::YieldOp::create(e.b, e.loc, e.add(holder, kItemLines));
    e.b.setInsertionPointToEnd(loop.getBody());
    scf::YieldOp::create(e.b, e.loc, ValueRange{nextChunk, next, later});
  }
}

//===----------------------------------------------------------------------===//
// Element by element
//===----------------------------------------------------------------------===//

/// 16 bytes of a row from byte `byte` on, an element of `size` bytes at a time.
void Copier::copyPiece(int64_t size, Value row, Value byte, Value to) {
  Value isRow = exists(row);
  Type type = size == 4 ? e.i32 : e.i16;
  Value from = e.add(addressOf(row, e.c32(0)),
                     e.mul(toI64(e, e.shr(byte, llvm::Log2_64(size))), request.columnStride));
  auto loop = scf::ForOp::create(e.b, e.loc, byte, e.add(byte, 16), e.c32(4), from);
  OpBuilder::InsertionGuard guard(e.b);
  e.b.setInsertionPointToStart(loop.getBody());
  Value word = e.c32(0);
  from = loop.getRegionIterArg(0);
  for (int64_t k = 0; k < 4; k += size) {
    Value at = e.add(loop.getInductionVar(), k);
    Value isValid = e.and_(isRow, e.cmp(Predicate::sge, at, request.bytesFrom));
    isValid = e.and_(isValid, e.cmp(Predicate::slt, at, request.bytesLeft));
    Value element = e.loadWords(type, from, size, e.resize(isValid, e.i32), e.cint(type, 0))[0];
    word = e.or_(word, e.shl(e.resize(element, e.i32), 8 * k));
    from = e.add(from, request.columnStride);
  }
  e.storeWords(word, e.add(to, e.and_(loop.getInductionVar(), 15)), 4);
  scf::YieldOp::create(e.b, e.loc, from);
}

/// i1: the piece at a byte of a row was not brought, or not as it is to be.
Value Copier::isIncomplete(Value row, Value byte) {
  // The word in which a row begins may begin in front of the argument.
  Value cut = e.cmp(Predicate::ult, toWord(e, addressOf(row, byte)), request.start);
  // The end of the last row: a word of it, when shifted, may be in two pieces.
  Value isLast = e.cmp(Predicate::eq, e.add(row, 1), request.rowsLeft);
  isLast = e.and_(isLast, e.cmp(Predicate::sgt, e.add(byte, 16 + 4), request.bytesLeft));
  Value some = e.and_(e.and_(exists(row), e.cmp(Predicate::slt, byte, request.bytesLeft)),
                      e.or_(cut, isLast));
  return e.or_(e.or_(some, e.cmp(Predicate::slt, byte, request.bytesFrom)), e.not_(isDense()));
}

/// i1: some piece may be.
Value Copier::mayBeIncomplete() {
  Value front = e.cmp(Predicate::ne, request.bytesFrom, int64_t(0));
  // No row comes before the first that exists.
  Value cut =
      e.cmp(Predicate::ult, toWord(e, addressOf(request.rowsFrom, e.c32(0))), request.start);
  Value end = e.and_(e.cmp(Predicate::sle, request.rowsLeft, request.rows),
                     e.cmp(Predicate::slt, request.bytesLeft, e.add(e.shl(request.chunks, 7), 4)));
  return e.or_(e.or_(front, cut), e.or_(end, e.not_(isDense())));
}

void Copier::completePieces() {
  Value line = e.shr(lane, 3), piece = e.and_(lane, 7);
  e.forRange(e.c32(0), request.chunks, e.c32(1), [&](Value chunk) {
    Value byte = e.add(e.shl(chunk, 7), e.shl(piece, 4));
    Value start = e.add(request.dest, e.shl(e.mul(chunk, request.rows), 7));
    e.forRange(e.shl(warp, 2), request.rows, e.c32(getStepLines()), [&](Value item) {
      Value row = e.add(item, line);
      Value to = e.add(e.add(start, e.shl(row, 7)), e.shl(e.and_(e.xor_(piece, row), 7), 4));
      e.ifThen(isIncomplete(row, byte), [&] {
        for (int64_t size : sizes) {
          auto copy = [&] { copyPiece(size, row, byte, to); };
          if (sizes.size() == 1)
            copy();
          else
            e.ifThen(e.eq(request.size, size), copy);
        }
      });
    });
  });
}

void Copier::finish(function_ref<void()> arrive) {
  if (llvm::any_of(sizes, [](int64_t size) { return size < 4; }))
    e.ifThenElse(
        hasMisalignedRows(), [&] { shiftRows(arrive); }, arrive);
  else
    arrive();
  e.ifThen(mayBeIncomplete(), [&] {
    e.syncWarp();
    completePieces();
  });
}
