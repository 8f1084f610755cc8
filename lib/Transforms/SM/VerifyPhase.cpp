//===- VerifyPhase.cpp - A pass has left what the next one needs ----------===//
#include "mkernel/Analysis/SMPhases.h"
#include "mkernel/Transforms/SM/Passes.h"

namespace mlir::mk_sm {
#define GEN_PASS_DEF_VERIFYPHASEPASS
#include "mkernel/Transforms/SM/Passes.h.inc"
} // namespace mlir::mk_sm

using namespace mlir;
using namespace mlir::mk_sm;

namespace {
struct VerifyPhasePass : mk_sm::impl::VerifyPhasePassBase<VerifyPhasePass> {
  using VerifyPhasePassBase::VerifyPhasePassBase;

  void runOnOperation() override {
    std::optional<Phase> wanted = parsePhase(phase);
    if (!wanted) {
      getOperation().emitError("mk-sm-verify-phase: there is no phase '")
          << phase << "'; use tiles, partitioned, overlapped, sized or placed";
      return signalPassFailure();
    }
    for (mk::KernelOp kernel : getOperation().getOps<mk::KernelOp>())
      if (failed(verifyPhase(kernel, *wanted)))
        return signalPassFailure();
    markAllAnalysesPreserved();
  }
};
} // namespace
