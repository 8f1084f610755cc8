//===- ExpandCopies.cpp - Tiles that the copy engine brings ---------------===//
#include "Expand.h"

using namespace mlir;
using namespace mlir::mk_thread;

static void copyTile(CopyTileOp op, Emitter &e) {
  int64_t rows = op.getRows(), shared = op.getShared().value_or(1), own = rows / shared;
  e.ifElected([&] {
    e.create<BarrierExpectOp>(op.getBarrier(), rows * op.getChunks() * kChunkBytes);
    SmallVector<Value> start;
    for (Value coordinate : op.getCoordinates())
      start.push_back(e.resize(coordinate, e.i32));
    Value to = op.getDest();
    IntegerAttr ctas;
    if (op.getShared()) {
      Value before = e.mul(op.getPlace(), own);
      start.end()[-2] = e.add(start.end()[-2], before);
      to = e.add(to, e.mul(before, kChunkBytes));
      // By a mask of CTAs: written at the same place of each, and counted by its barrier.
      ctas = e.b.getI64IntegerAttr((int64_t(1) << shared) - 1);
    }
    for (int64_t chunk = 0; chunk != int64_t(op.getChunks()); ++chunk)
      for (int64_t row = 0; row != own; row += op.getBoxRows()) {
        SmallVector<Value> at(start);
        at.back() = e.add(at.back(), chunk * op.getBoxColumns());
        at.end()[-2] = e.add(at.end()[-2], row);
        e.create<CopyTensorOp>(op.getMap(), at, e.add(to, (chunk * rows + row) * kChunkBytes),
                               op.getBarrier(), ctas);
      }
  });
}

void mk_thread::expandCopies(ModuleOp module) { expandEach<CopyTileOp>(module, copyTile); }
