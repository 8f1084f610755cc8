//===- Model.cpp - Parameters that a model chooses ------------------------===//
#include "Model.h"
#include "mkernel/Dialect/Tile/Target.h"
#include "mkernel/Pipelines/Host.h"
#include "mkernel/Transforms/Passes.h"
#include "mlir/Pass/PassManager.h"
#include "llvm/Support/FormatVariadic.h"

using namespace mlir;
using namespace mlir::mk;

/// More combinations than these would take longer than the compilation.
static constexpr int64_t kMostCombinations = 4096;
/// What is faster by less than this share is not worth another choice than the default, or than the one
/// that was measured nearby; times that differ by less than the last one are alike.
static constexpr double kIndifferent = 0.01, kMeasured = 0.03, kAlike = 0.001;

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
    for (const auto &[name, size] : options.tuneFor)
      sizes[name] = size;
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

  /// With `params` beside what is given; into `result`. Whether it is known, and fits if it must.
  bool predict(const NamedNumbers &params, bool mustFit, ModelChoice &result) {
    NamedNumbers all = given;
    for (const auto &param : params)
      all.try_emplace(param.first(), param.second);
    std::optional<KernelWork> work = countWork(kernel(), options.grid, sizes, all, result.why);
    if (!work)
      return false;
    if (work->loops.empty()) {
      result.why = "no loop is dealt out to CTAs";
      return false;
    }
    TargetAttr target = findTarget(*module);
    if (mustFit && !fits(*work, target.getSm()))
      return false;
    result.prediction = predictTime(*work, target.getRates());
    result.work = std::move(*work);
    return true;
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
static double getScore(const ModelChoice &choice) {
  return std::sqrt(choice.prediction->burst * choice.prediction->steady);
}

static double countCopies(const KernelWork &work) {
  double bytes = 0;
  for (const LoopWork &loop : work.loops)
    for (const ItemWork &item : loop.samples)
      bytes += (item.inner.copies + item.inner.loads) * loop.items / loop.samples.size();
  return bytes;
}

/// Faster, or as fast with fewer bytes that are copied.
static bool isBetter(const ModelChoice &candidate, const ModelChoice &best) {
  if (!best.prediction)
    return true;
  double ratio = getScore(candidate) / getScore(best);
  return ratio < 1 - kAlike ||
         (ratio <= 1 + kAlike && countCopies(candidate.work) < countCopies(best.work));
}

static void choose(Model &model, ModelChoice &result, const std::map<std::string, int64_t> &near) {
  SmallVector<Choice> choices = model.listChoices();
  if (choices.empty())
    return;
  double combinations = 1;
  for (const Choice &c : choices)
    combinations *= c.values.size();
  if (combinations > kMostCombinations) {
    result.why = llvm::formatv("its parameters have {0} combinations, more than {1}: list fewer choices",
                               static_cast<int64_t>(combinations), kMostCombinations);
    return;
  }
  // From what there is: measured nearby, or the defaults.
  NamedNumbers start;
  for (const auto &[name, value] : near)
    start[name] = value;
  ModelChoice first, best, candidate;
  bool mayStay = model.predict(start, /*mustFit=*/true, first);
  SmallVector<size_t> at(choices.size());
  auto advance = [&] {
    for (size_t i = 0; i != at.size(); ++i) {
      if (++at[i] != choices[i].values.size())
        return true;
      at[i] = 0;
    }
    return false;
  };
  NamedNumbers chosen;
  int64_t compared = 0;
  do {
    NamedNumbers values;
    for (auto [i, c] : llvm::enumerate(choices))
      values[c.name] = c.values[at[i]];
    ++compared;
    if (!model.predict(values, /*mustFit=*/true, candidate) || !isBetter(candidate, best))
      continue;
    best = candidate;
    chosen = std::move(values);
  } while (advance());
  double worth = 1 - (near.empty() ? kIndifferent : kMeasured);
  if (mayStay && (!best.prediction || getScore(best) >= worth * getScore(first)))
    best = std::move(first), chosen.clear();
  if (!best.prediction)
    return;
  for (const auto &param : chosen)
    best.set[param.first().str()] = param.second;
  best.compared = compared;
  result = std::move(best);
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
  if (model.predict(start, /*mustFit=*/false, choice) && mayChoose)
    choose(model, choice, near);
  return choice;
}

static llvm::json::Object describe(const Work &work) {
  llvm::json::Object object;
  auto add = [&](StringRef name, double amount) {
    if (amount > 0)
      object[name] = amount;
  };
  add("products", work.products);
  add("operands", work.operands);
  add("copies", work.copies);
  add("loads", work.loads);
  add("stores", work.stores);
  add("elements", work.elements);
  add("functions", work.functions);
  add("sums", work.sums);
  return object;
}

llvm::json::Value mk::describeModel(const ModelChoice &choice) {
  if (!choice.prediction)
    return llvm::json::Object{{"why", choice.why}};
  llvm::json::Array loops;
  for (const LoopWork &loop : choice.work.loops) {
    ItemWork mean;
    for (const ItemWork &item : loop.samples) {
      mean.inner.add(item.inner, 1.0 / loop.samples.size());
      mean.outer.add(item.outer, 1.0 / loop.samples.size());
    }
    loops.push_back(llvm::json::Object{{"role", loop.role.getValue()},
                                       {"ctas", loop.ctas},
                                       {"items", loop.items},
                                       {"inner", describe(mean.inner)},
                                       {"outer", describe(mean.outer)}});
  }
  llvm::json::Object ms{{"burst", choice.prediction->burst}, {"steady", choice.prediction->steady}};
  return llvm::json::Object{{"ms", std::move(ms)},
                            {"bound", choice.prediction->bound},
                            {"alone", choice.work.isAlone},
                            {"compared", choice.compared},
                            {"memory", choice.work.memory},
                            {"loops", std::move(loops)}};
}
