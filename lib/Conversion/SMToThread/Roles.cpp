//===- Roles.cpp - Which CTA does what, and in which order ----------------===//
//
// The code of a role is there once. CTAs that go on with it (`then`) come to it
// behind their own: roles stand behind those that name them.
//
//===----------------------------------------------------------------------===//
#include "Peers.h"
#include "Structure.h"
#include "Timeline.h"
#include "mkernel/ABI/Gpu.h"

using namespace mlir;
using namespace mlir::mk;
using namespace mlir::mk::sm;
using namespace mlir::mk_sm;

// What the kernel computes outside of roles, each side computes for itself: the
// producer has no registers for what only the consumer needs.
static LogicalResult emitKernelScalars(PartitionBuilder &p) {
  KernelOp kernel = p.info.getKernel();
  for (unsigned d = 0, e = kernel.getNumDims(); d != e; ++d)
    p.set(kernel.getDim(d), readParam(p, p.info.params.dims + 8 * d));
  for (Operation &op : kernel.getBody().front()) {
    // Declarations have places among the parameters; requirements are checked
    // before the launch.
    if (isa<RoleOp, PrepareOp, RequireOp, SignalsOp, CountersOp, QueueOp, WarpsOp, SharedMemoryOp>(
            op))
      continue;
    if (failed(p.emit(&op)))
      return failure();
  }
  p.currentOp = nullptr;
  return success();
}

/// All CTAs have run mk.prepare.
static void awaitPrepared(PartitionBuilder &p) {
  mk_thread::AwaitPreparedOp::create(p, p.epoch, p.makeReport(MK_WAIT_GRID, 0),
                                     makeWaitSpan(p, MK_WAIT_GRID, 0));
}

static LogicalResult emitRole(PartitionBuilder &p, unsigned number, PartitionKind kind) {
  RoleOp role = p.info.resources.roles[number];
  for (SyncWarpsOp sync : role.getBody().getOps<SyncWarpsOp>()) {
    SmallVector<unsigned> from;
    for (StringRef name : sync.getFrom().getAsValueRange<FlatSymbolRefAttr>())
      from.push_back(*p.info.resources.roleIndex(name));
    within(p, mk_thread::ByCtasOp::create(p, p.cta, p.info.findCtas(from)), [&] {
      mk_thread::FenceAsyncOp::create(p, /*shared=*/true, /*global=*/false);
      mk_thread::SyncOp::create(p, p.c32(p.info.getWarps().getBarrier("cta")),
                                kWarpThreads * (1 + p.info.getWarps().getConsumer()));
    });
  }
  PartitionOp op = findPartition(role, kind);
  if (!op)
    return success();
  LogicalResult result = success();
  auto body = [&] {
    Value cta = resize(p, sub(p, p.cta, p.info.ctasOf(number).first), p.i64);
    result = emitPartition(p, op, role, number, cta);
  };
  SmallVector<unsigned> members;
  for (auto [i, other] : llvm::enumerate(p.info.resources.roles))
    if (i == number || isFollowedBy(other, role))
      members.push_back(i);
  int64_t all = 0;
  for (unsigned member : members)
    all += p.info.ctasOf(member).count;
  if (all == p.info.countCtas())
    body();
  else
    within(p, mk_thread::ByCtasOp::create(p, p.cta, p.info.findCtas(members)), body);
  return result;
}

LogicalResult sm::emitSide(PartitionBuilder &p, PartitionKind kind) {
  p.readThread();
  p.partitionThread =
      kind == PartitionKind::Producer ? p.lane : sub(p, p.thread, kWarpgroupThreads);
  if (failed(emitKernelScalars(p)))
    return failure();
  bool consumer = kind == PartitionKind::Consumer;
  if (p.info.resources.prepare) {
    Value cta = resize(p, p.cta, p.i64);
    if (PartitionOp op = findPartition(p.info.resources.prepare, kind);
        op && failed(emitPartition(p, op, p.info.resources.prepare, /*number=*/-1, cta)))
      return failure();
    p.readEpoch();
    if (consumer) {
      IntegerAttr threads = p.getI64IntegerAttr(p.info.getNumConsumers());
      auto elected = mk_thread::ElectOp::create(
          p, p.partitionThread, p.c32(p.info.getWarps().getBarrier("consumer")), threads);
      within(p, elected.getBody(), [&] {
        // The last CTA lets the peers in.
        within(p, mk_thread::LastArrivalOp::create(p, /*moved=*/false, p.epoch, 1), [&] {
          if (p.info.hasPeers())
            notifyPeers(p, p.info.params.ready);
        });
      });
    }
    awaitPrepared(p);
  }
  for (StringRef name : p.info.getWarps().getOrder().getAsValueRange<FlatSymbolRefAttr>())
    if (failed(emitRole(p, *p.info.resources.roleIndex(name), kind)))
      return failure();
  return success();
}

// A warp that begins with the kernel, and runs one role beside that of its CTA.
LogicalResult sm::emitMover(PartitionBuilder p, int64_t number) {
  StringRef name = cast<FlatSymbolRefAttr>((*p.info.getWarps().getMovers())[number]).getValue();
  p.readThread();
  p.partitionThread = p.lane;
  p.mover = number;
  unsigned role = *p.info.resources.roleIndex(name);
  p.partition = findPartition(p.info.resources.roles[role], PartitionKind::Mover);
  openTracks(p);
  if (failed(emitKernelScalars(p)))
    return failure();
  if (p.info.resources.prepare) {
    p.readEpoch();
    awaitPrepared(p);
  }
  p.roleNumber = role;
  if (failed(emitRole(p, role, PartitionKind::Mover)))
    return failure();
  closeTracks(p);
  if (!p.info.onlyMoversCommunicate)
    return success();
  // Long before products end peers know that nothing more comes from here.
  p.readEpoch();
  within(p, mk_thread::ElectOp::create(p, p.lane, Value(), IntegerAttr()), [&] {
    within(p,
           mk_thread::LastArrivalOp::create(p, /*moved=*/true, p.epoch,
                                            p.info.getWarps().getNumMovers()),
           [&] { notifyPeers(p, p.info.params.done, /*unlessAborted=*/true); });
  });
  return success();
}
