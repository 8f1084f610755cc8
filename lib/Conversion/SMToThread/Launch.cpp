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
  auto begin = mk_thread::BeginLaunchOp::create(p, p.thread, p.info.waitsForOthers);
  within(p, begin.getBody(), [&] {
    for (size_t i = 0; i != p.info.params.maps.size(); ++i)
      mk_thread::PrefetchMapOp::create(
          p, mk_thread::ParamAddressOp::create(p, int64_t(i * MK_GPU_TENSOR_MAP_BYTES)));
    auto init = [&](int64_t offset, int64_t arrivals) {
      mk_thread::BarrierInitOp::create(p, p.shared(offset), arrivals);
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
        mk_thread::InitSlotsOp::create(p, channel.place,
                                       channel.consumers * channel.countWriters());
      }
    }
  });
  openTracks(p);
}

void sm::endLaunch(PartitionBuilder &p) {
  if (!p.info.keepsCounts)
    return;
  int64_t consumers = p.info.getNumConsumers();
  auto end = mk_thread::EndLaunchOp::create(p, p.info.getWarps().getBarrier("finish"),
                                            p.info.getWarps().getBarrier("cta"),
                                            p.info.offsetOf("result"));
  Value me = end.getBody().emplaceBlock().addArgument(p.i32, p.getLoc());
  within(p, end.getBody(), [&] {
    if (p.info.hasEngines) {
      p.readEpoch();
      ifThen(p, eq(p, me, 0), [&] {
        ifThen(p, ne(p, mk_thread::OpenedOp::create(p, p.epoch), 0), [&] {
          mk_thread::AwaitCopiedOp::create(p, p.epoch, p.makeReport(MK_WAIT_ENGINES, 0));
        });
      });
    }
    if (p.info.hasPeers()) {
      if (!p.info.onlyMoversCommunicate)
        ifThen(p, eq(p, me, 0),
               [&] { notifyPeers(p, p.info.params.done, /*unlessAborted=*/true); });
      p.readEpoch();
      beginSpan(p, SpanClock::Op);
      mk_thread::AwaitPeersOp::create(p, p.info.getNumRanks(), p.info.params.done, p.info.hasNet(),
                                      add(p, p.epoch, 1), me, consumers,
                                      p.makeReport(MK_WAIT_DONE, 0));
      mk_thread::SyncOp::create(p, p.c32(p.info.getWarps().getBarrier("cta")), consumers);
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
        total = mul(p, total,
                    ShapedType::isDynamic(extent) ? p.scalar(signals.getExtents()[next++])
                                                  : p.c64(extent));
      bool net = type.getScope() == mk::Scope::Sys && p.info.hasNet();
      mk_thread::RebaseSignalsOp::create(p, p.info.params.signals[i], net, total, me, consumers);
    }
  });
}
