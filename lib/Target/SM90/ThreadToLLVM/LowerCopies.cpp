//===- LowerCopies.cpp - The copy engine ----------------------------------===//
#include "Ptx.h"

using namespace mlir;
using namespace mlir::mk::thread;
using namespace mlir::mk_thread;

/// "{$2, $3}": coordinates, which the instruction has innermost first, as operands from `first` on.
static std::string listCoordinates(OperandRange coordinates, int64_t first,
                                   SmallVectorImpl<Value> &operands) {
  std::string text = "{";
  for (size_t i = 0, rank = coordinates.size(); i != rank; ++i) {
    text += (i ? ", $" : "$") + std::to_string(first + i);
    operands.push_back(coordinates[rank - 1 - i]);
  }
  return text + "}";
}

static SmallVector<Value> lowerCopyTensor(CopyTensorOp op, Ptx &ptx) {
  SmallVector<Value> operands{op.getDest(), op.getMap(), op.getBarrier()};
  std::string text = "cp.async.bulk.tensor." + std::to_string(op.getCoordinates().size()) +
                     "d.shared::cluster.global.mbarrier::complete_tx::bytes" +
                     (op.getCtas() ? ".multicast::cluster" : "") +
                     (op.getOnce() ? ".L2::cache_hint" : "") + " [$0], [$1, " +
                     listCoordinates(op.getCoordinates(), 3, operands) + "], [$2]";
  if (op.getCtas()) {
    text += ", $" + std::to_string(operands.size());
    operands.push_back(op.getCtas());
  }
  if (op.getOnce()) {
    // NVVM has no op that makes a policy of the cache.
    text += ", $" + std::to_string(operands.size());
    operands.push_back(
        ptx.pure("createpolicy.fractional.L2::evict_first.b64 $0;", ptx.b.getI64Type(), {}));
  }
  return ptx.run(text + ";", {}, operands);
}

static SmallVector<Value> lowerStoreTensor(StoreTensorOp op, Ptx &ptx) {
  SmallVector<Value> operands{op.getMap(), op.getSource()};
  std::string dims = std::to_string(op.getCoordinates().size()) + "d.global.shared::cta";
  std::string text = op.getAdd() ? "cp.reduce.async.bulk.tensor." + dims + ".add.tile.bulk_group"
                                 : "cp.async.bulk.tensor." + dims + ".bulk_group";
  text += " [$0, " + listCoordinates(op.getCoordinates(), 2, operands) + "], [$1];";
  return ptx.run(text, {}, operands);
}

static SmallVector<Value> lowerStoreBulk(StoreBulkOp op, Ptx &ptx) {
  std::string text = "cp.async.bulk.global.shared::cta.bulk_group";
  if (op.getAdd())
    text =
        "cp.reduce.async.bulk.global.shared::cta.bulk_group.add." + getAddition(*op.getAdd()).str();
  return ptx.run(text + " [$0], [$1], $2;", {}, {op.getDest(), op.getSource(), op.getBytes()});
}

void mk::thread::addCopyPatterns(RewritePatternSet &patterns) {
  addPattern<PrefetchMapOp>(patterns, [](PrefetchMapOp op, Ptx &ptx) {
    return ptx.run("prefetch.tensormap [$0];", {}, op.getMap());
  });
  addPattern<CopyTensorOp>(patterns, lowerCopyTensor);
  addPattern<StoreTensorOp>(patterns, lowerStoreTensor);
  addPattern<CopyBulkOp>(patterns, [](CopyBulkOp op, Ptx &ptx) {
    return ptx.run("cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [$0], [$1], "
                   "$2, [$3];",
                   {}, {op.getDest(), op.getSource(), op.getBytes(), op.getBarrier()});
  });
  // nvvm.cp.async has a number of bytes, from which ptxas computes addresses and a predicate.
  addPattern<CopyPieceOp>(patterns, [](CopyPieceOp op, Ptx &ptx) {
    return ptx.run("cp.async.cg.shared.global [$0], [$1], 16, $2;", {},
                   {op.getDest(), op.getSource(), ptx.testWord(op.getGone())});
  });
  addPattern<StoreBulkOp>(patterns, lowerStoreBulk);
  addPattern<CommitGroupOp>(patterns, [](CommitGroupOp, Ptx &ptx) {
    return ptx.upstream<NVVM::CpAsyncBulkCommitGroupOp>();
  });
  addPattern<WaitGroupOp>(patterns, [](WaitGroupOp op, Ptx &ptx) {
    return ptx.upstream<NVVM::CpAsyncBulkWaitGroupOp>(uint32_t(op.getPending()), op.getReadAttr());
  });
}
