//===- Accesses.cpp - Fragments from memory, and to it --------------------===//
//
// Adjacent elements that a thread holds of a row are moved together
// where the buffer allows it; else each by itself. Both ways are in the code, and the
// addresses decide at run time.
//
//===----------------------------------------------------------------------===//
#include "Bounds.h"
#include "Faults.h"
#include "Lowerings.h"
#include "Peers.h"

using namespace mlir;
using namespace mlir::mk;
using namespace mlir::mk::sm;
using namespace mlir::mk_sm;

static SmallVector<int32_t> numberElements(RankedTensorType tile) {
  return llvm::to_vector(llvm::seq<int32_t>(0, getNumElements(tile)));
}

namespace {
/// What ops that access elements of a tile at `offsets` name.
struct Access {
  Value start;
  SmallVector<Value> strides, offsets, limits;
  Value thread;
  Value together; // i1: whether runs are accessed at once, if they are of this many bytes; null:
                  // never
  Value wide;     // i1: together, and rows begin at multiples of 16 bytes; null: not asked for
  ListedRows rows; // null: they lie behind each other
};
/// Where a thread's first registers of a spilled fragment lie, the distance to its next ones, and
/// whether that is within the buffer.
struct SpillPlace {
  Value address;
  int64_t step;
  Value exists;
};
} // namespace

/// With `spread` all rows of the tile are the one that begins there.
static Access findAccess(PartitionBuilder &p, const Buffer &buffer, RankedTensorType tile,
                         ValueRange at, ValueRange valid, bool runs, bool quads,
                         bool spread = false) {
  SmallVector<Value> offsets = p.scalars(at);
  ArrayRef<int64_t> shape = tile.getShape().drop_front(spread ? 1 : 0);
  int64_t rank = shape.size(), size = getElementBytes(tile.getElementType());
  Access access;
  access.thread = buffer.hoisted ? p.partitionThread : p.readThreadInPartition();
  access.start = elementAddress(p, buffer, offsets);
  llvm::append_range(access.strides, ArrayRef(byteStrides(p, buffer)).take_back(rank));
  access.limits = limits(p, buffer, offsets, shape, valid, at);
  for (auto [d, extent] : llvm::enumerate(shape)) {
    int64_t dim = at.size() - rank + d;
    access.offsets.push_back(exist(p.info, buffer, dim, at[dim], extent) ? p.c64(0) : offsets[dim]);
  }
  if (spread) {
    access.strides.insert(access.strides.begin(), p.c64(0));
    access.offsets.insert(access.offsets.begin(), p.c64(0));
    access.limits.insert(access.limits.begin(), p.c64(tile.getDimSize(0)));
  }
  int64_t bytes = mk_thread::getRun(tile) * size;
  if (!runs || bytes == size || bytes < 4 || size == 8)
    return access;
  // Rows begin where the access may, and hold all of the tile's elements side by side, or as many
  // as whole accesses have.
  Value bits = access.start;
  for (Value stride : ArrayRef(access.strides).drop_back())
    bits = or_(p, bits, stride);
  auto beginAt = [&](int64_t multiple) {
    return isAligned(p.info, buffer, offsets) ? p.cbool(true)
                                              : eq(p, and_(p, bits, multiple - 1), 0);
  };
  Value ok = beginAt(bytes);
  ok = and_(p, ok, eq(p, access.strides.back(), size));
  Value left = access.limits.back(), whole = sge(p, left, tile.getShape().back());
  if (mk_thread::areRunsLong(tile))
    whole = or_(p, whole, eq(p, and_(p, left, bytes / size - 1), 0));
  ok = and_(p, ok, whole);
  access.together = and_(p, ok, sge(p, access.offsets.back(), 0));
  if (quads && getNumElements(tile) <= p.info.getThresholds().getExchangedElements() &&
      !mk_thread::getQuadBlocks(tile).empty())
    access.wide = and_(p, access.together, beginAt(getSm(p.info.getKernel()).getAccess()));
  return access;
}

/// The rows of the tile that exist are those that the list has, and entries of it that are rows.
static void findListed(PartitionBuilder &p, LoadOp op, const Buffer &buffer, Access &access) {
  int64_t d = buffer.type.getRank() - 2;
  SmallVector<Value> offsets = p.scalars(op.getOffsets());
  access.rows = findRows(p, op, buffer, d, offsets[d], op.getRows(), p.scalar(op.getRowsAt()),
                         op.getValid().empty() ? Value() : p.scalar(op.getValid()[0]));
  Value left = resize(p, access.rows.left, p.i64);
  for (int64_t i = 0; i < d; ++i)
    left = select(p, ult(p, offsets[i], sizeOf(p, buffer, i)), left, p.c64(0));
  access.limits[0] = left;
  access.offsets[0] = sub(p, p.c64(0), resize(p, access.rows.from, p.i64));
}

