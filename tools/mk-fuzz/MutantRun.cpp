//===- MutantRun.cpp - All mutants of a seed ------------------------------===//
#include "MutantRun.h"
#include "MutantPool.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/raw_ostream.h"

#include <map>
#include <random>

using namespace mlir;
using namespace mlir::mk;
using namespace mlir::mk::fuzz;

namespace {

/// Draws edits, each at most once: first a kernel and a kind that it has, then an
/// op, then what happens to it.
class Drawer {
public:
  Drawer(const std::vector<MutantCase> &cases, ArrayRef<MutantKind> kinds,
         uint64_t seed) {
    std::seed_seq sequence{uint32_t(seed), uint32_t(seed >> 32)};
    random.seed(sequence);
    for (size_t i = 0; i < cases.size(); ++i) {
      MutantScope scope(cases[i].module, cases[i].kernel);
      for (MutantKind kind : kinds) {
        std::map<Operation *, size_t> number;
        Group group{i, kind, {}};
        for (auto [e, edit] : llvm::enumerate(scope.collect(kind))) {
          size_t site = number.try_emplace(edit.site, number.size()).first->second;
          group.sites.resize(number.size());
          group.sites[site].push_back(e);
        }
        if (!group.sites.empty())
          groups.push_back(std::move(group));
      }
    }
  }

  std::optional<Mutant> draw() {
    if (groups.empty())
      return std::nullopt;
    Group &group = groups[random() % groups.size()];
    auto &site = group.sites[random() % group.sites.size()];
    size_t at = random() % site.size();
    Mutant mutant{group.kase, group.kind, site[at], random()};
    site.erase(site.begin() + at);
    if (site.empty())
      std::swap(site, group.sites.back()), group.sites.pop_back();
    if (group.sites.empty())
      std::swap(group, groups.back()), groups.pop_back();
    return mutant;
  }

private:
  struct Group {
    size_t kase;
    MutantKind kind;
    std::vector<std::vector<size_t>> sites; // edits of each
  };
  std::mt19937_64 random;
  std::vector<Group> groups;
};

struct Result {
  Verdict verdict;
  std::string site, text;
};

struct Counts {
  uint64_t by[static_cast<size_t>(Verdict::Count)] = {};
  uint64_t &operator[](Verdict v) { return by[static_cast<size_t>(v)]; }
  uint64_t made() const {
    uint64_t sum = 0;
    for (uint64_t n : by)
      sum += n;
    return sum;
  }
};

void printRow(StringRef name, Counts &c) {
  llvm::outs() << llvm::formatv(
      "{0,-24} {1,8} {2,9} {3,7} {4,6} {5,11} {6,10} {7,7}\n", name, c.made(),
      c[Verdict::Compiler], c[Verdict::Values], c[Verdict::Races],
      c[Verdict::Equivalent], c[Verdict::Survivor], c[Verdict::Broken]);
}

struct Runner {
  const std::vector<MutantCase> &cases;
  const MutantRunOptions &options;
  std::vector<Mutant> mutants;
  std::vector<std::optional<Result>> results;
  std::map<std::string, Counts> byCase;
  std::map<MutantKind, Counts> byKind;
  Counts all;

  std::string nameOf(uint64_t number) const {
    return llvm::formatv("mutant-{0}-{1}", options.seed, number);
  }

  /// In the order of their numbers, so that it does not depend on `jobs`.
  void count(uint64_t number) {
    const Mutant &mutant = mutants[number];
    const Result &result = *results[number];
    if (result.verdict == Verdict::Same)
      return;
    const MutantCase &kase = cases[mutant.kase];
    ++byCase[kase.kernel][result.verdict];
    ++byKind[mutant.kind][result.verdict];
    ++all[result.verdict];
    llvm::outs() << llvm::formatv("{0}: {1} {2}, {3}: {4}\n", toString(result.verdict),
                                  nameOf(number), kase.kernel, toString(mutant.kind),
                                  result.site);
    if (!result.text.empty())
      llvm::outs() << "    " << result.text << "\n";
    llvm::outs().flush();
  }

