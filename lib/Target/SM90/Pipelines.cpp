//===- Pipelines.cpp - To the SM level, the thread level and code ---------===//
#include "Pipelines.h"
#include "mkernel/Conversion/Passes.h"
#include "mkernel/Transforms/Expansion.h"
#include "mkernel/Transforms/SM/Passes.h"
#include "mkernel/Transforms/Thread/Passes.h"
#include "mlir/Conversion/AffineToStandard/AffineToStandard.h"
#include "mlir/Conversion/ReconcileUnrealizedCasts/ReconcileUnrealizedCasts.h"
#include "mlir/Conversion/SCFToControlFlow/SCFToControlFlow.h"
#include "mlir/Dialect/Arith/Transforms/Passes.h"
#include "mlir/Pass/PassManager.h"
#include "mlir/Pass/PassRegistry.h"
#include "mlir/Transforms/Passes.h"

using namespace mlir;
using namespace mlir::mk;

static void cleanUp(OpPassManager &pm) {
  pm.addPass(createCanonicalizerPass());
  pm.addPass(createCSEPass());
}

/// Checks what the passes in front promise and those behind need.
static void verify(OpPassManager &pm, StringRef phase) {
#ifndef MKERNEL_NO_PHASES
  mk_sm::VerifyPhasePassOptions options;
  options.phase = phase.str();
  pm.addPass(mk_sm::createVerifyPhasePass(options));
#endif
}

void mk::buildSmLoweringPipeline(OpPassManager &pm) {
  pm.addPass(createExpandRanksPass());
  pm.addPass(createCanonicalizerPass()); // loops over no nodes or ranks are seen as such
  pm.addPass(createVerifyTilesPass());
  pm.addPass(createSinkTilesPass());
  pm.addPass(createMarkInnerStoresPass());
  pm.addPass(mk_sm::createOrderTilesPass());
  ExpandLoopsPassOptions loops;
  loops.staticFirst = true;
  buildExpansion(pm, loops, [](OpPassManager &pm) {
    pm.addPass(createDivideItemsPass());
    pm.addPass(mk_sm::createReverseFoldsPass());
  });
  pm.addPass(createSymbolDCEPass()); // helpers are inlined, folds expanded
  pm.addPass(mk_sm::createStageLoadsPass());
  pm.addPass(mk_sm::createDropLimitsPass());
  pm.addPass(mk_sm::createForwardScalarsPass());
  verify(pm, "tiles");
  pm.addPass(createSplitRolesPass());
  pm.addPass(mk_sm::createChooseStoresPass());
  verify(pm, "partitioned");
  cleanUp(pm);
  pm.addPass(mk_sm::createSpreadLoadsPass());   // then other threads load an element than store it
  pm.addPass(mk_sm::createOrderAccessesPass()); // before loops are unrolled
  pm.addPass(mk_sm::createDeferReductionsPass()); // before loops are peeled
  // Loops with dependent dots first: what they become only accumulates no more.
  pm.addPass(mk_sm::createOverlapDotsPass());
  pm.addPass(mk_sm::createSplitMasksPass());
  pm.addPass(mk_sm::createTakeTurnsPass());
  pm.addPass(mk_sm::createSkipHiddenPass());
  pm.addPass(mk_sm::createPairDotsPass());
  pm.addPass(mk_sm::createDeferWaitsPass());
  pm.addPass(mk_sm::createAdvanceLoadsPass());
  pm.addPass(mk_sm::createAdvanceWaitsPass());
  pm.addPass(mk_sm::createAlternateItemsPass());
  pm.addPass(mk_sm::createPostStoresPass());
  cleanUp(pm);
  verify(pm, "overlapped");
  pm.addPass(mk_sm::createShareCopiesPass());
  pm.addPass(mk_sm::createSelectRowsPass());
  pm.addPass(createSizeRingsPass());
  pm.addPass(mk_sm::createAdvanceItemsPass());
  pm.addPass(mk_sm::createDeferElementsPass());
  pm.addPass(mk_sm::createHoistLoadsPass());
  pm.addPass(mk_sm::createSpillFragmentsPass());
  pm.addPass(mk_sm::createUnrollStoresPass());
  pm.addPass(mk_sm::createSkipRescalingPass());
  verify(pm, "sized");
  VerifyPhasePassOptions left;
  left.phase = "the lowering to the SM level";
  left.forbid = {"mk.foreach", "mk.foreach_item", "mk.foreach_peer",
                 "mk.fold",    "mk.dot",          "mk.param"};
  pm.addPass(createVerifyPhasePass(left));
}

