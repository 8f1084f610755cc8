//===- Puts.cpp - Regions to this rank and others -------------------------===//
//
// Here and across links threads copy the region, or have the copy engine do so; the put is complete
// when the op is. Across a network the proxy does. How a region is gone through:
// mk-thread-expand-runs.
//
//===----------------------------------------------------------------------===//
#include "Bounds.h"
#include "Faults.h"
#include "Lowerings.h"
#include "Peers.h"
#include "Timeline.h"
#include "mkernel/ABI/Gpu.h"

using namespace mlir;
using namespace mlir::mk;
using namespace mlir::mk::sm;
using namespace mlir::mk_sm;

/// `pipeline`: its cursors; null in a mover, which has no slots.
/// `also`: peers that get the same.
static LogicalResult emitPut(PartitionBuilder &p, PutOp op, PipelinePutOp pipeline,
                             ValueRange also = {}) {
  Type element = cast<MemRefType>(op.getSource().getType()).getElementType();
  bool adds = op.getReduction().has_value();
  if (adds && (*op.getReduction() != Reduction::Add || mk_thread::getAddition(element).empty()))
    return op.emitOpError() << "adds elements of " << element << ", which the copy engine of "
                            << getSmTarget(op).getName()
                            << " does not; use f32, "
                               "f64, bf16, f16, i32 or i64";
  // What this CTA has written is read by the engine, or by others.
  p.finishStores();
  if (Value rows = op.getRows()) {
    p.barrierPartition();
    Value thread = p.readThreadInPartition();
    auto type = cast<RankedTensorType>(rows.getType());
    Places places(p, type, thread);
    SmallVector<Value> values(p.elements(rows));
    for (auto [i, value] : llvm::enumerate(values)) {
      Place where = places.at(i);
      Value at = add(p, p.shared(p.memory.exchange), shl(p, places.number(where), 2));
      mk_thread::StoreOp::create(p, value, at, 4,
                                 where.exists ? resize(p, where.exists, p.i32) : Value());
    }
  }
  mk_thread::FenceAsyncOp::create(p);
  p.barrierPartition();
  // Null: this rank, which is the only one.
  Value peer = p.info.hasPeers() ? existingPeer(p, p.scalar(op.getPeer())) : Value();
  SmallVector<Value> peers{peer};
  for (Value more : also)
    peers.push_back(existingPeer(p, p.scalar(more)));
  beginSpan(p, SpanClock::Op, peer ? peer : p.c64(0));
  // What is checked is checked before anything else is read: it takes registers.
  Value list = op.getRows() ? p.shared(p.memory.exchange) : Value();
  checkPut(p, op, MK_READ_ARGUMENT, list);
  if (peer)
    for (Value each : peers)
      awaitReady(p, each, /*sends=*/op.getVia() != LinkKind::Link);
  for (Value each : peers)
    checkPut(p, op, MK_WRITTEN_ARGUMENT, list, each);
  Value signal = op.getSignal(), element_;
  if (signal)
    element_ = signalElement(p, op, signal, op.getSignalIndex());
  // Each thread has looked at some rows.
  if (list && p.info.checked)
    p.barrierPartition();
  Buffer from = getBuffer(p, op, op.getSource()), to = getBuffer(p, op, op.getDest());
  SmallVector<Value> sizes = p.scalars(op.getSizes());
  if (op.getRows())
    sizes[0] =
        minS(p, sizes[0], p.c64(cast<RankedTensorType>(op.getRows().getType()).getNumElements()));
  Value source = elementAddress(p, from, p.scalars(op.getSrcOffsets()));
  Value dest = elementAddress(p, to, p.scalars(op.getDstOffsets()));
  SmallVector<Value> fromStrides = byteStrides(p, from), toStrides = byteStrides(p, to);
  // What is not added may be elements of any type of the size.
  Type unit = adds ? element : p.getIntegerType(8 * getElementBytes(element));
  auto runs =
      mk_thread::PlanRunsOp::create(p, p.i32, p.i64, p.i1, SmallVector<Type>(sizes.size(), p.i32),
                                    source, dest, sizes, fromStrides, toStrides, unit, bool(list));
  Value count = select(p, isFine(p), runs.getCount(), p.c32(0));

  auto raiseEach = [&] {
    bool together = peers.size() > 1;
    if (together)
      mk_thread::FenceOp::create(p, MemScope::Sys);
    for (Value each : peers)
      raiseSignal(p, signalArray(p, signal), element_, 1, each, op.getStrong(), LinkKind::Link,
                  /*relaxed=*/together);
  };
  auto copyTo = [&](Value dest, ValueRange others = {}) {
    mk_thread::SlotsAttr slots;
    SmallVector<Value> places;
    if (pipeline) {
      slots = mk_thread::SlotsAttr::get(p.getContext(), p.memory.puts, p.memory.putBarriers,
                                        p.memory.putSlots, p.memory.putSlotBytes);
      for (const PartitionBuilder::Cursor &cursor :
           {p.cursor(pipeline.getLoad()), p.cursor(pipeline.getStore())})
        places.append({cursor.stage, cursor.phase});
    }
    SmallVector<Value> now =
        llvm::map_to_vector(places, [&](Value place) { return read(p, place, p.i32); });
    auto copy = mk_thread::CopyRunsOp::create(
        p, SmallVector<Type>(places.size(), p.i32), source, dest, count, runs.getRun(),
        runs.getPlaces(), fromStrides, toStrides, list, others, unit, adds, runs.getAligned(),
        p.partitionThread, p.partition.getNumThreads(), slots, now,
        pipeline ? p.makeReport(MK_WAIT_COPY, 0) : mk_thread::ReportAttr());
    for (auto [place, next] : llvm::zip(places, copy.getNext()))
      write(p, place, next);
    if (signal)
      p.elect(raiseEach);
  };
  if (!peer) {
    copyTo(dest);
    return success();
  }
  Value heap = heapOf(p, peer), isMapped = ne(p, heap, 0);
  auto across = [&] {
    Value offset = sub(p, dest, heapOf(p, ownRank(p)));
    copyTo(add(p, offset, heap), llvm::map_to_vector(ArrayRef(peers).drop_front(), [&](Value each) {
             return add(p, offset, heapOf(p, each));
           }));
  };
  auto byCommands = [&] {
    if (adds)
      return failUnless(p, p.cbool(false), MK_FAIL_PEER);
    ifThen(p, eq(p, p.partitionThread, 0), [&] {
      Value slot;
      if (signal)
        slot = add(p, readParam(p, signalArray(p, signal).param + abi::kSignalSlot), element_);
      mk_thread::SendRunsOp::create(
          p, source, dest, count, runs.getRun(), runs.getPlaces(), fromStrides, toStrides, list,
          peer, p.cta, slot, signal && op.getStrong(), commandTeam(p),
          p.makeReport(MK_WAIT_COMMAND, 0), makeWaitSpan(p, MK_WAIT_COMMAND, 0));
    });
  };
  for (Value each : ArrayRef(peers).drop_front())
    isMapped = and_(p, isMapped, ne(p, heapOf(p, each), 0));
  if (!p.info.hasNet()) {
    across();
  } else if (op.getVia() == LinkKind::Link) {
    failUnless(p, isMapped, MK_FAIL_PEER);
    ifThen(p, isMapped, across);
  } else if (op.getVia() == LinkKind::Net) {
    byCommands();
  } else {
    ifThenElse(p, isMapped, across, byCommands);
  }
  return success();
}

// Puts here and across links are complete when their threads have done them.
template <typename OpT> static void lowerFence(OpT op, PartitionBuilder &p) {
  p.finishStores();
  if (p.info.hasNet())
    awaitPuts(p);
  else
    p.barrierPartition();
}

/// A put that stands in another op, or alone.
static LogicalResult emitTimedPut(PartitionBuilder &p, Operation *op, PipelinePutOp pipeline,
                                  ValueRange also = {}) {
  p.currentOp = op;
  LogicalResult result = emitPut(p, cast<PutOp>(op), pipeline, also);
  p.currentOp = op;
  endSpan(p, SpanClock::Op, MK_TIMELINE_PUT);
  return result;
}

void sm::populatePutLowerings(LoweringTable &table) {
  table.add([](PutOp op, PartitionBuilder &p) { return emitTimedPut(p, op, {}); },
            [](PipelinePutOp op, PartitionBuilder &p) {
              return emitTimedPut(p, &op.getBody().front().front(), op);
            },
            [](MulticastOp op, PartitionBuilder &p) {
              return emitTimedPut(p, &op.getBody().front().front(), {}, op.getAlso());
            },
            lowerFence<FenceOp>, lowerFence<SettleOp>);
}
