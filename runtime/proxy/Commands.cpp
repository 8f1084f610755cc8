//===- Commands.cpp - From commands to puts -------------------------------===//

#include "proxy/ProxyImpl.h"

namespace mk::rt {
namespace {
// Pieces of one put; more is a kernel that forgot to end it.
constexpr size_t kMaxFragments = 1 << 20;
} // namespace

Status Proxy::Impl::checkCommand(const Command &c) const {
  constexpr uint8_t known = MK_CMD_HAS_SIGNAL | MK_CMD_MORE | MK_CMD_STRONG;
  auto bad = [&](const auto &...what) {
    return rt::error(StatusCode::InvalidArgument, "a command of CTA ",
                     c.channel, " to rank ", c.peer, " ", what...);
  };
  if (c.op != MK_CMD_PUT && c.op != MK_CMD_SIGNAL)
    return bad("has the unknown operation ", int(c.op));
  if (c.flags & ~(known | (MK_CMD_TEAMS - 1) << MK_CMD_TEAM_SHIFT))
    return bad("has unknown flags ", int(c.flags));
  if (c.channel >= options.channels)
    return bad("names a channel beyond the ", options.channels,
               " of this proxy");
  if (c.peer >= world)
    return bad("names a rank beyond the ", world, " of the mesh");
  if (options.mesh->reachable(rank, c.peer))
    return bad("goes to a peer that no net axis separates from rank ", rank);
  bool signal = c.flags & MK_CMD_HAS_SIGNAL, more = c.flags & MK_CMD_MORE;
  if (more && (signal || c.flags & MK_CMD_STRONG))
    return bad("raises a signal before the last part of its put");
  if (c.flags & MK_CMD_STRONG && !signal)
    return bad("is strong and has no signal");
  if (signal && c.slot >= options.heap->slots())
    return rt::error(StatusCode::OutOfRange, "a command of CTA ", c.channel,
                     " to rank ", c.peer, " raises signal slot ", c.slot,
                     " of ", options.heap->slots());
  if (c.op == MK_CMD_SIGNAL) {
    if (!signal || more || c.bytes != 0)
      return bad("is a signal with bytes, with more parts, or without a slot");
    return {};
  }
  // Offsets have 48 bits and sizes 32: the sums do not wrap.
  uint64_t begin = options.heap->dataOffset(), end = options.heap->backed();
  for (uint64_t at : {c.src, c.dst})
    if (c.bytes > 0 && (at < begin || at + c.bytes > end))
      return rt::error(
          StatusCode::OutOfRange, "a command of CTA ", c.channel, " to rank ",
          c.peer, " ", at == c.src ? "reads [" : "writes [", at, ", +", c.bytes,
          "), outside the symmetric window [", begin, ", ", end, ")");
  return {};
}

Status Proxy::Impl::accept(const Command &c) {
  MK_TRY(checkCommand(c));
  uint32_t team = c.flags >> MK_CMD_TEAM_SHIFT;
  if (ring->isForeign()) {
    byPair[keyOf(c.channel, c.peer)].fetch_add(1, std::memory_order_relaxed);
    byChannel[c.channel].fetch_add(1, std::memory_order_relaxed);
    total.fetch_add(1, std::memory_order_relaxed);
    if (c.flags & MK_CMD_HAS_SIGNAL)
      signals.fetch_add(1, std::memory_order_relaxed);
  }
  Put &put = open[uint64_t(c.channel) * MK_CMD_TEAMS + team];
  if (put.commands == 0) {
    put = {};
    put.channel = c.channel;
    put.request.peer = c.peer;
    openPuts.fetch_add(1, std::memory_order_relaxed);
  } else if (put.request.peer != c.peer) {
    return rt::error(
        StatusCode::InvalidArgument, "CTA ", c.channel,
        " began a command for rank ", c.peer, " within a put to rank ",
        put.request.peer,
        ": the put's last command (without MK_CMD_MORE) is missing");
  }
  ++put.commands;
  if (c.bytes > 0)
    put.request.fragments.push_back({c.src, c.dst, c.bytes});
  if (put.request.fragments.size() > kMaxFragments)
    return rt::error(StatusCode::InvalidArgument, "CTA ", c.channel,
                     " wrote a put of more than ", kMaxFragments, " commands");
  if (c.flags & MK_CMD_MORE)
    return {};
  if (c.flags & MK_CMD_HAS_SIGNAL)
    put.request.signal = SignalAdd{c.slot, c.amount};
  put.strong = c.flags & MK_CMD_STRONG;
  Put whole = std::move(put);
  put = {};
  openPuts.fetch_sub(1, std::memory_order_relaxed);
  admit(std::move(whole));
  return {};
}

void Proxy::Impl::take(const mk_command &raw) {
  commands.fetch_add(1, std::memory_order_relaxed);
  if (discarding()) {
    discarded.fetch_add(1, std::memory_order_relaxed);
    return;
  }
  Result<Command> command = decodeCommand(raw);
  Status status = command ? accept(*command) : command.status();
  if (!status)
    fail(status);
}

} // namespace mk::rt
