//===- Roles.cpp - Which CTA does what, and in which order ----------------===//
//
// The code of a role is there once. CTAs that go on with it (`then`) come to it
// behind their own: roles stand behind those that name them.
//
//===----------------------------------------------------------------------===//
#include "Lowering.h"
#include "mkernel/ABI/Gpu.h"

using namespace mlir;
using namespace mlir::mk;
using namespace mlir::mk::sm;
using namespace mlir::mk_sm;

SmallVector<int64_t> Lowering::findCtas(ArrayRef<unsigned> roles) {
  SmallVector<std::pair<int64_t, int64_t>> ranges; // first and count
  for (unsigned role : roles) {
    auto [first, count] = ctasOf(role);
    ranges.push_back({first, count});
  }
  llvm::sort(ranges);
  SmallVector<int64_t> found;
  for (auto [first, count] : ranges) {
    // Those that follow each other are one range.
    if (!found.empty() && found.end()[-2] + found.back() == first)
      found.back() += count;
    else if (count)
      found.append({first, count});
  }
  return found;
}

CtaRange Lowering::ctasOf(unsigned role) {
  return getCtaRange(kernel, ctas, RoleOp(resources.roles[role]).getSymName());
}

// What the kernel computes outside of roles, each side computes for itself: the
// producer has no registers for what only the consumer needs.
LogicalResult Lowering::emitSide(PartitionKind kind) {
  readThread();
  partition = {}; // not what the code before is of
  partitionThread = kind == PartitionKind::Producer ? lane : sub(thread, 128);
  loadParams();
  if (failed(emitKernelScalars()))
    return failure();
  bool consumer = kind == PartitionKind::Consumer;
  if (resources.prepare) {
    roleNumber = -1;
    ctaInRole = resize(cta, i64);
    if (PartitionOp op = findPartition(resources.prepare, kind);
        op && failed(emitPartition(op, resources.prepare)))
      return failure();
    readEpoch();
    if (consumer) {
      IntegerAttr threads = b.getI64IntegerAttr(getNumThreads() - 128);
      auto once =
          create<mk_thread::OnceOp>(partitionThread, c32(warps.getBarrier("consumer")), threads);
      within(once.getBody(), [&] {
        // The last CTA lets the peers in.
        within(create<mk_thread::LastArrivalOp>(/*moved=*/false, epoch, 1).getBody(), [&] {
          if (hasPeers())
            tellPeers(params.ready);
        });
      });
    }
    awaitPrepared();
  } else if (consumer && hasPeers()) {
    ifThen(and_(eq(cta, 0), eq(thread, 128)), [&] { tellPeers(params.ready); });
  }
  for (StringRef name : warps.getOrder().getAsValueRange<FlatSymbolRefAttr>())
    if (failed(emitRole(*resources.roleIndex(name), kind)))
      return failure();
  return success();
}

// A warp that begins with the kernel, and runs one role beside that of its CTA.
LogicalResult Lowering::emitMover(int64_t number) {
  StringRef name = cast<FlatSymbolRefAttr>((*warps.getMovers())[number]).getValue();
  readThread();
  partitionThread = lane;
  mover = number;
  partition = findPartition(resources.roles[*resources.roleIndex(name)], PartitionKind::Mover);
  openTracks(/*ofMover=*/true);
  loadParams();
  if (failed(emitKernelScalars()))
    return failure();
  if (resources.prepare) {
    roleNumber = -1;
    readEpoch();
    awaitPrepared();
  }
  if (failed(emitRole(*resources.roleIndex(name), PartitionKind::Mover)))
    return failure();
  closeTracks(/*ofMover=*/true);
  if (!facts.onlyMoversCommunicate)
    return success();
  // Long before products end peers know that nothing more comes from here.
  readEpoch();
  within(create<mk_thread::OnceOp>(lane, Value(), IntegerAttr()).getBody(), [&] {
    within(create<mk_thread::LastArrivalOp>(/*moved=*/true, epoch, warps.getNumMovers()).getBody(),
           [&] { tellPeers(params.done, /*unlessAborted=*/true); });
  });
  return success();
}

/// All CTAs have run mk.prepare.
void Lowering::awaitPrepared() {
  create<mk_thread::AwaitPreparedOp>(epoch, makeReport(MK_WAIT_GRID, 0),
                                     makeWaitSpan(MK_WAIT_GRID, 0));
}

LogicalResult Lowering::emitRole(unsigned number, PartitionKind kind) {
  RoleOp role = resources.roles[number];
  for (SyncWarpsOp sync : role.getBody().getOps<SyncWarpsOp>()) {
    SmallVector<unsigned> from;
    for (StringRef name : sync.getFrom().getAsValueRange<FlatSymbolRefAttr>())
      from.push_back(*resources.roleIndex(name));
    within(create<mk_thread::ByCtasOp>(cta, findCtas(from)).getBody(), [&] {
      fenceAsyncShared();
      barrier(c32(warps.getBarrier("cta")), 32 + 32 * warps.getConsumer());
    });
  }
  PartitionOp op = findPartition(role, kind);
  if (!op)
    return success();
  LogicalResult result = success();
  auto body = [&] {
    roleNumber = number;
    ctaInRole = resize(sub(cta, ctasOf(number).first), i64);
    result = emitPartition(op, role);
  };
  SmallVector<unsigned> members;
  for (auto [i, other] : llvm::enumerate(resources.roles))
    if (i == number || isFollowedBy(other, role))
      members.push_back(i);
  int64_t all = 0;
  for (unsigned member : members)
    all += ctasOf(member).count;
  if (all == countGrid(kernel, ctas))
    body();
  else
    within(create<mk_thread::ByCtasOp>(cta, findCtas(members)).getBody(), body);
  return result;
}
