//===- Compiler.h - From a file to a package in one step -------*- C++ -*-===//
#ifndef MKERNEL_COMPILER_COMPILER_H
#define MKERNEL_COMPILER_COMPILER_H

#include "mkernel/Options/Options.h"

#include "mlir/Support/LLVM.h"
#include "llvm/ADT/StringRef.h"

#include <functional>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace mlir {
class PassManager;
} // namespace mlir

namespace mlir::mk {

/// What to compile a file for (mkernel/Options/Options.def), and how far. Values of
/// dimensions are as in "1024", one for each rank as in "100:80:0:33".
struct CompileOptions
    : mkernel::options::Compile<std::vector<std::pair<std::string, std::string>>> {
  /// signature  JSON of the interfaces of the kernels in the file as written
  /// params     JSON of the values of parameters, and where each is from
  /// tile       the tile level with sizes bound and helpers inlined
  /// llvm       the LLVM dialect; holds all that a package needs
  /// llvmir     LLVM IR, optimised for the CPU or the GPU
  /// package    mkernel/ABI/Package.h
  /// and what the backend has of its own (TargetBackend::getKernelPhase and those behind it)
  std::string emit = "package";
  /// The only variant of GPU code that is compiled; empty: all.
  std::string variant;
  /// Sizes of dimensions that stay open, for which parameters are looked up.
  std::vector<std::pair<std::string, int64_t>> tuneFor;
  /// Parameters that the cost model is to choose, one of the sets that it lists for
  /// `candidates`. Empty: what it takes for the fastest.
  std::map<std::string, int64_t> choice;
  /// Passes say what they did, and what they could not do and why, where "PASS: KIND" matches this
  /// regular expression (mkernel/Compiler/Remarks.h).
  std::optional<std::string> remarks;
  /// If given: set when what is wrong lies in these options (names or values that
  /// the file does not have), not in the file.
  bool *misused = nullptr;
  /// A ptxas that assembles what was compiled for a GPU: where it spills, a warning says so.
  /// Empty: none is asked.
  std::string assembler;
  /// Called for every pass manager before it runs; for command line tools.
  std::function<LogicalResult(PassManager &)> setup;
};

/// Compiles the text of a file. `name` is what diagnostics call it. Accepts
/// what a file holds or what the phases `tile`, `sm` and `llvm` print. Returns whether it
/// worked; diagnostics, also warnings, are appended to `messages`.
bool compile(StringRef source, StringRef name, const CompileOptions &options,
             std::string &output, std::string &messages);

} // namespace mlir::mk

#endif // MKERNEL_COMPILER_COMPILER_H
