//===- Host.h - From the tile level to host code ----------------*- C++ -*-===//
#ifndef MKERNEL_PIPELINES_HOST_H
#define MKERNEL_PIPELINES_HOST_H

#include "mlir/Pass/PassManager.h"
#include "mlir/Pass/PassOptions.h"

namespace mlir::mk {

/// Options of the named pipelines `mk-tile` and `mk-host`.
struct HostOptions : PassPipelineOptions<HostOptions> {
  ListOption<std::string> sizes{*this, "sizes",
                                llvm::cl::desc("name=value for axes and dimensions")};
  ListOption<std::string> rankSizes{
      *this, "rank-sizes",
      llvm::cl::desc("name=value:value:... for dimensions of each rank's own")};
  ListOption<std::string> params{*this, "set",
                                 llvm::cl::desc("name=value for parameters")};
  Option<int64_t> grid{*this, "grid", llvm::cl::desc("CTAs of the grid"),
                       llvm::cl::init(16)};
  Option<bool> verify{*this, "verify",
                      llvm::cl::desc("check that kernels always end, without races"),
                      llvm::cl::init(true)};
  Option<bool> record{*this, "record",
                      llvm::cl::desc("host code says what it does, for the race check"),
                      llvm::cl::init(false)};
  Option<bool> lines{*this, "lines",
                     llvm::cl::desc("host code says which lines it executes"),
                     llvm::cl::init(false)};
  Option<bool> bounds{*this, "bounds",
                      llvm::cl::desc("code checks that what ops name exists"),
                      llvm::cl::init(true)};
  Option<int64_t> vectorBits{*this, "vector-bits",
                             llvm::cl::desc("width of the CPU's vector registers"),
                             llvm::cl::init(256)};
};

/// Binds sizes, inlines calls and verifies whole kernels; the result is still at the
/// tile level, and what every target starts from.
void buildTilePipeline(OpPassManager &pm, const HostOptions &options);

/// From the result of buildTilePipeline to the LLVM dialect: the functions
/// that mkernel/ABI/Package.h lists for the host target.
void buildHostLoweringPipeline(OpPassManager &pm, const HostOptions &options);

/// The same for mk_plan alone, the part of a package for another target that
/// runs on the host. The kernel's roles may be at any level.
void buildHostPlanPipeline(OpPassManager &pm);

/// Both of the former.
void buildHostPipeline(OpPassManager &pm, const HostOptions &options);

/// Registers `mk-tile` and `mk-host`.
void registerHostPipelines();

} // namespace mlir::mk

#endif // MKERNEL_PIPELINES_HOST_H
