//===- Partitions.cpp - What a partition does, from its begin to its end --===//
#include "Faults.h"
#include "Peers.h"
#include "Structure.h"
#include "Timeline.h"
#include "mkernel/ABI/Gpu.h"
#include "mkernel/ABI/Timeline.h"

using namespace mlir;
using namespace mlir::mk;
using namespace mlir::mk::sm;
using namespace mlir::mk_sm;

/// Other CTAs of the cluster arrive at barriers of this one, which has to be there until then.
static void awaitArrivals(PartitionBuilder &p, PartitionOp op) {
  for (auto cursor : op.getOps<CursorOp>()) {
    auto ring =
        cursor.getChannel() ? cursor.getChannel().getDefiningOp<CreateRingOp>() : CreateRingOp();
    if (op.getKind() != PartitionKind::Producer || !ring || Channel(ring).groups.empty())
      continue;
    Channel channel(ring);
    forRange(p, cursor.getDepth(), [&](Value) {
      // To LLVM a wait is a call, which it takes for short.
      keepRolled(p);
      auto [stage, phase] = p.cursor(cursor.getResult());
      mk_thread::TakeSlotOp::create(p, /*fills=*/true, channel.place, read(p, stage, p.i32),
                                    read(p, phase, p.i32),
                                    p.makeReport(MK_WAIT_RING, channel.number));
      p.advance(cursor.getResult());
    });
  }
  SwapPartsOp swap;
  op.walk([&](SwapPartsOp other) { swap = other; });
  if (swap)
    mk_thread::BarrierWaitOp::create(p, p.shared(p.memory.swaps + 8),
                                     xor_(p, read(p, p.cursor(swap.getCounter()).phase, p.i32), 1),
                                     p.c32(0), p.makeReport(MK_WAIT_RING, -1),
                                     /*doubleDeadline=*/true);
}

LogicalResult sm::emitPartition(const PartitionBuilder &outer, PartitionOp op, Operation *scope,
                                int64_t number, Value ctaInRole) {
  PartitionBuilder p(outer, op, scope, number, ctaInRole);
  LogicalResult result = success();
  auto body = [&] {
    p.readEpoch();
    if (op.getAgrees()) {
      p.waitFailed = variable(p, p.i32, p.c32(0));
      updateWaitFailed(p);
    }
    // Scalars between the partitions belong to each of them.
    for (Operation &other : scope->getRegion(0).front()) {
      if (isa<PartitionOp, SharedOwner, SyncWarpsOp>(other))
        continue;
      if (failed(result = p.emit(&other)))
        return;
    }
    // The consumer has begun it where its last one ended: code in front of the loops would
    // take registers from them.
    if (p.isOneWarp())
      beginSpan(p, SpanClock::Role);
    TurnPassOp turn;
    op.walk([&](TurnPassOp pass) { turn = pass; });
    // The first warpgroup has the first turn, behind all cursors; the last one is not taken.
    bool given = !turn;
    for (Operation &inner : op.getBody().front().without_terminator()) {
      if (!given && !isa<CursorOp>(inner)) {
        ifThen(p, eq(p, p.group, 1), [&] { passTurn(p, turn.getCursors()); });
        given = true;
      }
      if (inner.getNumRegions() != 0)
        p.readEpoch();
      if (failed(result = p.emit(&inner)))
        return;
    }
    // What was asked in front of the loops is asked again: ptxas would keep the answer.
    if (turn)
      ifThen(p, ult(p, mk_thread::ThreadIdOp::create(p, /*pinned=*/true), 2 * kWarpgroupThreads),
             [&] { takeTurn(p, {}); });
    p.finishStores();
    awaitArrivals(p, op);
    if (p.info.hasNet() && holdsCommunication(op))
      awaitPuts(p);
    p.currentOp = nullptr;
    endSpan(p, SpanClock::Role, MK_TIMELINE_ROLE);
  };
  if (p.isOneWarp() || op.getWarps() == p.info.getWarps().getConsumer())
    body();
  else
    within(p, mk_thread::ByWarpsOp::create(p, p.warp, 4, 3 + op.getWarps()), body);
  return result;
}
