//===- Check.h - Results against the kernel's reference ---------*- C++ -*-===//
#ifndef MKERNEL_TOOLS_MKRUN_CHECK_H
#define MKERNEL_TOOLS_MKRUN_CHECK_H

#include "JobMemory.h"

namespace mk::run {

/// What one output's comparison found.
struct OutputCheck {
  std::string name;
  bool passed = true;
  int64_t compared = 0, elements = 0; // of each copy
  double maxError = 0, rmsError = 0;
  double rms = 0; // of the reference
  double rmsTolerance = 0;
  double base = 0; // tolerance = base + relative * max(|reference|, smallestNormal),
  double relative = 0; // the base where no row is larger than the whole
  int64_t mismatches = 0;
  std::vector<std::string> firstMismatches;
  std::string note; // of what was compared, whether it passed or not
  std::vector<int64_t> mismatchesOfRank;
  std::vector<double> maxErrorOfRank; // NaN counts as infinity
};

/// Tolerances for an output: see mk-run --help.
struct Tolerance {
  double relative = 0, base = 0, rms = 0;
  double floor = 0;          // what the reference itself is off by: in f64 not all is exact
  double smallestNormal = 0; // numbers below it are as far apart as those above it

  /// Of an element of a row whose root mean square is `larger` times that of the
  /// whole output.
  double of(double reference, double larger = 1) const;
  /// `rounding`: the coarsest before the last one, `k`: terms of a sum, `read`: how large what the
  /// reference reads is.
  static Tolerance of(rt::ElementType out, double rounding, double k, double rms, double factor,
                      double read = 0);
};

/// Rows of dimension 0 to compare, as sorted, disjoint ranges: everything of a
/// small output, else random rows, the first, the last and the borders of
/// shards.
std::vector<rt::Range> chooseRows(int64_t rows, int64_t elements,
                                  const std::vector<int64_t> &borders,
                                  uint64_t seed);

/// Evaluates the reference for the inputs of the last launch and compares all
/// copies of all outputs. FailedPrecondition when the package has none.
Result<std::vector<OutputCheck>>
checkOutputs(const Options &options, const rt::Metadata &metadata,
             const rt::Payload &payload, const rt::JobPlan &plan,
             const JobMemory &job, uint32_t world);

/// Changes one element (--corrupt) of copy 0 of an output.
Status corruptOutput(const Options &options, const rt::Metadata &metadata,
                     const rt::JobPlan &plan, const JobMemory &job);

} // namespace mk::run

#endif // MKERNEL_TOOLS_MKRUN_CHECK_H
