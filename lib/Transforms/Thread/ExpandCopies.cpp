//===- ExpandCopies.cpp - Tiles that the copy engine brings ---------------===//
#include "Expand.h"
#include "mkernel/Dialect/Thread/ShareGroup.h"

using namespace mlir;
using namespace mlir::mk_thread;

static void copyTile(CopyTileOp op, Emitter &e) {
  int64_t rows = op.getRows(), shared = op.getShared().value_or(1), own = rows / shared;
  ShareGroup group{shared, int64_t(op.getStride())};
  int64_t chunkBytes = e.sm.getChunk();
  ifElected(e, [&] {
    BarrierExpectOp::create(e, op.getBarrier(), rows * op.getChunks() * chunkBytes);
    SmallVector<Value> start;
    for (Value coordinate : op.getCoordinates())
      start.push_back(resize(e, coordinate, e.i32));
    Value to = op.getDest();
    Value ctas;
    if (op.getShared()) {
      Value before = mul(e, makePlace(e, group, op.getPlace()), own);
      start.end()[-2] = add(e, start.end()[-2], before);
      to = add(e, to, mul(e, before, chunkBytes));
      // By a mask of CTAs: written at the same place of each, and counted by its barrier.
      int64_t cluster = op->getParentOfType<KernelOp>().getCluster();
      ctas = resize(e, makeMask(e, group, op.getPlace(), cluster), e.i16);
    }
    for (int64_t chunk = 0; chunk != int64_t(op.getChunks()); ++chunk)
      for (int64_t row = 0; row != own; row += op.getBoxRows()) {
        SmallVector<Value> at(start);
        at.back() = add(e, at.back(), chunk * op.getBoxColumns());
        at.end()[-2] = add(e, at.end()[-2], row);
        CopyTensorOp::create(e, op.getMap(), at, add(e, to, (chunk * rows + row) * chunkBytes),
                             op.getBarrier(), ctas, op.getOnce());
      }
  });
}

void mk_thread::expandCopies(ModuleOp module) { expandEach<CopyTileOp>(module, copyTile); }
