//===- Structure.cpp - Threads, roles and the end of a launch -------------===//
//
// Warpgroup 0 is the producer's side (its first warp works; in the variant for any strides the
// others copy for it), the others are the consumer's. Registers change hands once, at the top; roles are told apart
// inside, so that ptxas sees one reallocation.
//
//===----------------------------------------------------------------------===//
#include "Lowering.h"
#include "mkernel/ABI/Gpu.h"
#include "mkernel/ABI/Timeline.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"
#include "llvm/Support/SaveAndRestore.h"

using namespace mlir;
using namespace mlir::mk;
using namespace mlir::mk::sm;
using namespace mlir::mk_sm;
using Predicate = arith::CmpIPredicate;

/// Registers of an SM, which one CTA has to itself (CUDA programming guide).
static constexpr int64_t kRegisters = 65536;
/// The least of a thread of the producer's warpgroup where others of it copy.
static constexpr int64_t kCopierRegisters = 56;
// Barrier 0 is that of all threads by itself; a warp that arrives at it with a count
// of threads, while others wait without, is an illegal instruction.
static constexpr int64_t kFinishBarrier = 14;

Lowering::Lowering(KernelOp kernel, ArrayRef<int64_t> ctas,
                   const ParamLayout &params, SharedLayout &shared)
    : Emitter(kernel.getContext(), kernel.getLoc()), kernel(kernel),
      resources(getKernelResources(kernel)), deferral(kernel), ctas(ctas), params(params),
      shared(shared), cluster(params.cluster) {}

PartitionOp sm::findPartition(Operation *scope, PartitionKind kind) {
  for (auto op : scope->getRegion(0).front().getOps<PartitionOp>())
    if (op.getKind() == kind)
      return op;
  return {};
}

LogicalResult Lowering::measurePartitions() {
  producerRegisters = 24;
  consumerRegisters = 24;
  numConsumerWarps = 4;
  SmallVector<Operation *> scopes(resources.roles.begin(), resources.roles.end());
  if (resources.prepare)
    scopes.push_back(resources.prepare);
  for (Operation *scope : scopes) {
    Block &body = scope->getRegion(0).front();
    if (!body.empty() && body.getOps<PartitionOp>().empty())
      return scope->emitOpError() << "has no partitions; it is not at the SM level";
    if (PartitionOp op = findPartition(scope, PartitionKind::Producer))
      producerRegisters = std::max<int64_t>(producerRegisters, op.getRegisters());
    if (PartitionOp op = findPartition(scope, PartitionKind::Consumer)) {
      consumerRegisters = std::max<int64_t>(consumerRegisters, op.getRegisters());
      numConsumerWarps = std::max<int64_t>(numConsumerWarps, op.getWarps());
    }
  }
  numThreads = 128 + 32 * numConsumerWarps;
  int64_t wanted = 128 * producerRegisters + 32 * numConsumerWarps * consumerRegisters;
  // What the CTA starts with: the same for each thread, in steps of 8.
  int64_t pool = std::min<int64_t>(kRegisters / numThreads / 8 * 8, 256) * numThreads;
  // Copiers work with addresses.
  if (hasCopiers() && numThreads > 256) {
    producerRegisters = std::max(producerRegisters, kCopierRegisters);
    int64_t left = (pool - 128 * producerRegisters) / (32 * numConsumerWarps) / 8 * 8;
    consumerRegisters = std::min(consumerRegisters, left);
    wanted = 128 * producerRegisters + 32 * numConsumerWarps * consumerRegisters;
  }
  if (numThreads > 256 && wanted > pool)
    return kernel.emitOpError()
           << "needs " << wanted << " registers (128 threads of "
           << producerRegisters << ", " << 32 * numConsumerWarps << " of "
           << consumerRegisters << "); " << numThreads << " threads have " << pool
           << ": give the consumer "
           << (pool - 128 * producerRegisters) / (32 * numConsumerWarps) / 8 * 8;
  return success();
}

Value Lowering::loadParam(int64_t offset, Type type) {
  return create<mk_thread::ParamOp>(type, offset, /*pinned=*/false);
}

Value Lowering::loadParamHere(int64_t offset) {
  return create<mk_thread::ParamOp>(i64, offset, /*pinned=*/true);
}

Value Lowering::launchField(int64_t offset, Type type) {
  return loadParam(params.launch + offset, type);
}

void Lowering::loadParams() {
  for (unsigned d = 0, e = kernel.getNumDims(); d != e; ++d)
    set(kernel.getDim(d), loadParam(params.dims + 8 * d, i64));
  for (unsigned i = 0, e = kernel.getNumKernelArgs(); i != e; ++i) {
    Buffer buffer;
    buffer.type = cast<MemRefType>(kernel.getKernelArg(i).getType());
    buffer.arg = i;
    buffers[kernel.getKernelArg(i)] = buffer;
  }
  control = launchField(offsetof(mk_gpu_launch, control), i64);
}

