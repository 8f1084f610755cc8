//===- Exchange.cpp - Elements that change threads ------------------------===//
//
// Accumulators are reduced and broadcast along their rows within four lanes. Whatever else moves
// elements between threads goes through shared memory of the role.
//
//===----------------------------------------------------------------------===//
#include "Lowerings.h"
#include "mkernel/ABI/Gpu.h"
#include "mlir/Dialect/Utils/IndexingUtils.h"

using namespace mlir;
using namespace mlir::mk;
using namespace mlir::mk::sm;
using namespace mlir::mk_sm;

static mk_thread::RoomAttr getRoom(PartitionBuilder &p) {
  return mk_thread::RoomAttr::get(p.getContext(),
                                  p.isOneWarp() ? kWarpThreads : p.partition.getNumThreads(),
                                  p.memory.exchange, p.memory.exchangeBytes);
}

/// The elements of `from` to the threads that hold them in `to`, which has the
/// dimensions `dims` besides, or has those of `from` in the opposite order.
static void exchange(PartitionBuilder &p, Value from, Value to, ArrayRef<int64_t> dims,
                     bool transposes = false) {
  auto source = cast<RankedTensorType>(from.getType()),
       result = cast<RankedTensorType>(to.getType());
  // Dimensions that the source does not have do not count.
  SmallVector<int64_t> strides(result.getRank(), 0), left = computeStrides(source.getShape());
  for (int64_t d = 0, next = 0; d < result.getRank(); ++d)
    if (!llvm::is_contained(dims, d))
      strides[d] = left[next++];
  if (transposes)
    std::reverse(strides.begin(), strides.end());
  SmallVector<Value> moved = p.elements(from);
  Value thread = p.readThreadInPartition();
  Value barrier = p.isOneWarp() ? Value() : p.getBarrier();
  auto op = mk_thread::ExchangeElementsOp::create(p, getElementTypes(result), moved, source, result,
                                                  strides, getRoom(p), thread, barrier);
  p.set(to, op.getResults());
}

static void lowerConvertLayout(ConvertLayoutOp op, PartitionBuilder &p) {
  if (op.getSource().getType() != op.getType())
    exchange(p, op.getSource(), op.getResult(), {});
  else
    p.set(op, p.scalar(op.getSource()));
}

static void lowerTranspose(TransposeOp op, PartitionBuilder &p) {
  if (!isThreadLocal(op))
    return exchange(p, op.getSource(), op.getResult(), {}, /*transposes=*/true);
  p.setFragment(
      op, [&] { return mk_thread::SpreadOp::create(p, op.getType(), p.scalar(op.getSource())); });
}

static void lowerBroadcast(BroadcastOp op, PartitionBuilder &p) {
  auto from = cast<RankedTensorType>(op.getSource().getType());
  auto to = cast<RankedTensorType>(op.getType());
  auto spread = [&] { return mk_thread::SpreadOp::create(p, to, p.scalar(op.getSource())); };
  // One value is the same everywhere.
  DenseElementsAttr constant;
  if (matchPattern(op.getSource(), m_Constant(&constant)))
    p.set(op, p.constant(DenseElementsAttr::get(to, constant.getSplatValue<Attribute>())));
  else if (from.getRank() == 0)
    p.set(op, spread().getFragment());
  else if (auto slice = dyn_cast_or_null<SliceAttr>(from.getEncoding());
           !slice || slice.getOf() != to.getEncoding() || op.getDims() != ArrayRef(slice.getAxis()))
    exchange(p, op.getSource(), op.getResult(), op.getDims());
  else
    p.setFragment(op, spread);
}

