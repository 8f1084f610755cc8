//===- Sm.h - From the tile level to the SM level ---------------*- C++ -*-===//
#ifndef MKERNEL_PIPELINES_SM_H
#define MKERNEL_PIPELINES_SM_H

#include "mkernel/Pipelines/Host.h"

namespace mlir::mk {

/// From the result of buildTilePipeline to the SM level, for a grid of so many CTAs.
void buildSmLoweringPipeline(OpPassManager &pm, int64_t grid);

/// Both.
void buildSmPipeline(OpPassManager &pm, const HostOptions &options);

/// Options of the named pipeline `mk-sm-to-llvm`.
struct SmCodeOptions : PassPipelineOptions<SmCodeOptions> {
  Option<int64_t> grid{*this, "grid", llvm::cl::desc("CTAs of the grid"),
                       llvm::cl::init(132)};
  Option<int64_t> loops{*this, "loops",
                        llvm::cl::desc("loops that the metadata lists"),
                        llvm::cl::init(0)};
  Option<bool> bounds{*this, "bounds",
                      llvm::cl::desc("code checks that what ops name exists"),
                      llvm::cl::init(true)};
  Option<bool> timeline{*this, "timeline",
                        llvm::cl::desc("code records when it does what"),
                        llvm::cl::init(false)};
  Option<std::string> variant{*this, "variant",
                              llvm::cl::desc("tensor-maps or any-strides"),
                              llvm::cl::init("any-strides")};
};

/// From the SM level to the thread level: `mk_kernel` and the string `mk_gpu`.
void buildThreadPipeline(OpPassManager &pm, const SmCodeOptions &options);

/// From the thread level to the LLVM dialect.
void buildThreadCodePipeline(OpPassManager &pm);

/// Both.
void buildSmCodePipeline(OpPassManager &pm, const SmCodeOptions &options);

/// Registers `mk-sm` and `mk-sm-to-llvm`.
void registerSmPipelines();

} // namespace mlir::mk

#endif // MKERNEL_PIPELINES_SM_H
