//===- CostModel.cpp - How long a launch will take ------------------------===//
#include "mkernel/Analysis/CostModel.h"
#include "PeersTime.h"
#include "mkernel/Analysis/Dots.h"
#include "mkernel/Dialect/Tile/Target.h"

#include <algorithm>
#include <cmath>
#include <limits>

using namespace mlir;
using namespace mlir::mk;

namespace {
/// A time in ns, and what it goes to.
struct Time {
  double ns = 0;
  StringRef bound = "launch";
};
} // namespace

/// Bytes of shared memory for barriers, mailboxes and what tickets come by. No field of a target:
/// it follows from the code that this compiler makes.
static constexpr int64_t kBarrierAndMailboxBytes = 2048;

/// How many times as long something takes.
static double inPercent(int64_t percent) { return percent / 100.0; }

static Time longer(Time a, Time b) { return b.ns > a.ns ? b : a; }

/// 10^9 a second are as many a nanosecond.
static Time inTime(double amount, int64_t rate, StringRef bound) { return {amount / rate, bound}; }

/// Warpgroups that share the rows of an item's products: see `mk-sm-split-roles`; 0 if none can.
static int64_t countWarpgroups(const LoopWork &loop, SmAttr sm) {
  for (int64_t number : sm.getRegisters().getWarpgroupCounts())
    if ((loop.teams == 1 || number == 1) &&
        loop.rows % (sm.getMatrixUnit().getRows() * number) == 0)
      return number;
  return 0;
}

/// By how many buffers each warpgroup stores: two, unless slices of a divided item's sum are stored
/// from registers, of rows or of less than a chunk of columns (`mk-sm-choose-stores`).
static int64_t countBuffers(const LoopWork &loop) {
  if (loop.isTransposed)
    return 2;
  double chunks = loop.storedChunks / loop.parts;
  bool ofRows = loop.schedule == ScheduleKind::StreamK && loop.isShared;
  return ofRows || (loop.parts > 1 && chunks < 1) ? 0 : 2;
}

/// What shared memory holds besides rings, at least: buffers are of a chunk of the rows of an
/// instruction.
static int64_t countOtherBytes(const LoopWork &loop, int64_t buffers, SmAttr sm) {
  int64_t sent = loop.parts > 1 ? 4 * loop.carried : 0;
  int64_t warpgroups = countWarpgroups(loop, sm) * loop.teams;
  return loop.once + sent + buffers * sm.getMatrixUnit().getRows() * sm.getChunk() * warpgroups +
         kBarrierAndMailboxBytes;
}

/// Slots of its rings, as if all were one (`mk-sm-size-rings`).
static int64_t countSlots(const LoopWork &loop, SmAttr sm) {
  ThresholdsAttr most = sm.getThresholds();
  int64_t deepest =
      loop.slot <= most.getSmallSlot() ? most.getSmallRingDepth() : most.getRingDepth();
  auto count = [&](int64_t buffers) {
    int64_t bytes = sm.getShared() - countOtherBytes(loop, buffers, sm);
    return std::clamp<int64_t>(bytes / std::max<int64_t>(loop.slot, 1), 1, deepest);
  };
  int64_t buffers = countBuffers(loop), slots = count(buffers);
  // The least that keep up are worth a buffer, if that gives another one.
  bool trades = buffers && loop.teams == 1 && slots == most.getBusySlots();
  return trades ? count(buffers - 1) : slots;
}

/// Whether another team has an item while one is done.
static bool takesTurns(const LoopWork &loop) { return loop.teams > 1 && loop.items > loop.ctas; }

/// Registers of a CTA's threads, where these are as many as hold the most.
static int64_t countRegisters(SmAttr sm) {
  int64_t most = 0;
  for (auto split : sm.getRegisters().getSplits().getAsRange<RegisterSplitAttr>())
    most = std::max<int64_t>(most, split.getWarpgroups() * split.getConsumer());
  return most * kWarpgroupThreads;
}

