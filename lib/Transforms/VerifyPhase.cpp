//===- VerifyPhase.cpp - Nothing of the phase before is left --------------===//
#include "mkernel/Transforms/Passes.h"

namespace mlir::mk {
#define GEN_PASS_DEF_VERIFYPHASEPASS
#include "mkernel/Transforms/Passes.h.inc"
} // namespace mlir::mk

using namespace mlir;
using namespace mlir::mk;

namespace {
struct VerifyPhasePass : mk::impl::VerifyPhasePassBase<VerifyPhasePass> {
  using VerifyPhasePassBase::VerifyPhasePassBase;

  void runOnOperation() override {
    WalkResult result = getOperation()->walk([&](Operation *op) -> WalkResult {
      StringRef dialect = op->getName().getDialectNamespace();
      auto isNamed = [&](const std::string &name) {
        return dialect == name || op->getName().getStringRef() == name;
      };
      if (llvm::any_of(forbid, isNamed) || (!allow.empty() && llvm::none_of(allow, isNamed)))
        return op->emitOpError() << "is left behind " << phase << ", which has no lowering for it";
      return WalkResult::advance();
    });
    if (result.wasInterrupted())
      signalPassFailure();
    markAllAnalysesPreserved();
  }
};
} // namespace
