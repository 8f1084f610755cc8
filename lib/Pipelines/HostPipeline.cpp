//===- HostPipeline.cpp - From the tile level to host code ----------------===//
#include "mkernel/Conversion/Passes.h"
#include "mkernel/Pipelines/Host.h"
#include "mkernel/Transforms/Expansion.h"
#include "mkernel/Transforms/FloatPipeline.h"
#include "mkernel/Transforms/Sizes/Passes.h"
#include "mkernel/Verify/Passes.h"
#include "mlir/Conversion/AffineToStandard/AffineToStandard.h"
#include "mlir/Conversion/ArithToLLVM/ArithToLLVM.h"
#include "mlir/Conversion/ControlFlowToLLVM/ControlFlowToLLVM.h"
#include "mlir/Conversion/FuncToLLVM/ConvertFuncToLLVMPass.h"
#include "mlir/Conversion/IndexToLLVM/IndexToLLVM.h"
#include "mlir/Conversion/MathToLLVM/MathToLLVM.h"
#include "mlir/Conversion/MathToLibm/MathToLibm.h"
#include "mlir/Conversion/MemRefToLLVM/MemRefToLLVM.h"
#include "mlir/Conversion/ReconcileUnrealizedCasts/ReconcileUnrealizedCasts.h"
#include "mlir/Conversion/SCFToControlFlow/SCFToControlFlow.h"
#include "mlir/Conversion/VectorToLLVM/ConvertVectorToLLVMPass.h"
#include "mlir/Dialect/Affine/Transforms/Passes.h"
#include "mlir/Dialect/Arith/Transforms/Passes.h"
#include "mlir/Dialect/Bufferization/Transforms/Passes.h"
#include "mlir/Dialect/Linalg/Passes.h"
#include "mlir/Dialect/Math/Transforms/Passes.h"
#include "mlir/Dialect/MemRef/Transforms/Passes.h"
#include "mlir/Pass/PassRegistry.h"
#include "mlir/Transforms/Passes.h"

using namespace mlir;
using namespace mlir::mk;

LoweringOptions PipelineOptions::get() const {
  LoweringOptions options;
  options.bind.assign(bind.begin(), bind.end());
  options.params.assign(params.begin(), params.end());
  options.rankSizes.assign(rankSizes.begin(), rankSizes.end());
  options.grid = grid;
  options.verify = verify;
  options.bounds = bounds;
  options.timeline = timeline;
  options.record = record;
  options.variant = variant;
  options.loops = loops;
  options.vectorBits = vectorBits;
  return options;
}

void mk::buildBindPipeline(OpPassManager &pm, const LoweringOptions &options) {
  BindPassOptions bind;
  bind.sizes.assign(options.bind.begin(), options.bind.end());
  bind.params.assign(options.params.begin(), options.params.end());
  pm.addPass(createBindPass(bind));
  pm.addPass(createInlineCallsPass());
}

void mk::buildParamsPipeline(OpPassManager &pm) {
  pm.addPass(createDropGuessesPass());
  pm.addPass(createVerifySizesPass());
  pm.addPass(createResolveParamsPass());
}

void mk::buildBoundPipeline(OpPassManager &pm, const LoweringOptions &options) {
  pm.addPass(createWidenReductionsPass());
  pm.addPass(createTransposeDotsPass());
  AssignCtasPassOptions assign;
  if (options.grid)
    assign.grid = options.grid;
  pm.addPass(createAssignCtasPass(assign));
  pm.addPass(createMarkSingleReadsPass()); // while loops over items are there
  pm.addPass(createMarkOwnReadsPass());
  pm.addPass(createCSEPass());             // of equal loads all are marked
  pm.addPass(createMarkUnseenPass());      // while stores are at the offsets of loads
  pm.addPass(createExpandStreamKPass());
  pm.addPass(createInlineCallsPass());
  if (options.verify) {
    VerifyProgressPassOptions verify;
    verify.sizes.assign(options.bind.begin(), options.bind.end());
    verify.rankSizes.assign(options.rankSizes.begin(), options.rankSizes.end());
    pm.addPass(createVerifyProgressPass(verify));
  }
  pm.addPass(createCanonicalizerPass());
  pm.addPass(createCSEPass());
}

void mk::buildTilePipeline(OpPassManager &pm, const LoweringOptions &options) {
  buildBindPipeline(pm, options);
  buildParamsPipeline(pm);
  buildBoundPipeline(pm, options);
}

/// Checks what a phase leaves behind.
static void verifyPhase(OpPassManager &pm, StringRef phase, std::vector<std::string> allow,
                        std::vector<std::string> forbid = {}) {
  VerifyPhasePassOptions options;
  options.phase = phase.str();
  options.allow.assign(allow.begin(), allow.end());
  options.forbid.assign(forbid.begin(), forbid.end());
  pm.addPass(createVerifyPhasePass(options));
}