/// Registers that the threads of a role without products have for tiles.
static int64_t getTileRegisters(SmAttr sm) {
  RegisterReserveAttr reserve = sm.getRegisters().getReserve();
  auto split = *sm.getRegisters().getSplits().getAsRange<RegisterSplitAttr>().begin();
  return (split.getConsumer() - reserve.getScalars() - reserve.getIdle()) * split.getWarpgroups() *
         kWarpgroupThreads;
}

/// Turns of loops without products that wait for what they load: where registers do not hold it
/// twice, beside the largest tile and what follows from that (`mk-sm-advance-loads`).
static double countWaitedTurns(const LoopWork &loop, const ItemWork &item, SmAttr sm) {
  if (loop.rows)
    return 0;
  return 2 * loop.largest + 2 * loop.turn / 4 > getTileRegisters(sm) ? item.loadTurns : 0;
}

/// How much of what an item loads it waits for, from 0 to 1. The rest is on its way while the item
/// before is worked on (`mk-sm-advance-items`): what is known then, and registers hold twice.
static double getWaitedShare(const LoopWork &loop, SmAttr sm) {
  constexpr int64_t kRegisterBytes = 4;
  if (loop.schedule != ScheduleKind::Static)
    return 1;
  int64_t room = std::max<int64_t>(getTileRegisters(sm) * kRegisterBytes / 2, 0);
  if (loop.held <= room)
    return 0;
  return 1 - double(room / loop.heldAtOnce * loop.heldAtOnce) / loop.held;
}

/// What an item takes besides its work. With products: something for each part of it that a
/// warpgroup stores by way of shared memory. Else it waits for what is not loaded ahead.
static double getItemTime(const LoopWork &loop, int64_t storeParts, SmAttr sm, RatesAttr rates) {
  if (!loop.rows)
    return rates.getItem() + (loop.held ? getWaitedShare(loop, sm) * rates.getLatency() : 0);
  double warpgroups = std::max<int64_t>(countWarpgroups(loop, sm), 1);
  return rates.getItem() * std::max(1.0, storeParts / warpgroups) *
         (takesTurns(loop) ? inPercent(rates.getBeside()) : 1);
}

/// What things take that overlap, and get in each other's way where they take about as long: the
/// sharper, the more the longest one counts alone.
static Time together(ArrayRef<Time> times, double sharpness) {
  Time longest;
  for (Time time : times)
    longest = longer(longest, time);
  double sum = 0;
  for (Time time : times)
    sum += longest.ns > 0 ? std::pow(time.ns / longest.ns, sharpness) : 0;
  return {longest.ns * std::pow(sum, 1 / sharpness), longest.bound};
}

/// The share of a loop's CTAs that have something to do.
static double getShare(const LoopWork &loop) {
  if (loop.schedule == ScheduleKind::StreamK)
    return 1;
  return std::min(1.0, loop.items * loop.parts / std::max<double>(loop.ctas, 1));
}

/// Elementwise work, if all threads do it together.
static double getElementTime(const Work &work, RatesAttr rates) {
  return work.elements / rates.getElements() + work.functions / rates.getFunctions();
}

/// What one warpgroup takes for its own part of a loop, one thing after the other: it works on what
/// its product has made before it needs the next one. The others fill the matrix unit meanwhile.
static Time getLoneTime(const LoopWork &loop, const Work &work, double clock, SmAttr sm,
                        RatesAttr rates) {
  double elements = getElementTime(work, rates);
  if (elements == 0 || work.products == 0)
    return {};
  double groups = std::max<int64_t>(countWarpgroups(loop, sm) * loop.teams, 1);
  double share = work.products / rates.getProducts() / clock + elements;
  return {share / groups + work.reductions * rates.getReduction(), "elements"};
}

