//===- Comm.cpp - Signals, counters, queues and local puts ----------------===//
//
// An op that acts once is executed by one thread when all threads of the
// partition have come to it: the barrier and a fence make what they did part of
// what is released. Whoever waits acquires, and then orders what it has seen before
// accesses of the copy engine.
//
//===----------------------------------------------------------------------===//
#include "Lowering.h"
#include "mkernel/ABI/Gpu.h"

using namespace mlir;
using namespace mlir::mk;
using namespace mlir::mk::sm;
using namespace mlir::mk_sm;
using Predicate = arith::CmpIPredicate;

static LogicalResult refusePeer(Operation *op) {
  return op->emitOpError() << "reaches another rank; several GPUs are not "
                              "supported by this target yet";
}

static MemScope scopeOf(Value signal) {
  return cast<SignalType>(signal.getType()).getScope() == Scope::Sys
             ? MemScope::Sys
             : MemScope::Gpu;
}

/// Row-major element of an array declared in the kernel, as an i64.
Value Lowering::linearElement(ArrayRef<int64_t> shape, ValueRange extents,
                              ValueRange index) {
  Value linear = c64(0);
  unsigned next = 0;
  for (auto [extent, i] : llvm::zip(shape, index)) {
    Value size = ShapedType::isDynamic(extent) ? scalar(extents[next++]) : c64(extent);
    linear = add(mul(linear, size), scalar(i));
  }
  return linear;
}

void Lowering::raise(Value signal, ValueRange index, Value amount,
                     MemScope scope) {
  auto declared = signal.getDefiningOp<SignalsOp>();
  auto type = cast<SignalType>(signal.getType());
  Value at = shl(linearElement(type.getShape(), declared.getExtents(), index), 2);
  Value address =
      add(loadParam(params.signals[*resources.indexOf(signal)], i64), at);
  fenceAcqRel(*this, scope);
  reduceAdd(*this, address, amount, "release", scope);
}

LogicalResult Lowering::emitSignal(SignalOp op) {
  if (op.getPeer() && kernel.getMeshOp().getNumRanks() != 1)
    return refusePeer(op);
  once([&] {
    raise(op.getSignal(), op.getIndex(), c32(op.getAmount()),
          scopeOf(op.getSignal()));
  });
  return success();
}

LogicalResult Lowering::emitWaitSignal(mk::WaitOp op) {
  auto declared = op.getSignal().getDefiningOp<SignalsOp>();
  auto type = cast<SignalType>(op.getSignal().getType());
  int64_t number = *resources.indexOf(op.getSignal());
  Value element =
      linearElement(type.getShape(), declared.getExtents(), op.getIndex());
  Value offset = shl(element, 2), base;
  if (type.isDynamic()) {
    base = load(i32, add(loadParam(params.signals[number] + 8, i64), offset));
  } else {
    Value arrivals = type.hasRuntimeArrivals()
                         ? resize(scalar(declared.getArrivals()), i32)
                         : c32(type.getArrivals());
    base = mul(epoch, arrivals);
  }
  Value count = scalar(op.getCount());
  Value wanted = add(base, resize(count, i32));
  Value address = add(loadParam(params.signals[number], i64), offset);
  waitWord(address, wanted, /*equal=*/false, scopeOf(op.getSignal()), MK_WAIT_SIGNAL,
           number, element, count);
  fenceAsync();
  return success();
}

LogicalResult Lowering::emitCount(CountOp op) {
  auto declared = op.getCounter().getDefiningOp<CountersOp>();
  auto type = cast<CounterType>(op.getCounter().getType());
  Value offset = shl(
      linearElement(type.getShape(), declared.getExtents(), op.getIndex()), 2);
  Value address =
      add(loadParam(params.counters[*resources.indexOf(op.getCounter())], i64),
          offset);
  Value amount = resize(scalar(op.getAmount()), i32);
  Value before = onceForAll([&] {
    fenceAcqRel(*this, MemScope::Gpu);
    return resize(atomicAdd(*this, address, amount, "acq_rel", MemScope::Gpu), i64);
  });
  fenceAsync();
  set(op, before);
  return success();
}