/// Tiles as tensors to loops over buffers.
static void buildTilesToLoops(OpPassManager &pm, const LoweringOptions &options) {
  OpPassManager &function = pm.nest<func::FuncOp>();
  function.addPass(createConvertElementwiseToLinalgPass());
  function.addPass(createLinalgElementwiseOpFusionPass());
  function.addPass(createMaterializeCarriesPass());
  bufferization::OneShotBufferizePassOptions bufferize;
  // Tiles are dense; where branches meet bufferisation does not see it.
  bufferize.unknownTypeConversion = bufferization::LayoutMapOption::IdentityLayoutMap;
  pm.addPass(bufferization::createOneShotBufferizePass(bufferize));
  pm.addPass(createCanonicalizerPass());
  pm.addPass(createCSEPass());

  OpPassManager &buffers = pm.nest<func::FuncOp>();
  buffers.addPass(createLowerCopiesPass());
  buffers.addPass(createHoistBuffersPass());
  VectorizeContractionsPassOptions contractions;
  contractions.vectorWidth = options.vectorBits / 32;
  // 32 registers with AVX-512, 16 before: leave some for operands.
  contractions.blockRows = options.vectorBits >= 512 ? 8 : 6;
  contractions.blockVectors = 2;
  buffers.addPass(createVectorizeContractionsPass(contractions));
  buffers.addPass(createConvertLinalgToLoopsPass());
  buffers.addPass(createLoopInvariantCodeMotionPass());
}

static void buildLoopsToLLVM(OpPassManager &pm) {
  pm.addPass(memref::createExpandStridedMetadataPass());
  pm.addPass(createLowerAffinePass());
  pm.addPass(createGuardDivisionsPass());
  buildFloatPipeline(pm);
  arith::ArithExpandOpsPassOptions expand;
  expand.includeBf16 = true;
  pm.addPass(arith::createArithExpandOpsPass(expand));
  pm.addPass(createCanonicalizerPass());
  pm.addPass(createCSEPass());
  pm.addPass(createSCFToControlFlowPass());
  pm.addPass(createConvertVectorToLLVMPass());
  pm.addPass(createConvertMathToLLVMPass());
  pm.addPass(createConvertMathToLibmPass());
  pm.addPass(createFinalizeMemRefToLLVMConversionPass());
  pm.addPass(createConvertFuncToLLVMPass());
  pm.addPass(createConvertIndexToLLVMPass());
  pm.addPass(createArithToLLVMConversionPass());
  pm.addPass(createConvertControlFlowToLLVMPass());
  pm.addPass(createReconcileUnrealizedCastsPass());
  pm.addPass(createCanonicalizerPass());
}

/// What a launch needs to know, from kernels with loops.
static void buildPlan(OpPassManager &pm, const LoweringOptions &options, bool only) {
  pm.addPass(createExpandRanksPass({.checked = options.bounds}));
  BuildPlanPassOptions plan;
  plan.only = only;
  pm.addPass(createBuildPlanPass(plan));
}

/// From kernels whose plan has been built.
static void buildRoles(OpPassManager &pm, const LoweringOptions &options) {
  ExpandLoopsPassOptions loops;
  loops.items = true;
  buildExpansion(pm, loops);
  ConvertTileToHostPassOptions convert;
  convert.record = options.record;
  convert.lines = options.timeline;
  convert.bounds = options.bounds;
  pm.addPass(createConvertTileToHostPass(convert));
  verifyPhase(pm, "conversion of tile ops", {}, {"mk", "mk_sm"});
  pm.addPass(createCanonicalizerPass());
  pm.addPass(createCSEPass());
  buildTilesToLoops(pm, options);
  verifyPhase(pm, "lowering of tiles to loops", {}, {"linalg", "bufferization"});
  buildLoopsToLLVM(pm);
  verifyPhase(pm, "lowering to LLVM", {"builtin", "llvm"});
}

void mk::buildHostLoweringPipeline(OpPassManager &pm, const LoweringOptions &options) {
  buildPlan(pm, options, /*only=*/false);
  buildRoles(pm, options);
}

void mk::buildHostPartPipeline(OpPassManager &pm, const LoweringOptions &options, bool engines) {
  if (engines) {
    buildPlan(pm, options, /*only=*/false);
    KeepRolesPassOptions keep;
    keep.engines = true;
    pm.addPass(createKeepRolesPass(keep));
    return buildRoles(pm, options);
  }
  buildPlan(pm, options, /*only=*/true);
  verifyPhase(pm, "conversion of the plan", {}, {"mk", "mk_sm"});
  pm.addPass(createCanonicalizerPass());
  buildLoopsToLLVM(pm);
  verifyPhase(pm, "lowering to LLVM", {"builtin", "llvm"});
}

void mk::registerHostPipelines() {
  PassPipelineRegistration<PipelineOptions>(
      "mk-tile", "Bind sizes and inline calls, staying at the tile level",
      [](OpPassManager &pm, const PipelineOptions &options) {
        buildTilePipeline(pm, options.get());
      });
  PassPipelineRegistration<PipelineOptions>(
      "mk-host", "From the tile level to the LLVM dialect for the host target",
      [](OpPassManager &pm, const PipelineOptions &options) {
        buildTilePipeline(pm, options.get());
        pm.addPass(createDropIdleRolesPass());
        buildHostLoweringPipeline(pm, options.get());
      });
}
