//===- Exchange.cpp - Elements that change threads ------------------------===//
//
// Accumulators are reduced and broadcast along their rows within four lanes. Whatever else moves
// elements between threads goes through shared memory of the role.
//
//===----------------------------------------------------------------------===//
#include "Lowering.h"
#include "mkernel/ABI/Gpu.h"
#include "mlir/Dialect/Utils/IndexingUtils.h"

using namespace mlir;
using namespace mlir::mk;
using namespace mlir::mk::sm;
using namespace mlir::mk_sm;

mk_thread::RoomAttr Lowering::getRoom() {
  return mk_thread::RoomAttr::get(b.getContext(), isOneWarp() ? 32 : partition.getNumThreads(),
                                  memory.exchange, memory.exchangeBytes);
}

LogicalResult Lowering::exchange(Value from, Value to, ArrayRef<int64_t> dims, bool transposes) {
  auto source = cast<RankedTensorType>(from.getType()),
       result = cast<RankedTensorType>(to.getType());
  // Dimensions that the source does not have do not count.
  SmallVector<int64_t> strides(result.getRank(), 0), left = computeStrides(source.getShape());
  for (int64_t d = 0, s = 0; d < result.getRank(); ++d)
    if (!llvm::is_contained(dims, d))
      strides[d] = left[s++];
  if (transposes)
    std::reverse(strides.begin(), strides.end());
  SmallVector<Value> moved = elements(from);
  Value thread = readThreadInPartition();
  Value barrier = isOneWarp() ? Value() : partitionBarrier();
  auto op = create<mk_thread::ExchangeElementsOp>(getElementTypes(result), moved, source, result,
                                                  strides, getRoom(), thread, barrier);
  set(to, op.getResults());
  return success();
}

LogicalResult Lowering::lower(ConvertLayoutOp op) {
  if (op.getSource().getType() != op.getType())
    return exchange(op.getSource(), op.getResult(), {});
  set(op, scalar(op.getSource()));
  return success();
}

LogicalResult Lowering::lower(TransposeOp op) {
  if (!movesNothing(op))
    return exchange(op.getSource(), op.getResult(), {}, /*transposes=*/true);
  return setFragment(
      op, [&] { return create<mk_thread::SpreadOp>(op.getType(), scalar(op.getSource())); });
}

LogicalResult Lowering::lower(SwapPartsOp op) {
  RankedTensorType tile = op.getTile().getType();
  SmallVector<Value> held = elements(op.getTile());
  auto room = mk_thread::RoomAttr::get(b.getContext(), partition.getNumThreads(), memory.parts,
                                       op.getBytes());
  Value phase = read(cursors[op.getCounter()].phase, i32);
  SmallVector<Type> types(held.size(), held.front().getType());
  auto swap = create<mk_thread::SwapElementsOp>(
      types, held, tile, op.getCtas(), room, memory.swaps, and_(cta, op.getCtas() - 1), phase,
      readThreadInPartition(), makeReport(MK_WAIT_RING, -1));
  advance(op.getCounter());
  size_t size = held.size() / op.getCtas();
  for (auto [i, part] : llvm::enumerate(op.getParts()))
    set(part, swap.getResults().slice(i * size, size));
  return success();
}

//===----------------------------------------------------------------------===//
// Reductions
//===----------------------------------------------------------------------===//

void Lowering::reduce(Reduction kind, Value from, int64_t axis, Value to, int64_t chains,
                      mk_thread::RoomAttr room) {
  SmallVector<Value> source = elements(from);
  Value thread, barrier;
  if (room)
    thread = readThreadInPartition(), barrier = isOneWarp() ? Value() : partitionBarrier();
  auto op = create<mk_thread::ReduceElementsOp>(
      getElementTypes(cast<RankedTensorType>(to.getType())),
      *mk_thread::symbolizeCombination(stringifyReduction(kind)), source,
      cast<RankedTensorType>(from.getType()), axis, cast<RankedTensorType>(to.getType()), chains,
      room, thread, barrier);
  set(to, op.getResults());
}

LogicalResult Lowering::lower(ReduceOp op) {
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
    return op.emitOpError() << "of " << from << " to " << to
                            << " cannot be lowered for " << getSmTarget(op).getName()
                            << " yet: it takes tiles "
                               "with the layout of accumulators, or dealt out";
  int64_t bytes = mk_thread::getReductionBytes(from, axis);
  if (bytes > memory.exchangeBytes)
    return op.emitOpError() << "along axis " << axis << " of " << from << " exchanges " << bytes
                            << " bytes at least; there are " << memory.exchangeBytes
                            << ": use smaller tiles";
  // Columns are reduced one element behind the other.
  int64_t chains = bytes ? 1 : getThresholds().getReduceChains();
  reduce(op.getKind(), op.getSource(), axis, op.getResult(), chains,
         bytes ? getRoom() : mk_thread::RoomAttr());
  return success();
}

LogicalResult Lowering::lower(PartialSumOp op) {
  // A thread has two results a row here, so half as many chains of each are as much under way.
  int64_t chains = std::max<int64_t>(getThresholds().getReduceChains() / 2, 1);
  reduce(Reduction::Add, op.getSource(), /*axis=*/1, op.getResult(), chains, {});
  return success();
}
