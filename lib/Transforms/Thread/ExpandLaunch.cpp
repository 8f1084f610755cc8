//===- ExpandLaunch.cpp - How a launch begins and ends --------------------===//
#include "Expand.h"
#include "mkernel/ABI/Gpu.h"
#include "mkernel/ABI/GpuParams.h"

using namespace mlir;
using namespace mlir::mk_thread;
namespace abi = ::mkernel::abi;

static Value countCtas(Emitter &e) {
  return launchField(e, offsetof(mk_gpu_launch, num_ctas), e.i32);
}

static void beginLaunch(BeginLaunchOp op, Emitter &e) {
  auto kernel = op->getParentOfType<KernelOp>();
  ifThen(e, eq(e, op.getThread(), 0), [&] {
    // Behind a launch that has failed, and has let this one begin, nothing is waited for, nor told
    // to others. A launch that waits for nobody does no harm.
    Value before = e.c32(0);
    if (op.getWaits())
      before = LoadAtomicOp::create(e, e.i32, MemOrder::Relaxed, MemScope::Gpu,
                                    add(e, controlAddress(e), offsetof(mk_gpu_control, abort)));
    moveRegion(op.getBody(), e);
    // LLVM declares shared memory only where something uses its address.
    StoreSharedOp::create(e, before, e.sharedBase, kernel.getFrame().getFailed());
    FenceBarriersOp::create(e);
    FenceAsyncOp::create(e, /*shared=*/true, /*global=*/false);
  });
  if (kernel.getCluster() > 1)
    SyncClusterOp::create(e);
  else
    SyncCtaOp::create(e);
  // The launch before may have let this one begin; what it wrote is there from here
  // on. The next one may begin where this one leaves room, and waits here.
  SyncLaunchesOp::create(e);
}

static SmallVector<Value> readEpoch(EpochOp, Emitter &e) {
  return {load(e, e.i32, controlAddress(e), offsetof(mk_gpu_control, epoch))};
}

static void arrive(LastArrivalOp op, Emitter &e) {
  int64_t word =
      op.getMoved() ? offsetof(mk_gpu_control, moved) : offsetof(mk_gpu_control, prepared);
  Value before = AtomicAddOp::create(e, MemOrder::AcqRel, MemScope::Gpu,
                                     add(e, controlAddress(e), word), e.c32(1));
  if (op.getBody().front().empty())
    return;
  Value all = mul(e, add(e, op.getEpoch(), 1), mul(e, countCtas(e), op.getEach()));
  ifThen(e, eq(e, add(e, before, 1), all), [&] { moveRegion(op.getBody(), e); });
}

static void awaitPrepared(AwaitPreparedOp op, Emitter &e) {
  Value all = countCtas(e);
  Value prepared = add(e, controlAddress(e), offsetof(mk_gpu_control, prepared));
  Value wanted = mul(e, add(e, op.getEpoch(), 1), all);
  WaitWordOp::create(e, MemScope::Gpu, prepared, wanted, /*equal=*/false, all, /*second=*/Value(),
                     /*leader=*/Value(), /*element=*/e.c64(0), /*array=*/IntegerAttr(),
                     op.getReport(), op.getSpanAttr());
  FenceAsyncOp::create(e, /*shared=*/false, /*global=*/true);
}

static SmallVector<Value> isOpened(OpenedOp op, Emitter &e) {
  Value last = load(e, e.i32, controlAddress(e), offsetof(mk_gpu_control, opened));
  return {resize(e, eq(e, last, add(e, op.getEpoch(), 1)), e.i32)};
}

static void awaitCopied(AwaitCopiedOp op, Emitter &e) {
  Value wanted = add(e, op.getEpoch(), 1);
  WaitWordOp::create(e, MemScope::Sys, add(e, controlAddress(e), offsetof(mk_gpu_control, copied)),
                     wanted, /*equal=*/false, wanted, /*second=*/Value(), /*leader=*/Value(),
                     /*element=*/e.c64(0), /*array=*/IntegerAttr(), op.getReport(), SpanAttr());
}

// All writes of the CTA come before its arrival: bar.sync orders them within the CTA and the
// release of the arrival beyond it.
static void endLaunch(EndLaunchOp op, Emitter &e) {
  int64_t threads = op->getParentOfType<KernelOp>().getThreads(),
          consumers = threads - mk::kWarpgroupThreads;
  auto meet = [&] { SyncOp::create(e, e.c32(op.getBarrier()), consumers); };
  SyncOp::create(e, e.c32(op.getFinish()), threads);
  Value me = sub(e, ThreadIdOp::create(e, /*pinned=*/true), mk::kWarpgroupThreads),
        isFirst = eq(e, me, 0);
  Value flag = e.shared(op.getFlag()), control = controlAddress(e);
  ifThen(e, isFirst, [&] {
    Value before =
        AtomicAddOp::create(e, MemOrder::AcqRel, MemScope::Gpu,
                            add(e, control, offsetof(mk_gpu_control, finished)), e.c32(1));
    store(e, resize(e, eq(e, add(e, before, 1), countCtas(e)), e.i32), flag);
  });
  meet();
  ifThen(e, ne(e, load(e, e.i32, flag), 0), [&] {
    moveRegion(op.getBody(), e, me);
    Value zero = launchField(e, offsetof(mk_gpu_launch, zero), e.i64);
    forRange(e, me, launchField(e, offsetof(mk_gpu_launch, zero_words), e.i32), e.c32(consumers),
             [&](Value k) { store(e, e.c32(0), add(e, zero, shl(e, resize(e, k, e.i64), 2))); });
    meet();
    ifThen(e, isFirst, [&] {
      store(e, e.c32(0), control, offsetof(mk_gpu_control, finished));
      Value epoch = add(e, control, offsetof(mk_gpu_control, epoch));
      store(e, add(e, load(e, e.i32, epoch), 1), epoch);
    });
  });
}

static void rebaseSignals(RebaseSignalsOp op, Emitter &e) {
  Value from = readParam(e, op.getArray()), to = readParam(e, op.getArray() + abi::kSignalBases),
        net;
  if (op.getNet())
    net = readParam(e, op.getArray() + abi::kSignalNet);
  forRange(
      e, op.getThread(), resize(e, op.getCount(), e.i32), e.c32(op.getThreads()), [&](Value k) {
        Value offset = shl(e, resize(e, k, e.i64), 2), value = load(e, e.i32, add(e, from, offset));
        if (net)
          value = add(e, value, load(e, e.i32, add(e, net, offset)));
        store(e, value, add(e, to, offset));
      });
}

void mk_thread::expandLaunch(ModuleOp module) {
  expandEach<BeginLaunchOp>(module, beginLaunch);
  expandEach<LastArrivalOp>(module, arrive);
  expandEach<AwaitPreparedOp>(module, awaitPrepared);
  expandEach<AwaitCopiedOp>(module, awaitCopied);
  expandEach<EndLaunchOp>(module, endLaunch);
  expandEach<RebaseSignalsOp>(module, rebaseSignals);
  replaceEach<EpochOp>(module, readEpoch);
  replaceEach<OpenedOp>(module, isOpened);
}
