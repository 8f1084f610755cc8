//===- Copies.cpp - Tiles from memory into slots --------------------------===//
//
// A staged tile lies as columns of chunks of 128 bytes, each swizzled; the copy engine fills a
// chunk a box. In the variant for any strides it may have no map of the argument: then other
// warps copy (mk-thread-expand-copiers). Both bring the whole box, and zeros for what lies outside
// of the argument; the engine leaves out boxes behind the end that nobody sees. Where `valid` ends
// within the argument, or a pad is not zero, the producer waits for the box and writes over what is
// not valid, before it hands the slot over. Tiles of one dimension are brought by the producer's
// threads, an element each at a time, and gathered rows always by the other warps.
//
//===----------------------------------------------------------------------===//
#include "Bounds.h"
#include "Boxes.h"
#include "Lowerings.h"
#include "Structure.h"
#include "mkernel/ABI/Gpu.h"
#include "mkernel/Analysis/Remarks.h"

using namespace mlir;
using namespace mlir::mk;
using namespace mlir::mk::sm;
using namespace mlir::mk_sm;

namespace {
/// A tile on its way from a buffer to its place in a slot.
struct TileCopy {
  Buffer from;
  RankedTensorType tile;
  Value dest;
  SmallVector<Value> offsets;
  SmallVector<int64_t> box; // of the copy engine
  /// In front of the buffer's end, where nobody sees what lies behind it; else null.
  Value rowsLeft = {}, columnsLeft = {};
  bool isOneBox = false; // that has all rows there are
};
} // namespace

/// [from, left) of the rows and of the columns of a tile, where elements exist.
static std::array<Value, 4> findExisting(PartitionBuilder &p, const TileCopy &copy,
                                         ValueRange valid) {
  int64_t rank = copy.offsets.size();
  SmallVector<Value> result;
  for (int64_t d = rank - 2; d < rank; ++d) {
    Value left = sub(p, sizeOf(p, copy.from, d), copy.offsets[d]);
    if (!valid.empty())
      left = minS(p, left, p.scalar(valid[valid.size() - rank + d]));
    result.push_back(narrow(p, sub(p, p.c64(0), copy.offsets[d])));
    result.push_back(narrow(p, left));
  }
  // Dimensions in front of them have one place.
  for (int64_t d = 0; d < rank - 2; ++d) {
    Value exists = ult(p, copy.offsets[d], sizeOf(p, copy.from, d));
    result[1] = select(p, exists, result[1], p.c32(0));
  }
  for (size_t d = 0; d + 2 < valid.size(); ++d)
    result[1] = select(p, sge(p, p.scalar(valid[d]), 1), result[1], p.c32(0));
  return {result[0], result[1], result[2], result[3]};
}

static void copyByEngine(PartitionBuilder &p, const TileCopy &copy, Value map, Value barrier,
                         ShareGroup group, bool once) {
  int64_t size = getElementBytes(copy.tile.getElementType());
  ArrayRef<int64_t> shape = copy.tile.getShape();
  bool isShared = group.size > 1;
  mk_thread::CopyTileOp::create(p, map, copy.offsets, shape.end()[-2],
                                llvm::divideCeil(shape.back() * size, p.info.getChunk()),
                                copy.box.end()[-2], p.info.getChunk() / size, copy.dest, barrier,
                                isShared ? and_(p, p.cta, p.info.params.cluster - 1) : Value(),
                                isShared ? p.getI64IntegerAttr(group.size) : IntegerAttr(),
                                group.stride, once, copy.rowsLeft, copy.columnsLeft,
                                copy.isOneBox);
}

