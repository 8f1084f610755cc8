//===- UnrollStores.cpp - What stores unroll, and what they compute once --===//
#include "mkernel/Analysis/Remarks.h"
#include "mkernel/Dialect/SM/SM.h"
#include "mkernel/Transforms/SM/Passes.h"
#include "llvm/ADT/SetVector.h"

namespace mlir::mk_sm {
#define GEN_PASS_DEF_UNROLLSTORESPASS
#include "mkernel/Transforms/SM/Passes.h.inc"
} // namespace mlir::mk_sm

using namespace mlir;
using namespace mlir::mk_sm;

static constexpr StringRef kUnrollStores = "mk-sm-unroll-stores";

/// The ops that are deferred to a store of `tile`.
static llvm::SetVector<Operation *> getDeferred(Value tile) {
  llvm::SetVector<Operation *> ops;
  SmallVector<Value> reached{tile};
  while (!reached.empty())
    if (auto deferral = reached.pop_back_val().getDefiningOp<DeferOp>())
      if (Operation *op = deferral.getSource().getDefiningOp(); ops.insert(op))
        llvm::append_range(reached, op->getOperands());
  return ops;
}

static bool loadsTile(const llvm::SetVector<Operation *> &deferred) {
  return llvm::any_of(deferred, [](Operation *op) {
    auto load = dyn_cast<mk::LoadOp>(op);
    return load && load.getTile().getType().getRank() > 1;
  });
}

/// Whether more is deferred to a store of `tile` than may be computed twice: a load of a tile,
/// which has two ways itself, or more than `cheapOps`.
static bool isExpensive(Value tile, int64_t cheapOps) {
  llvm::SetVector<Operation *> deferred = getDeferred(tile);
  return int64_t(deferred.size()) > cheapOps || loadsTile(deferred);
}

namespace {
struct UnrollStoresPass : mk_sm::impl::UnrollStoresPassBase<UnrollStoresPass> {
  using UnrollStoresPassBase::UnrollStoresPassBase;

  void visit(mk::KernelOp kernel) {
    mk::SmAttr sm = mk::getSm(kernel);
    int64_t cheapOps = sm.getThresholds().getCheapOps();
    kernel.walk([&](mk::StoreOp store) {
      if (!isExpensive(store.getTile(), cheapOps))
        return;
      passed(store, kUnrollStores)
          << remark::add("computes its tile once, by {0} deferred ops, and not in each of its ways",
                         getDeferred(store.getTile()).size());
      OpBuilder b(store);
      store.getTileMutable().assign(
          MaterializeOp::create(b, store.getLoc(), store.getTile()).getResult());
    });
    SmallVector<StoreOp> stores;
    kernel.walk([&](StoreOp store) { stores.push_back(store); });
    if (stores.empty())
      return;
    int64_t most = parts ? int64_t(parts) : sm.getThresholds().getUnrolledParts();
    bool hasPeers = kernel.getMeshOp().getNumRanks() != 1;
    for (StoreOp store : stores) {
      RankedTensorType tile = store.getTile().getType();
      int64_t count =
          store.getByRows() ? countRowSteps(tile) : countStoreParts(tile, sm.getChunk());
      // Loads of the next part run while one is stored.
      bool overlaps = count <= most && loadsTile(getDeferred(store.getTile()));
      bool unrolls = count == 1 || (count == 2 && hasPeers) || overlaps;
      if (stores.size() == 1)
        unrolls = count <= most || isExpensive(store.getTile(), cheapOps);
      store.setUnrolled(unrolls);
      if (unrolls)
        passed(store, kUnrollStores) << remark::add("stores {0} parts in sequence", count);
      else if (stores.size() > 1)
        missed(store, kUnrollStores)
            << remark::add("stores {0} parts in a loop: the kernel has {1} stores, and would grow",
                           count, stores.size());
      else
        missed(store, kUnrollStores)
            << remark::add("stores {0} parts in a loop: more than {1} leave too few registers for "
                           "what they are computed from",
                           count, most);
    }
  }

  void runOnOperation() override {
    for (auto kernel : getOperation().getOps<mk::KernelOp>())
      visit(kernel);
    markAllAnalysesPreserved();
  }
};
} // namespace
