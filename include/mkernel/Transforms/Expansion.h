//===- Expansion.h - From loops of roles to those of scf --------*- C++ -*-===//
#ifndef MKERNEL_TRANSFORMS_EXPANSION_H
#define MKERNEL_TRANSFORMS_EXPANSION_H

#include "mkernel/Transforms/Passes.h"
#include "mlir/Pass/PassManager.h"

namespace mlir::mk {

/// Deals the items of loops out to CTAs, expands folds and ranks, and cleans up: the same for every
/// target and for the verifier of progress. `beforeFolds` adds what changes folds whose items have
/// been dealt out.
void buildExpansion(OpPassManager &pm, const ExpandLoopsPassOptions &loops = {},
                    function_ref<void(OpPassManager &)> beforeFolds = {});

} // namespace mlir::mk

#endif // MKERNEL_TRANSFORMS_EXPANSION_H
