//===- Structure.cpp - Threads and partitions -----------------------------===//
//
// Warpgroup 0 is the producer's side (its first warp works; in the variant for any strides the
// others copy for it, else the second one may send tiles; the last ones may run roles beside
// others), the others are the consumer's. Registers change hands once, at the top; roles are told
// apart inside, so that ptxas sees one reallocation.
//
//===----------------------------------------------------------------------===//
#include "Lowering.h"
#include "mkernel/Dialect/Tile/Target.h"
#include "mkernel/ABI/Gpu.h"
#include "mkernel/ABI/Timeline.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"
#include "llvm/Support/SaveAndRestore.h"

using namespace mlir;
using namespace mlir::mk;
using namespace mlir::mk::sm;
using namespace mlir::mk_sm;
using Predicate = arith::CmpIPredicate;

Lowering::Lowering(KernelOp kernel, ArrayRef<int64_t> ctas, const ParamLayout &params,
                   SharedMemoryOp shared)
    : Emitter(kernel.getContext(), kernel.getLoc()), kernel(kernel),
      resources(getKernelResources(kernel)), facts(findFacts(kernel, resources)), ctas(ctas),
      params(params), warps(*kernel.getBody().getOps<WarpsOp>().begin()), shared(shared),
      cluster(params.cluster) {}

void Lowering::loadParams() {
  for (unsigned d = 0, e = kernel.getNumDims(); d != e; ++d)
    set(kernel.getDim(d), loadParam(params.dims + 8 * d, i64));
  for (unsigned i = 0, e = kernel.getNumKernelArgs(); i != e; ++i) {
    Buffer buffer;
    buffer.type = cast<MemRefType>(kernel.getKernelArg(i).getType());
    buffer.arg = i;
    buffers[kernel.getKernelArg(i)] = buffer;
  }
}

void Lowering::readEpoch() {
  if (facts.waitsForOthers)
    epoch = create<mk_thread::EpochOp>(i32);
}

LogicalResult Lowering::emitKernelScalars() {
  for (Operation &op : kernel.getBody().front()) {
    // Declarations have places among the parameters; requirements are checked
    // before the launch.
    if (isa<RoleOp, PrepareOp, RequireOp, SignalsOp, CountersOp, QueueOp, WarpsOp,
            SharedMemoryOp>(op))
      continue;
    if (failed(emit(&op)))
      return failure();
  }
  return success();
}

/// Other CTAs of the cluster arrive at barriers of this one, which has to be there until then.
void Lowering::awaitArrivals(PartitionOp op) {
  for (auto cursor : op.getOps<CursorOp>()) {
    auto ring =
        cursor.getChannel() ? cursor.getChannel().getDefiningOp<CreateRingOp>() : CreateRingOp();
    if (op.getKind() != PartitionKind::Producer || !ring || Channel(ring).shared == 1)
      continue;
    Channel channel(ring);
    forRange(c32(0), c32(cursor.getDepth()), c32(1), [&](Value) {
      const Cursor &at = cursors[cursor.getResult()];
      create<mk_thread::TakeSlotOp>(/*fills=*/true, channel.place, read(at.stage, i32),
                                    read(at.phase, i32), makeReport(MK_WAIT_RING, channel.number));
      advance(cursor.getResult());
    });
  }
  SwapPartsOp swap;
  op.walk([&](SwapPartsOp other) { swap = other; });
  if (swap)
    create<mk_thread::BarrierWaitOp>(add(sharedBase, memory.swaps + 8),
                                     xor_(read(cursors[swap.getCounter()].phase, i32), 1), c32(0),
                                     makeReport(MK_WAIT_RING, -1), /*patient=*/true);
}

LogicalResult Lowering::emitPartition(PartitionOp op, Operation *scope) {
  partition = op;
  llvm::SaveAndRestore wholePartition(partitionThread);
  if (op.getTeams() > 1)
    partitionThread = and_(thread, op.getNumThreads() - 1);
  memory = ScopeMemory(scope);
  readySeen = {};
  // In loops a store may come before what stands above it.
  storesPending = false;
  posting = {};
  op.walk([&](mk_sm::StoreOp store) {
    storesPending = true;
    posting = store.getPosting();
  });
  waitFailed = {};
  LogicalResult result = success();
  auto body = [&] {
    readEpoch();
    if (needsAgreement()) {
      waitFailed = variable(i32, c32(0));
      updateWaitFailed();
    }
    // Scalars between the partitions belong to each of them.
    for (Operation &other : scope->getRegion(0).front()) {
      if (isa<PartitionOp, CreateRingOp, CreateMailboxOp, CreateStagingOp, SyncWarpsOp>(other))
        continue;
      if (failed(result = emit(&other)))
        return;
    }
    // The consumer has begun it where its last one ended: code in front of the loops would
    // take registers from them.
    if (isOneWarp())
      beginSpan(SpanClock::Role);
    TurnPassOp turn;
    op.walk([&](TurnPassOp pass) { turn = pass; });
    // The first warpgroup has the first turn, behind all cursors; the last one is not taken.
    bool given = !turn;
    for (Operation &inner : op.getBody().front().without_terminator()) {
      if (!given && !isa<CursorOp>(inner)) {
        ifThen(eq(group, 1), [&] { emitTurnPass(turn.getCursors()); });
        given = true;
      }
      if (inner.getNumRegions() != 0)
        readEpoch();
      if (failed(result = emit(&inner)))
        return;
    }
    // What was asked in front of the loops is asked again: ptxas would keep the answer.
    if (turn)
      ifThen(cmp(Predicate::ult, readNumber(/*here=*/true), 256),
             [&] { emitTurnWait({}); });
    finishStores();
    awaitArrivals(op);
    if (hasNet() && reachesOut(op))
      awaitPuts();
    currentOp = nullptr;
    endSpan(SpanClock::Role, MK_TIMELINE_ROLE);
  };
  if (isOneWarp() || op.getWarps() == warps.getConsumer())
    body();
  else
    within(create<mk_thread::ByWarpsOp>(warp, 4, 3 + op.getWarps()).getBody(), body);
  return result;
}

