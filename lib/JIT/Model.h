//===- Model.h - Parameters that a model chooses ----------------*- C++ -*-===//
//
// For sizes that nobody has measured. The choices are those that the kernel's file lists
// (`mk.param ... in [...]`), the model is mkernel/Analysis/CostModel.h. Nothing here knows what a
// kernel computes.
//
//===----------------------------------------------------------------------===//
#ifndef MKERNEL_LIB_JIT_MODEL_H
#define MKERNEL_LIB_JIT_MODEL_H

#include "Tuning.h"
#include "mkernel/Analysis/CostModel.h"

namespace mlir::mk {

/// What a kernel's file lists for its parameters, by name, in its order.
using ParamChoices = std::vector<std::pair<std::string, std::vector<int64_t>>>;
ParamChoices listChoices(KernelOp kernel);

/// What the model says of a kernel with these sizes.
struct ModelChoice {
  /// With the parameters as they are given, and those of `set`; nothing where it does not know.
  std::optional<Prediction> prediction;
  /// What it is made from.
  KernelWork work;
  /// Why it does not know.
  std::string why;
  /// All choices, if they are better than what was measured nearby, or the defaults; else none.
  /// Other parameters then have their defaults.
  NamedNumbers set;
  /// Combinations that were compared; 0 if nothing is left to choose.
  int64_t compared = 0;

  /// One of several that the model takes for fast.
  struct Candidate {
    NamedNumbers set;
    Prediction prediction;
  };
  /// As many as options.candidates asks for, `set` the first.
  std::vector<Candidate> candidates;
  /// What comes behind `set`, the best one first, for where the code of that does not compile.
  std::vector<NamedNumbers> next;
};

/// Where the values of parameters that nobody gave are from.
struct ParamChoice {
  TuningChoice tuning;
  ModelChoice model;
  /// What the file lists, of all parameters.
  ParamChoices choices;
};

/// Compares what the kernel's file lists, beside what `binding` gives and, unless it is empty, the
/// entry `near` of a tuning file: those who measured know more than the model where it sees little
/// difference. `kernel` is not changed. `choose` is false: predicts for what is given alone.
ModelChoice consultModel(KernelOp kernel, const CompileOptions &options, const Binding &binding,
                         const NamedNumbers &near, bool choose);

/// What --emit=params prints of it.
llvm::json::Value describeModel(const ModelChoice &choice);

} // namespace mlir::mk

#endif // MKERNEL_LIB_JIT_MODEL_H
