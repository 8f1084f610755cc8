//===- Commands.cpp - From commands to puts -------------------------------===//

#include "proxy/ProxyImpl.h"

#include <algorithm>
#include <cstring>

namespace mk::rt {
namespace {
// Pieces of one put; more is a kernel that forgot to end it.
constexpr size_t kMaxFragments = 1 << 20;
} // namespace

/// All that explain() looks for, at the cost of a few comparisons.
bool Proxy::Impl::isSound(const Command &c) const {
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
  if (c.op == MK_CMD_PUT)
    return c.bytes == 0 || (std::min(c.src, c.dst) >= windowBegin &&
                            std::max(c.src, c.dst) + c.bytes <= windowEnd);
  return c.op == MK_CMD_SIGNAL && flags & MK_CMD_HAS_SIGNAL && c.bytes == 0;
}

void Proxy::Impl::takeOther(CommandWords words) {
  if (failed.load(std::memory_order_relaxed)) {
    add(discarded, uint64_t(1));
    return;
  }
  Command command = fieldsOf(words);
  if (!isWellFormed(words))
    return refuse(words);
  if (!isSound(command)) {
    // Memory may have been added since the round began.
    windowEnd = options.heap->backed();
    if (!isSound(command))
      return refuse(words);
  }
  accept(command);
}

void Proxy::Impl::accept(const Command &c) {
  if (foreign) {
    add(begun[c.channel], 1u);
    if (c.flags & MK_CMD_HAS_SIGNAL)
      add(signals, uint64_t(1));
  }
  uint64_t key = keyOf(c.channel, c.peer);
  bool strong = c.flags & MK_CMD_STRONG;
  if (open[c.channel * MK_CMD_TEAMS + (c.flags >> MK_CMD_TEAM_SHIFT)] != kNone ||
      c.flags & MK_CMD_MORE || !ready.empty() || !held[key].empty() ||
      (strong && outstanding[key] > 0)) {
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
  put.posted = true;
  ++outstanding[key];
  group[grouped++] = number;
}

/// Why a command is not sound.
Status Proxy::Impl::explain(const Command &c) const {
  constexpr uint8_t known = MK_CMD_HAS_SIGNAL | MK_CMD_MORE | MK_CMD_STRONG;
  auto bad = [&](const auto &...what) {
    return rt::error(StatusCode::InvalidArgument, "a command of CTA ",
                     c.channel, " to rank ", c.peer, " ", what...);
  };
  if (c.op != MK_CMD_PUT && c.op != MK_CMD_SIGNAL)
    return bad("has the unknown operation ", int(c.op));
  if (c.flags & ~(known | (MK_CMD_TEAMS - 1) << MK_CMD_TEAM_SHIFT))
    return bad("has unknown flags ", int(c.flags));
  if (c.channel >= channels)
    return bad("names a channel beyond the ", channels,
               " of this proxy");
  if (c.peer >= world)
    return bad("names a rank beyond the ", world, " of the mesh");
  if (!isNet[c.peer])
    return bad("goes to a peer that no net axis separates from rank ", rank);
  bool signal = c.flags & MK_CMD_HAS_SIGNAL, more = c.flags & MK_CMD_MORE;
  if (more && (signal || c.flags & MK_CMD_STRONG))
    return bad("raises a signal before the last part of its put");
  if (c.flags & MK_CMD_STRONG && !signal)
    return bad("is strong and has no signal");
  if (signal && c.slot >= slots)
    return rt::error(StatusCode::OutOfRange, "a command of CTA ", c.channel,
                     " to rank ", c.peer, " raises signal slot ", c.slot,
                     " of ", slots);
  if (c.op == MK_CMD_SIGNAL) {
    if (!signal || more || c.bytes != 0)
      return bad("is a signal with bytes, with more parts, or without a slot");
  }
  // Offsets have 48 bits and sizes 32: the sums do not wrap.
  uint64_t begin = options.heap->dataOffset(), end = options.heap->backed();
  for (uint64_t at : {c.src, c.dst})
    if (c.bytes > 0 && (at < begin || at + c.bytes > end))
      return rt::error(
          StatusCode::OutOfRange, "a command of CTA ", c.channel, " to rank ",
          c.peer, " ", at == c.src ? "reads [" : "writes [", at, ", +", c.bytes,
          "), outside the symmetric window [", begin, ", ", end, ")");
  return rt::error(StatusCode::Internal, "a command of CTA ", c.channel, " to rank ",
                   c.peer, " is refused for no reason that is known");
}

/// A command of a put that has several, or that others are in front of.
Status Proxy::Impl::acceptPart(const Command &c) {
  uint32_t &number = open[c.channel * MK_CMD_TEAMS + (c.flags >> MK_CMD_TEAM_SHIFT)];
  if (number == kNone) {
    number = takePut(c.channel, c.peer);
    ++numOpen;
    if (c.flags & MK_CMD_MORE)
      openPuts.fetch_add(1, std::memory_order_relaxed);
  }
  Put &put = puts[number];
  if (put.request.peer != c.peer)
    return rt::error(
        StatusCode::InvalidArgument, "CTA ", c.channel,
        " began a command for rank ", c.peer, " within a put to rank ",
        put.request.peer,
        ": the put's last command (without MK_CMD_MORE) is missing");
  put.request.cookie += kOneCommand;
  if (c.bytes > 0)
    put.request.fragments.push_back({c.src, c.dst, c.bytes});
  if (put.request.fragments.size() > kMaxFragments)
    return rt::error(StatusCode::InvalidArgument, "CTA ", c.channel,
                     " wrote a put of more than ", kMaxFragments, " commands");
  if (c.flags & MK_CMD_MORE)
    return {};
  if (commandsIn(put.request.cookie) > 1)
    openPuts.fetch_sub(1, std::memory_order_relaxed);
  if (c.flags & MK_CMD_HAS_SIGNAL)
    put.request.signal = SignalAdd{c.slot, c.amount};
  put.strong = c.flags & MK_CMD_STRONG;
  --numOpen;
  admit(std::exchange(number, kNone));
  return {};
}

void Proxy::Impl::refuse(CommandWords words) {
  mk_command raw;
  std::memcpy(&raw, &words, sizeof(raw));
  Result<Command> command = decodeCommand(raw);
  fail(command ? explain(*command) : command.status());
}

} // namespace mk::rt
