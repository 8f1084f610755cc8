//===- Round.cpp - What each command goes through -------------------------===//
//
// A round takes commands off the ring, posts them and takes what is complete. All of it that
// is done for each command is here, so that it becomes one loop: between two posts the
// network waits for it.
//
//===----------------------------------------------------------------------===//

#include "proxy/ProxyImpl.h"

#include <algorithm>

namespace mk::rt {
namespace {
// So few that puts on their way are near until they are complete.
constexpr size_t kBatch = 64;
// Puts taken off the ring and not posted; beyond it the ring fills up, and its
// producers wait.
constexpr uint64_t kMaxPending = 4096;
} // namespace

/// All that explain() looks for, at the cost of a few comparisons.
inline bool Proxy::Impl::isSound(const Command &c) const {
  constexpr uint8_t teams = (MK_CMD_TEAMS - 1) << MK_CMD_TEAM_SHIFT;
  constexpr uint8_t known = MK_CMD_HAS_SIGNAL | MK_CMD_MORE | MK_CMD_STRONG;
  uint8_t flags = c.flags & ~teams;
  bool signal = flags & MK_CMD_HAS_SIGNAL;
  if (flags & ~known || c.channel >= channels || c.peer >= world ||
      !isNet[c.peer] || (flags & MK_CMD_MORE && flags != MK_CMD_MORE) ||
      (flags & MK_CMD_STRONG && !signal) || (signal && c.slot >= slots))
    return false;
  if (c.op == MK_CMD_SIGNAL)
    return signal && c.bytes == 0;
  // Offsets have 48 bits and sizes 32: the sums do not wrap.
  return c.op == MK_CMD_PUT &&
         (c.bytes == 0 || (c.src >= windowBegin && c.dst >= windowBegin &&
                           std::max(c.src, c.dst) + c.bytes <= windowEnd));
}

inline void Proxy::Impl::accept(const Command &c) {
  uint64_t key = keyOf(c.channel, c.peer);
  if (foreign) {
    add(begunByPair[key], 1u);
    add(begunByChannel[c.channel], 1u);
    if (c.flags & MK_CMD_HAS_SIGNAL)
      add(signals, uint64_t(1));
  }
  uint32_t begun = open[uint64_t(c.channel) * MK_CMD_TEAMS + (c.flags >> MK_CMD_TEAM_SHIFT)];
  Pair &pair = pairs[key];
  bool strong = c.flags & MK_CMD_STRONG;
  if (begun != kNone || c.flags & MK_CMD_MORE || !ready.empty() || !pair.held.empty() ||
      (strong && pair.outstanding > 0)) [[unlikely]] {
    if (Status status = acceptPart(c); !status)
      fail(status);
    return;
  }
  uint32_t number = takePut(c.channel, c.peer);
  Put &put = puts[number];
  put.commands = 1;
  if (c.bytes > 0)
    put.request.fragments.push_back({c.src, c.dst, c.bytes});
  if (c.flags & MK_CMD_HAS_SIGNAL)
    put.request.signal = SignalAdd{c.slot, c.amount};
  put.strong = strong;
  ++pair.outstanding;
  if (!post(number)) [[unlikely]] {
    ++pending;
    append(ready, number);
  }
}

inline void Proxy::Impl::take(const CommandWords &words) {
  if (failed.load(std::memory_order_relaxed)) [[unlikely]] {
    add(discarded, uint64_t(1));
    return;
  }
  Command command = fieldsOf(words);
  if (!isWellFormed(words)) [[unlikely]]
    return refuse(words);
  if (!isSound(command)) [[unlikely]] {
    // Memory may have been added since the round began.
    windowEnd = options.heap->backed();
    if (!isSound(command))
      return refuse(words);
  }
  accept(command);
}

inline void Proxy::Impl::completed(uint64_t cookie) {
  if (cookie >= numPuts || !puts[cookie].posted) [[unlikely]]
    return strayCompletion(cookie);
  const Put &put = puts[cookie];
  uint32_t channel = put.channel;
  Pair &pair = pairs[keyOf(channel, put.request.peer)];
  // Of a strong put the bytes that went ahead of its signal are no put.
  if (uint32_t commands = put.commands) {
    add(pair.ended, commands);
    add(endedByChannel[channel], commands);
    if (sink)
      sink->completed(channel);
  }
  giveBack(static_cast<uint32_t>(cookie));
  if (--pair.outstanding == 0 && !pair.held.empty())
    pump(pair);
}

/// Returns how many. Once something has failed they are dropped.
size_t Proxy::Impl::takeCommands() {
  if (options.abort->raised()) {
    size_t n = ring->consume(kBatch, [](const CommandWords &) {});
    add(discarded, uint64_t(n));
    return n;
  }
  if (!failed && pending >= kMaxPending)
    return 0;
  windowEnd = options.heap->backed();
  return ring->consume(kBatch, [this](const CommandWords &words) { take(words); });
}

bool Proxy::Impl::round() {
  postedInRound = 0;
  if (options.requestTimeout.count() != 0)
    roundBegan = std::chrono::steady_clock::now();
  size_t taken = takeCommands();
  bool any = taken > 0;
  if (any)
    add(commands, uint64_t(taken));
  if (!ready.empty())
    postReady();
  if (postedInRound > 0) {
    add(requests, postedInRound);
    any = true;
  }
  completions.clear();
  Status polled = transport->poll(completions);
  for (const LocalCompletion &c : completions.local)
    completed(c.cookie);
  for (const Arrival &a : completions.arrivals)
    arrived(a);
  any |= !completions.empty();
  if (sink)
    publish();
  if (!polled)
    fail(polled);
  checkAges();
  return any;
}

} // namespace mk::rt
