//===- Sender.cpp - Tiles that a warp of its own sends --------------------===//
//
// The consumer puts a tile into the staging area, says in shared memory where it goes, and works
// on; the sender, a warp of the producer's warpgroup, has the copy engine store it
// (mk-thread-expand-sender).
//
//===----------------------------------------------------------------------===//
#include "Lowering.h"
#include "mkernel/ABI/Gpu.h"

using namespace mlir;
using namespace mlir::mk;
using namespace mlir::mk::sm;
using namespace mlir::mk_sm;

void Lowering::awaitSent() {
  if (posting && warps.getSender())
    create<mk_thread::HurrySenderOp>(
        offsetOf("post"), partitionThread, read(cursors[posting].phase, i32),
        b.getI64IntegerAttr(memory.sent), makeReport(MK_WAIT_COPY, -1));
}

void Lowering::hurrySender() {
  if (posting && warps.getSender())
    create<mk_thread::HurrySenderOp>(offsetOf("post"), partitionThread, Value(), IntegerAttr(),
                                     mk_thread::ReportAttr());
}

void Lowering::post(mk_sm::StoreOp op, ArrayRef<Value> peers, Value sends) {
  Value element = op.getSignal() ? signalElement(op, op.getSignal(), op.getSignalIndex()) : c64(0);
  // The signal releases what the consumer has had the engine store itself, too.
  WalkResult sendsItself = partition.walk([](mk_sm::StoreOp other) {
    return other.getPosted() ? WalkResult::advance() : WalkResult::interrupt();
  });
  if (op.getSignal() && sendsItself.wasInterrupted())
    ifThen(eq(and_(thread, 127), 0),
           [&] { create<mk_thread::WaitGroupOp>(0, /*read=*/false); });
  barrierPartition();
  int64_t number = llvm::find(facts.posted, op) - facts.posted.begin() + 1;
  create<mk_thread::PostTileOp>(
      number, offsetOf("post"), warps.getBarrier("request"), partitionThread, resize(sends, i32),
      element, scalars(op.getOffsets()), peers,
      op.getSignal() ? makeSignalSpan(op.getSignal()) : mk_thread::SpanAttr());
  advance(op.getPosting());
}

// All that was posted has been sent, at the end of each partition.
void Lowering::dismissSender() {
  create<mk_thread::PostTileOp>(0, offsetOf("post"), warps.getBarrier("request"), sub(thread, 128),
                                c32(0), c64(0), ValueRange(), ValueRange(), mk_thread::SpanAttr());
}

void Lowering::emitSender() {
  SmallVector<Attribute> tiles;
  for (mk_sm::StoreOp op : facts.posted) {
    Operation *role = op->getParentOp();
    while (!isa<RoleOp, PrepareOp>(role))
      role = role->getParentOp();
    RankedTensorType tile = op.getTile().getType();
    int64_t groups = cast<MmaAttr>(tile.getEncoding()).getWarpgroups();
    unsigned dest = cast<BlockArgument>(op.getDest()).getArgNumber() - kernel.getNumDims();
    int64_t map =
        *params.findMap(dest, getStoreBox(op), /*peers=*/true) * kernel.getMeshOp().getNumRanks();
    tiles.push_back(mk_thread::PostedAttr::get(
        b.getContext(), groups, tile.getDimSize(0) / groups, tile.getDimSize(1),
        countStoreRows(tile), kChunkBytes / getElementBytes(tile.getElementType()),
        getThresholds().getPostedRows(),
        getSharedOffset(op.getStaging().getDefiningOp(), "buffers"),
        op.getStaging().getType().getBuffers(), op.getPeers().size(), map, op.getOffsets().size(),
        op.getAdd(), op.getSignal() ? signalArray(op.getSignal()).param : -1,
        ScopeMemory(role).sent));
  }
  create<mk_thread::ServePostsOp>(b.getArrayAttr(tiles), offsetOf("post"),
                                  warps.getBarrier("request"), getThresholds().getPostedSpread());
}
