//===- Rc.cpp - Reliable connections, as NICs do them ---------------------===//
//
// In order within a queue pair and in no order across them. Go back N: packets
// are numbered, acknowledgements are cumulative, what comes out of sequence is
// dropped and asked for again. An error ends the queue pair.
//
//===----------------------------------------------------------------------===//

#include "Nic.h"

#include <algorithm>
#include <atomic>
#include <cmath>
#include <utility>

namespace soft {
namespace {

constexpr uint64_t kWindow = 128; // packets without acknowledgement

uint32_t mtuOf(const Nic &nic, const Qp *qp) {
  return std::min(nic.knobs.mtu, 128u << qp->attr.path_mtu);
}

/// The work request that a packet belongs to.
Wqe *holder(Qp *qp, uint64_t packet) {
  auto after =
      std::upper_bound(qp->sq.begin(), qp->sq.end(), packet,
                       [](uint64_t n, const Wqe &w) { return n < w.first; });
  return after == qp->sq.begin() ? nullptr : &*std::prev(after);
}

WcStatus injected(const Knobs &knobs) {
  return WcStatus(knobs.failStatus ? knobs.failStatus : uint32_t(kWcRemOp));
}

void complete(Qp *qp, const Wqe &w, uint32_t status, uint32_t vendor) {
  Cqe c;
  c.wrId = w.wrId;
  c.status = status;
  c.opcode = status ? 0xbad : uint32_t(kWcRdmaWrite);
  c.bytes = status ? 0xbad : w.bytes;
  c.vendor = vendor;
  c.qp = qp, c.qpn = qp->qp_num;
  // Slots of those that completed in silence are free only with this one.
  c.retires = 1 + std::exchange(qp->silent, 0);
  push(asCq(qp->send_cq), c);
}

} // namespace

void Nic::postRc(Qp *qp, std::vector<Wqe> &batch) {
  for (Wqe &w : batch) {
    countPosted();
    if (qp->state == kError) {
      complete(qp, w, kWcFlush, 0);
      continue;
    }
    w.first = qp->endPacket;
    w.packets = std::max<uint64_t>(1, (w.bytes + mtuOf(*this, qp) - 1) /
                                          mtuOf(*this, qp));
    qp->endPacket += w.packets;
    if (knobs.failNth == posted) {
      w.failWhenDone = knobs.failLate;
      w.failUnsent = !knobs.failLate;
    }
    if (qp->unacked == w.first)
      qp->progress = Clock::now(); // nothing was under way
    qp->sq.push_back(std::move(w));
  }
  kickRc(qp, jitter());
}

void Nic::kickRc(Qp *qp, std::chrono::nanoseconds after) {
  if (qp->ticking || qp->state != kRts || qp->nextPacket >= qp->endPacket ||
      qp->nextPacket >= qp->unacked + kWindow || paused)
    return;
  qp->ticking = true;
  Event e{};
  e.rcQpn = qp->qp_num;
  auto now = Clock::now();
  if (qp->notBefore > now + after)
    after = qp->notBefore - now;
  schedule(std::move(e), after);
}

// Sends a packet and comes again for the next one.
void Nic::tickRc(Qp *qp) {
  qp->ticking = false;
  if (paused || qp->state != kRts || qp->nextPacket >= qp->endPacket ||
      qp->nextPacket >= qp->unacked + kWindow)
    return;
  if (qp->notBefore > Clock::now())
    return kickRc(qp, {});
  Wqe *w = holder(qp, qp->nextPacket);
  if (w->failUnsent) {
    if (qp->unacked == w->first) // else when that is acknowledged
      failRc(qp, injected(knobs));
    return;
  }
  uint32_t mtu = mtuOf(*this, qp);
  Packet p;
  p.rc = 1;
  p.number = qp->nextPacket;
  p.hasImm = w->hasImm, p.imm = w->imm, p.solicited = w->solicited;
  p.offset = uint32_t(qp->nextPacket - w->first) * mtu;
  p.bytes = std::min(mtu, w->bytes - p.offset);
  p.last = qp->nextPacket + 1 == w->first + w->packets;
  p.sgid = gid(0), p.gidType = qp->gidType;
  p.sqpn = qp->qp_num, p.dqpn = qp->attr.dest_qp_num;
  p.psn = qp->attr.sq_psn & 0xffffff;
  p.rkey = w->rkey, p.remote = w->remote, p.total = w->bytes;
  p.route = endpoint(qp->dgid, p.dqpn);
  const char *from = nullptr;
  if (w->isInline) {
    from = w->copy.data() + p.offset;
  } else if (p.bytes) {
    Mr *mr = local(*w, qp);
    if (!mr) {
      qp->unacked = w->first; // those before it cannot fail any more
      return failRc(qp, kWcLocProt);
    }
    from = static_cast<char *>(mr->addr) + (w->local - mr->iova) + p.offset;
  }
  if (qp->nextPacket == qp->unacked)
    qp->progress = Clock::now();
  ++qp->nextPacket;
  bool first = p.offset == 0;
  if (!dead && !lose())
    transmit(p, from);
  // Requests start apart, packets of one follow one another.
  kickRc(qp, first && p.last ? jitter() / 4 : jitter() / 32);
}

void Nic::receiveRc(const Packet &p, const char *payload) {
  auto found = qps.find(p.dqpn);
  Qp *qp = found == qps.end() ? nullptr : found->second;
  // What is not for a connection of this peer is dropped without a word, so
  // that the peer's time limit ends it.
  if (!qp || qp->srd || qp->state < kRtr || qp->state == kError ||
      qp->attr.dest_qp_num != p.sqpn || p.gidType != qp->gidType ||
      (qp->attr.rq_psn & 0xffffff) != p.psn ||
      endpoint(qp->dgid, 0) >> 12 != endpoint(p.sgid, 0) >> 12)
    return;
  bool unordered = knobs.breakage == Break::Unordered;
  if (p.number < qp->expected && !unordered)
    return reply(p, PacketType::RcAck, 0, qp->expected); // a duplicate
  if (p.number > qp->expected && !unordered) {
    if (!qp->nakSent)
      reply(p, PacketType::RcNakSequence, 0, qp->expected);
    qp->nakSent = true;
    return;
  }
  bool early = knobs.breakage == Break::EarlyImmediate;
  bool raises = p.hasImm && (early ? p.offset == 0 : p.last != 0);
  if (raises && qp->receives.empty()) {
    if (!qp->nakSent)
      reply(p, PacketType::RcNakRnr, 0, qp->expected);
    return;
  }
  if (p.total) {
    Mr *mr = remote(p, qp);
    if (!mr || !(qp->attr.qp_access_flags & kAccessRemoteWrite)) {
      reply(p, PacketType::RcNakError, kWcRemAccess, qp->expected);
      event(kEventQpAccessError, static_cast<ibv_qp *>(qp));
      return enterError(qp);
    }
    write(mr, p, payload);
  }
  qp->expected = std::max(qp->expected, p.number + 1);
  qp->nakSent = false;
  if (raises)
    raise(qp, p);
  if (p.last || p.number % 16 == 0)
    reply(p, PacketType::RcAck, 0, qp->expected);
}

void Nic::acknowledgeRc(const Packet &p) {
  auto found = qps.find(p.dqpn);
  Qp *qp = found == qps.end() ? nullptr : found->second;
  if (!qp || qp->srd || qp->state != kRts ||
      (qp->attr.sq_psn & 0xffffff) != p.psn || p.number > qp->endPacket)
    return;
  if (p.number > qp->unacked) {
    qp->unacked = p.number;
    qp->nextPacket = std::max(qp->nextPacket, p.number);
    qp->tries = qp->rnrTries = 0;
    qp->progress = Clock::now();
  }
  while (!qp->sq.empty() &&
         qp->sq.front().first + qp->sq.front().packets <= qp->unacked) {
    Wqe &w = qp->sq.front();
    if (w.failWhenDone)
      return failRc(qp, injected(knobs));
    if (w.signaled)
      complete(qp, w, kWcSuccess, 0);
    else
      ++qp->silent;
    qp->sq.pop_front();
  }
  switch (p.type) {
  case PacketType::RcNakSequence:
    qp->nextPacket = qp->unacked;
    break;
  case PacketType::RcNakRnr:
    if (p.number < qp->unacked)
      return;
    if (qp->attr.rnr_retry != 7 && ++qp->rnrTries > qp->attr.rnr_retry)
      return failRc(qp, kWcRnrRetryExceeded);
    qp->nextPacket = qp->unacked;
    qp->progress = Clock::now();
    qp->notBefore = qp->progress + std::chrono::microseconds(knobs.rnr);
    break;
  case PacketType::RcNakError:
    return failRc(qp, WcStatus(p.status));
  default:
    break;
  }
  kickRc(qp, jitter() / 4);
}

/// The first request that is not done fails, all others are flushed.
void Nic::failRc(Qp *qp, WcStatus status) {
  if (!qp->sq.empty()) {
    note(qp, qp->sq.front(), status);
    complete(qp, qp->sq.front(), status, 0x80 | status);
    qp->sq.pop_front();
  }
  enterError(qp);
}

void Nic::enterError(Qp *qp) {
  // Read without the NIC's lock where requests begin.
  std::atomic_ref(qp->state).store(kError, std::memory_order_relaxed);
  for (const Wqe &w : std::exchange(qp->sq, {}))
    complete(qp, w, kWcFlush, 0);
  for (const Receive &r : std::exchange(qp->receives, {})) {
    Cqe c;
    c.wrId = r.wrId;
    c.status = kWcFlush;
    c.opcode = 0xbad;
    c.qp = qp, c.qpn = qp->qp_num;
    c.receive = true;
    push(asCq(qp->recv_cq), c);
  }
}

void Nic::expireRc(Clock::time_point now) {
  if (paused)
    return;
  for (auto &[qpn, qp] : qps) {
    if (qp->srd || qp->state != kRts || qp->unacked >= qp->nextPacket)
      continue;
    auto limit = knobs.timeout      ? std::chrono::microseconds(knobs.timeout)
                 : qp->attr.timeout ? std::chrono::microseconds(uint64_t(
                                          std::ldexp(4.096, qp->attr.timeout)))
                                    : std::chrono::hours(1);
    if (now - qp->progress < limit)
      continue;
    if (++qp->tries > qp->attr.retry_cnt) {
      failRc(qp, kWcRetryExceeded);
      continue;
    }
    qp->progress = now;
    qp->nextPacket = qp->unacked;
    kickRc(qp, {});
  }
}

} // namespace soft
