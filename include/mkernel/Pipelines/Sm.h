//===- Sm.h - From the tile level to the SM level ---------------*- C++ -*-===//
#ifndef MKERNEL_PIPELINES_SM_H
#define MKERNEL_PIPELINES_SM_H

#include "mkernel/Pipelines/Host.h"

namespace mlir::mk {

/// From the result of buildTilePipeline to the SM level. Of the options the grid
/// and those of the host's CPU are not read.
void buildSmLoweringPipeline(OpPassManager &pm, const HostOptions &options);

/// Both.
void buildSmPipeline(OpPassManager &pm, const HostOptions &options);

/// Registers `mk-sm`.
void registerSmPipelines();

} // namespace mlir::mk

#endif // MKERNEL_PIPELINES_SM_H
