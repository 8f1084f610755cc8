//===- QueuePairs.cpp - Queue pairs and their states ----------------------===//

#include "Functions.h"
#include "Nic.h"

#include <atomic>
#include <cerrno>
#include <utility>

namespace soft {
namespace {

bool has(int mask, int required) { return (mask & required) == required; }

// What the transition of a kind of queue pair needs.
int required(const Qp *qp, uint32_t to) {
  switch (to) {
  case kInit:
    return kMaskState | kMaskPkey | kMaskPort |
           (qp->srd ? kMaskQkey : kMaskAccess);
  case kRtr:
    return qp->srd ? kMaskState
                   : kMaskState | kMaskAv | kMaskMtu | kMaskDestQpn |
                         kMaskRqPsn | kMaskDestRdAtomic | kMaskMinRnr;
  case kRts:
    return qp->srd ? kMaskState | kMaskSqPsn
                   : kMaskState | kMaskTimeout | kMaskRetry | kMaskRnrRetry |
                         kMaskSqPsn | kMaskRdAtomic;
  default:
    return kMaskState;
  }
}

/// Where an address vector leads, or EINVAL.
int resolve(Nic *nic, Qp *qp, const ibv_ah_attr &av) {
  if (av.port_num != 1)
    return EINVAL;
  if (av.is_global) {
    ibv_gid own = nic->gid(av.grh.sgid_index);
    if (!own.global.interface_id)
      return EINVAL; // no such entry of the GID table
    // IPv4 and link-local do not mix: no route.
    if (nic->device->spec.kind == Kind::Roce &&
        (own.raw[0] != av.grh.dgid.raw[0] || !av.grh.dgid.raw[15]))
      return ENETUNREACH;
    qp->gidType = nic->gidType(av.grh.sgid_index);
    qp->dgid = av.grh.dgid;
    return 0;
  }
  if (nic->device->spec.kind != Kind::InfiniBand || !av.dlid)
    return EINVAL; // RoCE has no LIDs
  qp->dgid = {};
  qp->dgid.raw[13] = uint8_t(av.dlid >> 14);
  qp->dgid.raw[14] = uint8_t(av.dlid >> 6);
  qp->dgid.raw[15] = av.dlid & 63;
  return 0;
}

} // namespace

/// Queue pairs whose completion queue has run over.
void Nic::failOverrun() {
  for (const Cq *cq : std::exchange(overrun, {}))
    for (auto &[qpn, qp] : qps) {
      const ibv_cq *which = cq;
      if (qp->state == kError || (qp->send_cq != which && qp->recv_cq != which))
        continue;
      event(kEventQpFatal, static_cast<ibv_qp *>(qp));
      if (qp->srd)
        flushSrd(qp);
      enterError(qp);
    }
}

ibv_qp *createQp(ibv_context *context, ibv_qp_init_attr_ex *a, bool srd,
                 uint16_t flags) {
  Nic *nic = Nic::of(context);
  auto fail = [](int error) {
    errno = error;
    return nullptr;
  };
  if (!(a->comp_mask & kAttrPd) || !a->send_cq || !a->recv_cq)
    return fail(EINVAL);
  uint64_t ops = a->comp_mask & kAttrSendOps ? a->send_ops_flags : 0;
  uint64_t known = kOpWrite | kOpWriteImm | kOpSend | kOpSendImm | kOpRead;
  if (srd && !(nic->knobs.caps & kEfaWrite))
    known &= ~(kOpWrite | kOpWriteImm);
  if (a->srq || (ops & ~known))
    return fail(EOPNOTSUPP);
  if (a->cap.max_send_wr > nic->knobs.qpLimit ||
      a->cap.max_recv_wr > nic->knobs.qpLimit * (srd ? 8 : 1) ||
      a->cap.max_send_sge > (srd ? 2 : 16) ||
      a->cap.max_recv_sge > (srd ? 3 : 16) ||
      a->cap.max_inline_data > (srd ? 32 : 256))
    return fail(EINVAL);
  Qp *qp = new Qp{};
  qp->context = context;
  qp->qp_context = a->qp_context;
  qp->pd = a->pd;
  qp->send_cq = a->send_cq;
  qp->recv_cq = a->recv_cq;
  qp->qp_type = a->qp_type;
  qp->state = kReset;
  qp->cap = a->cap;
  qp->srd = srd;
  qp->signalAll = a->sq_sig_all;
  qp->unsolicited = flags & kEfaQpUnsolicited;
  fillPostingOps(qp, ops);
  std::lock_guard lock(nic->mutex);
  qp->qp_num =
      nic->contextId << kQpBits | (nic->nextQpn++ & ((1 << kQpBits) - 1));
  nic->qps[qp->qp_num] = qp;
  return qp;
}

extern "C" {

ibv_qp_ex *ibv_qp_to_qp_ex(ibv_qp *qp) { return asQp(qp); }

int ibv_modify_qp(ibv_qp *which, ibv_qp_attr *a, int mask) {
  Qp *qp = asQp(which);
  Nic *nic = Nic::of(qp->context);
  std::lock_guard lock(nic->mutex);
  if (mask & kMaskState) {
    uint32_t to = a->qp_state;
    if (to != kReset && to != kError &&
        (to > kRts || to != qp->state + 1 || !has(mask, required(qp, to))))
      return EINVAL;
    if ((mask & kMaskMtu) && (a->path_mtu < 1 || a->path_mtu > 5))
      return EINVAL;
    if ((mask & kMaskAv) && nic->knobs.silentArp) {
      --nic->knobs.silentArp;
      return ETIMEDOUT;
    }
    if (mask & kMaskAv)
      if (int error = resolve(nic, qp, a->ah_attr))
        return error;
  }
  if ((mask & kMaskRnrRetry) && qp->srd && !(nic->knobs.caps & kEfaRnrRetry))
    return EOPNOTSUPP;
  if (mask & kMaskQkey)
    qp->qkeyValue = a->qkey;
  if (mask & kMaskAccess)
    qp->attr.qp_access_flags = a->qp_access_flags;
  if (mask & kMaskMtu)
    qp->attr.path_mtu = a->path_mtu;
  if (mask & kMaskDestQpn)
    qp->attr.dest_qp_num = a->dest_qp_num;
  if (mask & kMaskRqPsn)
    qp->attr.rq_psn = a->rq_psn;
  if (mask & kMaskSqPsn)
    qp->attr.sq_psn = a->sq_psn;
  if (mask & kMaskTimeout)
    qp->attr.timeout = a->timeout;
  if (mask & kMaskRetry)
    qp->attr.retry_cnt = a->retry_cnt;
  if (mask & kMaskRnrRetry)
    qp->attr.rnr_retry = a->rnr_retry;
  if (!(mask & kMaskState))
    return 0;
  if (a->qp_state != kError) {
    std::atomic_ref(qp->state).store(a->qp_state, std::memory_order_relaxed);
    return 0;
  }
  if (qp->srd)
    nic->flushSrd(qp);
  nic->enterError(qp);
  return 0;
}

int ibv_destroy_qp(ibv_qp *which) {
  Qp *qp = asQp(which);
  Nic *nic = Nic::of(qp->context);
  {
    std::lock_guard lock(nic->mutex);
    nic->qps.erase(qp->qp_num);
    std::erase_if(nic->messages, [&](auto &m) { return m.second.qp == qp; });
    std::erase_if(nic->waitingForReceive, [&](auto &w) { return w.qp == qp; });
    purge(asCq(qp->send_cq), qp);
    purge(asCq(qp->recv_cq), qp);
  }
  delete qp;
  return 0;
}

} // extern "C"
} // namespace soft
