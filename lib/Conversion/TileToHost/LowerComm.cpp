//===- LowerComm.cpp - Communication as calls of the runtime --------------===//
#include "HostLowering.h"
#include "mkernel/ABI/HostCalls.h"
#include "mkernel/Analysis/Lines.h"
#include "mlir/Dialect/Bufferization/IR/Bufferization.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"

using namespace mlir;
using namespace mlir::mk;

Value HostLowering::peerOrSelf(Value peer) { return toI64(peer ? peer : getRank()); }

std::pair<Value, Value> HostLowering::signalOperands(Operation *op, Value signal,
                                                     ValueRange index) {
  if (!signal)
    return {i32(MK_NO_SIGNAL), i64(0)};
  return {number(signal), linearElement(op, signal, index)};
}

void HostLowering::recordLine(Location where) {
  if (!lines)
    return;
  call("mkrt_line", {getCta(), i32(getLine(where))});
}

void HostLowering::recordAccess(Value buffer, ValueRange offsets, ArrayRef<Value> sizes,
                                bool write) {
  if (record)
    call("mkrt_access",
         {getCta(), address(buffer, offsets), i32(sizes.size()), stackArray(sizes), i32(write)});
}

void HostLowering::recordScalar(Operation *op) {
  if (!record)
    return;
  b.setInsertionPoint(op);
  loc = op->getLoc();
  recordLine(loc);
  if (auto load = dyn_cast<memref::LoadOp>(op))
    recordAccess(load.getMemRef(), load.getIndices(), {}, /*write=*/false);
  else if (auto store = dyn_cast<memref::StoreOp>(op))
    recordAccess(store.getMemRef(), store.getIndices(), {}, /*write=*/true);
}

LogicalResult HostLowering::lower(PutOp op) {
  auto type = cast<MemRefType>(op.getSource().getType());
  FailureOr<Value> element = elementType(op, type.getElementType());
  if (failed(element))
    return failure();
  auto [signal, signalIndex] = signalOperands(op, op.getSignal(), op.getSignalIndex());
  int32_t flags = (op.getStrong() ? MK_PUT_STRONG : 0) | (op.getReduction() ? MK_PUT_ADD : 0);
  Value source = address(op.getSource(), op.getSrcOffsets());
  Value dest = address(op.getDest(), op.getDstOffsets());
  SmallVector<Value> sourceStrides = strides(op.getSource());
  SmallVector<Value> destStrides = strides(op.getDest());
  // The region has the source's rank; a destination of higher rank has one
  // index in its leading dimensions.
  int64_t extra = static_cast<int64_t>(destStrides.size()) - type.getRank();
  if (extra > 0)
    destStrides.erase(destStrides.begin(), destStrides.begin() + extra);
  SmallVector<Value> sizes(op.getSizes());
  Value peer = toI64(op.getPeer());
  if (Value rows = op.getRows()) {
    if (type.getRank() != 2 || destStrides.size() != 2)
      return op.emitOpError() << "with rows copies between buffers of rank " << type.getRank()
                              << " and " << destStrides.size()
                              << ", the host target does it for rank 2 only yet";
    auto rowsType = cast<RankedTensorType>(rows.getType());
    Value list = copyToBuffer(rows);
    checkPut(op, list);
    Value count = clamp(sizes[0], index(rowsType.getDimSize(0)));
    call("mkrt_put_rows",
         {getCta(), dest, source, *element, toI64(count), address(list, index(0)), toI64(sizes[1]),
          toI64(destStrides[0]), toI64(sourceStrides[0]), peer, signal, signalIndex, i32(flags)});
  } else {
    checkPut(op, Value());
    call("mkrt_put", {getCta(), dest, source, *element, i32(type.getRank()), stackArray(sizes),
                      stackArray(destStrides), stackArray(sourceStrides), peer, signal, signalIndex,
                      i32(flags)});
  }
  return replace(op);
}

LogicalResult HostLowering::lower(SignalOp op) {
  auto [signal, signalIndex] = signalOperands(op, op.getSignal(), op.getIndex());
  call("mkrt_signal", {getCta(), signal, signalIndex, peerOrSelf(op.getPeer()), i64(op.getAmount()),
                       i32(op.getStrong() ? MK_PUT_STRONG : 0)});
  return replace(op);
}

LogicalResult HostLowering::lower(WaitOp op) {
  auto [signal, signalIndex] = signalOperands(op, op.getSignal(), op.getIndex());
  call("mkrt_wait", {getCta(), signal, signalIndex, toI64(op.getCount())});
  return replace(op);
}

LogicalResult HostLowering::lower(CountOp op) {
  Value before = call("mkrt_count",
                      {getCta(), number(op.getCounter()),
                       linearElement(op, op.getCounter(), op.getIndex()), toI64(op.getAmount())},
                      b.getI64Type())
                     .front();
  return replace(op, toIndex(before));
}

LogicalResult HostLowering::lower(PushOp op) {
  SmallVector<Value> record(op.getRecord());
  call("mkrt_push", {getCta(), number(op.getQueue()), stackArray(record),
                     i32(sites ? sites->numberOf(op) : -1)});
  return replace(op);
}
