//===- Pipelines.h - From the tile level to code of a GPU -------*- C++ -*-===//
#ifndef MKERNEL_LIB_TARGET_SM90_PIPELINES_H
#define MKERNEL_LIB_TARGET_SM90_PIPELINES_H

#include "mkernel/Pipelines/Host.h"

namespace mlir::mk {

/// From the result of buildBoundPipeline to the SM level.
void buildSmLoweringPipeline(OpPassManager &pm);

/// From the SM level to the thread level: `mk_kernel` and the string `mk_gpu`.
void buildThreadPipeline(OpPassManager &pm, const LoweringOptions &options);

/// From the thread level to the LLVM dialect.
void buildThreadCodePipeline(OpPassManager &pm);

/// Registers `mk-sm` and `mk-sm-to-llvm`.
void registerSmPipelines();

} // namespace mlir::mk

#endif // MKERNEL_LIB_TARGET_SM90_PIPELINES_H
