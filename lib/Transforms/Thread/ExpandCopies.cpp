//===- ExpandCopies.cpp - Tiles that the copy engine brings ---------------===//
#include "Expand.h"
#include "mkernel/Dialect/Thread/ShareGroup.h"

using namespace mlir;
using namespace mlir::mk_thread;

/// i32: how many boxes of so many elements begin in front of the end; all `most` where there is
/// none.
static Value countBoxes(Emitter &e, Value left, int64_t elements, int64_t most) {
  if (!left)
    return e.c32(most);
  if (most == 1)
    return minS(e, maxS(e, left, 0), 1);
  Value inside = minS(e, maxS(e, left, 0), elements * most);
  return divU(e, add(e, inside, elements - 1), elements);
}

static void copyTile(CopyTileOp op, Emitter &e) {
  int64_t rows = op.getRows(), shared = op.getShared().value_or(1), own = rows / shared;
  ShareGroup group{shared, int64_t(op.getStride())};
  int64_t chunkBytes = e.sm.getChunk();
  int64_t boxRows = op.getBoxRows(), boxColumns = op.getBoxColumns();
  int64_t boxes = op.getOneBox() ? 1 : rows / boxRows; // below each other, of all CTAs
  Value rowsLeft = op.getRowsLeft(), columnsLeft = op.getColumnsLeft();
  ifElected(e, [&] {
    if (rowsLeft || columnsLeft)
      BarrierExpectOp::create(e, op.getBarrier(), boxRows * chunkBytes,
                              mul(e, countBoxes(e, rowsLeft, boxRows, boxes),
                                  countBoxes(e, columnsLeft, boxColumns, op.getChunks())));
    else
      BarrierExpectOp::create(e, op.getBarrier(), rows * op.getChunks() * chunkBytes,
                              /*times=*/Value());
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
      if (rowsLeft)
        rowsLeft = sub(e, rowsLeft, before); // of its own ones
    }
    for (int64_t chunk = 0; chunk != int64_t(op.getChunks()); ++chunk)
      for (int64_t row = 0; row < std::min(own, boxes * boxRows); row += boxRows) {
        Value exists;
        if (rowsLeft)
          exists = sgt(e, rowsLeft, row);
        if (Value inRow = columnsLeft ? sgt(e, columnsLeft, chunk * boxColumns) : Value())
          exists = exists ? and_(e, exists, inRow) : inRow;
        auto copyBox = [&] {
          SmallVector<Value> at(start);
          at.back() = add(e, at.back(), chunk * boxColumns);
          at.end()[-2] = add(e, at.end()[-2], row);
          CopyTensorOp::create(e, op.getMap(), at, add(e, to, (chunk * rows + row) * chunkBytes),
                               op.getBarrier(), ctas, op.getOnce());
        };
        if (exists)
          ifThen(e, exists, copyBox);
        else
          copyBox();
      }
  });
}

void mk_thread::expandCopies(ModuleOp module) { expandEach<CopyTileOp>(module, copyTile); }
