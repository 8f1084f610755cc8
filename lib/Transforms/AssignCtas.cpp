//===- AssignCtas.cpp - How many CTAs each role has -----------------------===//
#include "mkernel/Analysis/Ctas.h"
#include "mkernel/Transforms/Passes.h"

namespace mlir::mk {
#define GEN_PASS_DEF_ASSIGNCTASPASS
#include "mkernel/Transforms/Passes.h.inc"
} // namespace mlir::mk

using namespace mlir;
using namespace mlir::mk;

namespace {
struct AssignCtasPass : mk::impl::AssignCtasPassBase<AssignCtasPass> {
  using AssignCtasPassBase::AssignCtasPassBase;

  void runOnOperation() override {
    for (auto kernel : getOperation().getOps<KernelOp>()) {
      FailureOr<SmallVector<int64_t>> ctas = assignCtas(kernel, grid);
      if (failed(ctas))
        return signalPassFailure();
      for (auto [role, count] : llvm::zip(kernel.getBody().getOps<RoleOp>(), *ctas))
        role.setCtasAttr(CtasAttr::get(&getContext(), count, llvm::APFloat(0.0), /*rest=*/false,
                                       /*min=*/count, StringAttr(), role.getBeside(),
                                       role.isOfEngines()));
    }
    markAllAnalysesPreserved();
  }
};
} // namespace