static void copyByThreads(PartitionBuilder &p, const TileCopy &copy, Value arrival) {
  int64_t size = getElementBytes(copy.tile.getElementType());
  ArrayRef<int64_t> shape = copy.tile.getShape();
  Value base = elementAddress(p, copy.from, copy.offsets), start = baseOf(p, copy.from);
  SmallVector<Value> strides = byteStrides(p, copy.from);
  auto [rowsFrom, rowsLeft, columnsFrom, columnsLeft] = findExisting(p, copy, /*valid=*/{});
  mk_thread::RequestCopyOp::create(
      p, base, start, strides.end()[-2], strides.back(),
      /*list=*/Value(), /*list_stride=*/Value(), /*entries_from=*/Value(),
      /*entries_below=*/Value(), rowsFrom, rowsLeft, mul(p, columnsFrom, size),
      mul(p, columnsLeft, size), shape.end()[-2],
      llvm::divideCeil(shape.back() * size, p.info.getChunk()), size, copy.dest, arrival, p.lane,
      makeCopiers(p));
}

static LogicalResult lowerSelectRows(SelectRowsOp op, PartitionBuilder &p) {
  if (!p.info.byThreads)
    return op.emitOpError() << "has copiers look rows up, which there are in the variant for any "
                               "strides: compile that";
  Buffer from = getBuffer(p, op, op.getSource());
  int64_t d = from.type.getRank() - 2;
  ListedRows rows =
      findRows(p, op, from, d, p.scalar(op.getOffset()), op.getRows(), p.scalar(op.getRowsAt()),
               op.getValid() ? p.scalar(op.getValid()) : Value());
  mk_thread::RequestRowsOp::create(p, op.getCount(), byteStrides(p, from)[d], rows.from, rows.left,
                                   rows.list, rows.stride, rows.least, rows.below, p.lane,
                                   makeCopiers(p));
  return success();
}

/// Of a list in memory. In pieces of 16 bytes of the rows that copiers remember, where whole ones
/// are all there is to bring; else they look each row up anew.
static void gatherRows(PartitionBuilder &p, CopyOp op, const TileCopy &copy, Value arrival) {
  ArrayRef<int64_t> shape = copy.tile.getShape();
  int64_t size = getElementBytes(copy.tile.getElementType());
  int64_t chunks = llvm::divideCeil(shape[1] * size, p.info.getChunk());
  size_t d = copy.offsets.size() - 2;
  SmallVector<Value> strides = byteStrides(p, copy.from);
  auto valid = [&](int64_t i) {
    return op.getValid().empty() ? Value() : p.scalar(op.getValid()[i]);
  };
  ListedRows rows = findRows(p, op, copy.from, d, copy.offsets[d], op.getRows(),
                             p.scalar(op.getRowsAt()), valid(0));
  Value columns = sub(p, sizeOf(p, copy.from, d + 1), copy.offsets[d + 1]);
  if (Value some = valid(1))
    columns = minS(p, columns, some);
  // Dimensions in front have one place.
  for (size_t i = 0; i < d; ++i)
    columns = select(p, ult(p, copy.offsets[i], sizeOf(p, copy.from, i)), columns, p.c64(0));
  Value bytes = mul(p, narrow(p, columns), size);
  auto lookUp = [&] {
    mk_thread::RequestCopyOp::create(
        p, elementAddress(p, copy.from, copy.offsets), baseOf(p, copy.from), strides[d],
        strides[d + 1], rows.list, rows.stride, rows.least, rows.below, rows.from, rows.left,
        mul(p, narrow(p, sub(p, p.c64(0), copy.offsets[d + 1])), size), bytes, shape[0], chunks,
        size, copy.dest, arrival, p.lane, makeCopiers(p));
  };
  if (!op.getSelected())
    return lookUp();
  SmallVector<Value> first(copy.offsets);
  first[d] = add(p, first[d], resize(p, rows.least, p.i64, /*isSigned=*/true));
  Value base = elementAddress(p, copy.from, first);
  Value low = or_(p, or_(p, base, strides[d]), resize(p, bytes, p.i64));
  Value even = eq(p, and_(p, low, kEngineBytes - 1), 0);
  even = and_(p, even, eq(p, strides[d + 1], size));
  even = and_(p, even, sge(p, copy.offsets[d + 1], 0));
  even = and_(p, even, ult(p, mul(p, sizeOf(p, copy.from, d), strides[d]), int64_t(1) << 36));
  ifThenElse(
      p, even,
      [&] {
        mk_thread::RequestSelectedOp::create(p, base, bytes, shape[0], chunks, copy.dest, arrival,
                                             p.lane, makeCopiers(p));
      },
      lookUp);
}