/// Parts of a loop around products overlap. What another CTA of the cluster has asked for comes for
/// nothing. A slot is fetched again as soon as it is free, so that each turn waits for its share of
/// the time until a copy has come.
static Time getInnerTime(const LoopWork &loop, const Work &work, SmAttr sm, RatesAttr rates) {
  double share = getShare(loop);
  // Those that have nothing to do leave power to others, and some of the L2 cache, which all share.
  double clock = 1 + (inPercent(rates.getClock()) - 1) * (1 - share);
  double asked = std::sqrt(share) * work.asked, loads = work.loads / rates.getCopies();
  double waited = work.turns * rates.getLatency() + asked / rates.getCopies() + loads +
                  work.fresh / rates.getFetch();
  Time time = together({{work.products / rates.getProducts() / clock, "products"},
                        {work.operands / rates.getOperands() / clock, "operands"},
                        {asked / rates.getCache() + loads, "copies"},
                        {work.turns > 0 ? waited / countSlots(loop, sm) : 0, "latency"}},
                       rates.getOverlap());
  time = together(
      {time, {getElementTime(work, rates), "elements"}, getLoneTime(loop, work, clock, sm, rates)},
      rates.getOverlap());
  // Threads wait for what they load themselves, and the matrix unit for them.
  if (work.turns > 0 && work.direct > 0)
    time.ns += work.direct / rates.getCopies() + work.turns * rates.getLatency();
  // Threads add up what the matrix unit has made, and only then let it go on; half of that lies
  // under products of another warpgroup.
  time.ns += work.sums / rates.getElements() / std::clamp<int64_t>(countWarpgroups(loop, sm), 1, 2);
  return time;
}

/// What stands before and behind it, of which nothing overlaps; a team has its share of the
/// threads. Where nothing is multiplied a row is dealt out to all threads, which meet twice for
/// what they reduce: to give their parts, and to get the result.
static Time getOuterTime(const LoopWork &loop, const Work &work, RatesAttr rates) {
  double meetings = loop.rows ? 0 : 2 * work.reductions * rates.getReduction();
  Time time = {loop.teams * getElementTime(work, rates) + meetings, "elements"};
  Time moved = inTime(work.copies + work.loads + work.stores, rates.getCopies(), "copies");
  double products = work.products / rates.getProducts() + work.sums / rates.getElements();
  return {time.ns + moved.ns + products, longer(time, moved).bound};
}

namespace {
/// Where items are divided: how many turns a CTA makes, as many bytes as how many parts have are
/// moved to add them up (0: nothing is divided), and how many times as long turns take.
struct Division {
  double turns, added, slowness;
};
} // namespace

/// See `mk-expand-stream-k`.
static Division divideTurns(const LoopWork &loop, double turns, ThresholdsAttr thresholds,
                            RatesAttr rates) {
  double ctas = loop.ctas, waves = std::floor(loop.items / ctas);
  if (loop.items == waves * ctas)
    return {waves * turns, 0, 1};
  double kept = std::max(waves - (loop.tail - 1), 0.0), split = loop.items - kept * ctas;
  double most = loop.isShared ? thresholds.getSlicedParts() : thresholds.getItemParts();
  double parts = std::min({std::floor(ctas / split), turns, most});
  if (parts >= 2)
    return {kept * turns + std::ceil(turns / parts), loop.isShared ? 2 : parts - 1,
            inPercent(rates.getApart())};
  double sharing = std::min(split * turns, ctas);
  return {kept * turns + std::ceil(split * turns / sharing),
          split < sharing ? std::ceil(sharing / split) : 1, inPercent(rates.getUneven())};
}

static Time getDividedTime(const LoopWork &loop, Time inner, Time outer, SmAttr sm,
                           RatesAttr rates) {
  double turns = std::max(loop.samples.front().inner.turns, 1.0);
  auto [own, added, slowness] = divideTurns(loop, turns, sm.getThresholds(), rates);
  double time = own * inner.ns / turns * slowness +
                std::ceil(own / turns) * (outer.ns + getItemTime(loop, loop.storeParts, sm, rates));
  if (added)
    time += rates.getSplit() + added * loop.carried * 4 / rates.getCopies();
  return {time, longer(inner, outer).bound};
}