static LogicalResult lowerLoad(LoadOp op, PartitionBuilder &p) {
  auto type = cast<RankedTensorType>(op.getTile().getType());
  int64_t size = getElementBytes(type.getElementType());
  Buffer buffer = getBuffer(p, op, op.getSource());
  if (!llvm::is_contained({1, 2, 4, 8}, size))
    return op.emitOpError() << "loads elements of " << size << " bytes";
  p.setFragment(op, [&] {
    Value pad = op.getPad() ? p.scalar(op.getPad()) : Value();
    Access from = findAccess(p, buffer, type, op.getOffsets(), op.getValid(),
                             getNumElements(type) % mk_thread::getRun(type) == 0,
                             /*quads=*/!op.getRows(), op.getSpread());
    if (op.getRows())
      findListed(p, op, buffer, from);
    return mk_thread::LoadElementsOp::create(
        p, getElementTypes(type), numberElements(type),
        /*quads=*/IntegerAttr(), type, from.start, from.strides, from.offsets, from.limits, pad,
        from.together, from.wide, from.rows.list, from.rows.stride, from.rows.least,
        from.rows.below, from.thread);
  });
  return success();
}

//===----------------------------------------------------------------------===//
// Stores
//===----------------------------------------------------------------------===//

static LogicalResult lowerStore(mk::StoreOp op, PartitionBuilder &p) {
  Value peer;
  if (op.getPeer() && p.info.hasPeers()) {
    peer = existingPeer(p, p.scalar(op.getPeer()));
    awaitReady(p, peer);
  }
  auto type = cast<RankedTensorType>(op.getTile().getType());
  Buffer buffer = getBuffer(p, op, op.getDest());
  if (peer)
    buffer = atPeer(p, buffer, peer);
  else if (!op.getInside())
    checkStore(p, op, buffer, op.getOffsets(), type.getShape(), op.getValid());
  mk_thread::MemScopeAttr add;
  if (op.getReduction()) {
    if (mk_thread::getAddition(type.getElementType()).empty())
      return op.emitOpError() << "adds " << type.getElementType() << " to memory, which "
                              << getSmTarget(op).getName()
                              << " has no atomic of; use "
                                 "f32, f64, bf16, f16, i32 or i64";
    add = mk_thread::MemScopeAttr::get(p.getContext(), peer ? MemScope::Sys : MemScope::Gpu);
  }
  Access to = findAccess(p, buffer, type, op.getOffsets(), op.getValid(), /*runs=*/!add,
                         /*quads=*/false);
  mk_thread::StoreFragmentOp::create(p, p.scalar(op.getTile()), to.start, to.strides, to.offsets,
                                     to.limits, to.together, add,
                                     p.info.getThresholds().getGroupedElements(),
                                     bool(op.getTile().getDefiningOp<MaterializeOp>()), to.thread);
  if (Value signal = op.getSignal()) {
    Value element = signalElement(p, op, signal, op.getSignalIndex());
    p.elect([&] { raiseSignal(p, signalArray(p, signal), element, 1, peer, op.getStrong()); });
  }
  return success();
}

//===----------------------------------------------------------------------===//
// In the order of registers
//===----------------------------------------------------------------------===//

static SpillPlace findSpill(PartitionBuilder &p, Operation *op, Value memory, ValueRange index,
                            RankedTensorType tile) {
  Buffer where = getBuffer(p, op, memory);
  SmallVector<Value> offsets = p.scalars(index);
  Value exists = p.cbool(true);
  for (auto [offset, extent] : llvm::zip(offsets, where.type.getShape()))
    exists = and_(p, exists, ult(p, offset, extent));
  offsets.append(tile.getRank(), p.c64(0));
  Value own = mul(p, resize(p, p.readThreadInPartition(), p.i64), 16);
  return {add(p, elementAddress(p, where, offsets), own), 16 * p.partition.getNumThreads(),
          resize(p, exists, p.i32)};
}

static void lowerSpill(SpillOp op, PartitionBuilder &p) {
  if (!op.getInside())
    checkStore(p, op, getBuffer(p, op, op.getBuffer()), op.getIndex(), /*tile=*/{}, /*valid=*/{});
  auto [address, step, exists] =
      findSpill(p, op, op.getBuffer(), op.getIndex(), op.getTile().getType());
  mk_thread::SpillFragmentOp::create(p, p.scalar(op.getTile()), address, step, exists);
}

static void lowerReload(ReloadOp op, PartitionBuilder &p) {
  RankedTensorType type = op.getTile().getType();
  p.setFragment(op, [&] {
    auto [address, step, exists] = findSpill(p, op, op.getBuffer(), op.getIndex(), type);
    return mk_thread::ReloadElementsOp::create(p, getElementTypes(type), numberElements(type), type,
                                               address, step, exists);
  });
}

void sm::populateAccessLowerings(LoweringTable &table) {
  table.add(lowerLoad, lowerStore, lowerSpill, lowerReload);
}
