//===- Launch.cpp - How a launch begins and ends --------------------------===//
#include "Lowering.h"
#include "mkernel/ABI/Gpu.h"
#include "mkernel/ABI/Timeline.h"

using namespace mlir;
using namespace mlir::mk;
using namespace mlir::mk::sm;
using namespace mlir::mk_sm;
using Predicate = arith::CmpIPredicate;

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
      ScopeMemory memory(&scope);
      for (int64_t slot = 0; slot < memory.putSlots; ++slot)
        init(memory.putBarriers + 8 * slot, 1);
      for (int64_t barrier : {memory.landing, memory.sent})
        if (barrier)
          init(barrier, 1);
      for (Operation &op : scope.getRegion(0).front()) {
        if (!isa<CreateRingOp, CreateMailboxOp>(op))
          continue;
        Channel channel(&op);
        create<mk_thread::InitSlotsOp>(channel.place, channel.consumers * channel.shared);
      }
    }
    // LLVM declares shared memory only where something uses its address.
    storeSharedHere(before, sharedBase, offsetOf("failed"));
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

/// Whether a launch leaves anything to the next one.
bool Lowering::keepsCounts() {
  return waitsForOthers() || !resources.counters.empty() || holds<TicketOp>(kernel);
}

// A barrier between all CTAs, which run at the same time. The last one to end
// mk.prepare lets the peers in.
void Lowering::emitPrepared() {
  barrier(c32(warps.getBarrier("consumer")), getNumThreads() - 128);
  ifThen(eq(thread, 128), [&] {
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

// Others of this launch may have failed, and with it peers that wait for them.
void Lowering::tellDone() {
  Value abort = loadRelaxed(i32, add(control, offsetof(mk_gpu_control, abort)), MemScope::Gpu);
  ifThen(eq(abort, 0), [&] { tellPeers(params.done); });
}

// The CTA that finishes last makes the counts of this launch those of the next
// (mkernel/ABI/Gpu.h). All writes of the CTA come before its arrival: bar.sync
// orders them within the CTA and the release of the arrival beyond it.
void Lowering::emitEnd() {
  if (!keepsCounts())
    return;
  barrier(c32(warps.getBarrier("finish")), getNumThreads());
  thread = readNumber(/*here=*/true);
  int64_t consumers = getNumThreads() - 128;
  Value first = eq(thread, 128), flag = add(sharedBase, offsetOf("result"));
  ifThen(first, [&] {
    Value before = atomicAdd(add(control, offsetof(mk_gpu_control, finished)), c32(1),
        MemOrder::AcqRel, MemScope::Gpu);
    Value last = cmp(Predicate::eq, add(before, 1),
                     launchField(offsetof(mk_gpu_launch, num_ctas), i32));
    store(resize(last, i32), flag);
  });
  barrier(c32(warps.getBarrier("cta")), consumers);
  ifThen(cmp(Predicate::ne, load(i32, flag), 0), [&] {
    Value me = sub(thread, 128);
    if (hasPeers()) {
      roleNumber = -1;
      partition = {};
      if (!reachesOutByMovers())
        ifThen(first, [&] { tellDone(); });
      readEpoch();
      beginSpan(SpanClock::Op);
      create<mk_thread::AwaitPeersOp>(kernel.getMeshOp().getNumRanks(), params.done, hasNet(),
                                      add(epoch, 1), sub(thread, 128), getNumThreads() - 128,
                                      makeReport(MK_WAIT_DONE, 0));
      barrier(c32(warps.getBarrier("cta")), consumers);
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
    barrier(c32(warps.getBarrier("cta")), consumers);
    ifThen(first, [&] {
      store(c32(0), control, offsetof(mk_gpu_control, finished));
      Value counter = add(control, offsetof(mk_gpu_control, epoch));
      store(add(load(i32, counter), 1), counter);
    });
  });
}
