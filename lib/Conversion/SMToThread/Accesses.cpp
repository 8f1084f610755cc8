//===- Accesses.cpp - Fragments from memory, and to it --------------------===//
//
// Elements that a thread holds one behind the other in a row are moved together
// where the buffer allows it; else each by itself. Both ways are in the code, and the
// addresses decide at run time.
//
//===----------------------------------------------------------------------===//
#include "Taker.h"
#include <numeric>

using namespace mlir;
using namespace mlir::mk;
using namespace mlir::mk::sm;
using namespace mlir::mk_sm;

Lowering::Access Lowering::access(const Buffer &buffer, RankedTensorType tile, ValueRange at, ValueRange valid,
                                  bool runs) {
  SmallVector<Value> offsets = scalars(at);
  int64_t rank = tile.getRank(), size = getElementBytes(tile.getElementType());
  Access access;
  enterPlaces();
  access.start = elementAddress(buffer, offsets);
  llvm::append_range(access.strides, ArrayRef(byteStrides(buffer)).take_back(rank));
  access.limits = limits(buffer, offsets, rank, valid);
  llvm::append_range(access.offsets, ArrayRef(offsets).take_back(rank));
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

LogicalResult Lowering::emitLoad(LoadOp op) {
  auto type = cast<RankedTensorType>(op.getTile().getType());
  int64_t n = count(type), size = getElementBytes(type.getElementType());
  if (failed(buffer(op, op.getSource())))
    return failure();
  if (!llvm::is_contained({1, 2, 4, 8}, size))
    return op.emitOpError() << "loads elements of " << size << " bytes";
  if (op->hasAttr(kDeferredAttr))
    return defer(op.getTile());
  SmallVector<unsigned> all(n);
  std::iota(all.begin(), all.end(), 0);
  set(op.getTile(), loadElements(op, all));
  return success();
}

SmallVector<Value> Lowering::loadElements(LoadOp op, ArrayRef<unsigned> which) {
  auto type = cast<RankedTensorType>(op.getTile().getType());
  int64_t run = mk_thread::getRun(type);
  bool whole = which.size() % run == 0;
  for (size_t k = 0; whole && k < which.size(); k += run)
    for (int64_t r = 0; r < run; ++r)
      whole &= which[k] % run == 0 && which[k + r] == which[k] + r;
  Value pad = op.getPad() ? scalar(op.getPad()) : Value();
  Access from = access(*buffer(op, op.getSource()), type, op.getOffsets(), op.getValid(), whole);
  auto load = create<mk_thread::LoadElementsOp>(SmallVector<Type>(which.size(), scalarType(type.getElementType())),
                                                SmallVector<int32_t>(which.begin(), which.end()), type, from.start,
                                                from.strides, from.offsets, from.limits, pad, from.together,
                                                placeThread);
  return SmallVector<Value>(load.getResults());
}

//===----------------------------------------------------------------------===//
// Stores
//===----------------------------------------------------------------------===//

LogicalResult Lowering::storeDirectly(mk::StoreOp op, Value peer) {
  Value tile = op.getTile();
  auto type = cast<RankedTensorType>(tile.getType());
  int64_t n = count(type);
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
  // What is computed for the store is computed run by run.
  auto store = [&](Taker &taker, ArrayRef<int32_t> part, bool inRuns, Value together = {}) {
    size_t step = !isDeferred(tile) || together ? part.size() : inRuns ? mk_thread::getRun(type) : 1;
    for (; !part.empty(); part = part.drop_front(step)) {
      ArrayRef<int32_t> which = part.take_front(step);
      auto stored = llvm::map_to_vector(which, [&](int32_t i) { return taker.take(tile, i); });
      create<mk_thread::StoreElementsOp>(stored, which, type, to.start, to.strides, to.offsets, to.limits, inRuns,
                                         together, add, placeThread);
    }
  };
  // Ops that have waited for the store, some at a time.
  auto inParts = [&](Taker &taker, function_ref<void(ArrayRef<int32_t>)> body) {
    int64_t grouped = getThresholds().getGroupedElements();
    for (int64_t first = 0; first < n; first += grouped) {
      auto part = llvm::to_vector(llvm::seq<int32_t>(first, std::min(n, first + grouped)));
      taker.load(tile, SmallVector<unsigned>(part.begin(), part.end()));
      body(part);
    }
  };
  auto choose = [&](function_ref<void(bool)> body) {
    to.together ? ifThenElse(to.together, [&] { body(true); }, [&] { body(false); }) : body(false);
  };
  // Computed once in front of both ways, values live longer, which a loop of products
  // before them may pay for (ptxas): only what is expensive.
  if (op->hasAttr(kOnceAttr) && to.together) {
    Taker taker(*this);
    inParts(taker, [&](ArrayRef<int32_t> part) { store(taker, part, /*inRuns=*/false, to.together); });
    return success();
  }
  choose([&](bool inRuns) {
    Taker taker(*this);
    inParts(taker, [&](ArrayRef<int32_t> part) { store(taker, part, inRuns); });
  });
  return success();
}

LogicalResult Lowering::emitStore(mk::StoreOp op) {
  Value peer;
  if (op.getPeer() && hasPeers()) {
    peer = existingPeer(scalar(op.getPeer()));
    awaitReady(peer);
  }
  if (failed(storeDirectly(op, peer)))
    return failure();
  if (Value signal = op.getSignal()) {
    Value element = signalElement(op, signal, op.getSignalIndex());
    once([&] { raise(signalArray(signal), element, 1, peer, op.getStrong()); });
  }
  return success();
}
