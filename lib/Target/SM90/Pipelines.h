//===- Pipelines.h - From the tile level to code of a GPU -------*- C++ -*-===//
#ifndef MKERNEL_LIB_TARGET_SM90_PIPELINES_H
#define MKERNEL_LIB_TARGET_SM90_PIPELINES_H

#include "mkernel/Pipelines/Host.h"

namespace mlir::mk {

/// From the result of buildTilePipeline to the SM level.
void buildSmLoweringPipeline(OpPassManager &pm);

/// Both.
void buildSmPipeline(OpPassManager &pm, const HostOptions &options);

/// Options of the named pipeline `mk-sm-to-llvm`.
struct SmCodeOptions : PassPipelineOptions<SmCodeOptions> {
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

#endif // MKERNEL_LIB_TARGET_SM90_PIPELINES_H
