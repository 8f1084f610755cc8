//===- CostModel.cpp - How long a launch will take ------------------------===//
#include "mkernel/Analysis/CostModel.h"

#include <algorithm>
#include <cmath>

using namespace mlir;
using namespace mlir::mk;

namespace {
/// A time in ns, and what it goes to.
struct Time {
  double ns = 0;
  StringRef bound = "launch";
};
} // namespace

/// Bytes of shared memory for barriers, mailboxes and what tickets come by.
static constexpr int64_t kSmallThings = 2048;

static Time longer(Time a, Time b) { return b.ns > a.ns ? b : a; }

/// 10^9 a second are as many a nanosecond.
static Time inTime(double amount, int64_t rate, StringRef bound) { return {amount / rate, bound}; }

/// Parts of a loop around products overlap: the longest counts.
static Time getInnerTime(const Work &work, RatesAttr rates) {
  Time time = longer({}, inTime(work.products, rates.getProducts(), "products"));
  time = longer(time, inTime(work.operands, rates.getOperands(), "operands"));
  time = longer(time, inTime(work.copies + work.loads, rates.getCopies(), "copies"));
  time = longer(time, {work.elements / rates.getElements() + work.functions / rates.getFunctions(),
                       "elements"});
  // Threads add up what the matrix unit has made, and only then let it go on.
  time.ns += work.sums / rates.getElements();
  return time;
}

static Time getItemTime(const LoopWork &loop, const ItemWork &item, RatesAttr rates) {
  Time inner = getInnerTime(item.inner, rates), outer = getInnerTime(item.outer, rates);
  // Stores leave while the next item begins, and where teams take turns another item's products run.
  bool overlaps = loop.teams > 1 && loop.items > loop.ctas;
  inner.ns += (overlaps ? 0 : outer.ns) + rates.getItem();
  if (item.outer.stores > 0)
    inner = longer(inner, inTime(item.outer.stores + item.inner.copies + item.inner.loads,
                                 rates.getCopies(), "copies"));
  return inner.ns > outer.ns ? inner : Time{inner.ns, outer.bound};
}

/// What the CTA with most to do takes for its items.
static Time getLoopTime(const LoopWork &loop, RatesAttr rates) {
  if (loop.samples.empty() || loop.items < 1 || loop.ctas < 1)
    return {};
  Time longest;
  double sum = 0;
  for (const ItemWork &item : loop.samples) {
    Time time = getItemTime(loop, item, rates);
    sum += time.ns;
    longest = longer(longest, time);
  }
  double mean = sum / loop.samples.size();
  double share = loop.items / loop.ctas; // of each CTA, if it could be cut
  if (loop.schedule == ScheduleKind::StreamK)
    return {share * mean + rates.getSplit(), longest.bound};
  if (loop.samples.size() == 1)
    return {std::ceil(share) * mean, longest.bound};
  // Long and short items mix; at the end some CTAs wait for half an item on average.
  return {std::max(share * mean + (share > 1 ? longest.ns / 2 : 0), longest.ns), longest.bound};
}

Prediction mk::predictTime(const KernelWork &work, RatesAttr rates) {
  Time time = inTime(work.memory, rates.getMemory(), "memory");
  double products = 0;
  llvm::DenseMap<StringAttr, Time> roles;
  for (const LoopWork &loop : work.loops) {
    Time part = getLoopTime(loop, rates);
    Time &role = roles[loop.role];
    role = {role.ns + part.ns, longer(role, part).bound};
    time = longer(time, role);
    for (const ItemWork &item : loop.samples)
      products += (item.inner.products + item.outer.products) * loop.items / loop.samples.size();
  }
  time.ns += rates.getLaunch();
  Time sustained = inTime(products, rates.getSustained(), "power");
  return {time.ns / 1e6, longer(time, sustained).ns / 1e6, time.bound};
}

/// Warpgroups that share the rows of an item's products: see `mk-sm-split-roles`; 0 if none can.
static int64_t countWarpgroups(const LoopWork &loop, SmAttr sm) {
  for (int64_t number : {2, 3, 1})
    if ((loop.teams == 1 || number == 1) &&
        loop.rows % (sm.getMatrixUnit().getRows() * number) == 0)
      return number;
  return 0;
}

/// Whether threads have registers for the accumulators.
static bool fitRegisters(const LoopWork &loop, int64_t warpgroups, SmAttr sm) {
  RegistersAttr file = sm.getRegisters();
  int64_t registers = 0;
  for (auto split : file.getSplits().getAsRange<RegisterSplitAttr>())
    if (split.getWarpgroups() == warpgroups * loop.teams && !split.getAbove())
      registers = std::max(registers, split.getConsumer());
  // Where CTAs share items, what others have summed up is added to what is there.
  int64_t scalars = file.getReserve().getScalars() *
                    (loop.schedule == ScheduleKind::StreamK ? 2 : 1);
  // One instruction has to do with the registers that threads begin with.
  int64_t instruction = std::min(loop.columns, sm.getMatrixUnit().getColumns()) / 2;
  return instruction + file.getReserve().getProduct() <=
             file.getAtStart(128 * (warpgroups * loop.teams + 1)) &&
         loop.accumulators <= (registers - scalars) * 128 * warpgroups;
}

bool mk::fits(const KernelWork &work, SmAttr sm) {
  for (const LoopWork &loop : work.loops) {
    if (!loop.rows)
      continue;
    int64_t warpgroups = countWarpgroups(loop, sm);
    if (!warpgroups || !fitRegisters(loop, warpgroups, sm))
      return false;
    // Two slots of each ring are the least. Each warpgroup stores by two buffers of a chunk of the rows
    // of an instruction (`mk-sm-size-rings`).
    int64_t buffers = 2 * sm.getMatrixUnit().getRows() * sm.getChunk() * warpgroups * loop.teams;
    if (2 * loop.slot + loop.once + buffers + kSmallThings > sm.getShared())
      return false;
  }
  return true;
}
