//===- MutantCheck.h - Who finds a mutant -----------------------*- C++ -*-===//
#ifndef MKERNEL_TOOLS_MKFUZZ_MUTANTCHECK_H
#define MKERNEL_TOOLS_MKFUZZ_MUTANTCHECK_H

#include "MutantCases.h"
#include "Mutants.h"

#include <atomic>

namespace mlir::mk::fuzz {

/// A function of the seed alone: which edit of which kernel.
struct Mutant {
  size_t kase; // of the list of cases
  MutantKind kind;
  size_t edit; // of MutantScope::collect
  uint64_t random; // for the runs
};

enum class Verdict : uint32_t {
  Running,
  Same,       // the same kernel, canonicalised: not counted
  Compiler,   // refused by a verifier, or by mk-verify-progress
  Values,     // wrong results, or a run that failed with a report
  Races,      // --check=races
  Equivalent, // what the kernel does is the same, see docs/checking.md
  Survivor,
  Broken, // a tool crashed or did not end
  Count
};
StringRef toString(Verdict verdict);

/// What a child leaves behind, also when it crashes.
struct MutantShared {
  static constexpr size_t kMaxText = 8192;
  std::atomic<Verdict> verdict;
  char doing[256];     // for what crashes
  char site[256];      // "mk.wait, line 30: removed"
  char text[kMaxText]; // the message that found it, or the changed op
};

struct MutantOptions {
  std::string folder; // of files of mutants
  std::string mkRun;
  bool blind = false; // finds nothing, to test this tool
};

/// In a child: makes a mutant and sends it through all checkers.
void checkMutant(const MutantCase &kase, const Mutant &mutant,
                 const std::string &name, const MutantOptions &options,
                 MutantShared &shared);

} // namespace mlir::mk::fuzz

#endif // MKERNEL_TOOLS_MKFUZZ_MUTANTCHECK_H