// Read again by each side, so that ptxas need not keep one value for both.
void Lowering::readThread() {
  thread = readNumber();
  cta = create<mk_thread::CtaIdOp>(i32);
  lane = and_(thread, 31);
  warp = uniform(shr(thread, 5));
  warpgroup = shr(warp, 2);
  group = sub(warpgroup, 1);
}

LogicalResult Lowering::run() {
  if (failed(checkTimeline()))
    return failure();
  b.setInsertionPoint(kernel);
  auto frame = mk_thread::FrameAttr::get(
      b.getContext(), params.launch, offsetOf("failed"), places ? params.timeline : 0,
      places ? getNumTracks() : 0, places ? offsetOf("tracks") : 0);
  auto function = create<mk_thread::KernelOp>("mk_kernel", getNumThreads(), cluster, params.bytes,
                                              shared.getBytes(), frame);
  enter(function);
  b.setInsertionPointToEnd(&function.getBody().front());
  readThread();
  beginLaunch();
  auto sides = create<mk_thread::SpecializeOp>(warp, warps.getRegistersAttr());
  LogicalResult result = success();
  within(sides.getProducers(), [&] { result = emitProducers(); });
  if (failed(result))
    return failure();
  within(sides.getConsumers(), [&] { result = emitConsumers(); });
  // Where waits have failed, others may still send here.
  if (cluster > 1)
    create<mk_thread::SyncClusterOp>();
  return result;
}

LogicalResult Lowering::emitProducers() {
  LogicalResult result = success();
  auto first = create<mk_thread::ByWarpsOp>(warp, 0, 0);
  if (warps.getCopiers())
    within(first.getOtherwise(), [&] { emitCopiers(); });
  within(first.getBody(), [&] {
    // Copiers come for the first request without looking.
    if (warps.getCopiers())
      ifThen(eq(lane, 0), [&] { storeSharedHere(c32(0), sharedBase, offsetOf("posted")); });
    result = emitSide(PartitionKind::Producer);
    if (warps.getCopiers())
      create<mk_thread::DismissCopiersOp>(lane, makeCopiers());
  });
  if (warps.getSender()) {
    readThread();
    within(create<mk_thread::ByWarpsOp>(warp, 1, 1).getBody(), [&] { emitSender(); });
  }
  for (int64_t i = 0; succeeded(result) && i != warps.getNumMovers(); ++i) {
    readThread();
    int64_t number = WarpsOp::getMoverWarp(i);
    within(create<mk_thread::ByWarpsOp>(warp, number, number).getBody(),
           [&] { result = emitMover(i); });
  }
  create<mk_thread::ReportFailureOp>();
  closeTracks();
  if (facts.keepsCounts)
    arriveAt(c32(warps.getBarrier("finish")), getNumThreads());
  return result;
}

void Lowering::emitCopiers() {
  SmallVector<int64_t> sizes;
  kernel.walk([&](CopyOp op) {
    int64_t size = getElementBytes(op.getTileType().getElementType());
    if (op.getTileType().getRank() > 1 && !llvm::is_contained(sizes, size))
      sizes.push_back(size);
  });
  auto copy = [&] { create<mk_thread::ServeCopiesOp>(sizes, makeCopiers()); };
  if (warps.getMovers())
    within(create<mk_thread::ByWarpsOp>(warp, 1, warps.getNumCopiers()).getBody(), copy);
  else
    copy();
}

LogicalResult Lowering::emitConsumers() {
  if (failed(emitSide(PartitionKind::Consumer)))
    return failure();
  if (warps.getSender())
    dismissSender();
  create<mk_thread::ReportFailureOp>();
  endLaunch();
  closeTracks();
  return success();
}

//===----------------------------------------------------------------------===//
// Threads of a partition
//===----------------------------------------------------------------------===//

void Lowering::barrierPartition() {
  if (isOneWarp())
    syncWarp();
  else
    barrier(partitionBarrier(), partition.getNumThreads());
}

Value Lowering::partitionBarrier() {
  // A team is a warpgroup.
  return partition.getTeams() > 1 ? add(group, warps.getBarrier("warpgroup"))
                                  : c32(warps.getBarrier("consumer"));
}

void Lowering::once(function_ref<void()> body) {
  finishStores();
  auto [barrier, threads] = getMeeting();
  within(create<mk_thread::OnceOp>(partitionThread, barrier, threads).getBody(), body);
}

std::pair<Value, IntegerAttr> Lowering::getMeeting() {
  if (isOneWarp())
    return {};
  return {partitionBarrier(), b.getI64IntegerAttr(partition.getNumThreads())};
}

Value Lowering::fetchOnce(mk_thread::MemOrder order, Value address, Value amount,
                          int64_t otherwise) {
  finishStores();
  auto [barrier, threads] = getMeeting();
  return create<mk_thread::FetchOnceOp>(
      order, address, amount, otherwise, partitionThread, barrier, threads,
      barrier ? b.getI64IntegerAttr(offsetOf("result")) : IntegerAttr());
}

// Whoever comes after has to see what the copy engine still writes.
void Lowering::finishStores() {
  if (!storesPending)
    return;
  ifThen(eq(and_(thread, 127), 0),
         [&] { create<mk_thread::WaitGroupOp>(0, /*read=*/false); });
  awaitSent();
}
