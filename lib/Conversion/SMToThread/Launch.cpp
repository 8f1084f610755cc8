//===- Launch.cpp - How a launch begins and ends --------------------------===//
#include "Lowering.h"
#include "mkernel/ABI/Gpu.h"
#include "mkernel/ABI/Timeline.h"

using namespace mlir;
using namespace mlir::mk;
using namespace mlir::mk::sm;
using namespace mlir::mk_sm;

void Lowering::beginLaunch() {
  auto begin = create<mk_thread::BeginLaunchOp>(thread, facts.waitsForOthers);
  within(begin.getBody(), [&] {
    for (size_t i = 0; i != params.maps.size(); ++i)
      create<mk_thread::PrefetchMapOp>(
          create<mk_thread::ParamAddressOp>(int64_t(i * MK_GPU_TENSOR_MAP_BYTES)));
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
      if (memory.swaps) {
        // Each warp of all CTAs says that it has read what was sent.
        init(memory.swaps, 1);
        init(memory.swaps + 8,
             params.cluster * findPartition(&scope, PartitionKind::Consumer).getWarps());
      }
      for (Operation &op : scope.getRegion(0).front()) {
        if (!isa<CreateRingOp, CreateMailboxOp>(op))
          continue;
        Channel channel(&op);
        create<mk_thread::InitSlotsOp>(channel.place, channel.consumers * channel.shared);
      }
    }
  });
  openTracks();
}

void Lowering::endLaunch() {
  if (!facts.keepsCounts)
    return;
  int64_t consumers = getNumThreads() - 128;
  auto end = create<mk_thread::EndLaunchOp>(warps.getBarrier("finish"), warps.getBarrier("cta"),
                                            offsetOf("result"));
  Value me = end.getBody().emplaceBlock().addArgument(i32, loc);
  within(end.getBody(), [&] {
    if (hasPeers()) {
      roleNumber = -1;
      partition = {};
      if (!facts.onlyMoversCommunicate)
        ifThen(eq(me, 0), [&] { tellPeers(params.done, /*unlessAborted=*/true); });
      readEpoch();
      beginSpan(SpanClock::Op);
      create<mk_thread::AwaitPeersOp>(kernel.getMeshOp().getNumRanks(), params.done, hasNet(),
                                      add(epoch, 1), me, consumers, makeReport(MK_WAIT_DONE, 0));
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
      bool net = type.getScope() == Scope::Sys && hasNet();
      create<mk_thread::RebaseSignalsOp>(params.signals[i], net, total, me, consumers);
    }
  });
}