/// Work of several steps into these; those that make ops for others come first.
static void expandThreadOps(OpPassManager &pm) {
  pm.addPass(mk_thread::createStageRowsPass());
  pm.addPass(mk_thread::createStageFragmentsPass());
  pm.addPass(mk_thread::createUnrollFragmentsPass());
  pm.addPass(mk_thread::createExpandBoundsPass());
  pm.addPass(mk_thread::createDispatchWarpsPass());
  pm.addPass(mk_thread::createExpandLaunchPass());
  pm.addPass(mk_thread::createExpandQueuesPass());
  pm.addPass(mk_thread::createExpandChannelsPass());
  pm.addPass(mk_thread::createExpandTurnsPass());
  pm.addPass(mk_thread::createExpandCopiesPass());
  pm.addPass(mk_thread::createExpandCopiersPass());
  pm.addPass(mk_thread::createExpandPaddingPass());
  pm.addPass(mk_thread::createExpandProductsPass());
  pm.addPass(mk_thread::createExpandStoresPass());
  pm.addPass(mk_thread::createExpandExchangesPass());
  pm.addPass(mk_thread::createExpandReductionsPass());
  pm.addPass(mk_thread::createExpandElementsPass());
  pm.addPass(mk_thread::createExpandAccessesPass());
  pm.addPass(mk_thread::createPairConversionsPass());
  pm.addPass(mk_thread::createExpandMathPass());
  pm.addPass(mk_thread::createExpandSenderPass());
  pm.addPass(mk_thread::createExpandRunsPass());
  pm.addPass(mk_thread::createExpandSignalsPass());
  pm.addPass(mk_thread::createExpandCommandsPass());
  pm.addPass(mk_thread::createVerifyExpandedPass());
}

void mk::buildThreadPipeline(OpPassManager &pm, const LoweringOptions &options) {
  pm.addPass(createKeepRolesPass());
  pm.addPass(createLowerAffinePass());
  // Numbers of items and dimensions are not negative, and most of them are small: where an item
  // lies is found out before its first copy.
  pm.addPass(arith::createIntRangeOptimizationsPass());
  pm.addPass(arith::createArithUnsignedWhenEquivalentPass());
  pm.addPass(mk_sm::createMergePutsPass());
  pm.addPass(mk_sm::createMergeSignalsPass());
  pm.addPass(mk_sm::createRematerializeScalarsPass());
  pm.addPass(mk_sm::createAssignStagesPass());
  mk_sm::LayOutSharedPassOptions layout;
  layout.timeline = options.timeline;
  if (!options.variant.empty())
    layout.variant = options.variant;
  pm.addPass(mk_sm::createLayOutSharedPass(layout));
  pm.addPass(mk_sm::createAssignWarpsPass());
  verify(pm, "placed");
  mk_sm::AgreeOnFailurePassOptions agree;
  agree.bounds = options.bounds;
  pm.addPass(mk_sm::createAgreeOnFailurePass(agree));
  pm.addPass(mk_sm::createSpreadWaitsPass());
  pm.addPass(mk_sm::createKeepWordsPass());
  ConvertSMToThreadPassOptions convert;
  convert.loops = options.loops;
  convert.bounds = options.bounds;
  pm.addPass(createConvertSMToThreadPass(convert));
  pm.addPass(mk_thread::createMergeChecksPass());
  expandThreadOps(pm);
  pm.addPass(mk_thread::createPromoteVariablesPass());
  pm.addPass(mk_thread::createMergeElectedPass());
  VerifyPhasePassOptions verify;
  verify.phase = "the lowering to the thread level";
  verify.allow = {"builtin", "llvm", "nvvm", "mk_thread", "arith", "scf"};
  pm.addPass(createVerifyPhasePass(verify));
}

void mk::buildThreadCodePipeline(OpPassManager &pm) {
  SaturateConversionsPassOptions saturate;
  saturate.hardware = true;
  pm.addPass(createSaturateConversionsPass(saturate));
  pm.addPass(createConvertThreadToLLVMPass());
  pm.addPass(createSCFToControlFlowPass());
  pm.addPass(createConvertScalarsToLLVMPass());
  pm.addPass(createConvertRestToLLVMPass());
  pm.addPass(createReconcileUnrealizedCastsPass());
  VerifyPhasePassOptions verify;
  verify.phase = "the lowering from the thread level";
  verify.allow = {"builtin", "llvm", "nvvm"};
  pm.addPass(createVerifyPhasePass(verify));
}

void mk::registerSmPipelines() {
  PassPipelineRegistration<>("mk-thread-expand",
                             "Ops of the thread level that are work of several steps into these",
                             expandThreadOps);
  PassPipelineRegistration<PipelineOptions>("mk-sm-to-llvm",
                                            "From the SM level to the LLVM dialect",
                                            [](OpPassManager &pm, const PipelineOptions &options) {
                                              buildThreadPipeline(pm, options.get());
                                              buildThreadCodePipeline(pm);
                                            });
  PassPipelineRegistration<PipelineOptions>("mk-sm", "From the tile level to the SM level",
                                            [](OpPassManager &pm, const PipelineOptions &options) {
                                              buildTilePipeline(pm, options.get());
                                              pm.addPass(createDropIdleRolesPass());
                                              buildSmLoweringPipeline(pm);
                                            });
}
