//===- MutantRun.h - All mutants of a seed ----------------------*- C++ -*-===//
#ifndef MKERNEL_TOOLS_MKFUZZ_MUTANTRUN_H
#define MKERNEL_TOOLS_MKFUZZ_MUTANTRUN_H

#include "MutantCheck.h"

namespace mlir::mk::fuzz {

struct MutantRunOptions {
  uint64_t count = 0, seed = 0;
  bool originals = false; // look at them first
  unsigned jobs = 1;
  double require = 97; // per cent
  unsigned limit = 3000; // seconds for a mutant
  std::vector<MutantKind> kinds;
  MutantOptions check;
};

/// Makes mutants, has them checked, prints what became of each and a table. Whether
/// enough were found, and no original raised an alarm.
bool runMutants(const std::vector<MutantCase> &cases, const MutantRunOptions &options);

} // namespace mlir::mk::fuzz

#endif // MKERNEL_TOOLS_MKFUZZ_MUTANTRUN_H
