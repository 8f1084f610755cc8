//===- Sender.cpp - Tiles that a warp of its own sends --------------------===//
//
// The consumer puts a tile into the staging area, says in shared memory where it goes, and works
// on; the sender, a warp of the producer's warpgroup, has the copy engine store it
// (mk-thread-expand-sender).
//
//===----------------------------------------------------------------------===//
#include "Sender.h"
#include "Boxes.h"
#include "Peers.h"
#include "Timeline.h"
#include "mkernel/ABI/Gpu.h"

using namespace mlir;
using namespace mlir::mk;
using namespace mlir::mk::sm;
using namespace mlir::mk_sm;

void sm::awaitSent(PartitionBuilder &p) {
  if (p.posting && p.info.getWarps().getSender())
    mk_thread::FlushSenderOp::create(
        p, p.info.offsetOf("post"), p.partitionThread, read(p, p.cursor(p.posting).phase, p.i32),
        p.getI64IntegerAttr(p.memory.sent), p.makeReport(MK_WAIT_COPY, -1));
}

void sm::flushSender(PartitionBuilder &p) {
  if (p.posting && p.info.getWarps().getSender())
    mk_thread::FlushSenderOp::create(p, p.info.offsetOf("post"), p.partitionThread, Value(),
                                     IntegerAttr(), mk_thread::ReportAttr());
}

void sm::postTile(PartitionBuilder &p, mk_sm::StoreOp op, ArrayRef<Value> peers, Value sends) {
  Value element =
      op.getSignal() ? signalElement(p, op, op.getSignal(), op.getSignalIndex()) : p.c64(0);
  // The signal releases what the consumer has had the engine store itself, too.
  bool sendsItself = holdsAny(p.partition, [](mk_sm::StoreOp other) { return !other.getPosted(); });
  if (op.getSignal() && sendsItself)
    ifThen(p, eq(p, and_(p, p.thread, kWarpgroupThreads - 1), 0),
           [&] { mk_thread::WaitGroupOp::create(p, 0, /*read=*/false); });
  p.barrierPartition();
  int64_t number = llvm::find(p.info.posted, op) - p.info.posted.begin() + 1;
  mk_thread::PostTileOp::create(
      p, number, p.info.offsetOf("post"), p.info.getWarps().getBarrier("request"),
      p.partitionThread, resize(p, sends, p.i32), element, p.scalars(op.getOffsets()), peers,
      op.getSignal() ? makeSignalSpan(p, op.getSignal()) : mk_thread::SpanAttr());
  p.advance(op.getPosting());
}

// All that was posted has been sent, at the end of each partition.
void sm::dismissSender(PartitionBuilder &p) {
  mk_thread::PostTileOp::create(p, 0, p.info.offsetOf("post"),
                                p.info.getWarps().getBarrier("request"),
                                sub(p, p.thread, kWarpgroupThreads), p.c32(0), p.c64(0),
                                ValueRange(), ValueRange(), mk_thread::SpanAttr());
}

void sm::emitSender(PartitionBuilder &p) {
  SmallVector<Attribute> tiles;
  for (mk_sm::StoreOp op : p.info.posted) {
    Operation *role = op->getParentOp();
    while (!isa<RoleOp, PrepareOp>(role))
      role = role->getParentOp();
    RankedTensorType tile = op.getTile().getType();
    int64_t groups = cast<MmaAttr>(tile.getEncoding()).getWarpgroups();
    unsigned dest =
        cast<BlockArgument>(op.getDest()).getArgNumber() - p.info.getKernel().getNumDims();
    int64_t map =
        *p.info.params.findMap(dest, getStoreBox(op), /*peers=*/true) * p.info.getNumRanks();
    tiles.push_back(mk_thread::PostedAttr::get(
        p.getContext(), groups, tile.getDimSize(0) / groups, tile.getDimSize(1),
        countStoreRows(tile), p.info.getChunk() / getElementBytes(tile.getElementType()),
        p.info.getThresholds().getPostedRows(),
        getSharedOffset(op.getStaging().getDefiningOp(), "buffers"),
        op.getStaging().getType().getBuffers(), op.getPeers().size(), map, op.getOffsets().size(),
        op.getAdd(), op.getSignal() ? signalArray(p, op.getSignal()).param : -1,
        ScopeMemory(role).sent));
  }
  mk_thread::ServePostsOp::create(p, p.getArrayAttr(tiles), p.info.offsetOf("post"),
                                  p.info.getWarps().getBarrier("request"),
                                  p.info.getThresholds().getPostedSpread());
}
