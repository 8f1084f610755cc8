//===- Structure.cpp - Threads and partitions -----------------------------===//
//
// Warpgroup 0 is the producer's side (its first warp works; in the variant for any strides the
// others copy for it, else the second one may send tiles; the last ones may run roles beside
// others), the others are the consumer's. Registers change hands once, at the top; roles are told
// apart inside, so that ptxas sees one reallocation.
//
//===----------------------------------------------------------------------===//
#include "Structure.h"
#include "Sender.h"
#include "Timeline.h"

using namespace mlir;
using namespace mlir::mk;
using namespace mlir::mk::sm;
using namespace mlir::mk_sm;

mk_thread::CopiersAttr sm::makeCopiers(PartitionBuilder &p) {
  WarpsOp warps = p.info.getWarps();
  return mk_thread::CopiersAttr::get(p.b.getContext(), warps.getNumCopiers(),
                                     p.info.offsetOf("requests"), p.info.offsetOf("posted"),
                                     warps.getBarrier("request"));
}

static void emitCopiers(PartitionBuilder &p) {
  SmallVector<int64_t> sizes;
  p.info.getKernel().walk([&](CopyOp op) {
    int64_t size = getElementBytes(op.getTileType().getElementType());
    if (!op.isByElements() && !llvm::is_contained(sizes, size))
      sizes.push_back(size);
  });
  auto copy = [&] { p.create<mk_thread::ServeCopiesOp>(sizes, makeCopiers(p)); };
  if (p.info.getWarps().getMovers())
    p.within(p.create<mk_thread::ByWarpsOp>(p.warp, 1, p.info.getWarps().getNumCopiers()).getBody(),
             copy);
  else
    copy();
}

static LogicalResult emitProducers(PartitionBuilder &p) {
  WarpsOp warps = p.info.getWarps();
  LogicalResult result = success();
  auto first = p.create<mk_thread::ByWarpsOp>(p.warp, 0, 0);
  if (warps.getCopiers())
    p.within(first.getOtherwise(), [&] { emitCopiers(p); });
  p.within(first.getBody(), [&] {
    PartitionBuilder side(p);
    // Copiers come for the first request without looking.
    if (warps.getCopiers())
      side.ifThen(side.eq(side.lane, 0), [&] {
        side.storeSharedHere(side.c32(0), side.sharedBase, side.info.offsetOf("posted"));
      });
    result = emitSide(side, PartitionKind::Producer);
    if (warps.getCopiers())
      side.create<mk_thread::DismissCopiersOp>(side.lane, makeCopiers(side));
  });
  if (warps.getSender()) {
    p.readThread();
    p.within(p.create<mk_thread::ByWarpsOp>(p.warp, 1, 1).getBody(), [&] { emitSender(p); });
  }
  for (int64_t i = 0; succeeded(result) && i != warps.getNumMovers(); ++i) {
    p.readThread();
    int64_t number = WarpsOp::getMoverWarp(i);
    p.within(p.create<mk_thread::ByWarpsOp>(p.warp, number, number).getBody(),
             [&] { result = emitMover(p, i); });
  }
  p.create<mk_thread::ReportFailureOp>();
  closeTracks(p);
  if (p.info.keepsCounts)
    p.arriveAt(p.c32(warps.getBarrier("finish")), p.info.getNumThreads());
  return result;
}

static LogicalResult emitConsumers(PartitionBuilder p) {
  if (failed(emitSide(p, PartitionKind::Consumer)))
    return failure();
  if (p.info.getWarps().getSender())
    dismissSender(p);
  p.create<mk_thread::ReportFailureOp>();
  endLaunch(p);
  closeTracks(p);
  return success();
}

LogicalResult sm::emitKernel(const KernelInfo &info) {
  if (failed(checkTimeline(info)))
    return failure();
  PartitionBuilder p(info);
  p.b.setInsertionPoint(info.getKernel());
  auto frame = mk_thread::FrameAttr::get(
      p.b.getContext(), info.params.launch, info.offsetOf("failed"),
      info.timed ? info.params.timeline : 0, info.timed ? info.getNumTracks() : 0,
      info.timed ? info.offsetOf("tracks") : 0);
  auto function =
      p.create<mk_thread::KernelOp>("mk_kernel", info.getNumThreads(), info.params.cluster,
                                    info.params.bytes, info.getShared().getBytes(), frame);
  p.enter(function);
  p.b.setInsertionPointToEnd(&function.getBody().front());
  p.readThread();
  beginLaunch(p);
  auto sides = p.create<mk_thread::SpecializeOp>(p.warp, info.getWarps().getRegistersAttr());
  LogicalResult result = success();
  p.within(sides.getProducers(), [&] { result = emitProducers(p); });
  if (failed(result))
    return failure();
  p.within(sides.getConsumers(), [&] { result = emitConsumers(p); });
  // Where waits have failed, others may still send here.
  if (info.params.cluster > 1)
    p.create<mk_thread::SyncClusterOp>();
  return result;
}
