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

/// A command that is a whole put of its own, with a signal or without, and that waits for
/// nothing: all that is looked at is combined without branches, since their order does not
/// matter. Anything else is for takeOther(), which says what is wrong. Returns whether it was
/// taken.
[[gnu::always_inline]] inline bool Proxy::Impl::takePlain(CommandWords words) {
  constexpr uint64_t kTeams = (MK_CMD_TEAMS - 1) << MK_CMD_TEAM_SHIFT;
  Command c = fieldsOf(words);
  bool signal = c.flags & MK_CMD_HAS_SIGNAL;
  // Operation and flags.
  bool plain = (words.w[0] & 0xffff & ~((kTeams | MK_CMD_HAS_SIGNAL) << 8)) == MK_CMD_PUT;
  bool named = (c.channel < channels) & bool(isNet[std::min<uint32_t>(c.peer, world)]) &
               ((c.slot < slots) | !signal);
  // Offsets have 48 bits and sizes 32: the sums do not wrap.
  bool inside = int(std::min(c.src, c.dst) >= windowBegin) & int(c.bytes > 0) &
                int(std::max(c.src, c.dst) + c.bytes <= windowEnd);
  bool free = !(pending | numOpen) & (numUnused > 0) & !failed.load(std::memory_order_relaxed);
  if (!(isWellFormed(words) & plain & named & inside & free)) [[unlikely]]
    return false;
  if (foreign) {
    add(begun[c.channel], 1u);
    if (signal)
      add(signals, uint64_t(1));
  }
  uint32_t number = unused[--numUnused];
  Put &put = puts[number];
  put.channel = c.channel;
  put.strong = false;
  put.posted = true;
  PutRequest &request = put.request;
  request.peer = c.peer;
  request.cookie = number | kOneCommand;
  request.fragments.front() = {c.src, c.dst, c.bytes};
  if (signal)
    request.signal = SignalAdd{c.slot, c.amount};
  else
    request.signal.reset();
  ++outstanding[keyOf(c.channel, c.peer)];
  group[grouped++] = number;
  return true;
}

[[gnu::always_inline]] inline void Proxy::Impl::take(CommandWords words) {
  if (!takePlain(words)) [[unlikely]]
    takeOther(words);
}

/// In order; what the transport does not take waits.
void Proxy::Impl::postGroup() {
  if (grouped == 0)
    return;
  const PutRequest *requests[kGroup];
  for (uint32_t i = 0; i < grouped; ++i) {
    requests[i] = &puts[group[i]].request;
    if (timed)
      postedAt[group[i]] = roundBegan;
  }
  // While the network takes these, the next ones' come near.
  for (uint32_t i = 1; i <= std::min<uint32_t>(kGroup, numUnused); ++i) {
    const Put &next = puts[unused[numUnused - i]];
    __builtin_prefetch(&next, 1);
  }
  Status why;
  size_t posted = transport->postAll({requests, grouped}, why);
  postedInRound += posted;
  if (posted < grouped) [[unlikely]] {
    notPosted(group[posted], why);
    for (size_t i = posted; i < grouped; ++i) {
      puts[group[i]].posted = false;
      ++pending;
      append(ready, group[i]);
    }
  }
  grouped = 0;
}

[[gnu::always_inline]] inline void Proxy::Impl::completed(uint64_t cookie) {
  uint32_t number = numberIn(cookie);
  if (number >= numPuts) [[unlikely]]
    return strayCompletion(cookie);
  Put &put = puts[number];
  if (!put.posted || put.request.cookie != cookie) [[unlikely]]
    return strayCompletion(cookie);
  uint64_t key = keyOf(put);
  // Of a strong put the bytes that went ahead of its signal are no put.
  if (uint32_t commands = commandsIn(cookie)) [[likely]] {
    add(ended[put.channel], commands);
    if (sink)
      sink->completed(put.channel);
  }
  giveBack(number, put);
  if (--outstanding[key] == 0 && pending && !held[key].empty()) [[unlikely]]
    pump(key);
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
