//===- Launch.cpp - How a launch begins and ends --------------------------===//
#include "Peers.h"
#include "Structure.h"
#include "Timeline.h"
#include "mkernel/ABI/Gpu.h"
#include "mkernel/ABI/Timeline.h"

using namespace mlir;
using namespace mlir::mk;
using namespace mlir::mk::sm;
using namespace mlir::mk_sm;

void sm::beginLaunch(PartitionBuilder &p) {
  auto begin = p.create<mk_thread::BeginLaunchOp>(p.thread, p.info.waitsForOthers);
  p.within(begin.getBody(), [&] {
    for (size_t i = 0; i != p.info.params.maps.size(); ++i)
      p.create<mk_thread::PrefetchMapOp>(
          p.create<mk_thread::ParamAddressOp>(int64_t(i * MK_GPU_TENSOR_MAP_BYTES)));
    auto init = [&](int64_t offset, int64_t arrivals) {
      p.create<mk_thread::BarrierInitOp>(p.add(p.sharedBase, offset), arrivals);
    };
    for (Operation &scope : p.info.getKernel().getBody().front()) {
      if (!isa<RoleOp, PrepareOp>(scope))
        continue;
      ScopeMemory memory(&scope);
      for (int64_t slot = 0; slot < memory.putSlots; ++slot)
        init(memory.putBarriers + 8 * slot, 1);
      for (int64_t barrier : {memory.padding, memory.sent})
        if (barrier)
          init(barrier, 1);
      if (memory.swaps) {
        // Each warp of all CTAs says that it has read what was sent.
        init(memory.swaps, 1);
        init(memory.swaps + 8,
             p.info.params.cluster * findPartition(&scope, PartitionKind::Consumer).getWarps());
      }
      for (Operation &op : scope.getRegion(0).front()) {
        if (!isa<CreateRingOp, CreateMailboxOp>(op))
          continue;
        Channel channel(&op);
        p.create<mk_thread::InitSlotsOp>(channel.place, channel.consumers * channel.shared);
      }
    }
  });
  openTracks(p);
}

void sm::endLaunch(PartitionBuilder &p) {
  if (!p.info.keepsCounts)
    return;
  int64_t consumers = p.info.getNumConsumers();
  auto end = p.create<mk_thread::EndLaunchOp>(p.info.getWarps().getBarrier("finish"),
                                              p.info.getWarps().getBarrier("cta"),
                                              p.info.offsetOf("result"));
  Value me = end.getBody().emplaceBlock().addArgument(p.i32, p.loc);
  p.within(end.getBody(), [&] {
    if (p.info.hasPeers()) {
      if (!p.info.onlyMoversCommunicate)
        p.ifThen(p.eq(me, 0), [&] { notifyPeers(p, p.info.params.done, /*unlessAborted=*/true); });
      p.readEpoch();
      beginSpan(p, SpanClock::Op);
      p.create<mk_thread::AwaitPeersOp>(p.info.getNumRanks(), p.info.params.done, p.info.hasNet(),
                                        p.add(p.epoch, 1), me, consumers,
                                        p.makeReport(MK_WAIT_DONE, 0));
      p.barrier(p.c32(p.info.getWarps().getBarrier("cta")), consumers);
      endSpan(p, SpanClock::Op, MK_TIMELINE_WAIT + int(MK_WAIT_DONE));
    }
    for (auto [i, declared] : llvm::enumerate(p.info.resources.signals)) {
      SignalsOp signals = declared;
      SignalType type = cast<SignalType>(signals.getResult().getType());
      if (!type.isDynamic())
        continue;
      Value total = p.c64(1);
      unsigned next = 0;
      for (int64_t extent : type.getShape())
        total = p.mul(total, ShapedType::isDynamic(extent) ? p.scalar(signals.getExtents()[next++])
                                                           : p.c64(extent));
      bool net = type.getScope() == mk::Scope::Sys && p.info.hasNet();
      p.create<mk_thread::RebaseSignalsOp>(p.info.params.signals[i], net, total, me, consumers);
    }
  });
}
