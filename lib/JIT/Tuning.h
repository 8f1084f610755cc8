//===- Tuning.h - Values of parameters that were measured ------*- C++ -*-===//
//
// A tuning file holds, for one target, values of parameters (`mk.param`) that were found by
// measuring. docs/benchmarking.md has its format. Nothing here knows what a kernel computes.
//
//===----------------------------------------------------------------------===//
#ifndef MKERNEL_LIB_JIT_TUNING_H
#define MKERNEL_LIB_JIT_TUNING_H

#include "Binding.h"
#include "llvm/Support/Error.h"

#include <map>

namespace mlir::mk {

/// Values of options.tuning beside names of files: defaults alone; and, beside them, what
/// the model chooses.
inline constexpr llvm::StringLiteral kNoTuning = "none", kModelAlone = "model";

/// What an entry is looked up by.
struct TuningQuery {
  std::string kernel;             // its symbol
  std::vector<std::string> types; // element types of its arguments, in order
  int64_t grid = 0;
  std::map<std::string, int64_t> dims;  // bound dimensions and mesh axes
  std::map<std::string, int64_t> given; // parameters that are set already
  std::vector<std::string> params;      // names of all parameters
  std::vector<std::string> followed;    // dimensions that are the default of a parameter
};

class TuningTable {
public:
  struct Entry {
    std::string kernel;
    std::vector<std::string> types;
    std::optional<int64_t> grid; // any, if absent
    std::map<std::string, int64_t> dims, set;
  };
  struct Match {
    const Entry *entry;
    double distance; // 0: the sizes that were measured
  };

  /// The error names the entry, the key and what is expected there.
  static llvm::Expected<TuningTable> parse(StringRef text);

  /// The entry of that kernel, with those types and that grid, whose sizes are nearest: the least
  /// sum of squares of log2 ratios over the sizes that both have. The first of several. An entry
  /// that gives another value to a parameter that is set already, that names a parameter the kernel
  /// does not have, or that is for another value of a dimension that a parameter follows (tiles are
  /// as large as it is), is no candidate.
  std::optional<Match> find(const TuningQuery &query) const;

  std::string target;
  std::vector<Entry> entries;
};

/// What a kernel is looked up by with these options.
TuningQuery makeQuery(KernelOp kernel, const CompileOptions &options, const Binding &binding);

/// Where the tuning file of a target lies: share/mkernel/tuning/<target>.json beside the folder of
/// the program or library that holds this code. Empty if there is none.
std::string defaultTuningFile(StringRef target);

/// What was chosen, and why.
struct TuningChoice {
  std::string file; // empty: no tuning file was looked at
  TuningTable::Entry entry;
  bool found = false, exact = false;
};

/// What options.tuning has for this kernel. Emits an error if a file that was asked for is
/// not there or is no tuning file of the target.
FailureOr<TuningChoice> findTuning(KernelOp kernel, const CompileOptions &options,
                                   const Binding &binding);

/// Adds values of parameters to `binding` that it does not have.
void setParams(const std::map<std::string, int64_t> &set, Binding &binding);

struct ParamChoice;

/// What --emit=params prints: each parameter's value and where it is from.
llvm::json::Object describeParams(KernelOp kernel, const CompileOptions &options,
                                  const Binding &binding, const ParamChoice &choice);

} // namespace mlir::mk

#endif // MKERNEL_LIB_JIT_TUNING_H
