//===- Copies.cpp - Tiles from memory into slots --------------------------===//
//
// A staged tile lies as columns of chunks of 128 bytes, each swizzled; the copy
// engine fills a chunk a box. Where it cannot (no tensor map, a part that is not
// valid, a pad that is not zero) the producer asks the other three warps of its
// warpgroup to do it (SlowCopies.cpp).
//
//===----------------------------------------------------------------------===//
#include "Lowering.h"

using namespace mlir;
using namespace mlir::mk;
using namespace mlir::mk::sm;
using namespace mlir::mk_sm;
using Predicate = arith::CmpIPredicate;

LogicalResult Lowering::emitCopy(CopyOp op) {
  FailureOr<Buffer> from = buffer(op, op.getSource());
  if (failed(from))
    return failure();
  RankedTensorType tile = op.getTileType();
  ArrayRef<int64_t> shape = tile.getShape();
  int64_t before = 0;
  for (Type other : op.getSlot().getType().getTiles().take_front(op.getIndex()))
    before += getStagedBytes(cast<RankedTensorType>(other));
  Value dest = add(elements(op.getSlot())[0], before);
  Value full = elements(op.getSlot())[1];
  SmallVector<Value> offsets = scalars(op.getOffsets());
  SmallVector<int64_t> box = getCopyBox(op);
  auto [map, usable] = tensorMap(*from, box);

  Value pad = op.getPad();
  bool zeroPad = !pad || isZero(scalar(pad));
  // The copy engine reads zero outside the buffer, and knows of nothing else.
  Value fast = usable;
  if (map && !zeroPad) {
    fast = and_(usable, covers(limits(*from, offsets, shape.size(), op.getValid()),
                               shape));
  } else if (map) {
    fast = endsByItself(fast, *from, offsets, shape, op.getValid());
  }
  auto copyFast = [&] {
    ifThen(eq(lane, 0), [&, map = map] {
      int64_t bytes = getStagedBytes(tile);
      create<mk_thread::BarrierExpectOp>(full, bytes);
      SmallVector<Value> start;
      for (Value offset : offsets)
        start.push_back(resize(offset, i32));
      int64_t rows = shape.end()[-2], size = getElementBytes(tile.getElementType());
      int64_t columns = kChunkBytes / size, boxRows = box.end()[-2];
      // Of a shared copy this CTA's part, for all CTAs of the cluster.
      int64_t shared = op.getShared(), own = rows / shared;
      Value to = dest;
      if (shared > 1) {
        Value before = mul(placeInCluster(), own);
        start.end()[-2] = add(start.end()[-2], before);
        to = add(to, mul(before, kChunkBytes));
      }
      // By a mask of CTAs: written at the same place of each, and counted by its barrier.
      IntegerAttr ctas = shared > 1 ? b.getI64IntegerAttr((int64_t(1) << shared) - 1) : IntegerAttr();
      // A tile may end within its last chunk, which is filled all the same.
      for (int64_t c = 0; c * columns < shape.back(); ++c)
        for (int64_t r = 0; r < own; r += boxRows) {
          SmallVector<Value> at(start);
          at.back() = add(at.back(), c * columns);
          at.end()[-2] = add(at.end()[-2], r);
          create<mk_thread::CopyTensorOp>(map, at, add(to, (c * rows + r) * kChunkBytes), full,
                                          ctas);
        }
    });
  };
  LogicalResult result = success();
  auto slowly = [&] { result = requestCopy(op, *from, dest, full, offsets); };
  if (map)
    ifThenElse(fast, copyFast, slowly);
  else
    slowly();
  return result;
}

