//===- Options.h - The command line of mk-run -------------------*- C++ -*-===//
#ifndef MKERNEL_TOOLS_MKRUN_OPTIONS_H
#define MKERNEL_TOOLS_MKRUN_OPTIONS_H

#include "mkernel/JIT/JIT.h"
#include "mkernel/Runtime/Job.h"
#include "mkernel/Runtime/Kernel.h"

#include <chrono>

namespace mk::run {

using rt::Result;
using rt::Status;
using rt::StatusCode;

struct NamedFile {
  std::string name, path;
};

/// --random: the values of an integer input.
struct IntegerRange {
  std::string name;
  int64_t low, high; // both included
};

/// Set in a rank process, which gets the launcher's command line and this.
struct RankOptions {
  uint32_t rank;
  int packageFd, jobFd;
};

struct Options {
  bool help = false;
  std::string file;
  std::vector<std::string> given; // flags of the command line, as "--grid"
  jit::Options compile;
  rt::JobOptions job; // as a rank of another launcher's job
  /// --transport, else MK_TRANSPORT, and --ranks-per-gpu.
  rt::ContextOptions context;
  rt::LaunchOptions launch;
  std::vector<NamedFile> inputs, outputs;
  std::vector<IntegerRange> random;
  bool check = false;
  bool checkEach = false; // after every launch, by the rank
  bool selfTest = false; // the network first, then a kernel of the program's own
  bool races = false;
  bool accesses = false; // with races: prints a number of them all
  double toleranceFactor = 1;
  std::vector<std::pair<std::string, double>> tolerances; // of single outputs
  enum class Stats { None, Text, Json } stats = Stats::None;
  std::string timeline; // file; empty: not given
  std::string loopback;
  std::chrono::nanoseconds delay{0}; // of one rank before each launch, at most
  int64_t launches = 1;
  int64_t candidate = 0; // which of the version's is run, from 1; 0: the fastest
  bool graph = false; // the launches are replays of a captured one
  // Self-tests of checker and watchdog.
  std::string corrupt;
  int64_t corruptIndex = 0;
  int64_t pauseProxy = -1; // rank
  std::optional<RankOptions> rank;

  bool isGiven(std::string_view flag) const;
};

/// The range that --random gives an argument; null if none.
const IntegerRange *findRange(const Options &options, const std::string &name);

/// The factor of --tolerance for an output.
double toleranceOf(const Options &options, const std::string &output);

/// InvalidArgument names the option, the reason and the accepted form.
Result<Options> parseOptions(int argc, char **argv);
std::string helpText();

/// Bindings that name mesh axes. InvalidArgument when one names neither an axis
/// nor a dimension of the kernel.
Result<std::vector<rt::NamedSize>> axisSizes(const Options &options,
                                             const rt::Metadata &metadata);

} // namespace mk::run

#endif // MKERNEL_TOOLS_MKRUN_OPTIONS_H
