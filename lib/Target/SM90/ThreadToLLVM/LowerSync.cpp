//===- LowerSync.cpp - Barriers, fences and votes -------------------------===//
#include "Ptx.h"

using namespace mlir;
using namespace mlir::mk::thread;
using namespace mlir::mk_thread;

static std::string toString(uint64_t number) { return std::to_string(int64_t(number)); }

static void addBarrierPatterns(RewritePatternSet &patterns) {
  addPattern<BarrierInitOp>(patterns, [](BarrierInitOp op, Ptx &ptx) {
    return ptx.run("mbarrier.init.shared::cta.b64 [$0], " + toString(op.getArrivals()) + ";", {},
                   op.getBarrier());
  });
  addPattern<BarrierArriveOp>(patterns, [](BarrierArriveOp op, Ptx &ptx) {
    if (Value bytes = op.getBytes())
      return ptx.run("mbarrier.arrive.expect_tx.shared::cta.b64 _, [$0], $1;", {},
                     {op.getBarrier(), bytes});
    if (Value cta = op.getCta()) {
      // Where it is used: no register keeps it.
      SmallVector<Value> remote =
          ptx.run("mapa.shared::cluster.u32 $0, $1, $2;", op.getBarrier().getType(),
                  {op.getBarrier(), cta}, /*touchesMemory=*/false);
      return ptx.run("mbarrier.arrive.shared::cluster.b64 _, [$0];", {}, remote);
    }
    return ptx.run("mbarrier.arrive.shared::cta.b64 _, [$0];", {}, op.getBarrier());
  });
  addPattern<MapSharedOp>(patterns, [](MapSharedOp op, Ptx &ptx) {
    return SmallVector<Value>{
        ptx.pure("mapa.shared::cluster.u32 $0, $1, $2;", op.getType(), op.getOperands())};
  });
  // NVVM has no st.async.
  addPattern<SendSharedOp>(patterns, [](SendSharedOp op, Ptx &ptx) {
    return ptx.run("st.async.shared::cluster.mbarrier::complete_tx::bytes.v4.b32 [$4+" +
                       toString(op.getOffset()) + "], {$0, $1, $2, $3}, [$5];",
                   {}, op.getOperands());
  });
  addPattern<BarrierExpectOp>(patterns, [](BarrierExpectOp op, Ptx &ptx) {
    SmallVector<Value> operands{op.getBarrier()};
    if (op.getTimes())
      operands.push_back(ptx.make<arith::MulIOp>(op.getTimes(), ptx.number(op.getBytes())));
    return ptx.run("mbarrier.expect_tx.relaxed.cta.shared::cta.b64 [$0], " +
                       (op.getTimes() ? "$1" : toString(op.getBytes())) + ";",
                   {}, operands);
  });
  addPattern<BarrierCompleteOp>(patterns, [](BarrierCompleteOp op, Ptx &ptx) {
    return ptx.run("mbarrier.complete_tx.relaxed.cta.shared::cta.b64 [$0], " +
                       toString(op.getBytes()) + ";",
                   {}, op.getBarrier());
  });
}

static void addNamedPatterns(RewritePatternSet &patterns) {
  addPattern<SyncOp>(patterns, [](SyncOp op, Ptx &ptx) {
    return ptx.run("bar.sync $0, " + toString(op.getThreads()) + ";", {}, op.getId());
  });
  addPattern<ArriveOp>(patterns, [](ArriveOp op, Ptx &ptx) {
    return ptx.run("bar.arrive $0, " + toString(op.getThreads()) + ";", {}, op.getId());
  });
  addPattern<SyncCtaOp>(patterns,
                        [](SyncCtaOp, Ptx &ptx) { return ptx.upstream<NVVM::Barrier0Op>(); });
  // NVVM's op takes the mask as a value.
  addPattern<SyncWarpOp>(
      patterns, [](SyncWarpOp, Ptx &ptx) { return ptx.run("bar.warp.sync 0xffffffff;", {}, {}); });
  addPattern<SyncClusterOp>(patterns, [](SyncClusterOp, Ptx &ptx) {
    ptx.run("barrier.cluster.arrive.relaxed;", {}, {});
    return ptx.run("barrier.cluster.wait.acquire;", {}, {});
  });
  addPattern<SyncLaunchesOp>(patterns, [](SyncLaunchesOp, Ptx &ptx) {
    ptx.run("griddepcontrol.wait;", {}, {});
    return ptx.run("griddepcontrol.launch_dependents;", {}, {});
  });
  addPattern<SetRegistersOp>(patterns, [](SetRegistersOp op, Ptx &ptx) {
    return ptx.upstream<NVVM::SetMaxRegisterOp>(
        int32_t(op.getCount()),
        op.getMore() ? NVVM::SetMaxRegisterAction::increase : NVVM::SetMaxRegisterAction::decrease);
  });
}

void mk::thread::addSyncPatterns(RewritePatternSet &patterns) {
  addBarrierPatterns(patterns);
  addNamedPatterns(patterns);
  // NVVM's memory.barrier is membar, which is as strong as fence.sc.
  addPattern<FenceOp>(patterns, [](FenceOp op, Ptx &ptx) {
    return ptx.run("fence.acq_rel." + stringifyMemScope(op.getScope()).str() + ";", {}, {});
  });
  addPattern<FenceAsyncOp>(patterns, [](FenceAsyncOp op, Ptx &ptx) {
    return ptx.run(op.getShared()   ? "fence.proxy.async.shared::cta;"
                   : op.getGlobal() ? "fence.proxy.async.global;"
                                    : "fence.proxy.async;",
                   {}, {});
  });
  addPattern<FenceBarriersOp>(patterns, [](FenceBarriersOp, Ptx &ptx) {
    return ptx.upstream<NVVM::FenceMbarrierInitOp>();
  });
}
