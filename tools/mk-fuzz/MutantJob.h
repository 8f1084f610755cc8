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

/// The i-th of kJobs runs: another mesh, other delays and another order of CTAs and puts,
/// several launches, each searched for races.
inline constexpr unsigned kJobs = 6;
JobResult runJob(const MutantCase &kase, unsigned i, uint64_t random,
                 const std::string &file, const MutantOptions &options);

} // namespace mlir::mk::fuzz

#endif // MKERNEL_TOOLS_MKFUZZ_MUTANTJOB_H
