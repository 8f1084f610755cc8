//===- MutantJob.h - A run of mk-run ----------------------------*- C++ -*-===//
#ifndef MKERNEL_TOOLS_MKFUZZ_MUTANTJOB_H
#define MKERNEL_TOOLS_MKFUZZ_MUTANTJOB_H

#include "MutantCheck.h"

namespace mlir::mk::fuzz {

/// What mk-run says of a file: Survivor if nothing is wrong. `message` is the line
/// that says what is, `command` what was run.
struct JobResult {
  Verdict verdict;
  std::string message, command;
};

/// Runs that a mutant has to survive.
inline constexpr unsigned kJobs = 6;
/// On the i-th mesh, with delays and an order of CTAs and puts of its own, several launches, each
/// searched for races.
JobResult runJob(const MutantCase &kase, unsigned i, uint64_t random,
                 const std::string &file, const MutantOptions &options);

/// A number of what all accesses of a file's kernel touch and see on the i-th mesh, with the
/// inputs that `seed` gives; empty if it does not run well. For kernels whose control
/// depends on data.
std::string runForAccesses(const MutantCase &kase, unsigned i, uint64_t seed,
                           const std::string &file, const MutantOptions &options);

} // namespace mlir::mk::fuzz

#endif // MKERNEL_TOOLS_MKFUZZ_MUTANTJOB_H
