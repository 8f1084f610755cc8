//===- Accesses.cpp - Fragments from memory, and to it --------------------===//
//
// Elements that a thread holds one behind the other in a row are moved together
// where the buffer allows it; else each by itself. Both ways are in the code, and the
// addresses decide at run time.
//
//===----------------------------------------------------------------------===//
#include "Lowering.h"

using namespace mlir;
using namespace mlir::mk;
using namespace mlir::mk::sm;
using namespace mlir::mk_sm;

static SmallVector<int32_t> numberElements(RankedTensorType tile) {
  return llvm::to_vector(llvm::seq<int32_t>(0, getNumElements(tile)));
}

Lowering::Access Lowering::access(const Buffer &buffer, RankedTensorType tile, ValueRange at,
                                  ValueRange valid, bool runs) {
  SmallVector<Value> offsets = scalars(at);
  int64_t rank = tile.getRank(), size = getElementBytes(tile.getElementType());
  Access access;
  access.thread = keepsWords ? partitionThread : readThreadInPartition();
  access.start = elementAddress(buffer, offsets);
  llvm::append_range(access.strides, ArrayRef(byteStrides(buffer)).take_back(rank));
  access.limits = limits(buffer, offsets, tile.getShape(), valid, at);
  for (auto [d, extent] : llvm::enumerate(tile.getShape())) {
    int64_t dim = at.size() - rank + d;
    access.offsets.push_back(exist(buffer, dim, at[dim], extent) ? c64(0) : offsets[dim]);
  }
  int64_t bytes = mk_thread::getRun(tile) * size;
  if (!runs || bytes == size || bytes < 4 || size == 8)
    return access;
  // Rows begin where the access may, and hold all of the tile's elements side by side.
  Value bits = access.start;
  for (Value stride : ArrayRef(access.strides).drop_back())
    bits = or_(bits, stride);
  Value ok = isAligned(buffer, offsets) ? cbool(true) : eq(and_(bits, bytes - 1), 0);
  ok = and_(ok, eq(access.strides.back(), size));
  ok = and_(ok, cmp(arith::CmpIPredicate::sge, access.limits.back(), tile.getShape().back()));
  access.together = and_(ok, cmp(arith::CmpIPredicate::sge, access.offsets.back(), int64_t(0)));
  return access;
}

LogicalResult Lowering::lower(LoadOp op) {
  auto type = cast<RankedTensorType>(op.getTile().getType());
  int64_t size = getElementBytes(type.getElementType());
  FailureOr<Buffer> buffer = this->buffer(op, op.getSource());
  if (failed(buffer))
    return failure();
  if (!llvm::is_contained({1, 2, 4, 8}, size))
    return op.emitOpError() << "loads elements of " << size << " bytes";
  return setFragment(op, [&] {
    Value pad = op.getPad() ? scalar(op.getPad()) : Value();
    Access from = access(*buffer, type, op.getOffsets(), op.getValid(),
                         getNumElements(type) % mk_thread::getRun(type) == 0);
    return create<mk_thread::LoadElementsOp>(getElementTypes(type), numberElements(type), type,
                                             from.start, from.strides, from.offsets, from.limits,
                                             pad, from.together, from.thread);
  });
}

//===----------------------------------------------------------------------===//
// Stores
//===----------------------------------------------------------------------===//

LogicalResult Lowering::lower(mk::StoreOp op) {
  Value peer;
  if (op.getPeer() && hasPeers()) {
    peer = existingPeer(scalar(op.getPeer()));
    awaitReady(peer);
  }
  auto type = cast<RankedTensorType>(op.getTile().getType());
  FailureOr<Buffer> buffer = this->buffer(op, op.getDest());
  if (failed(buffer))
    return failure();
  if (peer)
    buffer = atPeer(*buffer, peer);
  mk_thread::MemScopeAttr add;
  if (op.getReduction()) {
    if (mk_thread::getAddition(type.getElementType()).empty())
      return op.emitOpError() << "adds " << type.getElementType()
                              << " to memory, which " << getSmTarget(op).getName()
                              << " has no atomic of; use "
                                 "f32, f64, bf16, f16, i32 or i64";
    add = mk_thread::MemScopeAttr::get(b.getContext(), peer ? MemScope::Sys : MemScope::Gpu);
  }
  Access to = access(*buffer, type, op.getOffsets(), op.getValid(), /*runs=*/!add);
  create<mk_thread::StoreFragmentOp>(
      scalar(op.getTile()), to.start, to.strides, to.offsets, to.limits, to.together, add,
      getThresholds().getGroupedElements(), op->hasAttr(kOnceAttr), to.thread);
  if (Value signal = op.getSignal()) {
    Value element = signalElement(op, signal, op.getSignalIndex());
    once([&] { raise(signalArray(signal), element, 1, peer, op.getStrong()); });
  }
  return success();
}

//===----------------------------------------------------------------------===//
// In the order of registers
//===----------------------------------------------------------------------===//

Lowering::SpillPlace Lowering::spillPlace(Operation *op, Value memory, ValueRange index,
                                          RankedTensorType tile) {
  Buffer where = *buffer(op, memory);
  SmallVector<Value> offsets = scalars(index);
  Value exists = cbool(true);
  for (auto [offset, extent] : llvm::zip(offsets, where.type.getShape()))
    exists = and_(exists, cmp(arith::CmpIPredicate::ult, offset, extent));
  offsets.append(tile.getRank(), c64(0));
  Value own = mul(resize(readThreadInPartition(), i64), 16);
  return {add(elementAddress(where, offsets), own), 16 * partition.getNumThreads(),
          resize(exists, i32)};
}

LogicalResult Lowering::lower(SpillOp op) {
  if (failed(buffer(op, op.getBuffer())))
    return failure();
  auto [address, step, exists] =
      spillPlace(op, op.getBuffer(), op.getIndex(), op.getTile().getType());
  create<mk_thread::SpillFragmentOp>(scalar(op.getTile()), address, step, exists);
  return success();
}

LogicalResult Lowering::lower(ReloadOp op) {
  if (failed(buffer(op, op.getBuffer())))
    return failure();
  RankedTensorType type = op.getTile().getType();
  return setFragment(op, [&] {
    auto [address, step, exists] = spillPlace(op, op.getBuffer(), op.getIndex(), type);
    return create<mk_thread::ReloadElementsOp>(getElementTypes(type), numberElements(type), type,
                                               address, step, exists);
  });
}
