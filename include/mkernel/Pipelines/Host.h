//===- Host.h - From the tile level to host code ----------------*- C++ -*-===//
#ifndef MKERNEL_PIPELINES_HOST_H
#define MKERNEL_PIPELINES_HOST_H

#include "mkernel/Pipelines/Options.h"
#include "mlir/Pass/PassManager.h"

namespace mlir::mk {

/// Binds sizes and parameters, and inlines calls.
void buildBindPipeline(OpPassManager &pm, const LoweringOptions &options);

/// Gives parameters their values; verifiers of ops say which do not fit.
void buildParamsPipeline(OpPassManager &pm);

/// Verifies whole kernels whose sizes and parameters are bound; the result is still at the tile
/// level, and what every target starts from.
void buildBoundPipeline(OpPassManager &pm, const LoweringOptions &options);

/// From the result of buildBoundPipeline to the LLVM dialect: the functions
/// that mkernel/ABI/Package.h lists for the host target.
void buildHostLoweringPipeline(OpPassManager &pm, const LoweringOptions &options);

/// The part of a package for another target that runs on the host: mk_plan and, with `engines`, the
/// roles of copy engines. The other roles may be at any level.
void buildHostPartPipeline(OpPassManager &pm, const LoweringOptions &options, bool engines);

/// From a file to the tile level that every target starts from.
void buildTilePipeline(OpPassManager &pm, const LoweringOptions &options);

/// Registers `mk-tile` and `mk-host`.
void registerHostPipelines();

} // namespace mlir::mk

#endif // MKERNEL_PIPELINES_HOST_H
