//===- PeersTime.cpp - Time of items that meet peers ----------------------===//
//
// All ranks do the same at the same times, so what this one sends is what comes in, when it does.
//
//===----------------------------------------------------------------------===//
#include "PeersTime.h"

#include <cmath>
#include <queue>

using namespace mlir;
using namespace mlir::mk;

namespace {
class PeersTime {
public:
  PeersTime(const LoopWork &loop, ArrayRef<PeersItem> samples, LinksAttr links, double begin)
      : loop(loop), samples(samples), links(links), items(static_cast<int64_t>(loop.items)) {
    for (int64_t i = 0; i != items; ++i) {
      waiting += find(i).waits > 0;
      gathering += find(i).gathers > 0;
      announcing += find(i).announced > 0;
    }
    if (waiting > 0)
      takeArrivals(loop.arrivals, begin);
  }

  std::pair<double, bool> get();

private:
  const PeersItem &find(int64_t i) const { return samples[i * samples.size() / items]; }
  void takeArrivals(const Arrivals &arrivals, double begin);
  double getReady(const PeersItem &item);
  double getGathered();

  const LoopWork &loop;
  ArrayRef<PeersItem> samples;
  LinksAttr links;
  int64_t items;
  double waiting = 0, gathering = 0, announcing = 0; // items that do so
  // What roles without products send: when the first of it comes, in how many steps, when the last.
  double first = 0, steps = 0, step = 0, end = 0;
  double slowness = 1;             // of items until then
  double waited = 0, gathered = 0; // items that have done so
  SmallVector<double> announcedAt; // when what items have stored, with a signal, is at peers
};
} // namespace

/// Times are those behind the begin of the loop: what has come by then is there.
void PeersTime::takeArrivals(const Arrivals &arrivals, double begin) {
  bool byEngines = arrivals.copies > 0;
  double rate = byEngines ? links.getByEngines() : links.getByCtas();
  first = (byEngines ? links.getEnginesBegin() : links.getCtasBegin()) - begin;
  steps = std::max(1.0, std::round(arrivals.bytes / arrivals.step));
  step = (arrivals.bytes / rate + arrivals.copies * links.getCopy()) / steps;
  end = first + steps * step;
  slowness = byEngines ? 1 : links.getBeside() / 100.0;
}

/// What roles send comes evenly, a step at a time: the n-th of those that wait has what it needs
/// when its share of all has come. Parts of items that wait several times come side by side for as
/// many items as there are CTAs.
double PeersTime::getReady(const PeersItem &item) {
  waited += 1;
  double with = item.waits > 1 ? llvm::alignTo(waited, loop.ctas) : waited;
  return first + std::ceil(std::min(with / waiting, 1.0) * steps) * step;
}

/// The n-th of those that gather what items store has its parts with its share of what is
/// announced. Where that comes behind it, peers are taken to announce it as it gathers.
double PeersTime::getGathered() {
  gathered += 1;
  auto needed = static_cast<size_t>(std::ceil(gathered * announcing / gathering));
  return needed && needed <= announcedAt.size() ? announcedAt[needed - 1] : 0;
}

std::pair<double, bool> PeersTime::get() {
  // When each CTA is free.
  std::priority_queue<double, std::vector<double>, std::greater<>> free(
      std::greater<>(), std::vector<double>(std::min<int64_t>(loop.ctas, items), 0.0));
  double finished = 0, busy = 0, sent = 0, sending = 0;
  for (int64_t i = 0; i != items; ++i) {
    const PeersItem &item = find(i);
    double now = free.top();
    free.pop();
    double ready = item.waits > 0 ? getReady(item) : 0;
    double slow = std::max(now, ready) < end ? slowness : 1;
    // One that waits several times, spread over its inner part, goes on with what is there.
    if (item.waits > 1)
      ready -= slow * item.inner * (1 - 1 / item.waits);
    now = std::max(now, ready) + slow * item.inner;
    if (item.gathers > 0)
      now = std::max(now, getGathered());
    now += slow * (item.whole - item.inner);
    busy += slow * item.whole / loop.ctas;
    finished = std::max(finished, now);
    // It goes out behind what others have sent before, while its CTA does the next item.
    sending += item.sent / links.getByStores();
    if (item.sent > 0)
      sent = std::max(sent, now) + item.sent / links.getByStores();
    if (item.announced > 0)
      announcedAt.push_back(sent);
    free.push(now);
  }
  return {std::max(finished, sent), std::max(end, sending) > busy};
}

std::pair<double, bool> mk::getPeersTime(const LoopWork &loop, ArrayRef<PeersItem> samples,
                                         LinksAttr links, double begin) {
  return PeersTime(loop, samples, links, begin).get();
}