/// i1: the slot gets elements that are not valid, or not padded; null: never.
/// `valid` may end what the argument, which reads as zero behind its end, does not end. A pad that
/// is not zero is wanted wherever nothing is.
static Value isCut(PartitionBuilder &p, CopyOp op, const TileCopy &copy) {
  ArrayRef<int64_t> shape = copy.tile.getShape();
  if (!op.getPad() || isZero(p.scalar(op.getPad()))) {
    Value always = p.cbool(true);
    Value whole = isBoundedByBuffer(p, always, copy.from, copy.offsets, shape, op.getValid());
    return whole == always ? Value() : xor_(p, whole, p.cbool(true));
  }
  Value whole = p.cbool(true);
  for (auto [limit, extent] :
       llvm::zip(limits(p, copy.from, copy.offsets, shape, op.getValid()), shape))
    whole = and_(p, whole, sge(p, limit, extent));
  for (Value offset : copy.offsets)
    whole = and_(p, whole, sge(p, offset, 0));
  return xor_(p, whole, p.cbool(true));
}

/// The producer waits until what `fetch` fetches has come, counted by the barrier that it is
/// given.
static void awaitCopy(PartitionBuilder &p, CopyOp op, function_ref<void(Value)> fetch) {
  Value arrival = p.shared(p.memory.padding);
  fetch(arrival);
  ifThen(p, eq(p, p.lane, 0), [&] {
    mk_thread::BarrierArriveOp::create(p, arrival, /*cta=*/Value(), /*bytes=*/Value());
  });
  Value phase = read(p, p.cursor(op.getPadding()).phase, p.i32);
  auto slot = op.getSlot().getDefiningOp<AcquireOp>();
  int64_t ring = slot ? Channel(slot.getRing().getDefiningOp()).number : -1;
  mk_thread::BarrierWaitOp::create(p, arrival, phase, p.c32(0), p.makeReport(MK_WAIT_RING, ring),
                                   /*doubleDeadline=*/true);
  p.advance(op.getPadding());
}

/// Writes the pad, or zero, over what is not valid of a tile that has come: seldom, where a part of
/// an argument ends within a tile and the rest of it is not to be seen, or where a pad is not zero.
/// By then nothing but this slot is waited for: those in front are full or under way.
static void padTile(PartitionBuilder &p, CopyOp op, const TileCopy &copy) {
  int64_t size = getElementBytes(copy.tile.getElementType());
  int64_t rows = copy.tile.getShape().end()[-2];
  int64_t chunks = llvm::divideCeil(copy.tile.getShape().back() * size, p.info.getChunk());
  auto [rowsFrom, rowsLeft, columnsFrom, columnsLeft] = findExisting(p, copy, op.getValid());
  // A pad in each element of a word.
  Value pad = op.getPad() ? p.scalar(op.getPad()) : p.c32(0);
  if (!pad.getType().isInteger())
    pad = LLVM::BitcastOp::create(p, p.getIntegerType(8 * size), pad);
  pad = resize(p, pad, p.i32);
  for (int64_t bytes = size; bytes < 4 && op.getPad(); bytes *= 2)
    pad = or_(p, pad, shl(p, pad, 8 * bytes));
  mk_thread::PadTileOp::create(p, copy.dest, rowsFrom, rowsLeft, columnsFrom, columnsLeft, rows,
                               chunks, size, pad, p.lane);
}

/// Where a tile lies in a slot.
static int64_t getTileOffset(PartitionBuilder &p, TypedValue<SlotType> slot, int64_t index) {
  int64_t offset = 0;
  for (Type tile : slot.getType().getTiles().take_front(index))
    offset += getStagedBytes(cast<RankedTensorType>(tile), p.info.getChunk());
  return offset;
}

