//===- Puts.cpp - Regions to this rank and others -------------------------===//
//
// Here and across links one warp has the copy engine take runs of the region (PutRuns.cpp)
// through slots of shared memory, or, where addresses are not aligned, all threads copy
// element by element. A mover has no slots: its lanes copy 16 bytes each. The put is complete when
// the op is. Across a network each run is a command for the proxy.
//
//===----------------------------------------------------------------------===//
#include "Lowering.h"
#include "mkernel/ABI/Gpu.h"

using namespace mlir;
using namespace mlir::mk;
using namespace mlir::mk::sm;
using namespace mlir::mk_sm;
using Predicate = arith::CmpIPredicate;

LogicalResult Lowering::emitPut(PutOp op, PipelinePutOp pipeline) {
  Type element = cast<MemRefType>(op.getSource().getType()).getElementType();
  bool adds = op.getReduction().has_value();
  if (adds && (*op.getReduction() != Reduction::Add || mk_thread::getAddition(element).empty()))
    return op.emitOpError() << "adds elements of " << element
                            << ", which the copy engine of " << getSmTarget(op).getName()
                            << " does not; use f32, "
                               "f64, bf16, f16, i32 or i64";
  // What this CTA has written is read by the engine, or by others.
  finishStores();
  if (Value rows = op.getRows()) {
    barrierPartition();
    enterPlaces();
    auto type = cast<RankedTensorType>(rows.getType());
    SmallVector<Value> values(elements(rows));
    for (auto [i, value] : llvm::enumerate(values)) {
      auto [where, exists] = linearPlace(type, i);
      storeShared(exists, add(exchangeAddress(), shl(where, 2)), value);
    }
  }
  fenceAsync();
  barrierPartition();
  Value peer = hasPeers() ? existingPeer(scalar(op.getPeer())) : Value();
  beginSpan(SpanClock::Op, peer ? peer : c64(0));
  // What is checked is checked before anything else is read: it takes registers.
  Value list = op.getRows() ? exchangeAddress() : Value();
  checkPut(op, MK_READ_ARGUMENT, list);
  if (peer)
    awaitReady(peer);
  checkPut(op, MK_WRITTEN_ARGUMENT, list, peer);
  Value signal = op.getSignal(), element_;
  if (signal)
    element_ = signalElement(op, signal, op.getSignalIndex());
  // Each thread has looked at some rows.
  if (list && sites)
    barrierPartition();
  FailureOr<Runs> runs = planRuns(op);
  if (failed(runs))
    return failure();
  runs->count = select(isFine(), runs->count, c32(0));

  auto copy = [&] {
    ifThenElse(
        runs->aligned,
        [&] {
          if (!pipeline)
            return adds ? copyByThreads(*runs, element, adds) : copyByMover(*runs);
          ifThen(cmp(Predicate::ult, partitionThread, 32), [&] {
            copyByEngine(pipeline, *runs, adds ? TypeAttr::get(element) : TypeAttr());
          });
        },
        [&] { copyByThreads(*runs, element, adds); });
    if (signal)
      once([&] { raise(signalArray(signal), element_, 1, peer, op.getStrong(), LinkKind::Link); });
  };
  if (!peer) {
    copy();
    return success();
  }
  Value heap = heapOf(peer), dest = runs->dest;
  Value atPeer = add(sub(dest, heapOf(ownRank())), heap);
  auto across = [&] {
    runs->dest = atPeer;
    copy();
  };
  auto byCommands = [&] {
    runs->dest = dest;
    if (adds)
      return failUnless(cbool(false), MK_FAIL_PEER);
    ifThen(eq(partitionThread, 0), [&] {
      Value slot;
      if (signal)
        slot = add(loadParam(signalArray(signal).param + 24, i64), element_);
      ifFine([&] { putByCommands(*runs, peer, slot, op.getStrong()); });
    });
  };
  Value isMapped = cmp(Predicate::ne, heap, 0);
  if (!hasNet()) {
    across();
  } else if (op.getVia() == LinkKind::Link) {
    failUnless(isMapped, MK_FAIL_PEER);
    ifThen(isMapped, across);
  } else if (op.getVia() == LinkKind::Net) {
    byCommands();
  } else {
    ifThenElse(isMapped, across, byCommands);
  }
  return success();
}
