//===- Copies.cpp - Tiles from memory into slots --------------------------===//
//
// A staged tile lies as columns of chunks of 128 bytes, each swizzled; the copy engine fills a
// chunk a box. In the variant for any strides it may have no map of the argument: then other
// warps copy (mk-thread-expand-copiers). Both bring the whole box, and zeros for what lies outside
// of the argument. Where `valid` ends within the argument, or a pad is not zero, the producer waits
// for the box and writes over what is not valid, before it hands the slot over (TrimCopies.cpp).
// Tiles of one dimension are brought by the producer's threads, an element each at a time.
//
//===----------------------------------------------------------------------===//
#include "Lowering.h"
#include "mkernel/Analysis/Remarks.h"

using namespace mlir;
using namespace mlir::mk;
using namespace mlir::mk::sm;
using namespace mlir::mk_sm;

void Lowering::copyByEngine(const TileCopy &copy, Value map, Value barrier, int64_t shared) {
  int64_t size = getElementBytes(copy.tile.getElementType());
  ArrayRef<int64_t> shape = copy.tile.getShape();
  create<mk_thread::CopyTileOp>(map, copy.offsets, shape.end()[-2],
                                llvm::divideCeil(shape.back() * size, kChunkBytes),
                                copy.box.end()[-2], kChunkBytes / size, copy.dest, barrier,
                                shared > 1 ? and_(cta, cluster - 1) : Value(),
                                shared > 1 ? b.getI64IntegerAttr(shared) : IntegerAttr());
}

mk_thread::CopiersAttr Lowering::makeCopiers() {
  return mk_thread::CopiersAttr::get(b.getContext(), warps.getNumCopiers(), offsetOf("requests"),
                                     offsetOf("posted"), warps.getBarrier("request"));
}

void Lowering::copyByThreads(const TileCopy &copy, Value landing) {
  int64_t size = getElementBytes(copy.tile.getElementType());
  ArrayRef<int64_t> shape = copy.tile.getShape();
  Value base = elementAddress(copy.from, copy.offsets), start = baseOf(copy.from);
  SmallVector<Value> strides = byteStrides(copy.from);
  auto [rowsFrom, rowsLeft, columnsFrom, columnsLeft] = findExisting(copy, /*valid=*/{});
  create<mk_thread::RequestCopyOp>(
      base, start, strides.end()[-2], strides.back(), rowsFrom, rowsLeft, mul(columnsFrom, size),
      mul(columnsLeft, size), shape.end()[-2], llvm::divideCeil(shape.back() * size, kChunkBytes),
      size, copy.dest, landing, lane, makeCopiers());
}

LogicalResult Lowering::lower(CopyOp op) {
  FailureOr<Buffer> from = buffer(op, op.getSource());
  if (failed(from))
    return failure();
  RankedTensorType tile = op.getTileType();
  int64_t before = 0;
  for (Type other : op.getSlot().getType().getTiles().take_front(op.getIndex()))
    before += getStagedBytes(cast<RankedTensorType>(other), kChunkBytes);
  TileCopy copy{*from, tile, add(elements(op.getSlot())[0], before), scalars(op.getOffsets()),
                tile.getRank() > 1 ? getCopyBox(op) : SmallVector<int64_t>()};
  Value full = elements(op.getSlot())[1];
  if (tile.getRank() == 1) {
    create<mk_thread::CopyElementsOp>(
        elementAddress(*from, copy.offsets), byteStrides(*from).back(), copy.offsets.back(),
        limits(*from, copy.offsets, tile.getShape(), op.getValid(), op.getOffsets()).front(),
        copy.dest, full, lane, tile);
    return success();
  }
  auto [map, usable] = tensorMap(*from, copy.box);
  if (!map && !byThreads)
    return op.emitOpError() << "copies what no tensor map describes, a tile of "
                            << op.getSource().getType()
                            << ": compile the variant for any strides";
  Type element = tile.getElementType();
  if (map && byThreads)
    usable = isBoxAddressable(usable, op.getOffsets(), element, /*stores=*/false);
  if (!isEngineColumn(op.getOffsets().back(), element)) {
    if (!byThreads)
      return op.emitOpError()
             << "may begin at a column that is no multiple of 16 bytes, which the copy "
                "engine does not take: compile the variant for any strides";
    missed(op, "convert-mk-sm-to-thread")
        << "may begin at a column that is no multiple of 16 bytes, which "
           "the copy engine does not take: threads copy then";
  }
  auto bring = [&, map = map, usable = usable](Value barrier, int64_t shared) {
    if (!byThreads)
      copyByEngine(copy, map, barrier, shared);
    else if (!map)
      copyByThreads(copy, barrier);
    else
      ifThenElse(
          usable, [&] { copyByEngine(copy, map, barrier, shared); },
          [&] { copyByThreads(copy, barrier); });
  };
  Value cut = isCut(op, copy);
  if (!cut) {
    bring(full, op.getShared());
    return success();
  }
  auto copyAndTrim = [&] {
    // Each CTA brings all of it: what comes from others is not counted here.
    awaitLanding(op, [&](Value landing) { bring(landing, /*shared=*/1); });
    trim(op, copy);
  };
  ifThenElse(cut, copyAndTrim, [&] { bring(full, op.getShared()); });
  return success();
}