/// Where CTAs do an item together each has some of its turns, sends what these give, and finishes
/// some of its columns (`mk-divide-items`).
static Time getPartsTime(const LoopWork &loop, Time inner, Time outer, SmAttr sm, RatesAttr rates) {
  double turns = std::max(loop.samples.front().inner.turns, 1.0), parts = loop.parts;
  double item = getItemTime(loop, llvm::divideCeil(loop.storeParts, loop.parts), sm, rates);
  double own = std::ceil(turns / parts) * inner.ns / turns * inPercent(rates.getApart());
  double sent = rates.getLatency() + loop.carried * 4.0 / rates.getCopies();
  double behind = sent + outer.ns / parts + item;
  double rounds = std::ceil(loop.items * parts / loop.ctas);
  // Copies for the next item go on meanwhile, as far as there are slots, and no longer than they
  // take: the less, the more CTAs wait for each other.
  bool isCopied = inner.bound == "copies" || inner.bound == "latency";
  double under = isCopied ? std::min({behind, own, countSlots(loop, sm) * inner.ns / turns}) : 0;
  // At the first item CTAs are in step, and the exchange takes half as long.
  double time = rounds * (own + behind) - rates.getLatency() / 2.0;
  return {time - (rounds - 1) * under * 2 / parts, longer(inner, outer).bound};
}

/// Times that are nearly the same are taken for the same: waves of such items are whole.
static constexpr double kAlike = 0.05;

/// What the CTA with most to do takes for its items, of a role that begins so many ns behind the
/// launch.
static Time getLoopTime(const LoopWork &loop, double begin, SmAttr sm, RatesAttr rates,
                        LinksAttr links) {
  if (loop.samples.empty() || loop.items < 1 || loop.ctas < 1)
    return {};
  Time longest, inner, outer;
  double sum = 0, item = 0, shortest = std::numeric_limits<double>::infinity();
  SmallVector<PeersItem> times;
  for (const ItemWork &work : loop.samples) {
    inner = getInnerTime(loop, work.inner, sm, rates);
    outer = getOuterTime(loop, work.outer, rates);
    item = getItemTime(loop, work.storeParts, sm, rates) +
           countWaitedTurns(loop, work, sm) * rates.getLatency();
    Time whole = {inner.ns + outer.ns + item, longer(inner, outer).bound};
    // Where teams take turns another item's products run beside what is not inner.
    if (takesTurns(loop))
      whole.ns = std::max(inner.ns, whole.ns / 2);
    sum += whole.ns;
    longest = longer(longest, whole);
    shortest = std::min(shortest, whole.ns);
    times.push_back(
        {whole.ns, inner.ns, work.waits, work.gathers, work.getSent(), work.getAnnounced()});
  }
  if (loop.schedule == ScheduleKind::StreamK)
    return getDividedTime(loop, inner, outer, sm, rates);
  if (loop.parts > 1)
    return getPartsTime(loop, inner, outer, sm, rates);
  bool meetsPeers = llvm::any_of(loop.samples, [](const ItemWork &w) { return w.meetsPeers(); });
  if (links && meetsPeers && loop.items <= kMostPeersItems) {
    auto [ns, byLinks] = getPeersTime(loop, times, links, begin);
    return {ns, byLinks ? "links" : longest.bound};
  }
  double mean = sum / loop.samples.size();
  double share = loop.items / loop.ctas; // of each CTA, if it could be cut
  if (shortest >= (1 - kAlike) * longest.ns) {
    // The last item of a team has no other beside it.
    double last = loop.teams > 1 && share > 1 ? outer.ns + item : 0;
    return {std::ceil(share) * mean + last, longest.bound};
  }
  // Long and short items mix; at the end some CTAs wait for half an item on average.
  return {std::max(share * mean + (share > 1 ? longest.ns / 2 : 0), longest.ns), longest.bound};
}