  /// Whether no checker says anything of the kernels as they are.
  bool lookAtOriginals() {
    MutantPool pool(options.jobs, sizeof(MutantShared),
                    std::chrono::seconds(options.limit));
    uint64_t started = 0, alarms = 0;
    while (pool.good() && (started < cases.size() || !pool.empty())) {
      if (started < cases.size() && !pool.full()) {
        uint64_t number = started++;
        const MutantCase &kase = cases[number];
        pool.start(number, [&](void *shared) {
          checkOriginal(kase, "original-" + kase.kernel, options.seed, options.check,
                        *static_cast<MutantShared *>(shared));
        });
        continue;
      }
      MutantPool::Ended ended = pool.wait();
      Result result = read(ended);
      if (result.verdict == Verdict::Survivor)
        continue;
      ++alarms;
      llvm::outs() << llvm::formatv("ALARM: {0} of {1}, {2}: {3}\n",
                                    cases[ended.number].kernel, cases[ended.number].file,
                                    toString(result.verdict), result.text);
      llvm::outs().flush();
    }
    llvm::outs() << llvm::formatv(
        "originals: {0} kernels compiled for 20 meshes and run on {1}, {2} alarms\n",
        cases.size(), options.check.originalRuns, alarms);
    llvm::outs().flush();
    return pool.good() && alarms == 0;
  }

  static Result read(const MutantPool::Ended &ended) {
    auto &shared = *static_cast<MutantShared *>(ended.shared);
    Result result{shared.verdict, shared.site, shared.text};
    if (ended.late || ended.status != 0 || result.verdict == Verdict::Running) {
      result.verdict = Verdict::Broken;
      result.text = (shared.doing + Twine(" ") + MutantPool::describe(ended)).str();
    }
    return result;
  }

  bool run() {
    bool quiet = !options.originals || lookAtOriginals();
    return makeAll() && quiet;
  }

  bool makeAll() {
    Drawer drawer(cases, options.kinds, options.seed);
    MutantPool pool(options.jobs, sizeof(MutantShared),
                    std::chrono::seconds(options.limit));
    uint64_t counted = 0;
    bool more = true;
    while (all.made() < options.count) {
      // No more than could still be needed.
      while (more && pool.good() && !pool.full() &&
             mutants.size() - counted + all.made() < options.count) {
        std::optional<Mutant> mutant = drawer.draw();
        more = mutant.has_value();
        if (!more)
          break;
        uint64_t number = mutants.size();
        mutants.push_back(*mutant);
        results.emplace_back();
        pool.start(number, [&](void *shared) {
          checkMutant(cases[mutant->kase], *mutant, nameOf(number), options.check,
                      *static_cast<MutantShared *>(shared));
        });
      }
      if (!pool.good()) {
        llvm::errs() << "mk-fuzz: no memory or no process for a mutant\n";
        return false;
      }
      if (pool.empty())
        break;
      MutantPool::Ended ended = pool.wait();
      results[ended.number] = read(ended);
      for (; counted < mutants.size() && results[counted]; ++counted)
        count(counted);
    }
    return judge();
  }

  bool judge() {
    llvm::outs() << llvm::formatv(
        "\n{0,-24} {1,8} {2,9} {3,7} {4,6} {5,11} {6,10} {7,7}\n", "", "mutants",
        "compiler", "values", "races", "equivalent", "survivors", "broken");
    for (auto &[name, counts] : byCase)
      printRow(name, counts);
    llvm::outs() << "\n";
    for (auto &[kind, counts] : byKind)
      printRow(toString(kind), counts);
    llvm::outs() << "\n";
    printRow("all", all);
    if (all.made() < options.count)
      llvm::outs() << llvm::formatv("there are no more than {0} mutants\n", all.made());
    uint64_t wrong = all.made() - all[Verdict::Equivalent];
    uint64_t found = wrong - all[Verdict::Survivor] - all[Verdict::Broken];
    double percent = wrong ? 100.0 * double(found) / double(wrong) : 0;
    bool enough = wrong && percent >= options.require && !all[Verdict::Broken];
    llvm::outs() << llvm::formatv(
        "{0} of {1} wrong kernels found, {2:F1} %, seed {3}\n", found, wrong, percent,
        options.seed);
    if (!enough)
      llvm::outs() << llvm::formatv("FAILED: at least {0} % have to be found, and no "
                                    "tool may crash or hang\n",
                                    options.require);
    return enough;
  }
};
} // namespace

bool fuzz::runMutants(const std::vector<MutantCase> &cases,
                      const MutantRunOptions &options) {
  return Runner{cases, options, {}, {}, {}, {}, {}}.run();
}
