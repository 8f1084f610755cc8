//===- CostModel.h - How long a launch will take ----------------*- C++ -*-===//
//
// Turns what a kernel has to do (Work.h) into time, by the rates of its target (`#mk.rates`) and,
// for what peers send, of its links (`#mk.links`).
// docs/cost-model.md has the formulas, and how the rates are found.
//
//===----------------------------------------------------------------------===//
#ifndef MKERNEL_ANALYSIS_COSTMODEL_H
#define MKERNEL_ANALYSIS_COSTMODEL_H

#include "mkernel/Analysis/Work.h"

namespace mlir::mk {

struct Prediction {
  double burst = 0;  // ms of one launch on a machine that was idle
  double steady = 0; // ms of each of many launches in a row, which power may slow down
  StringRef bound;   // what most of the time goes to: "products", "copies", "memory" ...
};

/// How long the work takes on a target that has an SM and rates. Where it has links, items wait for
/// what peers send.
Prediction predictTime(const KernelWork &work, TargetAttr target);

/// Whether accumulators and tiles have room: an estimate, before tiles are laid out.
bool fits(const KernelWork &work, SmAttr sm);

} // namespace mlir::mk

#endif // MKERNEL_ANALYSIS_COSTMODEL_H
