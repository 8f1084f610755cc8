//===- MutantCheck.h - Who finds a mutant -----------------------*- C++ -*-===//
#ifndef MKERNEL_TOOLS_MKFUZZ_MUTANTCHECK_H
#define MKERNEL_TOOLS_MKFUZZ_MUTANTCHECK_H

#include "MutantCases.h"
#include "Mutants.h"

#include <atomic>
#include <set>

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
  Equivalent, // it does what the original does, see docs/checking.md
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
  char name[1024];     // as in the file of proofs
  char text[kMaxText]; // the message that found it, or the changed op
};

/// What tests of this tool leave out.
enum class Blind { No, Checkers, All };

struct MutantOptions {
  std::string folder; // of files of mutants
  std::string mkRun;
  Blind blind = Blind::No;
  /// "KERNEL KIND: WHAT | OP" of mutants that are proven to be right.
  std::set<std::string> proven;
  unsigned originalRuns = 20; // for each original
};

/// Lines that begin with a mutant, as it is printed, each with a proof in the indented lines
/// below it. Says what is wrong, if anything is.
std::set<std::string> readProofs(StringRef path, std::string &problem);

/// In a child: makes a mutant and sends it through all checkers.
void checkMutant(const MutantCase &kase, const Mutant &mutant,
                 const std::string &name, const MutantOptions &options,
                 MutantShared &shared);

/// In a child: sends a kernel as it is through all checkers, on all meshes. Survivor: no
/// alarm.
void checkOriginal(const MutantCase &kase, const std::string &name, uint64_t random,
                   const MutantOptions &options, MutantShared &shared);

} // namespace mlir::mk::fuzz

#endif // MKERNEL_TOOLS_MKFUZZ_MUTANTCHECK_H
