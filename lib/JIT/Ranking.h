//===- Ranking.h - Which choices are the best -------------------*- C++ -*-===//
//
// By what the cost model predicts: the best one, and several that differ enough for their
// measurement to pay (docs/cost-model.md, "Candidates").
//
//===----------------------------------------------------------------------===//
#ifndef MKERNEL_LIB_JIT_RANKING_H
#define MKERNEL_LIB_JIT_RANKING_H

#include "Model.h"

namespace mlir::mk {

/// Milliseconds by which choices are compared; what is predicted must be known.
double getScore(const ModelChoice &choice);

/// Faster, or as fast with fewer bytes that are asked for. Anything is better than nothing.
bool isBetter(const ModelChoice &candidate, const ModelChoice &best);

/// The best choice of each family: of what is so much alike that the model errs alike on it.
class Ranking {
public:
  void add(const ModelChoice &choice);

  /// Up to `most`: behind `first` what was measured nearby, if it is another one and known, and the
  /// best ones that are not too slow to be measured. `first` without parameters is `near`, too.
  std::vector<ModelChoice::Candidate> take(size_t most, const ModelChoice &first,
                                           const ModelChoice &near);

  /// The best ones of those that take less room than `first`, half of it, a quarter, and so on: up
  /// to `most`, for where that has no code. Before `take`.
  std::vector<NamedNumbers> listSmaller(const ModelChoice &first, size_t most) const;

private:
  using Family = SmallVector<int64_t>;
  struct Entry {
    ModelChoice::Candidate candidate;
    double score, asked;
    int64_t room;
    Family division;
    bool isBefore(const Entry &other) const {
      return std::tie(score, asked, candidate.set) <
             std::tie(other.score, other.asked, other.candidate.set);
    }
  };

  static Family getFamily(const KernelWork &work);
  static Family getDivision(const KernelWork &work);

  std::map<Family, Entry> families;
};

} // namespace mlir::mk

#endif // MKERNEL_LIB_JIT_RANKING_H
