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
[[gnu::always_inline]] inline bool Proxy::Impl::isSound(Command c) const {
  constexpr uint8_t teams = (MK_CMD_TEAMS - 1) << MK_CMD_TEAM_SHIFT;
  constexpr uint32_t combinations = 1u << 0 | 1u << MK_CMD_HAS_SIGNAL | 1u << MK_CMD_MORE |
                                    1u << (MK_CMD_HAS_SIGNAL | MK_CMD_STRONG);
  uint32_t flags = c.flags & ~teams;
  if (flags > 7 || !(combinations >> flags & 1) || c.channel >= channels || c.peer >= world ||
      !isNet[c.peer])
    return false;
  if (flags & MK_CMD_HAS_SIGNAL && c.slot >= slots)
    return false;
  // Offsets have 48 bits and sizes 32: the sums do not wrap.
  if (c.op == MK_CMD_PUT) [[likely]]
    return c.bytes == 0 || (std::min(c.src, c.dst) >= windowBegin &&
                            std::max(c.src, c.dst) + c.bytes <= windowEnd);
  return c.op == MK_CMD_SIGNAL && flags & MK_CMD_HAS_SIGNAL && c.bytes == 0;
}

[[gnu::always_inline]] inline void Proxy::Impl::accept(Command c) {
  if (foreign) {
    add(begun[c.channel], 1u);
    if (c.flags & MK_CMD_HAS_SIGNAL)
      add(signals, uint64_t(1));
  }
  Channel &channel = channelOf[c.channel];
  Pair &pair = pairs[keyOf(c.channel, c.peer)];
  bool strong = c.flags & MK_CMD_STRONG;
  if (channel.open[c.flags >> MK_CMD_TEAM_SHIFT] != kNone || c.flags & MK_CMD_MORE ||
      !ready.empty() || !pair.held.empty() || (strong && pair.outstanding > 0)) [[unlikely]] {
    postGroup();
    if (Status status = acceptPart(c); !status)
      fail(status);
    return;
  }
  uint32_t number = takePut(c.channel, c.peer);
  Put &put = puts[number];
  put.request.cookie = number | kOneCommand;
  if (c.bytes > 0)
    put.request.fragments.push_back({c.src, c.dst, c.bytes});
  if (c.flags & MK_CMD_HAS_SIGNAL)
    put.request.signal = SignalAdd{c.slot, c.amount};
  put.strong = strong;
  ++pair.outstanding;
  group[grouped++] = number;
}

/// In order; what the transport does not take waits.
inline void Proxy::Impl::postGroup() {
  for (uint32_t i = 0; i < grouped; ++i)
    if (!ready.empty() || failed || !post(group[i])) [[unlikely]] {
      ++pending;
      append(ready, group[i]);
    }
  grouped = 0;
}

[[gnu::always_inline]] inline void Proxy::Impl::take(CommandWords words) {
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

[[gnu::always_inline]] inline void Proxy::Impl::completed(uint64_t cookie) {
  uint32_t number = numberIn(cookie);
  if (number >= numPuts || !puts[number].posted || puts[number].request.cookie != cookie)
      [[unlikely]]
    return strayCompletion(cookie);
  const Put &put = puts[number];
  Pair &pair = pairOf(put);
  // Of a strong put the bytes that went ahead of its signal are no put.
  if (uint32_t commands = commandsIn(cookie)) {
    add(channelOf[put.channel].ended, commands);
    if (sink)
      sink->completed(put.channel);
  }
  giveBack(number);
  if (--pair.outstanding == 0 && !pair.held.empty())
    pump(pair);
}

/// Returns how many. Once something has failed they are dropped.
size_t Proxy::Impl::takeCommands() {
  size_t n = 0;
  if (options.abort->raised()) {
    n = ring->consume(kBatch, [](const CommandWords &) {});
    add(discarded, uint64_t(n));
  } else if (failed || pending < kMaxPending) {
    windowEnd = options.heap->backed();
    // By groups, in which memory that is not near is fetched side by side: between two posts
    // each would be waited for.
    for (size_t got = kGroup; got == kGroup && n < kBatch && ready.empty(); n += got) {
      got = ring->consume(kGroup, [this](CommandWords words) { take(words); });
      postGroup();
    }
    if (!ready.empty() && n == 0)
      n = ring->consume(kGroup, [this](CommandWords words) { take(words); });
  }
  if (n > 0)
    ring->freeSpace();
  return n;
}

bool Proxy::Impl::round() {
  postedInRound = 0;
  if (timed)
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
