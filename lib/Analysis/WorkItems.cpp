//===- WorkItems.cpp - Items of a loop, and which of them are looked at ---===//
#include "WorkCounter.h"
#include "mkernel/Analysis/Ctas.h"
#include "mkernel/Analysis/StreamK.h"

#include <cmath>
#include <utility>

using namespace mlir;
using namespace mlir::mk;

/// Of a loop whose items differ, so many are looked at: bounds the time of the analysis.
static constexpr int64_t kSamples = 64;
/// Where they are looked at in their order: thirds, quarters and eighths of them are whole samples.
static constexpr int64_t kOrderedSamples = 24;
/// Where items for the ranks of a node may alternate, as many in a row as there are, so often.
static constexpr int64_t kOrderedRuns = 12;

bool WorkCounter::countItem(ForeachOp loop, ArrayRef<int64_t> indices, LoopWork &work) {
  numbers.reset();
  for (auto [argument, index] : llvm::zip(loop.getBody().getArguments(), indices))
    numbers.assume(argument, index);
  item = {};
  counted.clear();
  current = &work;
  Footprint others = std::exchange(static_cast<Footprint &>(work), {});
  if (!count(loop.getBody().front(), 1, false))
    return false;
  work.cover(others);
  work.samples.push_back(item);
  return true;
}

/// Item `s` of all.
static SmallVector<int64_t> enumerate(int64_t s, ArrayRef<int64_t> bounds) {
  SmallVector<int64_t> indices(bounds.size());
  for (size_t d = bounds.size(); d-- != 0; s /= bounds[d])
    indices[d] = s % bounds[d];
  return indices;
}

/// Sample `s`: evenly along dimension `even`, `run` of them in a row, and along the others so that
/// all combinations turn up (multiples of numbers whose ratios are irrational).
static SmallVector<int64_t> spread(int64_t s, int64_t samples, ArrayRef<int64_t> bounds,
                                   size_t even, int64_t run) {
  SmallVector<int64_t> indices(bounds.size());
  double at = (s / run * run + 0.5) / samples;
  for (size_t i = 0; i != bounds.size(); ++i) {
    size_t d = (even + bounds.size() - i) % bounds.size();
    indices[d] = static_cast<int64_t>(at * bounds[d]);
    constexpr double others[] = {0.6180339887498949, 0.4142135623730951, 0.7320508075688772};
    at = std::fmod((s + 0.5) * others[i % std::size(others)], 1.0);
  }
  indices[even] = std::min(indices[even] + s % run, bounds[even] - 1);
  return indices;
}

/// Items of a loop whose items differ, evenly along dimension `even`, `run` of them in a row.
bool WorkCounter::countSamples(ForeachOp loop, ArrayRef<int64_t> bounds, int64_t most, size_t even,
                               int64_t run, LoopWork &work) {
  work.samples.clear();
  work.arrivals = {};
  // All of the dimension, several times if it is short.
  if (run > 1 && bounds[even] <= most)
    most -= most % bounds[even], run = 1;
  auto samples = static_cast<int64_t>(std::min<double>(most, work.items));
  bool takesAll = run == 1 && countElements(bounds) <= most;
  for (int64_t s = 0; s != samples; ++s)
    if (!countItem(loop, takesAll ? enumerate(s, bounds) : spread(s, samples, bounds, even, run),
                   work))
      return false;
  return true;
}

/// Ranks that links reach, the own one among them, along axes that have sizes.
int64_t WorkCounter::countLinked() {
  int64_t ranks = 1;
  for (int64_t axis = 0; axis != kernel.getMeshOp().getNumAxes(); ++axis)
    if (AxisAttr found = kernel.getMeshOp().getAxis(axis);
        found.getLink() == LinkKind::Link && !ShapedType::isDynamic(found.getSize()))
      ranks *= found.getSize();
  return ranks;
}

bool WorkCounter::countLoop(ForeachOp loop, LoopWork &work) {
  std::optional<SmallVector<int64_t>> known = numbers.getBounds(loop);
  if (!known)
    return giveUp(loop, "goes over a number of items that is not known before the launch");
  SmallVector<int64_t> bounds = *known;
  double items = countElements(bounds);
  work.items = items;
  work.schedule = loop.getScheduleKind();
  if (ScheduleAttr schedule = loop.getScheduleAttr()) {
    work.tail = schedule.getTailParam() ? numbers.getParam(schedule.getTailParam()).value_or(1)
                                        : std::max<int64_t>(schedule.getTail(), 1);
    if (schedule.getKindParam())
      work.schedule = symbolizeScheduleKind(numbers.getParam(schedule.getKindParam()).value_or(0))
                          .value_or(ScheduleKind::Static);
  }
  if (ScheduleAttr schedule = loop.getScheduleAttr();
      schedule && work.schedule == ScheduleKind::Static)
    work.parts = schedule.getPartsParam() ? numbers.getParam(schedule.getPartsParam()).value_or(1)
                                          : schedule.getTogether();
  for (int64_t *ctas : {&work.ctas, &work.own})
    *ctas = limitToClusters(loop->getParentOfType<KernelOp>(), *ctas, work.parts, /*others=*/0);
  for (FoldOp fold : loop.getBody().getOps<FoldOp>()) {
    if (work.schedule == ScheduleKind::StreamK)
      work.isShared = bool(FoldSlices(fold));
    if (work.parts > 1 && !FoldSlices(fold, /*axis=*/1))
      return giveUp(fold, "cannot be finished by columns, which CTAs that do it together have");
  }
  if (OrderAttr order = loop.getOrderAttr()) {
    work.teams = order.getAlternateParam() ? numbers.getParam(order.getAlternateParam()).value_or(1)
                                           : std::max<int64_t>(order.getAlternate(), 1);
  }
  // Nothing is split where items fill whole waves. With teams stream-K is refused all the same.
  if (work.schedule == ScheduleKind::StreamK && work.teams == 1 && work.ctas > 0 &&
      std::fmod(items, work.ctas) == 0)
    work.schedule = ScheduleKind::Static;
  findCluster(loop, bounds, work);
  work.cluster = cluster;
  // What passes decide by the bounds is decided: the others have nothing to do.
  work.items = items = numbers.countLikely(loop, items);
  isSampled = false;
  if (items < 1 || countItem(loop, {}, work))
    return true;
  // Items differ by their indices.
  why.clear();
  isSampled = true;
  static_cast<Footprint &>(work) = {};
  if (!countSamples(loop, bounds, kSamples, bounds.size() - 1, 1, work))
    return false;
  if (llvm::all_equal(work.samples))
    work.samples.truncate(1); // what differs does not follow from indices
  if (llvm::none_of(work.samples, [](const ItemWork &sample) { return sample.meetsPeers(); }))
    return true;
  // Those that wait or send do so in the order of the items.
  const auto *first = llvm::find_if(bounds, [](int64_t bound) { return bound > 1; });
  size_t even = first == bounds.end() ? 0 : first - bounds.begin();
  bool sends = llvm::any_of(work.samples, [](const ItemWork &s) { return s.getSent() > 0; });
  int64_t run = sends ? std::min(countLinked(), kMostPeers) : 1;
  return countSamples(loop, bounds, run > 1 ? kOrderedRuns * run : kOrderedSamples, even, run,
                      work);
}
