//===- Structure.cpp - Threads and partitions -----------------------------===//
//
// Warpgroup 0 is the producer's side (its first warp works; in the variant for any strides the
// others copy for it, else the second one may send tiles; the last ones may run roles beside others), the others are the
// consumer's. Registers change hands once, at the top; roles are told apart
// inside, so that ptxas sees one reallocation.
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

Lowering::Lowering(KernelOp kernel, ArrayRef<int64_t> ctas,
                   const ParamLayout &params, SharedMemoryOp shared)
    : Emitter(kernel.getContext(), kernel.getLoc()), kernel(kernel),
      resources(getKernelResources(kernel)), ctas(ctas), params(params),
      warps(*kernel.getBody().getOps<WarpsOp>().begin()), shared(shared),
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
    if (isa<RoleOp, PrepareOp, RequireOp, SignalsOp, CountersOp, QueueOp, WarpsOp,
            SharedMemoryOp>(op))
      continue;
    if (failed(emit(&op)))
      return failure();
  }
  return success();
}

/// Whether the op is a put or signal that may go to another rank.
static bool reachesOut(Operation *inner) {
  auto signal = dyn_cast<SignalOp>(inner);
  return isa<PutOp>(inner) || (signal && signal.getPeer());
}

static bool holdsAny(Operation *scope, function_ref<bool(Operation *)> is) {
  return scope
      ->walk([&](Operation *op) { return is(op) ? WalkResult::interrupt() : WalkResult::advance(); })
      .wasInterrupted();
}

bool Lowering::reachesOutByMovers() {
  return hasPeers() && warps.getMovers() && !holdsAny(kernel, [](Operation *op) {
    auto partition = op->getParentOfType<PartitionOp>();
    if (!partition || partition.getKind() == PartitionKind::Mover)
      return false;
    auto store = dyn_cast<mk_sm::StoreOp>(op);
    auto direct = dyn_cast<mk::StoreOp>(op);
    return reachesOut(op) || (store && !store.getPeers().empty()) || (direct && direct.getPeer());
  });
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
  reciprocals.clear();
  waitFailed = {};
  LogicalResult result = success();
  auto body = [&] {
    readEpoch();
    if (needsAgreement()) {
      waitFailed = variable(i32, c32(0));
      noteWait();
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
    if (hasNet() && holdsAny(op, reachesOut))
      awaitPuts();
    emitted = nullptr;
    endSpan(SpanClock::Role, MK_TIMELINE_ROLE);
  };
  if (isOneWarp() || op.getWarps() == warps.getConsumer())
    body();
  else
    ifThen(cmp(Predicate::ult, warp, 4 + int64_t(op.getWarps())), body);
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
  emitPrologue();

  auto setRegisters = [&](bool consumes) {
    if (warps.getRegisters())
      create<mk_thread::SetRegistersOp>((*warps.getRegisters())[consumes], /*more=*/consumes);
  };
  LogicalResult result = success();
  ifThenElse(
      eq(warpgroup, 0),
      [&] {
        setRegisters(/*consumes=*/false);
        bool copies = warps.getCopiers();
        auto produce = [&] {
          // Copiers come for the first request without looking.
          if (copies)
            ifThen(eq(lane, 0), [&] {
              storeSharedHere(c32(0), sharedBase, offsetOf("posted"));
            });
          result = emitSide(PartitionKind::Producer);
          if (copies)
            create<mk_thread::DismissCopiersOp>(lane, makeCopiers());
        };
        if (copies)
          ifThenElse(eq(warp, 0), produce, [&, warp = warp] {
            SmallVector<int64_t> sizes;
            kernel.walk([&](CopyOp op) {
              int64_t size = getElementBytes(op.getTileType().getElementType());
              if (!llvm::is_contained(sizes, size))
                sizes.push_back(size);
            });
            auto copy = [&] { create<mk_thread::ServeCopiesOp>(sizes, makeCopiers()); };
            warps.getMovers() ? ifThen(cmp(Predicate::ule, warp, warps.getNumCopiers()), copy) : copy();
          });
        else
          ifThen(eq(warp, 0), produce);
        if (warps.getSender()) {
          readThread();
          ifThen(eq(warp, 1), [&] { emitSender(); });
        }
        if (warps.getMovers())
          for (auto [i, role] : llvm::enumerate(warps.getMovers()->getAsValueRange<FlatSymbolRefAttr>())) {
            readThread();
            ifThen(eq(warp, WarpsOp::getMoverWarp(i)), [&] {
              if (succeeded(result))
                result = emitMover(i, role);
            });
          }
        reportDeferred();
        closeTracks();
        if (keepsCounts())
          arriveAt(c32(warps.getBarrier("finish")), getNumThreads());
      },
      [&] {
        setRegisters(/*consumes=*/true);
        if (succeeded(result))
          result = emitSide(PartitionKind::Consumer);
        if (warps.getSender())
          dismissSender();
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
  if (isOneWarp())
    syncWarp();
  else
    barrier(partitionBarrier(), partition.getNumThreads());
}

Value Lowering::partitionBarrier() {
  // A team is a warpgroup.
  return partition.getTeams() > 1 ? warpgroupBarrier(group) : c32(warps.getBarrier("consumer"));
}

void Lowering::once(function_ref<void()> body) {
  finishStores();
  barrierPartition();
  ifThen(eq(partitionThread, 0), body);
  if (isOneWarp())
    syncWarp();
}

Value Lowering::onceForAll(function_ref<Value()> body) {
  if (isOneWarp()) {
    syncWarp();
    Value result = variable(i64, c64(0));
    ifThen(eq(lane, 0), [&] { write(result, body()); });
    syncWarp();
    return fromLane0(read(result, i64));
  }
  finishStores();
  Value slot = add(sharedBase, offsetOf("result"));
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
  awaitSent();
}
