//===- Model.cpp - Parameters that a model chooses ------------------------===//
#include "Combinations.h"
#include "Ranking.h"
#include "mkernel/Dialect/Tile/Target.h"
#include "mkernel/Pipelines/Host.h"
#include "mkernel/Transforms/Passes.h"
#include "mlir/Pass/PassManager.h"
#include "llvm/Support/FormatVariadic.h"

using namespace mlir;
using namespace mlir::mk;

/// More combinations than these would take longer than the compilation (several times as long where
/// items differ), and so would more values that are tried on the way to these.
static constexpr int64_t kMostCombinations = 32768, kMostTried = 16 * kMostCombinations;
/// What is faster by less than this share is not worth another choice than the default, or than the
/// one that was measured nearby: how far the model is to be trusted, on any machine.
static constexpr double kIndifferent = 0.01, kMeasured = 0.03;
/// How many choices are kept for where the best one does not compile: each of them may take as long
/// as that did.
static constexpr size_t kNext = 3;

namespace {
/// A copy of a module whose kernel is as the counter of work wants it.
class Model {
public:
  Model(KernelOp kernel, const CompileOptions &options, const Binding &binding)
      : options(options), module(kernel->getParentOfType<ModuleOp>().clone()) {
    TuningQuery query = makeQuery(kernel, options, binding);
    sizes = std::move(query.dims);
    given = std::move(query.given);
    // Of what ranks have each for itself, the first one's.
    for (const auto &entry : binding.dims)
      if (entry.second.size())
        sizes.try_emplace(entry.first().str(), entry.second.front());
  }

  /// False where helper functions cannot be inlined, or sizes are wrong; the pipelines tell.
  bool prepare() {
    ScopedDiagnosticHandler quiet(module->getContext(), [](Diagnostic &) { return success(); });
    LoweringOptions lowering;
    for (const auto &[name, size] : sizes)
      if (kernel().getMeshOp().findAxis(name) >= 0)
        lowering.bind.push_back(name + "=" + std::to_string(size));
    PassManager pm(module->getContext(), ModuleOp::getOperationName());
    buildBindPipeline(pm, lowering);
    return succeeded(pm.run(*module));
  }

  KernelOp kernel() { return *module->getOps<KernelOp>().begin(); }

  /// With `params` beside what is given; into `result`. Whether it is known, and fits if it must.
  bool predict(const NamedNumbers &params, bool mustFit, ModelChoice &result) {
    NamedNumbers all = given;
    all.insert(params.begin(), params.end());
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
    result.prediction = predictTime(*work, target);
    result.work = std::move(*work);
    return true;
  }

  /// Whether a requirement may hold, or a product be computed, with `params` beside what is given.
  bool mayBe(Operation *op, const NamedNumbers &params) {
    NamedNumbers all = given;
    all.insert(params.begin(), params.end());
    auto require = dyn_cast<RequireOp>(op);
    return require ? mk::mayHold(require, sizes, all) : mayMultiply(cast<DotOp>(op), all);
  }

  /// Whether all requirements may hold with `params` beside what is given.
  bool mayHold(const NamedNumbers &params) {
    return llvm::all_of(kernel().getBody().getOps<RequireOp>(),
                        [&](RequireOp op) { return mayBe(op, params); });
  }

  /// Of parameters that nobody gave.
  ParamChoices getOpenChoices() {
    ParamChoices choices = listChoices(kernel());
    llvm::erase_if(choices, [&](const auto &param) { return given.contains(param.first); });
    return choices;
  }

private:
  const CompileOptions &options;
  OwningOpRef<ModuleOp> module;
  NamedNumbers sizes, given;
};
} // namespace

static void choose(Model &model, ModelChoice &result, const NamedNumbers &near, size_t candidates) {
  const ParamChoices choices = model.getOpenChoices();
  if (choices.empty())
    return;
  Combinations combinations(model.kernel(), choices, [&](Operation *op, const NamedNumbers &set) {
    return model.mayBe(op, set);
  });
  int64_t count = 0;
  if (!combinations.visit(kMostTried,
                          [&](const NamedNumbers &) { return ++count <= kMostCombinations; })) {
    result.why = llvm::formatv("its parameters have more than {0} combinations: list fewer choices",
                               kMostCombinations);
    return;
  }
  // From what there is: measured nearby, or the defaults.
  ModelChoice first, best, candidate;
  bool mayStay = model.predict(near, /*mustFit=*/true, first);
  first.set = near;
  Ranking ranking;
  auto compare = [&](bool mustFit) {
    combinations.visit(kMostTried, [&](const NamedNumbers &set) {
      candidate.set = set;
      if (!model.predict(set, mustFit, candidate))
        return true;
      if (isBetter(candidate, best))
        best = candidate;
      ranking.add(candidate);
      return true;
    });
  };
  compare(/*mustFit=*/true);
  // What fits is an estimate: where nothing does, the compiler says what it has code for.
  if (!best.prediction && !mayStay)
    compare(/*mustFit=*/false);
  double worth = 1 - (near.empty() ? kIndifferent : kMeasured);
  if (mayStay && (!best.prediction || getScore(best) >= worth * getScore(first))) {
    best = first;
    best.set.clear();
  }
  if (!best.prediction)
    return;
  best.compared = count;
  best.next = ranking.listSmaller(best, kNext);
  if (candidates)
    best.candidates = ranking.take(candidates, best, first);
  result = std::move(best);
}

ModelChoice mk::consultModel(KernelOp kernel, const CompileOptions &options, const Binding &binding,
                             const NamedNumbers &near, bool mayChoose) {
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
  if (!options.choice.empty()) {
    model.predict(options.choice, /*mustFit=*/false, choice);
    choice.set = options.choice;
    choice.compared = 1;
    return choice;
  }
  // What is near, or by default, need not be possible: others may be.
  bool counts = model.predict(near, /*mustFit=*/false, choice);
  if (mayChoose && (counts || !model.mayHold(near)))
    choose(model, choice, near, options.candidates);
  return choice;
}