LogicalResult Lowering::emitPush(PushOp op) {
  int64_t at = params.queues[*resources.indexOf(op.getQueue())];
  SmallVector<Value> words = scalars(op.getRecord());
  once([&] {
    fenceAcqRel(*this, MemScope::Gpu);
    Value entry = resize(atomicAdd(*this, loadParam(at + 16, i64), c32(1),
                                   "relaxed", MemScope::Gpu),
                         i64);
    Value record = add(loadParam(at, i64), mul(entry, 8 * words.size()));
    for (auto [i, word] : llvm::enumerate(words))
      store(resize(word, i64, /*isSigned=*/true), record, 8 * i);
    storeRelease(*this, add(epoch, 1),
                 add(loadParam(at + 8, i64), shl(entry, 2)), MemScope::Gpu);
  });
  return success();
}

// On one rank every put is local: the threads of the partition copy.
LogicalResult Lowering::emitPut(PutOp op) {
  if (kernel.getMeshOp().getNumRanks() != 1)
    return refusePeer(op);
  if (op.getRows() || op.getReduction())
    return op.emitOpError() << (op.getRows() ? "with rows" : "with reduce")
                            << " cannot be lowered for sm_90a yet";
  FailureOr<Buffer> from = buffer(op, op.getSource());
  FailureOr<Buffer> to = buffer(op, op.getDest());
  if (failed(from) || failed(to))
    return failure();
  SmallVector<Value> sizes = scalars(op.getSizes());
  Value source = elementAddress(*from, scalars(op.getSrcOffsets()));
  Value dest = elementAddress(*to, scalars(op.getDstOffsets()));
  int64_t size = getElementBytes(from->type.getElementType());
  int64_t rank = sizes.size(), last = rank - 1;
  Value rows = c64(1);
  for (Value extent : ArrayRef(sizes).drop_back())
    rows = mul(rows, extent);
  SmallVector<Value> fromStrides = byteStrides(*from), toStrides = byteStrides(*to);
  // Whole rows, 16 bytes at a time where all addresses allow it.
  Value bits = or_(source, dest);
  for (int64_t d = 0; d < last; ++d)
    bits = or_(bits, or_(fromStrides[d], toStrides[d]));
  Value rowBytes = rank ? mul(sizes[last], size) : c64(size);
  bits = or_(bits, rowBytes);
  Value together = eq(and_(bits, 15), 0);
  if (rank)
    together = and_(together, and_(eq(fromStrides[last], size),
                                   eq(toStrides[last], size)));
  int64_t threads = partition.getNumThreads();
  auto copyRows = [&](bool wide) {
    Value units = wide ? shr(rowBytes, 4) : (rank ? sizes[last] : c64(1));
    Value all = mul(rows, units);
    forRange(resize(partitionThread, i64), all, c64(threads), [&](Value t) {
      // Each thread its own.
      auto divide = [&](Value n, Value by) {
        return std::pair(b.createOrFold<arith::DivUIOp>(loc, n, by),
                         b.createOrFold<arith::RemUIOp>(loc, n, by));
      };
      auto [row, unit] = divide(t, units);
      Value x = source, y = dest;
      for (int64_t d = last - 1; d >= 0; --d) {
        Value i = row;
        if (d)
          std::tie(row, i) = divide(row, sizes[d]);
        x = add(x, mul(i, fromStrides[d]));
        y = add(y, mul(i, toStrides[d]));
      }
      if (wide) {
        Type type = VectorType::get(4, i32);
        Value offset = shl(unit, 4);
        store(load(type, add(x, offset)), add(y, offset));
      } else {
        Type type = b.getIntegerType(8 * size);
        if (rank) {
          x = add(x, mul(unit, fromStrides[last]));
          y = add(y, mul(unit, toStrides[last]));
        }
        store(load(type, x), y);
      }
    });
  };
  ifThenElse(together, [&] { copyRows(true); }, [&] { copyRows(false); });
  if (Value signal = op.getSignal())
    once([&] { raise(signal, op.getSignalIndex(), c32(1), scopeOf(signal)); });
  return success();
}
