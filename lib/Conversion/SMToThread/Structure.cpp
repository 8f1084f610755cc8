//===- Structure.cpp - Threads and partitions -----------------------------===//
//
// Warpgroup 0 is the producer's side (its first warp works; in the variant for any strides the
// others copy for it, else the second one may send tiles; the last ones may run roles beside
// others), the others are the consumer's. Registers change hands once, at the top; roles are told
// apart inside, so that ptxas sees one reallocation.
//
//===----------------------------------------------------------------------===//
#include "Structure.h"
#include "Peers.h"
#include "Sender.h"
#include "Timeline.h"

using namespace mlir;
using namespace mlir::mk;
using namespace mlir::mk::sm;
using namespace mlir::mk_sm;

mk_thread::CopiersAttr sm::makeCopiers(PartitionBuilder &p) {
  WarpsOp warps = p.info.getWarps();
  return mk_thread::CopiersAttr::get(p.getContext(), warps.getNumCopiers(),
                                     p.info.offsetOf("requests"), p.info.offsetOf("posted"),
                                     warps.getBarrier("request"));
}

static void emitCopiers(PartitionBuilder &p) {
  SmallVector<int64_t> sizes;
  SmallVector<int64_t> lists;
  llvm::SmallDenseSet<std::pair<int64_t, int64_t>> shapes;
  p.info.getKernel().walk([&](CopyOp op) {
    int64_t size = getElementBytes(op.getTileType().getElementType());
    if (op.getRows()) {
      ArrayRef<int64_t> shape = op.getTileType().getShape();
      int64_t chunks = llvm::divideCeil(shape[1] * size, p.info.getChunk());
      if (shapes.insert({shape[0], chunks}).second)
        lists.append({shape[0], chunks});
    }
    if (!op.isByElements() && !llvm::is_contained(sizes, size))
      sizes.push_back(size);
  });
  auto copy = [&] { mk_thread::ServeCopiesOp::create(p, sizes, lists, makeCopiers(p)); };
  if (p.info.getWarps().getMovers())
    within(p, mk_thread::ByWarpsOp::create(p, p.warp, 1, p.info.getWarps().getNumCopiers()), copy);
  else
    copy();
}

/// Lets peers in, unless that comes behind mk.prepare or has been done in front of the kernel. By
/// one thread of a warp that multiplies nothing: behind such a branch ptxas has nothing in uniform
/// registers, which descriptors of products have to be in.
static void admitPeers(PartitionBuilder p) {
  if (!p.info.hasPeers() || p.info.resources.prepare)
    return;
  p.readThread();
  auto raise = [&] { notifyPeers(p, p.info.params.ready); };
  within(p, mk_thread::ByWarpsOp::create(p, p.warp, 1, 1), [&] {
    ifThen(p, and_(p, eq(p, p.cta, 0), eq(p, p.lane, 0)), [&] {
      if (!p.info.hasEngines)
        return raise();
      p.readEpoch();
      ifThen(p, eq(p, mk_thread::OpenedOp::create(p, p.epoch), 0), raise);
    });
  });
}

static LogicalResult emitProducers(PartitionBuilder &p) {
  WarpsOp warps = p.info.getWarps();
  LogicalResult result = success();
  auto first = mk_thread::ByWarpsOp::create(p, p.warp, 0, 0);
  if (warps.getCopiers())
    within(p, first.getOtherwise(), [&] {
      admitPeers(p);
      emitCopiers(p);
    });
  within(p, first.getBody(), [&] {
    PartitionBuilder side(p);
    // Copiers come for the first request without looking.
    if (warps.getCopiers())
      ifThen(side, eq(side, side.lane, 0), [&] {
        mk_thread::StoreSharedOp::create(side, side.c32(0), side.sharedBase,
                                         side.info.offsetOf("posted"));
      });
    result = emitSide(side, PartitionKind::Producer);
    if (warps.getCopiers())
      mk_thread::DismissCopiersOp::create(side, side.lane, makeCopiers(side));
  });
  // The first warp is done with all roles when it comes here, the others begin.
  if (!warps.getCopiers())
    admitPeers(p);
  if (warps.getSender()) {
    p.readThread();
    within(p, mk_thread::ByWarpsOp::create(p, p.warp, 1, 1), [&] { emitSender(p); });
  }
  for (int64_t i = 0; succeeded(result) && i != warps.getNumMovers(); ++i) {
    p.readThread();
    int64_t number = WarpsOp::getMoverWarp(i);
    within(p, mk_thread::ByWarpsOp::create(p, p.warp, number, number),
           [&] { result = emitMover(p, i); });
  }
  mk_thread::ReportFailureOp::create(p);
  closeTracks(p);
  if (p.info.keepsCounts)
    mk_thread::ArriveOp::create(p, p.c32(warps.getBarrier("finish")), p.info.getNumThreads());
  return result;
}

static LogicalResult emitConsumers(PartitionBuilder p) {
  if (failed(emitSide(p, PartitionKind::Consumer)))
    return failure();
  if (p.info.getWarps().getSender())
    dismissSender(p);
  mk_thread::ReportFailureOp::create(p);
  endLaunch(p);
  closeTracks(p);
  return success();
}

LogicalResult sm::emitKernel(const KernelInfo &info) {
  if (failed(checkTimeline(info)))
    return failure();
  PartitionBuilder p(info);
  p.setInsertionPoint(info.getKernel());
  auto frame = mk_thread::FrameAttr::get(
      p.getContext(), info.params.launch, info.offsetOf("failed"),
      info.timed ? info.params.timeline : 0, info.timed ? info.getNumTracks() : 0,
      info.timed ? info.offsetOf("tracks") : 0);
  auto function =
      mk_thread::KernelOp::create(p, "mk_kernel", info.getNumThreads(), info.params.cluster,
                                  info.params.bytes, info.getShared().getBytes(), frame);
  p.enter(function);
  p.setInsertionPointToEnd(&function.getBody().front());
  p.readThread();
  beginLaunch(p);
  auto sides = mk_thread::SpecializeOp::create(p, p.warp, info.getWarps().getRegistersAttr());
  LogicalResult result = success();
  within(p, sides.getProducers(), [&] { result = emitProducers(p); });
  if (failed(result))
    return failure();
  within(p, sides.getConsumers(), [&] { result = emitConsumers(p); });
  // Where waits have failed, others may still send here.
  if (info.params.cluster > 1)
    mk_thread::SyncClusterOp::create(p);
  return result;
}
