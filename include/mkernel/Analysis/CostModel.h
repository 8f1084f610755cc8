//===- CostModel.h - How long a launch will take ----------------*- C++ -*-===//
//
// Turns what a kernel has to do (Work.h) into time, by the rates of its target (`#mk.rates`).
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

/// How long the work takes.
Prediction predictTime(const KernelWork &work, SmAttr sm, RatesAttr rates);

/// Whether accumulators and tiles have room: an estimate, before tiles are laid out.
bool fits(const KernelWork &work, SmAttr sm);

} // namespace mlir::mk

#endif // MKERNEL_ANALYSIS_COSTMODEL_H