static void lowerSwapParts(SwapPartsOp op, PartitionBuilder &p) {
  RankedTensorType tile = op.getTile().getType();
  SmallVector<Value> held = p.elements(op.getTile());
  auto room = mk_thread::RoomAttr::get(p.getContext(), p.partition.getNumThreads(), p.memory.parts,
                                       op.getBytes());
  Value phase = read(p, p.cursor(op.getCounter()).phase, p.i32);
  Value rank = remU(p, p.cta, op.getCtas()); // in the cluster
  SmallVector<Type> types(held.size(), held.front().getType());
  auto swap = mk_thread::SwapElementsOp::create(
      p, types, held, tile, op.getCtas(), room, p.memory.swaps, rank, phase,
      p.readThreadInPartition(), p.makeReport(MK_WAIT_RING, -1));
  p.advance(op.getCounter());
  size_t size = held.size() / op.getCtas();
  for (auto [i, part] : llvm::enumerate(op.getParts()))
    p.set(part, swap.getResults().slice(i * size, size));
}

//===----------------------------------------------------------------------===//
// Reductions
//===----------------------------------------------------------------------===//

/// Threads exchange elements in `room`, if it is given.
static void reduce(PartitionBuilder &p, Reduction kind, Value from, int64_t axis, Value to,
                   int64_t chains, mk_thread::RoomAttr room) {
  SmallVector<Value> source = p.elements(from);
  Value thread, barrier;
  if (room)
    thread = p.readThreadInPartition(), barrier = p.isOneWarp() ? Value() : p.getBarrier();
  auto op = mk_thread::ReduceElementsOp::create(
      p, getElementTypes(cast<RankedTensorType>(to.getType())),
      *mk_thread::symbolizeCombination(stringifyReduction(kind)), source,
      cast<RankedTensorType>(from.getType()), axis, cast<RankedTensorType>(to.getType()), chains,
      room, thread, barrier);
  p.set(to, op.getResults());
}

static LogicalResult lowerReduce(ReduceOp op, PartitionBuilder &p) {
  auto from = cast<RankedTensorType>(op.getSource().getType());
  auto to = cast<RankedTensorType>(op.getType());
  int64_t axis = op.getAxis();
  // They are bits here, which would be reduced as integers.
  if (isa<FloatType>(from.getElementType()) && from.getElementTypeBitWidth() <= 8)
    return refuse(op);
  bool isMma = isa_and_nonnull<MmaAttr>(from.getEncoding());
  if (isMma && to.getEncoding() != SliceAttr::get(op.getContext(), axis, from.getEncoding()))
    return op.emitOpError() << "of " << from << " gives " << to
                            << "; its layout must be the slice of the source's";
  if (!isMma && (!isa_and_nonnull<BlockedAttr>(from.getEncoding()) || getNumElements(to) < 0))
    return op.emitOpError() << "of " << from << " to " << to << " cannot be lowered for "
                            << getSmTarget(op).getName()
                            << " yet: it takes tiles "
                               "with the layout of accumulators, or dealt out";
  int64_t bytes = mk_thread::getReductionBytes(from, axis);
  if (bytes > p.memory.exchangeBytes)
    return op.emitOpError() << "along axis " << axis << " of " << from << " exchanges " << bytes
                            << " bytes at least; there are " << p.memory.exchangeBytes
                            << ": use smaller tiles";
  // Columns are reduced one element behind the other.
  int64_t chains = bytes ? 1 : p.info.getThresholds().getReduceChains();
  reduce(p, op.getKind(), op.getSource(), axis, op.getResult(), chains,
         bytes ? getRoom(p) : mk_thread::RoomAttr());
  return success();
}

static void lowerPartialSum(PartialSumOp op, PartitionBuilder &p) {
  // A thread has two results a row here, or more, so half as many chains of each are as much under
  // way.
  int64_t chains = std::max<int64_t>(p.info.getThresholds().getReduceChains() / 2, 1);
  reduce(p, Reduction::Add, op.getSource(), op.getAxis(), op.getResult(), chains, {});
}

void sm::populateExchangeLowerings(LoweringTable &table) {
  table.add(lowerConvertLayout, lowerTranspose, lowerBroadcast, lowerSwapParts, lowerReduce,
            lowerPartialSum);
}