static void lowerTile(TileOp op, PartitionBuilder &p) {
  p.set(op, add(p, p.elements(op.getSlot())[0], getTileOffset(p, op.getSlot(), op.getIndex())));
}

static LogicalResult lowerCopy(CopyOp op, PartitionBuilder &p) {
  Buffer from = getBuffer(p, op, op.getSource());
  RankedTensorType tile = op.getTileType();
  int64_t before = getTileOffset(p, op.getSlot(), op.getIndex());
  CopyBox box = op.isByElements() || op.getRows() ? CopyBox() : getCopyBox(op);
  TileCopy copy{from, tile, add(p, p.elements(op.getSlot())[0], before), p.scalars(op.getOffsets()),
                box.extents};
  // What does not change in a loop stands in front of it, if no size is read.
  auto getLeft = [&](int64_t d) -> Value {
    int64_t dim = copy.offsets.size() - tile.getRank() + d;
    if (!op.isUnseen(d))
      return {};
    std::optional<int64_t> extent = extentOf(p.info, from, dim);
    return narrow(p, sub(p, extent ? p.c64(*extent) : sizeOf(p, from, dim), copy.offsets[dim]));
  };
  if (tile.getRank() > 1) {
    copy.rowsLeft = getLeft(tile.getRank() - 2);
    copy.columnsLeft = getLeft(tile.getRank() - 1);
    copy.isOneBox = box.hasAllRows;
  }
  Value full = p.elements(op.getSlot())[1];
  if (op.getRows()) {
    if (!p.info.byThreads)
      return op.emitOpError()
             << "gathers rows, which threads copy: compile the variant for any strides";
    gatherRows(p, op, copy, full);
    return success();
  }
  if (op.isByElements()) {
    mk_thread::CopyElementsOp::create(
        p, elementAddress(p, from, copy.offsets), byteStrides(p, from).back(), copy.offsets.back(),
        limits(p, from, copy.offsets, tile.getShape(), op.getValid(), op.getOffsets()).front(),
        copy.dest, full, p.lane, tile);
    return success();
  }
  auto [map, usable] = tensorMap(p, from, copy.box);
  if (!map && !p.info.byThreads)
    return op.emitOpError() << "copies what no tensor map describes, a tile of "
                            << op.getSource().getType() << ": compile the variant for any strides";
  Type element = tile.getElementType();
  if (map && p.info.byThreads)
    usable = isBoxAddressable(p, usable, op.getOffsets(), element, /*stores=*/false);
  if (!isEngineColumn(op.getOffsets().back(), getElementBytes(element))) {
    if (!p.info.byThreads)
      return op.emitOpError()
             << "may begin at a column that is no multiple of 16 bytes, which the copy "
                "engine does not take: compile the variant for any strides";
    missed(op, "convert-mk-sm-to-thread")
        << "may begin at a column that is no multiple of 16 bytes, which "
           "the copy engine does not take: threads copy then";
  }
  auto fetch = [&, map = map, usable = usable](Value barrier, ShareGroup group) {
    if (!p.info.byThreads)
      copyByEngine(p, copy, map, barrier, group, op.getOnce());
    else if (!map)
      copyByThreads(p, copy, barrier);
    else
      ifThenElse(
          p, usable, [&] { copyByEngine(p, copy, map, barrier, group, op.getOnce()); },
          [&] { copyByThreads(p, copy, barrier); });
  };
  Value cut = isCut(p, op, copy);
  if (!cut) {
    fetch(full, op.getGroup());
    return success();
  }
  auto copyAndPad = [&] {
    // Each CTA brings all of it: what comes from others is not counted here.
    awaitCopy(p, op, [&](Value arrival) { fetch(arrival, /*group=*/{}); });
    padTile(p, op, copy);
  };
  ifThenElse(p, cut, copyAndPad, [&] { fetch(full, op.getGroup()); });
  return success();
}

void sm::populateCopyLowerings(LoweringTable &table) {
  table.add(lowerCopy, lowerSelectRows, lowerTile);
}
