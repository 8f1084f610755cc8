//===- OneStep.h - Compile a file in one step ------------------*- C++ -*-===//
#ifndef MKERNEL_TOOLS_MKOPT_ONESTEP_H
#define MKERNEL_TOOLS_MKOPT_ONESTEP_H

#include "mkernel/JIT/Compiler.h"
#include "llvm/ADT/StringRef.h"
#include "llvm/Support/CommandLine.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/ToolOutputFile.h"

#include <cstdint>
#include <optional>
#include <string>

namespace mlir::mk {

/// The options of one-step compilation, known to the command line as long as
/// this lives.
class OneStep {
public:
  /// Whether --target or --emit was given.
  bool isWanted() const;
  /// An option that was given and would have no effect without --target or
  /// --emit; empty if there is none.
  std::string findUnused() const;
  /// The filter of --remarks; none if that was not given.
  std::optional<std::string> getRemarks() const;
  /// Returns the exit status.
  int run(llvm::StringRef input, llvm::StringRef output);

private:
  // Categories are listed by name, and this one is to come before MLIR's.
  llvm::cl::OptionCategory category{
      "A kernel in one step",
      "From a file to what --emit says. mk-run compiles in the same way."};
  using List = llvm::cl::list<std::string>;

  llvm::cl::opt<std::string> target{
      "target", llvm::cl::desc("what to compile for: host or sm_90a"),
      llvm::cl::init("host"), llvm::cl::cat(category)};
  llvm::cl::opt<std::string> emit{
      "emit",
      llvm::cl::desc("how far: signature, params, tile, sm and thread (sm_90a only), llvm, "
                     "llvmir, ptx (sm_90a only) or package"),
      llvm::cl::init("package"), llvm::cl::cat(category)};
  List bind{"bind", llvm::cl::CommaSeparated,
            llvm::cl::desc("sizes of dimensions and mesh axes; one for each "
                           "rank as in T=100:80"),
            llvm::cl::value_desc("NAME=N,..."), llvm::cl::cat(category)};
  List set{"set", llvm::cl::CommaSeparated,
           llvm::cl::desc("values of parameters"),
           llvm::cl::value_desc("NAME=N,..."), llvm::cl::cat(category)};
  llvm::cl::opt<std::string> tuning{
      "tuning",
      llvm::cl::desc("tuning file for parameters that --set does not name, or "
                     "none (default: the target's)"),
      llvm::cl::value_desc("FILE|none"), llvm::cl::cat(category)};
  llvm::cl::opt<std::string> kernel{
      "kernel", llvm::cl::desc("which kernel of the file"),
      llvm::cl::cat(category)};
  llvm::cl::opt<std::string> cpu{
      "cpu", llvm::cl::desc("CPU to compile for"), llvm::cl::init("native"),
      llvm::cl::cat(category)};
  llvm::cl::opt<bool> noVerify{
      "no-verify",
      llvm::cl::desc("take kernels that would not end or that race"),
      llvm::cl::cat(category)};
  llvm::cl::opt<bool> noBounds{
      "no-bounds",
      llvm::cl::desc("leave out the checks that what ops name exists when it runs"),
      llvm::cl::cat(category)};
  llvm::cl::opt<bool> timeline{
      "timeline",
      llvm::cl::desc("code that records when it does what, for mk-run --timeline"),
      llvm::cl::cat(category)};
  llvm::cl::opt<std::string> remarks{
      "remarks", llvm::cl::ValueOptional,
      llvm::cl::desc("what passes did, and could not do and why; of those whose 'PASS: KIND' matches "
                     "a regular expression (kinds: passed, missed, analysis). For passes by name, too"),
      llvm::cl::value_desc("REGEX"), llvm::cl::cat(category)};
  llvm::cl::opt<int64_t> nodes{
      "nodes", llvm::cl::desc("number of nodes (product of the net axes)"),
      llvm::cl::init(0), llvm::cl::cat(category)};
  llvm::cl::opt<int64_t> gpus{
      "gpus",
      llvm::cl::desc("GPUs of a node (product of the link axes)"),
      llvm::cl::init(0), llvm::cl::cat(category)};
  llvm::cl::opt<int64_t> grid{
      "grid",
      llvm::cl::desc("CTAs on each rank (default: 16 on the host, 132 on sm_90a)"),
      llvm::cl::init(CompileOptions::kGridOfTarget), llvm::cl::cat(category)};
};

/// A file, or standard input for -; null, with the reason, if it cannot be read.
std::unique_ptr<llvm::MemoryBuffer> openInput(llvm::StringRef name, std::string &error);

/// Writes what is left and keeps the file; says why not otherwise.
bool closeOutput(llvm::ToolOutputFile &file, llvm::StringRef name);

} // namespace mlir::mk

#endif // MKERNEL_TOOLS_MKOPT_ONESTEP_H