namespace {
/// When roles are done.
class RoleTimes {
public:
  RoleTimes(const KernelWork &work, TargetAttr target) : work(work), target(target) {}

  Time getEnd(StringAttr role) {
    if (auto it = ends.find(role); it != ends.end())
      return it->second;
    return ends[role] = computeEnd(role);
  }

private:
  static LoopWork withOwn(LoopWork loop) {
    loop.ctas = loop.own;
    return loop;
  }

  /// All loops of a role, with its own CTAs only or with those that come.
  Time getTime(StringAttr role, double begin, bool alone) {
    Time time;
    double longest = 0;
    for (const LoopWork &loop : work.loops) {
      if (loop.role != role)
        continue;
      if (alone && loop.own == 0)
        return {std::numeric_limits<double>::infinity(), time.bound};
      Time part = getLoopTime(alone ? withOwn(loop) : loop, begin, target.getSm(),
                              target.getRates(), target.getLinks());
      time = {time.ns + part.ns, part.ns > longest ? part.bound : time.bound};
      longest = std::max(longest, part.ns);
    }
    return time;
  }

  /// Own CTAs begin at once; from when others come all do what is left.
  Time computeEnd(StringAttr role) {
    StringAttr from = work.after.lookup(role);
    if (!from)
      return getTime(role, 0, /*alone=*/false);
    Time alone = getTime(role, 0, /*alone=*/true), before = getEnd(from);
    if (alone.ns <= before.ns)
      return before;
    Time all = getTime(role, before.ns, /*alone=*/false);
    double rest = (1 - before.ns / alone.ns) * all.ns;
    return {before.ns + rest, rest > before.ns ? all.bound : before.bound};
  }

  const KernelWork &work;
  TargetAttr target;
  llvm::DenseMap<StringAttr, Time> ends;
};
} // namespace

/// How much of the loads of an item that has loops is waited for, from 0 to 1: nothing where
/// registers hold those of all turns of a short loop, which go ahead like others
/// (`mk-sm-advance-loads`: seven turns, three or one).
static double getWaitedShare(const LoopWork &loop, const ItemWork &item, SmAttr sm) {
  if (!item.loadTurns)
    return getWaitedShare(loop, sm);
  int64_t ahead = (getTileRegisters(sm) - 3 * loop.largest) / std::max<int64_t>(loop.turn / 4, 1);
  return item.loadTurns > (ahead >= 7 ? 8 : ahead >= 3 ? 4 : 2);
}

/// Where nothing is multiplied the loads of one item are under way while another one is worked on,
/// if they go ahead: it waits for a quarter of what a load takes and for what its threads exchange,
/// besides its bytes (copies, transposed copies, stencils, norms and sums of listed rows of many
/// tile sizes on an H200).
static double getWaits(const KernelWork &work, SmAttr sm, RatesAttr rates) {
  double longest = 0;
  for (const LoopWork &loop : work.loops) {
    if (loop.rows)
      return 0;
    double sum = 0;
    for (const ItemWork &item : loop.samples)
      if (item.outer.loads > 0 || item.loadTurns > 0)
        sum += (0.25 + 0.75 * getWaitedShare(loop, item, sm)) * rates.getLatency() +
               item.outer.reductions * rates.getReduction();
    if (!loop.samples.empty() && loop.ctas > 0)
      longest = std::max(longest, std::ceil(loop.items / loop.ctas) * sum / loop.samples.size());
  }
  return longest;
}

