//===- Expansion.cpp - From loops of roles to those of scf ----------------===//
#include "mkernel/Transforms/Expansion.h"
#include "mlir/Transforms/Passes.h"

using namespace mlir;

void mk::buildExpansion(OpPassManager &pm, const ExpandLoopsPassOptions &loops,
                        function_ref<void(OpPassManager &)> beforeFolds) {
  pm.addPass(createExpandLoopsPass(loops));
  if (beforeFolds)
    beforeFolds(pm);
  pm.addPass(createExpandFoldsPass());
  pm.addPass(createExpandRanksPass()); // orders of items ask for the rank
  pm.addPass(createCanonicalizerPass());
  pm.addPass(createCSEPass());
}
