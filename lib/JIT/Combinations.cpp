//===- Combinations.cpp - All combinations of choices ---------------------===//
#include "Combinations.h"

using namespace mlir;
using namespace mlir::mk;

Combinations::ParamNames Combinations::findParams(SmallVector<Value> values) {
  ParamNames params;
  DenseSet<Operation *> seen;
  while (!values.empty()) {
    Operation *op = values.pop_back_val().getDefiningOp();
    if (!op || !seen.insert(op).second)
      continue;
    if (auto param = dyn_cast<ParamOp>(op))
      params.insert(param.getName());
    llvm::append_range(values, getInputs(op));
  }
  return params;
}

/// Those that are extents of a tile.
static SmallVector<Value> getExtents(RankedTensorType tile, KernelOp kernel) {
  SmallVector<Value> values;
  if (auto extents = dyn_cast_or_null<ExtentsAttr>(tile.getEncoding()))
    for (ParamOp param : kernel.getBody().getOps<ParamOp>())
      if (llvm::is_contained(extents.getNames(), param.getNameAttr()))
        values.push_back(param.getValue());
  return values;
}

Combinations::Combinations(KernelOp kernel, ArrayRef<ParamChoices::value_type> choices, MayBe mayBe)
    : choices(choices), ask(std::move(mayBe)), rules(choices.size()) {
  kernel.walk([&](Operation *op) {
    SmallVector<Value> values;
    if (auto require = dyn_cast<RequireOp>(op))
      values.push_back(require.getCondition());
    else if (auto dot = dyn_cast<DotOp>(op))
      values = getExtents(cast<RankedTensorType>(dot.getType()), kernel);
    Rule rule{op, findParams(std::move(values)), {}};
    // The first one in the list is chosen last.
    auto last = llvm::find_if(
        choices, [&](const auto &choice) { return rule.params.contains(choice.first); });
    if (last != choices.end())
      rules[last - choices.begin()].push_back(std::move(rule));
  });
}

bool Combinations::visit(int64_t mostTried, function_ref<bool(const NamedNumbers &)> body) {
  left = mostTried;
  return visitOpen(choices.size(), body);
}

bool Combinations::mayBe(Rule &rule) {
  SmallVector<int64_t> values;
  for (StringRef param : rule.params)
    if (auto it = set.find(param.str()); it != set.end())
      values.push_back(it->second);
  auto [it, isNew] = rule.known.try_emplace(values);
  if (isNew)
    it->second = ask(rule.op, set);
  return it->second;
}

bool Combinations::visitOpen(size_t open, function_ref<bool(const NamedNumbers &)> body) {
  if (open == 0)
    return body(set);
  const auto &[name, values] = choices[open - 1];
  bool goesOn = true;
  for (int64_t value : values) {
    set[name] = value;
    if (--left < 0)
      goesOn = false;
    else if (llvm::all_of(rules[open - 1], [&](Rule &rule) { return mayBe(rule); }))
      goesOn = visitOpen(open - 1, body);
    if (!goesOn)
      break;
  }
  set.erase(name);
  return goesOn;
}