Prediction mk::predictTime(const KernelWork &work, TargetAttr target) {
  RatesAttr rates = target.getRates();
  double products = 0, share = 0; // of CTAs that read device memory
  double written = work.written;
  int64_t cluster = 1;
  Time time;
  RoleTimes roles(work, target);
  for (const LoopWork &loop : work.loops) {
    time = longer(time, roles.getEnd(loop.role));
    cluster = std::max(cluster, loop.cluster);
    if (llvm::any_of(loop.samples, [](const ItemWork &item) { return item.inner.fresh > 0; }))
      share = std::max(share, getShare(loop));
    for (const ItemWork &item : loop.samples) {
      double times = loop.items / loop.samples.size();
      products += (item.inner.products + item.outer.products) * times;
      written += (item.inner.shared + item.outer.shared) * times;
    }
  }
  // Neither can do without the other: where both take about as long, they get in each other's way.
  // The fewer read it, the less it gives.
  double slowness = share ? 1 + (inPercent(rates.getFewSms()) - 1) * (1 - share) : 1;
  Time memory = inTime(work.memory * slowness, rates.getMemory(), "memory");
  memory.ns += written / rates.getWritten() + getWaits(work, target.getSm(), rates);
  time = together({time, memory}, rates.getMemoryOverlap());
  time.ns += rates.getLaunch() + rates.getJoin() * std::log2(cluster);
  // A launch of its own in front reads and writes them.
  if (work.packed > 0)
    time.ns += 2 * work.packed / rates.getMemory() + rates.getPacking();
  Time sustained = inTime(products, rates.getSustained(), "power");
  return {time.ns / 1e6, longer(time, sustained).ns / 1e6, time.bound};
}

/// Whether threads have registers for the accumulators.
static bool fitRegisters(const LoopWork &loop, int64_t warpgroups, SmAttr sm) {
  RegistersAttr file = sm.getRegisters();
  int64_t registers = 0;
  for (auto split : file.getSplits().getAsRange<RegisterSplitAttr>())
    if (split.getWarpgroups() == warpgroups * loop.teams && !split.getAbove())
      registers = std::max(registers, split.getConsumer());
  // Where CTAs share items, what others have summed up is added to what is there.
  int64_t scalars =
      file.getReserve().getScalars() * (loop.schedule == ScheduleKind::StreamK ? 2 : 1);
  // One instruction has to do with the registers that threads begin with.
  int64_t instruction = std::min(loop.columns, sm.getMatrixUnit().getColumns()) / 2;
  return instruction + file.getReserve().getProduct() <=
             file.getAtStart(kWarpgroupThreads * (warpgroups * loop.teams + 1)) &&
         loop.accumulators <= (registers - scalars) * kWarpgroupThreads * warpgroups;
}

/// Whether threads have registers for what they compute of what: the largest tile twice.
static bool fitTiles(const LoopWork &loop, SmAttr sm) {
  return 2 * loop.largest <= countRegisters(sm);
}

bool mk::fits(const KernelWork &work, SmAttr sm) {
  for (const LoopWork &loop : work.loops) {
    if (!loop.rows) {
      if (!fitTiles(loop, sm))
        return false;
      continue;
    }
    if (loop.teams > 1 && (loop.schedule == ScheduleKind::StreamK || loop.parts > 1))
      return false; // `mk-expand-stream-k` and `mk-divide-items` refuse it
    if (loop.parts > 1 &&
        (!loop.ctas || loop.columns % (loop.parts * sm.getMatrixUnit().getColumnStep())))
      return false; // parts are whole steps of columns
    if (loop.teams > 1 && loop.storeParts > sm.getThresholds().getUnrolledParts())
      return false; // it would be stored in a loop, for longer than another item's products take
    int64_t warpgroups = countWarpgroups(loop, sm);
    if (!warpgroups || !fitRegisters(loop, warpgroups, sm))
      return false;
    // Two slots of each ring are the least.
    if (2 * loop.slot + countOtherBytes(loop, countBuffers(loop), sm) > sm.getShared())
      return false;
  }
  return true;
}
