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

namespace {
/// A put, step by step.
class PutLowering {
public:
  /// `pipeline`: its cursors; null in a mover, which has no slots. `also`: peers that get the same.
  PutLowering(PartitionBuilder &p, PutOp op, PipelinePutOp pipeline, ValueRange also)
      : p(p), op(op), pipeline(pipeline), also(also),
        element(cast<MemRefType>(op.getSource().getType()).getElementType()),
        adds(op.getReduction().has_value()), signal(op.getSignal()) {}

  LogicalResult emit();

private:
  LogicalResult verifyAddition();
  /// The numbers of listed rows into shared memory.
  void shareRows();
  void findPeers();
  /// Refuses what does not exist, here and at the peers, which have begun the launch then.
  void checkRegions();
  /// How both ends are gone through.
  void planRuns();
  /// `others`: the same region at more peers.
  void copyTo(Value dest, ValueRange others = {});
  void raiseEach();
  /// `heap`: that of the first peer.
  void copyAcross(Value heap);
  void sendCommands();

  PartitionBuilder &p;
  PutOp op;
  PipelinePutOp pipeline;
  ValueRange also;
  Type element;
  bool adds;
  Value signal;

  SmallVector<Value> peers; // one that is null: this rank, which is the only one
  Value list;               // of rows, if listed
  Value signalPlace;        // the element of the signal
  Value source, dest;       // at this rank
  SmallVector<Value> fromStrides, toStrides;
  Type unit;
  mk_thread::PlanRunsOp runs;
  Value count; // of runs
};
} // namespace

LogicalResult PutLowering::verifyAddition() {
  if (!adds || (*op.getReduction() == Reduction::Add && !mk_thread::getAddition(element).empty()))
    return success();
  return op.emitOpError() << "adds elements of " << element << ", which the copy engine of "
                          << getSmTarget(op).getName()
                          << " does not; use f32, "
                             "f64, bf16, f16, i32 or i64";
}

void PutLowering::shareRows() {
  Value rows = op.getRows();
  p.barrierPartition();
  Value thread = p.readThreadInPartition();
  Places places(p, cast<RankedTensorType>(rows.getType()), thread);
  SmallVector<Value> values(p.elements(rows));
  for (auto [i, value] : llvm::enumerate(values)) {
    Place where = places.at(i);
    Value at = add(p, p.shared(p.memory.exchange), shl(p, places.number(where), 2));
    mk_thread::StoreOp::create(p, value, at, 4,
                               where.exists ? resize(p, where.exists, p.i32) : Value());
  }
}

void PutLowering::findPeers() {
  peers.push_back(p.info.hasPeers() ? existingPeer(p, p.scalar(op.getPeer())) : Value());
  for (Value more : also)
    peers.push_back(existingPeer(p, p.scalar(more)));
}

// What is checked is checked before anything else is read: it takes registers.
void PutLowering::checkRegions() {
  if (op.getRows())
    list = p.shared(p.memory.exchange);
  checkPut(p, op, MK_READ_ARGUMENT, list);
  if (peers.front())
    for (Value peer : peers)
      awaitReady(p, peer, /*sends=*/op.getVia() != LinkKind::Link);
  for (Value peer : peers)
    checkPut(p, op, MK_WRITTEN_ARGUMENT, list, peer);
  if (signal)
    signalPlace = signalElement(p, op, signal, op.getSignalIndex());
  // Each thread has looked at some rows.
  if (list && p.info.checked)
    p.barrierPartition();
}

void PutLowering::planRuns() {
  Buffer from = getBuffer(p, op, op.getSource()), to = getBuffer(p, op, op.getDest());
  SmallVector<Value> sizes = p.scalars(op.getSizes());
  if (op.getRows())
    sizes[0] =
        minS(p, sizes[0], p.c64(cast<RankedTensorType>(op.getRows().getType()).getNumElements()));
  source = elementAddress(p, from, p.scalars(op.getSrcOffsets()));
  dest = elementAddress(p, to, p.scalars(op.getDstOffsets()));
  fromStrides = byteStrides(p, from);
  toStrides = byteStrides(p, to);
  // What is not added may be elements of any type of the size.
  unit = adds ? element : p.getIntegerType(8 * getElementBytes(element));
  runs =
      mk_thread::PlanRunsOp::create(p, p.i32, p.i64, p.i1, SmallVector<Type>(sizes.size(), p.i32),
                                    source, dest, sizes, fromStrides, toStrides, unit, bool(list));
  count = select(p, isFine(p), runs.getCount(), p.c32(0));
}

void PutLowering::raiseEach() {
  bool together = peers.size() > 1;
  if (together)
    mk_thread::FenceOp::create(p, MemScope::Sys);
  for (Value peer : peers)
    raiseSignal(p, signalArray(p, signal), signalPlace, 1, peer, op.getStrong(), LinkKind::Link,
                /*relaxed=*/together);
}

void PutLowering::copyTo(Value dest, ValueRange others) {
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
    p.elect([&] { raiseEach(); });
}

void PutLowering::copyAcross(Value heap) {
  Value offset = sub(p, dest, heapOf(p, ownRank(p)));
  copyTo(add(p, offset, heap), llvm::map_to_vector(ArrayRef(peers).drop_front(), [&](Value peer) {
           return add(p, offset, heapOf(p, peer));
         }));
}

void PutLowering::sendCommands() {
  if (adds)
    return failUnless(p, p.cbool(false), MK_FAIL_PEER);
  ifThen(p, eq(p, p.partitionThread, 0), [&] {
    Value slot;
    if (signal)
      slot = add(p, readParam(p, signalArray(p, signal).param + abi::kSignalSlot), signalPlace);
    mk_thread::SendRunsOp::create(
        p, source, dest, count, runs.getRun(), runs.getPlaces(), fromStrides, toStrides, list,
        peers.front(), p.cta, slot, signal && op.getStrong(), commandTeam(p),
        p.makeReport(MK_WAIT_COMMAND, 0), makeWaitSpan(p, MK_WAIT_COMMAND, 0));
  });
}

LogicalResult PutLowering::emit() {
  if (failed(verifyAddition()))
    return failure();
  // What this CTA has written is read by the engine, or by others.
  p.finishStores();
  if (op.getRows())
    shareRows();
  mk_thread::FenceAsyncOp::create(p);
  p.barrierPartition();
  findPeers();
  Value peer = peers.front();
  beginSpan(p, SpanClock::Op, peer ? peer : p.c64(0));
  checkRegions();
  planRuns();
  if (!peer) {
    copyTo(dest);
    return success();
  }
  Value heap = heapOf(p, peer), isMapped = ne(p, heap, 0);
  for (Value other : ArrayRef(peers).drop_front())
    isMapped = and_(p, isMapped, ne(p, heapOf(p, other), 0));
  auto across = [&] { copyAcross(heap); };
  auto byCommands = [&] { sendCommands(); };
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

static void lowerOrder(OrderOp, PartitionBuilder &p) {
  p.finishStores();
  mk_thread::FenceAsyncOp::create(p);
  p.barrierPartition();
}

/// A put that stands in another op, or alone.
static LogicalResult emitTimedPut(PartitionBuilder &p, Operation *op, PipelinePutOp pipeline,
                                  ValueRange also = {}) {
  p.currentOp = op;
  LogicalResult result = PutLowering(p, cast<PutOp>(op), pipeline, also).emit();
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
            lowerFence<FenceOp>, lowerFence<SettleOp>, lowerOrder);
}
