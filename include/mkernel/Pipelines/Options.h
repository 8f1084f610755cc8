//===- Options.h - What pipelines are built for -----------------*- C++ -*-===//
#ifndef MKERNEL_PIPELINES_OPTIONS_H
#define MKERNEL_PIPELINES_OPTIONS_H

#include "mkernel/Options/Options.h"
#include "mlir/Pass/PassOptions.h"

namespace mlir::mk {

/// What is asked of a compilation (mkernel/Options/Options.def), `bind` and `params` as
/// `name=value`, and what its driver has found out.
struct LoweringOptions
    : mkernel::options::Compile<std::vector<std::string>, std::vector<std::string>> {
  std::string variant;                // of the kernel; empty: the one that needs nothing
  std::vector<std::string> rankSizes; // name=value:value:... for dimensions of each rank's own
  int64_t loops = 0;                  // loops that the metadata lists
  int64_t vectorBits = 256;           // of the host's CPU
};

/// What a row of Options.def means, as pipelines by name have it: of the field, not of the flag.
template <const mkernel::options::Option &row> llvm::StringRef describeOption() {
  static const std::string text =
      (row.kind == mkernel::options::Kind::Off ? "false: " : "") + std::string(row.meaning);
  return text;
}

/// Options of pipelines by name: rows of Options.def by their keys, and what drivers find out.
struct PipelineOptions : PassPipelineOptions<PipelineOptions> {
#define MK_PIPELINE_LIST(field)                                                             \
  ListOption<std::string> field{                                                            \
      *this, mkernel::options::row::field.key,                                              \
      llvm::cl::desc(describeOption<mkernel::options::row::field>())};
#define MK_PIPELINE_OPTION(type, field)                                                     \
  Option<type> field{*this, mkernel::options::row::field.key,                               \
                     llvm::cl::desc(describeOption<mkernel::options::row::field>()),        \
                     llvm::cl::init(LoweringOptions().field)};
  MK_PIPELINE_LIST(bind)
  MK_PIPELINE_LIST(params)
  MK_PIPELINE_OPTION(int64_t, grid)
  MK_PIPELINE_OPTION(bool, verify)
  MK_PIPELINE_OPTION(bool, bounds)
  MK_PIPELINE_OPTION(bool, timeline)
  MK_PIPELINE_OPTION(bool, record)
  MK_PIPELINE_OPTION(std::string, variant)
#undef MK_PIPELINE_LIST
#undef MK_PIPELINE_OPTION
  ListOption<std::string> rankSizes{
      *this, "rank-sizes",
      llvm::cl::desc("name=value:value:... for dimensions of each rank's own")};
  Option<int64_t> loops{*this, "loops", llvm::cl::desc("loops that the metadata lists"),
                        llvm::cl::init(LoweringOptions().loops)};
  Option<int64_t> vectorBits{*this, "vector-bits",
                             llvm::cl::desc("width of the CPU's vector registers"),
                             llvm::cl::init(LoweringOptions().vectorBits)};

  LoweringOptions get() const;
};

} // namespace mlir::mk

#endif // MKERNEL_PIPELINES_OPTIONS_H