void Lowering::readEpoch() {
  if (waitsForOthers())
    epoch = load(i32, control, offsetof(mk_gpu_control, epoch));
}

/// Whether CTAs wait for one another, or for other ranks.
bool Lowering::waitsForOthers() {
  return !resources.signals.empty() || !resources.queues.empty() ||
         resources.prepare || hasPeers();
}

LogicalResult Lowering::emitKernelScalars() {
  for (Operation &op : kernel.getBody().front()) {
    // Declarations have places among the parameters; requirements are checked
    // before the launch.
    if (isa<RoleOp, PrepareOp, RequireOp, SignalsOp, CountersOp, QueueOp>(op))
      continue;
    if (failed(emit(&op)))
      return failure();
  }
  return success();
}

/// Whether there may be work for copiers.
bool Lowering::hasCopiers() {
  return byThreads &&
         kernel.walk([](CopyOp) { return WalkResult::interrupt(); }).wasInterrupted();
}

void Lowering::emitPrologue() {
  ifThen(eq(thread, 0), [&] {
    // Behind a launch that has failed, and has let this one begin, nothing is waited for, nor told
    // to others. A launch that waits for nobody does no harm.
    Value before = c32(0);
    if (waitsForOthers())
      before = loadRelaxed(i32,
                           add(loadParam(params.launch + offsetof(mk_gpu_launch, control), i64),
                               offsetof(mk_gpu_control, abort)),
                           MemScope::Gpu);
    for (unsigned i = 0; i != params.maps.size(); ++i) {
      create<mk_thread::PrefetchMapOp>(mapAddress(i));
    }
    auto init = [&](int64_t offset, int64_t arrivals) {
      create<mk_thread::BarrierInitOp>(add(sharedBase, offset), arrivals);
    };
    for (Operation &scope : kernel.getBody().front()) {
      if (!isa<RoleOp, PrepareOp>(scope))
        continue;
      if (getPutSlotBytes(&scope))
        for (int64_t slot = 0; slot < kPutSlots; ++slot)
          init(shared.scopes[&scope].putBarriers + 8 * slot, 1);
      if (int64_t landing = shared.scopes[&scope].landing)
        init(landing, 1);
      for (Operation &op : scope.getRegion(0).front()) {
        auto it = shared.channels.find(&op);
        if (it == shared.channels.end())
          continue;
        const Channel &channel = it->second;
        for (int64_t stage = 0; stage < channel.depth; ++stage) {
          init(channel.full + 8 * stage, 1);
          init(channel.empty + 8 * stage, channel.consumers * channel.shared);
        }
      }
    }
    // LLVM declares shared memory only where something uses its address.
    storeSharedHere(before, sharedBase, shared.failed);
    create<mk_thread::FenceBarriersOp>();
    fenceAsyncShared();
  });
  if (cluster > 1)
    barrierCluster();
  else
    barrierAll();
  // The launch before may have let this one begin; what it wrote is there from here
  // on. The next one may begin where this one leaves room, and waits here.
  create<mk_thread::SyncLaunchesOp>();
  openTracks();
}

/// Whether puts or signals of the partition may go to other ranks.
static bool reachesOut(PartitionOp op) {
  return op
      ->walk([](Operation *inner) {
        auto signal = dyn_cast<SignalOp>(inner);
        return isa<PutOp>(inner) || (signal && signal.getPeer())
                   ? WalkResult::interrupt()
                   : WalkResult::advance();
      })
      .wasInterrupted();
}

LogicalResult Lowering::emitPartition(PartitionOp op, Operation *scope) {
  partition = op;
  llvm::SaveAndRestore wholePartition(partitionThread);
  if (op.getTeams() > 1)
    partitionThread = and_(thread, op.getNumThreads() - 1);
  memory = shared.scopes.lookup(scope);
  readySeen = {};
  landingPhase = {};
  // In loops a store may come before what stands above it.
  storesPending = false;
  op.walk([&](mk_sm::StoreOp) { storesPending = true; });
  cursors.clear();
  reciprocals.clear();
  waitFailed = {};
  LogicalResult result = success();
  auto body = [&] {
    if (isProducer() && memory.landing)
      landingPhase = variable(i32, c32(0));
    readEpoch();
    if (needsAgreement()) {
      waitFailed = variable(i32, c32(0));
      noteWait();
    }
    // Scalars between the partitions belong to each of them.
    for (Operation &other : scope->getRegion(0).front()) {
      if (isa<PartitionOp, CreateRingOp, CreateMailboxOp, CreateStagingOp>(other))
        continue;
      if (failed(result = emit(&other)))
        return;
    }
    // The consumer has begun it where its last one ended: code in front of the loops would
    // take registers from them.
    if (isProducer())
      beginSpan(SpanClock::Role);
    bool turns = false;
    op.walk([&](TurnWaitOp) { turns = true; });
    // The first warpgroup has the first turn; the last one is not taken.
    if (turns)
      ifThen(eq(group, 1), [&] { emitTurn(/*wait=*/false); });
    for (Operation &inner : op.getBody().front().without_terminator()) {
      if (inner.getNumRegions() != 0)
        readEpoch();
      if (failed(result = emit(&inner)))
        return;
    }
    // What was asked in front of the loops is asked again: ptxas would keep the answer.
    if (turns)
      ifThen(cmp(Predicate::ult, readNumber(/*here=*/true), 256),
             [&] { emitTurn(/*wait=*/true); });
    finishStores();
    if (reachesOut(op) && hasNet())
      awaitPuts();
    emitted = nullptr;
    endSpan(SpanClock::Role, MK_TIMELINE_ROLE);
  };
  if (isProducer() || int64_t(op.getWarps()) == numConsumerWarps)
    body();
  else
    ifThen(cmp(Predicate::ult, warp, 4 + int64_t(op.getWarps())), body);
  return result;
}

