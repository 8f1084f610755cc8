//===- ExpandPadding.cpp - What is not valid of a staged tile ---------------===//
//
// Seldom: where a part of an argument ends within a tile and the rest of it is not to be seen, or
// where a pad is not zero.
//
//===----------------------------------------------------------------------===//
#include "Expand.h"

using namespace mlir;
using namespace mlir::mk_thread;

static void padTile(PadTileOp op, Emitter &e) {
  int64_t size = op.getSize(), rows = op.getRows(), chunks = op.getChunks();
  int64_t chunkBytes = e.sm.getChunk();
  Value lane = op.getLane(), pad = op.getPad();
  // Rows, in whole lines: four at a time, 16 bytes a lane.
  Value line = shr(e, lane, 3), piece = shl(e, and_(e, lane, 7), 4);
  Value first = select(e, eq(e, op.getRowsFrom(), 0), and_(e, op.getRowsLeft(), -4), e.c32(0));
  forRange(e, chunks, [&](Value chunk) {
    Value start = add(e, add(e, op.getTile(), mul(e, chunk, rows * chunkBytes)), piece);
    forRange(e, first, e.c32(rows), e.c32(4), [&](Value item) {
      Value row = add(e, item, line);
      Value gone = or_(e, slt(e, row, op.getRowsFrom()), sge(e, row, op.getRowsLeft()));
      StoreOp::create(e, {pad, pad, pad, pad}, add(e, start, mul(e, row, chunkBytes)), 16,
                      resize(e, gone, e.i32));
    });
  });
  // Columns, a word a lane: some of its elements may stay.
  Value cut = or_(e, sgt(e, op.getColumnsFrom(), 0),
                  slt(e, op.getColumnsLeft(), chunks * chunkBytes / size));
  ifThen(e, cut, [&] {
    forRange(e, chunks, [&](Value chunk) {
      Value start = add(e, op.getTile(), mul(e, chunk, rows * chunkBytes)), gone = e.c32(0);
      Value column = add(e, mul(e, chunk, chunkBytes / size), mul(e, lane, 4 / size));
      for (int64_t k = 0; k < 4 / size; ++k) {
        Value at = add(e, column, k);
        Value out = or_(e, slt(e, at, op.getColumnsFrom()), sge(e, at, op.getColumnsLeft()));
        int64_t bits = size == 4 ? -1 : ((int64_t(1) << 8 * size) - 1) << (8 * size * k);
        gone = or_(e, gone, select(e, out, e.c32(bits), e.c32(0)));
      }
      forRange(e, rows, [&](Value row) {
        Value place = xor_(e, shl(e, lane, 2), swizzle(e, row));
        Value at = add(e, add(e, start, mul(e, row, chunkBytes)), place);
        Value word = LoadOp::create(e, e.i32, at, 4).getResult(0);
        StoreOp::create(e, or_(e, and_(e, word, xor_(e, gone, -1)), and_(e, pad, gone)), at, 4);
      });
    });
  });
  // The matrix engine reads what was written here.
  FenceAsyncOp::create(e, /*shared=*/true, /*global=*/false);
  SyncWarpOp::create(e);
}

void mk_thread::expandPadding(ModuleOp module) { expandEach<PadTileOp>(module, padTile); }
