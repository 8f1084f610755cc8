//===- Model.cpp - Parameters that a model chooses ------------------------===//
#include "Model.h"
#include "mkernel/Dialect/Tile/Target.h"
#include "mkernel/Pipelines/Host.h"
#include "mkernel/Transforms/Passes.h"
#include "mlir/Pass/PassManager.h"

using namespace mlir;
using namespace mlir::mk;

/// More combinations than these would take longer than the compilation.
static constexpr int64_t kMostCombinations = 4096;
/// What is faster by less than this share is not worth another choice than the one that was
/// measured nearby, or the default.
static constexpr double kIndifferent = 0.01, kMeasured = 0.03;

namespace {
struct Choice {
  std::string name;
  SmallVector<int64_t> values;
};

/// A copy of a module whose kernel is as the counter of work wants it.
class Model {
public:
  Model(KernelOp kernel, const CompileOptions &options, const Binding &binding)
      : options(options), module(kernel->getParentOfType<ModuleOp>().clone()) {
    for (const auto &entry : binding.dims)
      if (entry.second.size())
        sizes[entry.first()] = entry.second.front();
    read(binding.sizes, sizes);
    read(binding.params, given);
  }

  /// False where helper functions cannot be inlined, or sizes are wrong; the pipelines tell.
  bool prepare() {
    ScopedDiagnosticHandler quiet(module->getContext(), [](Diagnostic &) { return success(); });
    LoweringOptions lowering;
    for (const auto &size : sizes)
      if (llvm::any_of(kernel().getMeshOp().getAxes(), [&](Attribute axis) {
            return cast<AxisAttr>(axis).getName() == size.first();
          }))
        lowering.bind.push_back((size.first() + "=" + Twine(size.second)).str());
    PassManager pm(module->getContext(), ModuleOp::getOperationName());
    buildBindPipeline(pm, lowering);
    return succeeded(pm.run(*module));
  }

  KernelOp kernel() { return *module->getOps<KernelOp>().begin(); }

  /// With `params` beside what is given.
  std::optional<Prediction> predict(const NamedNumbers &params, bool mustFit, std::string &why) {
    NamedNumbers all = given;
    for (const auto &param : params)
      all.try_emplace(param.first(), param.second);
    std::optional<KernelWork> work = countWork(kernel(), options.grid, sizes, all, why);
    if (!work)
      return std::nullopt;
    if (work->loops.empty()) {
      why = "no loop is dealt out to CTAs";
      return std::nullopt;
    }
    TargetAttr target = findTarget(*module);
    if (mustFit && !fits(*work, target.getSm()))
      return std::nullopt;
    return predictTime(*work, target.getRates());
  }

  SmallVector<Choice> listChoices() {
    SmallVector<Choice> choices;
    kernel().walk([&](ParamOp param) {
      if (!param.getChoices() || given.contains(param.getName()) ||
          llvm::any_of(choices, [&](const Choice &c) { return c.name == param.getName(); }))
        return;
      choices.push_back({param.getName().str(), SmallVector<int64_t>(*param.getChoices())});
    });
    return choices;
  }

  int64_t getDefault(StringRef name) {
    int64_t number = -1;
    kernel().walk([&](ParamOp param) {
      if (param.getName() == name)
        number = param.getNumber() ? *param.getNumber() : -1;
    });
    return number;
  }

private:
  static void read(ArrayRef<std::string> pairs, NamedNumbers &numbers) {
    for (StringRef pair : pairs) {
      auto [name, text] = pair.split('=');
      int64_t value;
      if (!text.getAsInteger(10, value))
        numbers[name] = value;
    }
  }

  const CompileOptions &options;
  OwningOpRef<ModuleOp> module;
  NamedNumbers sizes, given;
};
} // namespace

/// Times of bursts and of steady use count alike.
static double getScore(const Prediction &prediction) {
  return std::sqrt(prediction.burst * prediction.steady);
}

static void choose(Model &model, ModelChoice &choice,
                   const std::map<std::string, int64_t> &near) {
  SmallVector<Choice> choices = model.listChoices();
  double combinations = 1;
  for (const Choice &c : choices)
    combinations *= c.values.size();
  if (choices.empty())
    return;
  if (combinations > kMostCombinations) {
    choice.why = "its parameters have " + std::to_string(int64_t(combinations)) +
                 " combinations, more than " + std::to_string(kMostCombinations) +
                 ": list fewer choices";
    choice.prediction.reset();
    return;
  }
  // From what there is: measured nearby, or the defaults.
  NamedNumbers start;
  for (const Choice &c : choices)
    if (auto it = near.find(c.name); it != near.end())
      start[c.name] = it->second;
    else if (int64_t number = model.getDefault(c.name); number >= 0)
      start[c.name] = number;
  std::string why;
  std::optional<Prediction> best = model.predict(start, /*mustFit=*/true, why);
  NamedNumbers chosen = start;
  double limit = best ? getScore(*best) * (1 - (near.empty() ? kIndifferent : kMeasured)) : 0;
  SmallVector<size_t> at(choices.size());
  auto advance = [&] {
    for (size_t i = 0; i != at.size(); ++i) {
      if (++at[i] != choices[i].values.size())
        return true;
      at[i] = 0;
    }
    return false;
  };
  do {
    NamedNumbers candidate;
    for (auto [i, c] : llvm::enumerate(choices))
      candidate[c.name] = c.values[at[i]];
    std::optional<Prediction> time = model.predict(candidate, /*mustFit=*/true, why);
    ++choice.compared;
    if (!time || (limit && getScore(*time) >= limit))
      continue;
    best = time;
    chosen = candidate;
    limit = getScore(*time) * (1 - kIndifferent / 10); // the first of those that are alike
  } while (advance());
  if (!best)
    return;
  choice.prediction = best;
  bool isNew = llvm::any_of(chosen, [&](const auto &param) {
    return start.lookup(param.first()) != param.second || !start.contains(param.first());
  });
  if (isNew)
    for (const auto &param : chosen)
      choice.set[param.first().str()] = param.second;
}

ModelChoice mk::consultModel(KernelOp kernel, const CompileOptions &options, const Binding &binding,
                             const std::map<std::string, int64_t> &near, bool mayChoose) {
  ModelChoice choice;
  TargetAttr target = findTarget(kernel);
  if (!target || !target.getSm() || !target.getRates()) {
    choice.why = "the target has no rates";
    return choice;
  }
  Model model(kernel, options, binding);
  if (!model.prepare()) {
    choice.why = "the kernel cannot be bound to these sizes";
    return choice;
  }
  NamedNumbers start;
  for (const auto &[name, value] : near)
    start[name] = value;
  choice.prediction = model.predict(start, /*mustFit=*/false, choice.why);
  if (choice.prediction && mayChoose)
    choose(model, choice, near);
  return choice;
}

llvm::json::Value mk::describeModel(const ModelChoice &choice) {
  if (!choice.prediction)
    return llvm::json::Object{{"why", choice.why}};
  llvm::json::Object ms{{"burst", choice.prediction->burst}, {"steady", choice.prediction->steady}};
  return llvm::json::Object{{"ms", std::move(ms)},
                            {"bound", choice.prediction->bound},
                            {"compared", choice.compared}};
}
