//===- Combinations.h - All combinations of choices -------------*- C++ -*-===//
#ifndef MKERNEL_LIB_JIT_COMBINATIONS_H
#define MKERNEL_LIB_JIT_COMBINATIONS_H

#include "Model.h"

namespace mlir::mk {

/// Goes through all combinations of choices, the first parameter's fastest. Those that violate a
/// requirement, or that have a product which no instruction computes, are left out as soon as the
/// parameters are chosen that this follows from, and that is found out once for each combination of
/// these.
class Combinations {
public:
  /// Whether a requirement may hold, or a product be computed, with these parameters.
  using MayBe = llvm::unique_function<bool(Operation *, const NamedNumbers &)>;

  Combinations(KernelOp kernel, ArrayRef<ParamChoices::value_type> choices, MayBe mayBe);

  /// Until `body` returns false, or `mostTried` values have been tried. Whether it went through
  /// all.
  bool visit(int64_t mostTried, function_ref<bool(const NamedNumbers &)> body);

private:
  /// Parameters that values follow from, also by way of another parameter's default.
  using ParamNames = llvm::SmallSetVector<StringRef, 4>;
  struct Rule {
    Operation *op;
    ParamNames params;
    std::map<SmallVector<int64_t>, bool> known; // by the values of these
  };

  static ParamNames findParams(SmallVector<Value> values);
  bool mayBe(Rule &rule);
  /// The last ones are chosen, but for `open`.
  bool visitOpen(size_t open, function_ref<bool(const NamedNumbers &)> body);

  ArrayRef<ParamChoices::value_type> choices;
  MayBe ask;
  std::vector<SmallVector<Rule, 0>> rules; // by the parameter that is chosen last
  NamedNumbers set;
  int64_t left = 0; // to be tried
};

} // namespace mlir::mk

#endif // MKERNEL_LIB_JIT_COMBINATIONS_H
