//===- Model.cpp - Parameters that a model chooses ------------------------===//
#include "Model.h"
#include "mkernel/Dialect/Tile/Target.h"
#include "mkernel/Pipelines/Host.h"
#include "mkernel/Transforms/Passes.h"
#include "mlir/Pass/PassManager.h"
#include "llvm/Support/FormatVariadic.h"

#include <set>

using namespace mlir;
using namespace mlir::mk;

/// More combinations than these would take longer than the compilation, and so would more values
/// that are tried on the way to these.
static constexpr int64_t kMostCombinations = 32768, kMostTried = 16 * kMostCombinations;
/// What is faster by less than this share is not worth another choice than the default, or than the
/// one that was measured nearby; times that differ by less than the last one are alike. These say
/// how far the model is to be trusted, on any machine.
static constexpr double kIndifferent = 0.01, kMeasured = 0.03, kAlike = 0.001;
/// Tiles that are stored in parts that overlap have to be faster by this share, or by so many
/// milliseconds where that is less. Of 52 shapes for which they were predicted to be faster, most
/// of those that were slower had gained less than this.
static constexpr double kOverlapping = 0.03, kOverlappingMs = 0.001;
/// How many times as slow as the best one a choice may be predicted to be whose measurement may
/// still pay (docs/cost-model.md, "Candidates").
static constexpr double kWorthMeasuring = 1.4;
/// Most candidates with as many items that are divided alike.
static constexpr int64_t kOfDivision = 2;

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
    return require ? mayHold(require, sizes, all) : mayMultiply(cast<DotOp>(op), all);
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

/// Times of bursts and of steady use count alike.
static double getScore(const ModelChoice &choice) {
  bool overlaps = llvm::any_of(choice.work.loops, [](const LoopWork &l) { return l.overlaps; });
  double ms = std::sqrt(choice.prediction->burst * choice.prediction->steady);
  if (overlaps)
    ms += std::min(kOverlapping * ms, kOverlappingMs);
  return ms;
}

/// Bytes that CTAs ask for, which larger clusters have fewer of: near the best choices of 24 shapes
/// these gained more than the model says (docs/cost-model.md).
static double countAsked(const KernelWork &work) {
  double bytes = 0;
  for (const LoopWork &loop : work.loops)
    for (const ItemWork &item : loop.samples)
      bytes += (item.inner.asked + item.inner.loads) * loop.items / loop.samples.size();
  return bytes;
}

/// Faster, or as fast with fewer bytes that are asked for.
static bool isBetter(const ModelChoice &candidate, const ModelChoice &best) {
  if (!best.prediction)
    return true;
  double ratio = getScore(candidate) / getScore(best);
  return ratio < 1 - kAlike ||
         (ratio <= 1 + kAlike && countAsked(candidate.work) < countAsked(best.work));
}

/// Parameters that values follow from, also by way of another parameter's default.
using ParamNames = llvm::SmallSetVector<StringRef, 4>;

