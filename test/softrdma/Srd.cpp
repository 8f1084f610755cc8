//===- Srd.cpp - Scalable reliable datagrams, as EFA does them ------------===//
//
// Packets, not only messages, land in any order; completions come late and
// errors concern one work request, after which the queue pair goes on.
//
//===----------------------------------------------------------------------===//

#include "Nic.h"

#include <algorithm>

namespace soft {

// As libefa maps them.
WcStatus fromEfa(uint32_t status) {
  switch (status) {
  case kEfaOk:
    return kWcSuccess;
  case kEfaFlushed:
    return kWcFlush;
  case 2: // the queue pair's own errors
  case 3:
  case 4:
    return kWcLocQpOp;
  case kEfaLocalLkey:
    return kWcLocProt;
  case 6:
    return kWcLocLen;
  case kEfaRemoteAddress:
    return kWcRemAccess;
  case 8: // aborted by the peer
    return kWcRemOp;
  case kEfaRemoteQpn:
    return kWcRemInvRdReq;
  case kEfaRemoteRnr:
    return kWcRnrRetryExceeded;
  case 11:
    return kWcRemInvReq;
  case kEfaUnresponsive:
  case kEfaUnreachable:
    return kWcRespTimeout;
  default:
    return kWcGeneral;
  }
}

void Nic::postSrd(Qp *qp, std::vector<Wqe> &batch) {
  auto limit =
      std::chrono::microseconds(knobs.timeout ? knobs.timeout : 2000000);
  for (Wqe &w : batch) {
    countPosted();
    uint64_t id = nextMessage++;
    auto now = Clock::now();
    messages[id] = Message{w, qp, now + limit};
    Message &m = messages[id];
    Mr *source = w.bytes ? local(w, qp) : nullptr;
    if (w.bytes && !source) {
      finishSrd(id, kEfaLocalLkey);
      continue;
    }
    bool fails = knobs.failNth == posted;
    uint32_t status = knobs.failStatus ? knobs.failStatus : kEfaUnresponsive;
    if (fails || knobs.ackLost == posted) {
      m.ignoreAcks = true;
      m.failWith = status;
      if (fails)
        m.deadline = now + std::chrono::milliseconds(5);
    }
    if (fails && !knobs.failLate)
      continue; // never sent
    Event e{};
    Packet &p = e.packet;
    p.number = id;
    p.hasImm = w.hasImm, p.imm = w.imm, p.solicited = w.solicited;
    p.waitsForReceive = qp->attr.rnr_retry == 7;
    p.sgid = gid(0), p.sqpn = qp->qp_num, p.dqpn = w.dqpn;
    p.qkey = w.qkey, p.rkey = w.rkey, p.remote = w.remote, p.total = w.bytes;
    p.route = endpoint(w.dgid, w.dqpn);
    uint32_t offset = 0;
    do {
      p.offset = offset;
      p.bytes = std::min(knobs.mtu, w.bytes - offset);
      e.data = ++dataPackets;
      if (knobs.breakage == Break::EarlyRead && p.bytes) {
        const char *from = static_cast<char *>(source->addr) +
                           (w.local - source->iova) + offset;
        e.early.resize(p.bytes);
        dma(e.early.data(), from, p.bytes);
      }
      if (!lose())
        schedule(e, jitter());
      offset += p.bytes;
    } while (offset < w.bytes);
    if (knobs.breakage == Break::EarlyCompletion) {
      Cqe c;
      c.wrId = w.wrId, c.opcode = kWcRdmaWrite, c.bytes = w.bytes;
      c.qp = qp, c.qpn = qp->qp_num, c.retires = 1;
      push(asCq(qp->send_cq), c);
    }
  }
}

// The source is read now. What was deregistered since is an error.
void Nic::sendSrd(Event &event) {
  auto found = messages.find(event.packet.number);
  if (found == messages.end())
    return;
  const Wqe &w = found->second.wqe;
  const char *from = nullptr;
  if (!event.early.empty()) {
    from = event.early.data();
  } else if (event.packet.bytes) {
    Mr *mr = local(w, found->second.qp);
    if (!mr)
      return finishSrd(event.packet.number, kEfaLocalLkey);
    from = static_cast<char *>(mr->addr) + (w.local - mr->iova) +
           event.packet.offset;
  }
  transmit(event.packet, from);
}

void Nic::receiveSrd(const Packet &p, const char *payload) {
  auto found = qps.find(p.dqpn);
  Qp *qp = found == qps.end() ? nullptr : found->second;
  auto key = std::pair(endpoint(p.sgid, p.sqpn), p.number);
  auto refuse = [&](uint32_t status) {
    Arriving &a = arriving[key];
    if (!a.refused)
      reply(p, PacketType::Ack, status, p.number);
    a.refused = true;
  };
  if (!qp || !qp->srd || qp->state < kRtr || qp->state == kError)
    return refuse(kEfaRemoteQpn);
  if (qp->qkeyValue != p.qkey)
    return; // dropped without a word
  if (p.total) {
    Mr *mr = remote(p, qp);
    if (!mr)
      return refuse(kEfaRemoteAddress);
    write(mr, p, payload);
  }
  Arriving &a = arriving[key];
  if (a.refused)
    return;
  a.bytes += p.bytes;
  bool whole = a.bytes >= p.total;
  bool early = knobs.breakage == Break::EarlyImmediate;
  if (p.hasImm && !a.raised && (whole || early)) {
    if (!qp->unsolicited && qp->receives.empty()) {
      if (!whole)
        return;
      arriving.erase(key);
      if (p.waitsForReceive)
        waitingForReceive.push_back({p, qp});
      else
        reply(p, PacketType::Ack, kEfaRemoteRnr, p.number);
      return;
    }
    a.raised = true;
    raise(qp, p);
  }
  if (!whole)
    return;
  arriving.erase(key);
  reply(p, PacketType::Ack, kEfaOk, p.number);
}

void Nic::receivePosted(Qp *qp) {
  for (size_t i = 0; i < waitingForReceive.size() && !qp->receives.empty();)
    if (waitingForReceive[i].qp == qp) {
      raise(qp, waitingForReceive[i].packet);
      reply(waitingForReceive[i].packet, PacketType::Ack, kEfaOk,
            waitingForReceive[i].packet.number);
      waitingForReceive.erase(waitingForReceive.begin() + ptrdiff_t(i));
    } else {
      ++i;
    }
}

void Nic::acknowledgeSrd(const Packet &p) {
  answered[endpoint(p.sgid, p.sqpn)] = true;
  auto found = messages.find(p.number);
  if (found != messages.end() && !found->second.ignoreAcks)
    finishSrd(p.number, p.status);
}

void Nic::finishSrd(uint64_t id, uint32_t status) {
  auto found = messages.find(id);
  if (found == messages.end())
    return;
  const Message &m = found->second;
  Cqe c;
  c.wrId = m.wqe.wrId;
  c.status = fromEfa(status);
  // After an error no more is said than this.
  c.opcode = status ? 0xbad : uint32_t(kWcRdmaWrite);
  c.bytes = status ? 0xbad : m.wqe.bytes;
  c.vendor = status;
  c.qp = m.qp, c.qpn = m.qp->qp_num;
  c.retires = 1;
  if (status)
    note(m.qp, m.wqe, status);
  if (status || knobs.breakage != Break::EarlyCompletion)
    push(asCq(m.qp->send_cq), c);
  messages.erase(found);
}

void Nic::expireSrd(Clock::time_point now) {
  std::vector<std::pair<uint64_t, uint32_t>> late;
  if (!paused)
    for (auto &[id, m] : messages)
      if (m.deadline <= now)
        late.push_back({id, m.ignoreAcks || answered.count(endpoint(m.wqe.dgid,
                                                                    m.wqe.dqpn))
                                ? m.failWith
                                : uint32_t(kEfaUnreachable)});
  for (auto [id, status] : late)
    finishSrd(id, status);
}

void Nic::flushSrd(Qp *qp) {
  std::vector<uint64_t> ids;
  for (auto &[id, m] : messages)
    if (m.qp == qp)
      ids.push_back(id);
  for (uint64_t id : ids)
    finishSrd(id, kEfaFlushed);
  std::erase_if(waitingForReceive, [&](auto &w) { return w.qp == qp; });
}

} // namespace soft
