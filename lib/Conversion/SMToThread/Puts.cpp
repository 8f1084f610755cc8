//===- Puts.cpp - Regions to this rank and others -------------------------===//
//
// Here and across links threads copy the region, or have the copy engine do so; the put is complete
// when the op is. Across a network the proxy does. How a region is gone through:
// mk-thread-expand-runs.
//
//===----------------------------------------------------------------------===//
#include "Lowering.h"
#include "mkernel/ABI/Gpu.h"

using namespace mlir;
using namespace mlir::mk;
using namespace mlir::mk::sm;
using namespace mlir::mk_sm;
using Predicate = arith::CmpIPredicate;

LogicalResult Lowering::emitPut(PutOp op, PipelinePutOp pipeline, ValueRange also) {
  Type element = cast<MemRefType>(op.getSource().getType()).getElementType();
  bool adds = op.getReduction().has_value();
  if (adds && (*op.getReduction() != Reduction::Add || mk_thread::getAddition(element).empty()))
    return op.emitOpError() << "adds elements of " << element << ", which the copy engine of "
                            << getSmTarget(op).getName()
                            << " does not; use f32, "
                               "f64, bf16, f16, i32 or i64";
  // What this CTA has written is read by the engine, or by others.
  finishStores();
  if (Value rows = op.getRows()) {
    barrierPartition();
    Value thread = readThreadInPartition();
    auto type = cast<RankedTensorType>(rows.getType());
    Places places(*this, type, thread);
    SmallVector<Value> values(elements(rows));
    for (auto [i, value] : llvm::enumerate(values)) {
      Place where = places.at(i);
      Value at = add(add(sharedBase, memory.exchange), shl(places.number(where), 2));
      storeWords(value, at, 4, where.exists ? resize(where.exists, i32) : Value());
    }
  }
  fenceAsync();
  barrierPartition();
  // Null: this rank, which is the only one.
  Value peer = hasPeers() ? existingPeer(scalar(op.getPeer())) : Value();
  SmallVector<Value> peers{peer};
  for (Value more : also)
    peers.push_back(existingPeer(scalar(more)));
  beginSpan(SpanClock::Op, peer ? peer : c64(0));
  // What is checked is checked before anything else is read: it takes registers.
  Value list = op.getRows() ? add(sharedBase, memory.exchange) : Value();
  checkPut(op, MK_READ_ARGUMENT, list);
  if (peer)
    llvm::for_each(peers, [&](Value each) { awaitReady(each); });
  for (Value each : peers)
    checkPut(op, MK_WRITTEN_ARGUMENT, list, each);
  Value signal = op.getSignal(), element_;
  if (signal)
    element_ = signalElement(op, signal, op.getSignalIndex());
  // Each thread has looked at some rows.
  if (list && sites)
    barrierPartition();
  FailureOr<Buffer> from = buffer(op, op.getSource());
  FailureOr<Buffer> to = buffer(op, op.getDest());
  if (failed(from) || failed(to))
    return failure();
  SmallVector<Value> sizes = scalars(op.getSizes());
  if (op.getRows())
    sizes[0] = minS(sizes[0], c64(cast<RankedTensorType>(op.getRows().getType()).getNumElements()));
  Value source = elementAddress(*from, scalars(op.getSrcOffsets()));
  Value dest = elementAddress(*to, scalars(op.getDstOffsets()));
  SmallVector<Value> fromStrides = byteStrides(*from), toStrides = byteStrides(*to);
  // What is not added may be elements of any type of the size.
  Type unit = adds ? element : b.getIntegerType(8 * getElementBytes(element));
  auto runs =
      create<mk_thread::PlanRunsOp>(i32, i64, i1, SmallVector<Type>(sizes.size(), i32), source,
                                    dest, sizes, fromStrides, toStrides, unit, bool(list));
  Value count = select(isFine(), runs.getCount(), c32(0));

  auto raiseEach = [&] {
    bool together = peers.size() > 1;
    if (together)
      fence(MemScope::Sys);
    for (Value each : peers)
      raise(signalArray(signal), element_, 1, each, op.getStrong(), LinkKind::Link,
            /*relaxed=*/together);
  };
  auto copyTo = [&](Value dest, ValueRange others = {}) {
    mk_thread::SlotsAttr slots;
    SmallVector<Value> places;
    if (pipeline) {
      slots = mk_thread::SlotsAttr::get(b.getContext(), memory.puts, memory.putBarriers,
                                        memory.putSlots, memory.putSlotBytes);
      for (const Cursor &cursor : {cursors[pipeline.getLoad()], cursors[pipeline.getStore()]})
        places.append({cursor.stage, cursor.phase});
    }
    SmallVector<Value> now =
        llvm::map_to_vector(places, [&](Value place) { return read(place, i32); });
    auto copy = create<mk_thread::CopyRunsOp>(
        SmallVector<Type>(places.size(), i32), source, dest, count, runs.getRun(), runs.getPlaces(),
        fromStrides, toStrides, list, others, unit, adds, runs.getAligned(), partitionThread,
        partition.getNumThreads(), slots, now,
        pipeline ? makeReport(MK_WAIT_COPY, 0) : mk_thread::ReportAttr());
    for (auto [place, next] : llvm::zip(places, copy.getNext()))
      write(place, next);
    if (signal)
      once(raiseEach);
  };
  if (!peer) {
    copyTo(dest);
    return success();
  }
  Value heap = heapOf(peer), isMapped = cmp(Predicate::ne, heap, 0);
  auto across = [&] {
    Value offset = sub(dest, heapOf(ownRank()));
    copyTo(add(offset, heap), llvm::map_to_vector(ArrayRef(peers).drop_front(), [&](Value each) {
             return add(offset, heapOf(each));
           }));
  };
  auto byCommands = [&] {
    if (adds)
      return failUnless(cbool(false), MK_FAIL_PEER);
    ifThen(eq(partitionThread, 0), [&] {
      Value slot;
      if (signal)
        slot = add(loadParam(signalArray(signal).param + abi::kSignalSlot, i64), element_);
      create<mk_thread::SendRunsOp>(
          source, dest, count, runs.getRun(), runs.getPlaces(), fromStrides, toStrides, list, peer,
          cta, slot, signal && op.getStrong(), commandTeam(), makeReport(MK_WAIT_COMMAND, 0),
          makeWaitSpan(MK_WAIT_COMMAND, 0));
    });
  };
  for (Value each : ArrayRef(peers).drop_front())
    isMapped = and_(isMapped, cmp(Predicate::ne, heapOf(each), 0));
  if (!hasNet()) {
    across();
  } else if (op.getVia() == LinkKind::Link) {
    failUnless(isMapped, MK_FAIL_PEER);
    ifThen(isMapped, across);
  } else if (op.getVia() == LinkKind::Net) {
    byCommands();
  } else {
    ifThenElse(isMapped, across, byCommands);
  }
  return success();
}