static ParamNames findParams(SmallVector<Value> values) {
  ParamNames params;
  DenseSet<Operation *> seen;
  while (!values.empty()) {
    Operation *op = values.pop_back_val().getDefiningOp();
    if (!op || !seen.insert(op).second)
      continue;
    if (auto param = dyn_cast<ParamOp>(op))
      params.insert(param.getName());
    llvm::append_range(values, op->getOperands());
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

namespace {
/// Goes through all combinations of choices, the first parameter's fastest. Those that violate a
/// requirement, or that have a product which no instruction computes, are left out as soon as the
/// parameters are chosen that this follows from, and that is found out once for each combination of
/// these.
class Combinations {
public:
  Combinations(Model &model, ArrayRef<ParamChoices::value_type> choices)
      : model(model), choices(choices), rules(choices.size()) {
    model.kernel().walk([&](Operation *op) {
      SmallVector<Value> values;
      if (auto require = dyn_cast<RequireOp>(op))
        values.push_back(require.getCondition());
      else if (auto dot = dyn_cast<DotOp>(op))
        values = getExtents(cast<RankedTensorType>(dot.getType()), model.kernel());
      Rule rule{op, findParams(std::move(values)), {}};
      // The first one in the list is chosen last.
      auto last = llvm::find_if(
          choices, [&](const auto &choice) { return rule.params.contains(choice.first); });
      if (last != choices.end())
        rules[last - choices.begin()].push_back(std::move(rule));
    });
  }

  /// Until `body` returns false, or so many values have been tried that what is left is of no
  /// interest. Whether it went through all.
  bool visit(function_ref<bool(const NamedNumbers &)> body) {
    tried = 0;
    return visit(choices.size(), body);
  }

private:
  struct Rule {
    Operation *op;
    ParamNames params;
    std::map<SmallVector<int64_t>, bool> known; // by the values of these
  };

  bool mayBe(Rule &rule) {
    SmallVector<int64_t> values;
    for (StringRef param : rule.params)
      if (auto it = set.find(param.str()); it != set.end())
        values.push_back(it->second);
    auto [it, isNew] = rule.known.try_emplace(values);
    if (isNew)
      it->second = model.mayBe(rule.op, set);
    return it->second;
  }

  /// The last ones are chosen, but for `open`.
  bool visit(size_t open, function_ref<bool(const NamedNumbers &)> body) {
    if (open == 0)
      return body(set);
    const auto &[name, values] = choices[open - 1];
    bool goesOn = true;
    for (int64_t value : values) {
      set[name] = value;
      if (++tried > kMostTried)
        goesOn = false;
      else if (llvm::all_of(rules[open - 1], [&](Rule &rule) { return mayBe(rule); }))
        goesOn = visit(open - 1, body);
      if (!goesOn)
        break;
    }
    set.erase(name);
    return goesOn;
  }

  Model &model;
  ArrayRef<ParamChoices::value_type> choices;
  std::vector<SmallVector<Rule, 0>> rules; // by the parameter that is chosen last
  NamedNumbers set;
  int64_t tried = 0;
};
} // namespace

/// What is much alike of two choices, so that the model errs alike on them: extents of tiles in
/// steps of half an octave, teams, and how items are divided.
using Family = SmallVector<int64_t>;

static Family getFamily(const KernelWork &work) {
  auto step = [](int64_t extent) {
    return std::lround(2 * std::log2(std::max<int64_t>(extent, 1)));
  };
  Family family;
  for (const LoopWork &loop : work.loops)
    family.append({step(loop.rows), step(loop.columns), loop.teams, loop.parts,
                   static_cast<int64_t>(loop.schedule)});
  return family;
}

/// How many items there are, and how they are divided: where tiles have room for more than there is
/// it stays the same from family to family.
static Family getDivision(const KernelWork &work) {
  Family division;
  for (const LoopWork &loop : work.loops)
    division.append({static_cast<int64_t>(loop.items), loop.teams, loop.parts,
                     static_cast<int64_t>(loop.schedule)});
  return division;
}

namespace {
/// The best choice of each family.
class Ranking {
public:
  void add(const ModelChoice &choice) {
    Entry entry{{choice.set, *choice.prediction},
                getScore(choice),
                countAsked(choice.work),
                getDivision(choice.work)};
    auto [it, isNew] = families.try_emplace(getFamily(choice.work), entry);
    if (!isNew && entry.isBefore(it->second))
      it->second = std::move(entry);
  }

  /// Up to `most`: behind `first`, which has the parameters `near` if it has none of its own, the
  /// best ones that are at most kWorthMeasuring times as slow.
  std::vector<ModelChoice::Candidate> take(size_t most, const ModelChoice &first,
                                           const NamedNumbers &near) {
    families.erase(getFamily(first.work)); // it stands for its own
    std::vector<Entry> entries;
    for (auto &[family, entry] : families)
      entries.push_back(std::move(entry));
    llvm::sort(entries, [](const Entry &a, const Entry &b) { return a.isBefore(b); });
    std::vector<ModelChoice::Candidate> list{
        {first.set.empty() ? near : first.set, *first.prediction}};
    double least = getScore(first);
    // As much work in as much time is the same code, as where nothing is left to divide.
    std::set<std::pair<double, double>> known{{least, countAsked(first.work)}};
    std::map<Family, int64_t> divided{{getDivision(first.work), 1}};
    for (Entry &entry : entries)
      if (list.size() < most && entry.score <= kWorthMeasuring * least &&
          divided[entry.division] < kOfDivision &&
          known.insert({entry.score, entry.asked}).second) {
        ++divided[entry.division];
        list.push_back(std::move(entry.candidate));
      }
    return list;
  }

private:
  struct Entry {
    ModelChoice::Candidate candidate;
    double score, asked;
    Family division;
    bool isBefore(const Entry &other) const {
      return std::tie(score, asked, candidate.set) <
             std::tie(other.score, other.asked, other.candidate.set);
    }
  };
  std::map<Family, Entry> families;
};
} // namespace

static void choose(Model &model, ModelChoice &result, const NamedNumbers &near, size_t candidates) {
  const ParamChoices choices = model.getOpenChoices();
  if (choices.empty())
    return;
  Combinations combinations(model, choices);
  int64_t count = 0;
  if (!combinations.visit([&](const NamedNumbers &) { return ++count <= kMostCombinations; })) {
    result.why = llvm::formatv("its parameters have more than {0} combinations: list fewer choices",
                               kMostCombinations);
    return;
  }
  // From what there is: measured nearby, or the defaults.
  ModelChoice first, best, candidate;
  bool mayStay = model.predict(near, /*mustFit=*/true, first);
  Ranking ranking;
  combinations.visit([&](const NamedNumbers &set) {
    candidate.set = set;
    if (!model.predict(set, /*mustFit=*/true, candidate))
      return true;
    if (isBetter(candidate, best))
      best = candidate;
    if (candidates)
      ranking.add(candidate);
    return true;
  });
  double worth = 1 - (near.empty() ? kIndifferent : kMeasured);
  if (mayStay && (!best.prediction || getScore(best) >= worth * getScore(first)))
    best = std::move(first);
  if (!best.prediction)
    return;
  best.compared = count;
  if (candidates)
    best.candidates = ranking.take(candidates, best, near);
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
  } else if (model.predict(near, /*mustFit=*/false, choice) && mayChoose) {
    choose(model, choice, near, options.candidates);
  }
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
  add("asked", work.asked);
  add("fresh", work.fresh);
  add("turns", work.turns);
  add("loads", work.loads);
  add("stores", work.stores);
  add("sent", work.sent);
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
    llvm::json::Object object{{"role", loop.role.getValue()},
                              {"ctas", loop.ctas},
                              {"items", loop.items},
                              {"inner", describe(mean.inner)},
                              {"outer", describe(mean.outer)}};
    if (loop.arrivals.bytes > 0)
      object["arrivals"] = llvm::json::Object{{"bytes", loop.arrivals.bytes},
                                              {"step", loop.arrivals.step},
                                              {"copies", loop.arrivals.copies}};
    loops.push_back(std::move(object));
  }
  auto describeMs = [](const Prediction &prediction) {
    return llvm::json::Object{{"burst", prediction.burst}, {"steady", prediction.steady}};
  };
  llvm::json::Array candidates;
  for (const ModelChoice::Candidate &candidate : choice.candidates) {
    llvm::json::Object set;
    for (const auto &[name, value] : candidate.set)
      set[name] = value;
    candidates.push_back(
        llvm::json::Object{{"set", std::move(set)}, {"ms", describeMs(candidate.prediction)}});
  }
  llvm::json::Object about{{"ms", describeMs(*choice.prediction)},
                           {"bound", choice.prediction->bound},
                           {"alone", choice.work.isAlone},
                           {"compared", choice.compared},
                           {"memory", choice.work.memory},
                           {"packed", choice.work.packed},
                           {"loops", std::move(loops)}};
  if (!candidates.empty())
    about["candidates"] = std::move(candidates);
  return about;
}
