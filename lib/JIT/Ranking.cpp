//===- Ranking.cpp - Which choices are the best ----------------------------===//
#include "Ranking.h"

#include <set>

using namespace mlir;
using namespace mlir::mk;

/// Times that differ by less than this share are alike: how far the model is to be trusted, on any
/// machine.
static constexpr double kAlike = 0.001;
/// Tiles that are stored in parts that overlap have to be faster by this share, or by so many
/// milliseconds where that is less. Of 52 shapes for which they were predicted to be faster, most
/// of those that were slower had gained less than this.
static constexpr double kOverlapping = 0.03, kOverlappingMs = 0.001;
/// How many times as slow as the best one a choice may be predicted to be whose measurement may
/// still pay (docs/cost-model.md, "Candidates").
static constexpr double kWorthMeasuring = 1.4;
/// Most candidates with as many items that are divided alike.
static constexpr int64_t kMostPerDivision = 2;

/// Times of bursts and of steady use count alike.
double mk::getScore(const ModelChoice &choice) {
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
bool mk::isBetter(const ModelChoice &candidate, const ModelChoice &best) {
  if (!best.prediction)
    return true;
  double ratio = getScore(candidate) / getScore(best);
  return ratio < 1 - kAlike ||
         (ratio <= 1 + kAlike && countAsked(candidate.work) < countAsked(best.work));
}

/// Extents of tiles in steps of half an octave (without products, how much is loaded, and how much
/// the largest one has), teams, and how items are divided.
Ranking::Family Ranking::getFamily(const KernelWork &work) {
  auto step = [](int64_t extent) {
    return std::lround(2 * std::log2(std::max<int64_t>(extent, 1)));
  };
  Family family;
  for (const LoopWork &loop : work.loops)
    family.append({step(loop.rows ? loop.rows : loop.held),
                   step(loop.rows ? loop.columns : loop.largest), loop.teams, loop.parts,
                   static_cast<int64_t>(loop.schedule)});
  return family;
}

/// How many items there are, and how they are divided: where tiles have room for more than there is
/// it stays the same from family to family.
Ranking::Family Ranking::getDivision(const KernelWork &work) {
  Family division;
  for (const LoopWork &loop : work.loops)
    division.append({static_cast<int64_t>(loop.items), loop.teams, loop.parts,
                     static_cast<int64_t>(loop.schedule)});
  return division;
}

/// Elements that threads hold at once, by and large.
static int64_t countRoom(const KernelWork &work) {
  int64_t most = 0;
  for (const LoopWork &loop : work.loops)
    most = std::max(most, loop.accumulators + loop.largest + loop.held / 4);
  return most;
}

std::vector<NamedNumbers> Ranking::listSmaller(const ModelChoice &first, size_t most) const {
  std::vector<NamedNumbers> list;
  int64_t limit = countRoom(first.work) - 1;
  for (size_t i = 0; i != most; ++i, limit /= 2) {
    const Entry *best = nullptr;
    for (const auto &[family, entry] : families)
      if (entry.room <= limit && (!best || entry.isBefore(*best)))
        best = &entry;
    if (!best)
      break;
    if (list.empty() || list.back() != best->candidate.set)
      list.push_back(best->candidate.set);
  }
  return list;
}

void Ranking::add(const ModelChoice &choice) {
  Entry entry{{choice.set, *choice.prediction},
              getScore(choice),
              countAsked(choice.work),
              countRoom(choice.work),
              getDivision(choice.work)};
  auto [it, isNew] = families.try_emplace(getFamily(choice.work), entry);
  if (!isNew && entry.isBefore(it->second))
    it->second = std::move(entry);
}

std::vector<ModelChoice::Candidate> Ranking::take(size_t most, const ModelChoice &first,
                                                  const ModelChoice &near) {
  double least = getScore(first), worth = kWorthMeasuring * least;
  bool isNear = first.set.empty() || first.set == near.set;
  bool addsNear = !isNear && !near.set.empty() && near.prediction && getScore(near) <= worth;
  // They stand for their own.
  families.erase(getFamily(first.work));
  if (addsNear)
    families.erase(getFamily(near.work));
  std::vector<Entry> entries;
  for (auto &[family, entry] : families)
    entries.push_back(std::move(entry));
  llvm::sort(entries, [](const Entry &a, const Entry &b) { return a.isBefore(b); });
  std::vector<ModelChoice::Candidate> list{{isNear ? near.set : first.set, *first.prediction}};
  // As much work in as much time is the same code, as where nothing is left to divide.
  std::set<std::pair<double, double>> known{{least, countAsked(first.work)}};
  std::map<Family, int64_t> divided{{getDivision(first.work), 1}};
  // That it was the fastest of a size nearby says more than the model.
  if (addsNear && list.size() < most) {
    list.push_back({near.set, *near.prediction});
    known.insert({getScore(near), countAsked(near.work)});
    ++divided[getDivision(near.work)];
  }
  for (Entry &entry : entries)
    if (list.size() < most && entry.score <= worth && divided[entry.division] < kMostPerDivision &&
        known.insert({entry.score, entry.asked}).second) {
      ++divided[entry.division];
      list.push_back(std::move(entry.candidate));
    }
  return list;
}
