//===- UnrollStores.cpp - Stores part by part: unrolled or in a loop ------===//
#include "mkernel/Analysis/Deferral.h"
#include "mkernel/Analysis/Remarks.h"
#include "mkernel/Dialect/SM/SM.h"
#include "mkernel/Transforms/SM/Passes.h"

namespace mlir::mk_sm {
#define GEN_PASS_DEF_UNROLLSTORESPASS
#include "mkernel/Transforms/SM/Passes.h.inc"
} // namespace mlir::mk_sm

using namespace mlir;
using namespace mlir::mk_sm;

static constexpr StringRef kUnrollStores = "mk-sm-unroll-stores";

namespace {
struct UnrollStoresPass : mk_sm::impl::UnrollStoresPassBase<UnrollStoresPass> {
  using UnrollStoresPassBase::UnrollStoresPassBase;

  void visit(mk::KernelOp kernel) {
    SmallVector<StoreOp> stores;
    kernel.walk([&](StoreOp store) { stores.push_back(store); });
    if (stores.empty())
      return;
    auto &deferral = getChildAnalysis<Deferral>(kernel);
    bool hasPeers = kernel.getMeshOp().getNumRanks() != 1;
    for (StoreOp store : stores) {
      RankedTensorType tile = store.getTile().getType();
      int64_t count = countStoreParts(tile);
      bool unrolls = count == 1 || (count == 2 && hasPeers);
      if (stores.size() == 1)
        unrolls = count <= parts || deferral.isExpensive(store.getTile());
      store.setUnrolled(unrolls);
      if (unrolls)
        passed(store, kUnrollStores) << remark::add("stores {0} parts one behind the other", count);
      else if (stores.size() > 1)
        missed(store, kUnrollStores)
            << remark::add("stores {0} parts in a loop: the kernel has {1} stores, and would grow",
                           count, stores.size());
      else
        missed(store, kUnrollStores)
            << remark::add("stores {0} parts in a loop: more than {1} leave too few registers for "
                           "what they are computed from",
                           count, int64_t(parts));
    }
  }

  void runOnOperation() override {
    for (auto kernel : getOperation().getOps<mk::KernelOp>())
      visit(kernel);
    markAllAnalysesPreserved();
  }
};
} // namespace
