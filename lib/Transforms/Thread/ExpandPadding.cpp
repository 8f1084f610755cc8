//===- ExpandPadding.cpp - What is not valid of a staged tile ---------------===//
//
// Seldom: where a part of an argument ends within a tile and the rest of it is not to be seen, or
// where a pad is not zero.
//
//===----------------------------------------------------------------------===//
#include "Expand.h"

using namespace mlir;
using namespace mlir::mk_thread;
using Predicate = arith::CmpIPredicate;

static void padTile(PadTileOp op, Emitter &e) {
  int64_t size = op.getSize(), rows = op.getRows(), chunks = op.getChunks();
  Value lane = op.getLane(), pad = op.getPad();
  // Rows, in whole lines: four at a time, 16 bytes a lane.
  Value line = e.shr(lane, 3), piece = e.shl(e.and_(lane, 7), 4);
  Value first = e.select(e.eq(op.getRowsFrom(), 0), e.and_(op.getRowsLeft(), -4), e.c32(0));
  e.forRange(e.c32(0), e.c32(chunks), e.c32(1), [&](Value chunk) {
    Value start = e.add(e.add(op.getTile(), e.mul(chunk, rows * kChunkBytes)), piece);
    e.forRange(first, e.c32(rows), e.c32(4), [&](Value item) {
      Value row = e.add(item, line);
      Value gone = e.or_(e.cmp(Predicate::slt, row, op.getRowsFrom()),
                         e.cmp(Predicate::sge, row, op.getRowsLeft()));
      e.storeWords({pad, pad, pad, pad}, e.add(start, e.shl(row, 7)), 16, e.resize(gone, e.i32));
    });
  });
  // Columns, a word a lane: some of its elements may stay.
  Value cut = e.or_(e.cmp(Predicate::sgt, op.getColumnsFrom(), int64_t(0)),
                    e.cmp(Predicate::slt, op.getColumnsLeft(), chunks * kChunkBytes / size));
  e.ifThen(cut, [&] {
    e.forRange(e.c32(0), e.c32(chunks), e.c32(1), [&](Value chunk) {
      Value start = e.add(op.getTile(), e.mul(chunk, rows * kChunkBytes)), gone = e.c32(0);
      Value column = e.add(e.mul(chunk, kChunkBytes / size), e.mul(lane, 4 / size));
      for (int64_t k = 0; k < 4 / size; ++k) {
        Value at = e.add(column, k);
        Value out = e.or_(e.cmp(Predicate::slt, at, op.getColumnsFrom()),
                          e.cmp(Predicate::sge, at, op.getColumnsLeft()));
        int64_t bits = size == 4 ? -1 : ((int64_t(1) << 8 * size) - 1) << (8 * size * k);
        gone = e.or_(gone, e.select(out, e.c32(bits), e.c32(0)));
      }
      e.forRange(e.c32(0), e.c32(rows), e.c32(1), [&](Value row) {
        Value place = e.xor_(e.shl(lane, 2), e.shl(e.and_(row, 7), 4));
        Value at = e.add(e.add(start, e.shl(row, 7)), place);
        Value word = e.loadWords(e.i32, at, 4)[0];
        e.storeWords(e.or_(e.and_(word, e.xor_(gone, -1)), e.and_(pad, gone)), at, 4);
      });
    });
  });
  // The matrix engine reads what was written here.
  e.fenceAsyncShared();
  e.syncWarp();
}

void mk_thread::expandPadding(ModuleOp module) { expandEach<PadTileOp>(module, padTile); }
