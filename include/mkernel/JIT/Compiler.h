//===- Compiler.h - From a file to a package in one step -------*- C++ -*-===//
#ifndef MKERNEL_JIT_COMPILER_H
#define MKERNEL_JIT_COMPILER_H

#include "mlir/Support/LLVM.h"
#include "llvm/ADT/StringRef.h"

#include <functional>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace mlir {
class PassManager;
} // namespace mlir

namespace mlir::mk {

/// What to compile a file for, and how far.
struct CompileOptions {
  std::string target = "host";
  /// signature  JSON of the interfaces of the kernels in the file as written
  /// params     JSON of the values of parameters, and where each is from
  /// tile       the tile level with sizes bound and helpers inlined
  /// sm         the SM level (sm_90a only)
  /// thread     code of one thread (sm_90a only), with the host part in the LLVM dialect
  /// llvm       the LLVM dialect; holds all that a package needs
  /// llvmir     LLVM IR, optimised for the CPU or, for sm_90a, the GPU
  /// ptx        PTX (sm_90a only)
  /// package    mkernel/ABI/Package.h
  std::string emit = "package";
  std::string kernel; // which; may be empty if the file has only one
  std::string cpu = "native";
  /// CTAs of the grid, or kGridOfTarget: 16 on the host, 132 on sm_90a (the SMs of
  /// an H100 or H200).
  static constexpr int64_t kGridOfTarget = -1;
  int64_t grid = kGridOfTarget;
  /// Sizes by name: axes and uniform dimensions take an integer, a dimension of
  /// kind `rank` one for each rank, as in "100:80:0:33". Dimensions that are not
  /// bound are given at launch.
  std::vector<std::pair<std::string, std::string>> bind;
  /// Parameters (mk.param) by name.
  std::vector<std::pair<std::string, std::string>> params;
  /// Where parameters that `params` does not set come from: a tuning file, "none",
  /// or "" for the one of the target that lies beside the program, if any.
  std::string tuning;
  /// Number of nodes (product of the `net` axes) and of GPUs in each (product
  /// of the `link` axes); 0: not given. Each fills the one axis of its kind that is
  /// unbound. When either is given, axes that then are still unbound have size
  /// 1; when neither is, they stay unbound, which the phases `llvm`, `llvmir` and
  /// `package` refuse.
  int64_t nodes = 0, gpus = 0;
  /// Axes that are unbound in the end have size 1, whatever was given.
  bool completeMesh = false;
  /// Dimensions that are not bound are an error, which lists them all.
  bool completeDims = false;
  /// Refuse kernels that would not end or that race (mk-verify-progress).
  bool verify = true;
  /// Code checks when it runs that regions of puts, scalars, and elements of signals,
  /// counters and queues exist.
  bool bounds = true;
  /// Host code says which accesses it makes (mkrt_access), for the race check.
  bool record = false;
  /// Code records when it does what (mkernel/ABI/Timeline.h).
  bool timeline = false;
  /// Passes say what they did, and what they could not do and why, where "PASS: KIND" matches this
  /// regular expression (mkernel/JIT/Remarks.h).
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

#endif // MKERNEL_JIT_COMPILER_H
