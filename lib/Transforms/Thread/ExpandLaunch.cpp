//===- ExpandLaunch.cpp - How a launch begins and ends --------------------===//
#include "Expand.h"
#include "mkernel/ABI/Gpu.h"
#include "mkernel/ABI/GpuParams.h"

using namespace mlir;
using namespace mlir::mk_thread;
using Predicate = arith::CmpIPredicate;
namespace abi = ::mkernel::abi;

static Value countCtas(Emitter &e) {
  return e.launchField(offsetof(mk_gpu_launch, num_ctas), e.i32);
}

static void beginLaunch(BeginLaunchOp op, Emitter &e) {
  auto kernel = op->getParentOfType<KernelOp>();
  e.ifThen(e.eq(op.getThread(), 0), [&] {
    // Behind a launch that has failed, and has let this one begin, nothing is waited for, nor told
    // to others. A launch that waits for nobody does no harm.
    Value before = e.c32(0);
    if (op.getWaits())
      before = e.loadRelaxed(e.i32, e.add(e.controlAddress(), offsetof(mk_gpu_control, abort)),
                             MemScope::Gpu);
    moveRegion(op.getBody(), e);
    // LLVM declares shared memory only where something uses its address.
    e.storeSharedHere(before, e.sharedBase, kernel.getFrame().getFailed());
    e.create<FenceBarriersOp>();
    e.fenceAsyncShared();
  });
  if (kernel.getCluster() > 1)
    e.create<SyncClusterOp>();
  else
    e.barrierAll();
  // The launch before may have let this one begin; what it wrote is there from here
  // on. The next one may begin where this one leaves room, and waits here.
  e.create<SyncLaunchesOp>();
}

static SmallVector<Value> readEpoch(EpochOp, Emitter &e) {
  return {e.load(e.i32, e.controlAddress(), offsetof(mk_gpu_control, epoch))};
}

static void arrive(LastArrivalOp op, Emitter &e) {
  int64_t word =
      op.getMoved() ? offsetof(mk_gpu_control, moved) : offsetof(mk_gpu_control, prepared);
  Value before =
      e.atomicAdd(e.add(e.controlAddress(), word), e.c32(1), MemOrder::AcqRel, MemScope::Gpu);
  if (op.getBody().front().empty())
    return;
  Value all = e.mul(e.add(op.getEpoch(), 1), e.mul(countCtas(e), op.getEach()));
  e.ifThen(e.cmp(Predicate::eq, e.add(before, 1), all), [&] { moveRegion(op.getBody(), e); });
}

static void awaitPrepared(AwaitPreparedOp op, Emitter &e) {
  Value all = countCtas(e);
  e.create<WaitWordOp>(MemScope::Gpu, e.add(e.controlAddress(), offsetof(mk_gpu_control, prepared)),
                       e.mul(e.add(op.getEpoch(), 1), all), /*equal=*/false, all,
                       /*second=*/Value(),
                       /*leader=*/Value(), /*element=*/e.c64(0), /*array=*/IntegerAttr(),
                       op.getReport(), op.getSpanAttr());
  e.fenceAsyncGlobal();
}

// All writes of the CTA come before its arrival: bar.sync orders them within the CTA and the
// release of the arrival beyond it.
static void endLaunch(EndLaunchOp op, Emitter &e) {
  int64_t threads = op->getParentOfType<KernelOp>().getThreads(), consumers = threads - 128;
  auto meet = [&] { e.barrier(e.c32(op.getBarrier()), consumers); };
  e.barrier(e.c32(op.getFinish()), threads);
  Value me = e.sub(e.readNumber(/*here=*/true), 128), isFirst = e.eq(me, 0);
  Value flag = e.add(e.sharedBase, op.getFlag()), control = e.controlAddress();
  e.ifThen(isFirst, [&] {
    Value before = e.atomicAdd(e.add(control, offsetof(mk_gpu_control, finished)), e.c32(1),
                               MemOrder::AcqRel, MemScope::Gpu);
    e.store(e.resize(e.cmp(Predicate::eq, e.add(before, 1), countCtas(e)), e.i32), flag);
  });
  meet();
  e.ifThen(e.cmp(Predicate::ne, e.load(e.i32, flag), 0), [&] {
    moveRegion(op.getBody(), e, me);
    Value zero = e.launchField(offsetof(mk_gpu_launch, zero), e.i64);
    e.forRange(me, e.launchField(offsetof(mk_gpu_launch, zero_words), e.i32), e.c32(consumers),
               [&](Value k) { e.store(e.c32(0), e.add(zero, e.shl(e.resize(k, e.i64), 2))); });
    meet();
    e.ifThen(isFirst, [&] {
      e.store(e.c32(0), control, offsetof(mk_gpu_control, finished));
      Value epoch = e.add(control, offsetof(mk_gpu_control, epoch));
      e.store(e.add(e.load(e.i32, epoch), 1), epoch);
    });
  });
}

static void rebaseSignals(RebaseSignalsOp op, Emitter &e) {
  Value from = e.loadParam(op.getArray(), e.i64),
        to = e.loadParam(op.getArray() + abi::kSignalBases, e.i64), net;
  if (op.getNet())
    net = e.loadParam(op.getArray() + abi::kSignalNet, e.i64);
  e.forRange(op.getThread(), e.resize(op.getCount(), e.i32), e.c32(op.getThreads()), [&](Value k) {
    Value offset = e.shl(e.resize(k, e.i64), 2), value = e.load(e.i32, e.add(from, offset));
    if (net)
      value = e.add(value, e.load(e.i32, e.add(net, offset)));
    e.store(value, e.add(to, offset));
  });
}

void mk_thread::expandLaunch(ModuleOp module) {
  expandEach<BeginLaunchOp>(module, beginLaunch);
  expandEach<LastArrivalOp>(module, arrive);
  expandEach<AwaitPreparedOp>(module, awaitPrepared);
  expandEach<EndLaunchOp>(module, endLaunch);
  expandEach<RebaseSignalsOp>(module, rebaseSignals);
  replaceEach<EpochOp>(module, readEpoch);
}