Value Lowering::readNumber(bool here) {
  return create<mk_thread::ThreadIdOp>(i32, /*pinned=*/here);
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

/// Whether a launch leaves anything to the next one.
bool Lowering::keepsCounts() {
  if (waitsForOthers() || !resources.counters.empty())
    return true;
  return kernel.walk([](TicketOp) { return WalkResult::interrupt(); }).wasInterrupted();
}

// A barrier between all CTAs, which run at the same time. The last one to end
// mk.prepare lets the peers in.
void Lowering::emitPrepared() {
  barrier(c32(kPartitionBarrier), numThreads - 128);
  ifThen(eq(thread, 128), [&] {
    fence(MemScope::Gpu);
    Value before =
        atomicAdd(add(control, offsetof(mk_gpu_control, prepared)), c32(1),
                  MemOrder::AcqRel, MemScope::Gpu);
    if (!hasPeers())
      return;
    Value all = mul(add(epoch, 1), launchField(offsetof(mk_gpu_launch, num_ctas), i32));
    ifThen(cmp(Predicate::eq, add(before, 1), all),
           [&] { tellPeers(params.ready); });
  });
}

// The CTA that finishes last makes the counts of this launch those of the next
// (mkernel/ABI/Gpu.h). All writes of the CTA come before its arrival: bar.sync
// orders them within the CTA and the fence beyond it.
void Lowering::emitEnd() {
  if (!keepsCounts())
    return;
  barrier(c32(kFinishBarrier), numThreads);
  thread = readNumber(/*here=*/true);
  int64_t consumers = numThreads - 128;
  Value first = eq(thread, 128), flag = add(sharedBase, shared.broadcast);
  ifThen(first, [&] {
    fence(MemScope::Gpu);
    Value before = atomicAdd(add(control, offsetof(mk_gpu_control, finished)), c32(1),
        MemOrder::AcqRel, MemScope::Gpu);
    Value last = cmp(Predicate::eq, add(before, 1),
                     launchField(offsetof(mk_gpu_launch, num_ctas), i32));
    store(resize(last, i32), flag);
  });
  barrier(c32(kEndBarrier), consumers);
  ifThen(cmp(Predicate::ne, load(i32, flag), 0), [&] {
    Value me = sub(thread, 128);
    if (hasPeers()) {
      roleNumber = -1;
      partition = {};
      // Others of this launch may have failed, and with it peers that wait for them.
      ifThen(first, [&] {
        Value abort = loadRelaxed(i32, add(control, offsetof(mk_gpu_control, abort)),
                                  MemScope::Gpu);
        ifThen(eq(abort, 0), [&] { tellPeers(params.done); });
      });
      readEpoch();
      beginSpan(SpanClock::Op);
      awaitDone();
      barrier(c32(kEndBarrier), consumers);
      endSpan(SpanClock::Op, MK_TIMELINE_WAIT + int(MK_WAIT_DONE));
    }
    for (auto [i, declared] : llvm::enumerate(resources.signals)) {
      SignalsOp signals = declared;
      SignalType type = cast<SignalType>(signals.getResult().getType());
      if (!type.isDynamic())
        continue;
      Value total = c64(1);
      unsigned next = 0;
      for (int64_t extent : type.getShape())
        total = mul(total, ShapedType::isDynamic(extent)
                               ? scalar(signals.getExtents()[next++])
                               : c64(extent));
      Value from = loadParam(params.signals[i], i64);
      Value to = loadParam(params.signals[i] + abi::kSignalBases, i64);
      Value net = type.getScope() == Scope::Sys && hasNet()
                      ? loadParam(params.signals[i] + abi::kSignalNet, i64)
                      : Value();
      forRange(me, resize(total, i32), c32(consumers), [&](Value k) {
        Value offset = shl(resize(k, i64), 2);
        Value value = load(i32, add(from, offset));
        if (net)
          value = add(value, load(i32, add(net, offset)));
        store(value, add(to, offset));
      });
    }
    Value zero = launchField(offsetof(mk_gpu_launch, zero), i64);
    forRange(me, launchField(offsetof(mk_gpu_launch, zero_words), i32),
             c32(consumers), [&](Value k) {
               store(c32(0), add(zero, shl(resize(k, i64), 2)));
             });
    barrier(c32(kEndBarrier), consumers);
    ifThen(first, [&] {
      store(c32(0), control, offsetof(mk_gpu_control, finished));
      Value counter = add(control, offsetof(mk_gpu_control, epoch));
      store(add(load(i32, counter), 1), counter);
    });
  });
}

LogicalResult Lowering::run() {
  if (failed(measurePartitions()) || failed(orderRoles()) || failed(checkTimeline()))
    return failure();
  b.setInsertionPoint(kernel);
  auto frame = mk_thread::FrameAttr::get(
      b.getContext(), params.launch, shared.failed, places ? params.timeline : 0,
      places ? getNumTracks() : 0, places ? shared.tracks : 0);
  auto function = create<mk_thread::KernelOp>("mk_kernel", numThreads, cluster, params.bytes,
                                              shared.bytes, frame);
  Block *entry = &function.getBody().emplaceBlock();
  setEntry(entry);
  b.setInsertionPointToStart(entry);

  sharedBase = create<mk_thread::SharedBaseOp>(i32, 0, /*pinned=*/false);
  setAnchor(sharedBase.getDefiningOp());
  readThread();
  emitPrologue();

  bool reallocate = numThreads > 256; // else everyone has the most there is
  auto setRegisters = [&](int64_t count, bool more) {
    if (reallocate)
      create<mk_thread::SetRegistersOp>(count, more);
  };
  LogicalResult result = success();
  ifThenElse(
      eq(warpgroup, 0),
      [&] {
        setRegisters(producerRegisters, /*more=*/false);
        bool copies = hasCopiers();
        auto produce = [&] {
          // Copiers come for the first request without looking.
          if (copies)
            ifThen(eq(lane, 0), [&] {
              storeSharedHere(c32(0), sharedBase, shared.request + kRequests * kRequestBytes);
            });
          result = emitSide(PartitionKind::Producer);
          if (copies)
            dismissCopiers();
        };
        if (copies)
          ifThenElse(eq(warp, 0), produce, [&] { emitCopiers(); });
        else
          ifThen(eq(warp, 0), produce);
        reportDeferred();
        closeTracks();
        if (keepsCounts())
          arriveAt(c32(kFinishBarrier), numThreads);
      },
      [&] {
        setRegisters(consumerRegisters, /*more=*/true);
        if (succeeded(result))
          result = emitSide(PartitionKind::Consumer);
        reportDeferred();
        if (succeeded(result))
          emitEnd();
        closeTracks();
      });
  // Others still arrive at this CTA's barriers.
  if (cluster > 1)
    barrierCluster();
  return failure(failed(result) || broken);
}

//===----------------------------------------------------------------------===//
// Threads of a partition
//===----------------------------------------------------------------------===//

void Lowering::barrierCluster() {
  // Barriers that were initialised are published by the fence behind that.
  create<mk_thread::SyncClusterOp>();
}

void Lowering::barrierPartition() {
  if (isProducer())
    syncWarp();
  else
    barrier(partitionBarrier(), partition.getNumThreads());
}

Value Lowering::partitionBarrier() {
  // A team is a warpgroup.
  return partition.getTeams() > 1 ? add(group, 1) : c32(kPartitionBarrier);
}

void Lowering::once(function_ref<void()> body) {
  finishStores();
  barrierPartition();
  ifThen(eq(partitionThread, 0), body);
  if (isProducer())
    syncWarp();
}

Value Lowering::onceForAll(function_ref<Value()> body) {
  if (isProducer()) {
    syncWarp();
    Value result = variable(i64, c64(0));
    ifThen(eq(lane, 0), [&] { write(result, body()); });
    syncWarp();
    return fromLane0(read(result, i64));
  }
  finishStores();
  Value slot = add(sharedBase, shared.broadcast);
  barrierPartition();
  ifThen(eq(partitionThread, 0), [&] { store(body(), slot); });
  barrierPartition();
  return fromLane0(load(i64, slot));
}

// Whoever comes after has to see what the copy engine still writes.
void Lowering::finishStores() {
  if (!storesPending)
    return;
  ifThen(eq(and_(thread, 127), 0),
         [&] { create<mk_thread::WaitGroupOp>(0, /*read=*/false); });
}

