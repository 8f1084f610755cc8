//===- Posting.cpp - Work requests ----------------------------------------===//
//
// A batch is all or nothing: an error in it is what wr_complete returns, and
// then nothing was posted.
//
//===----------------------------------------------------------------------===//

#include "Nic.h"

#include <atomic>
#include <cerrno>
#include <cstdio>
#include <cstring>

namespace soft {
namespace {

Qp *of(ibv_qp_ex *qp) { return static_cast<Qp *>(qp); }

void refuse(Qp *qp, const char *why, int error = EINVAL) {
  if (why)
    fprintf(stderr, "softrdma: a work request of queue pair %u: %s\n",
            qp->qp_num, why);
  if (!qp->batchError)
    qp->batchError = error;
}

Wqe *last(Qp *qp) {
  if (!qp->batchError && qp->batch.empty())
    refuse(qp, "set before its operation");
  return qp->batchError ? nullptr : &qp->batch.back();
}

void start(ibv_qp_ex *x) {
  of(x)->batchMutex.lock();
  of(x)->batch.clear();
  of(x)->batchError = 0;
}

void begin(ibv_qp_ex *x, uint32_t rkey, uint64_t remote, bool hasImm,
           uint32_t imm) {
  Qp *qp = of(x);
  if (qp->batchError)
    return;
  Wqe w;
  w.wrId = x->wr_id;
  w.rkey = rkey;
  w.remote = remote;
  w.hasImm = hasImm;
  w.imm = imm;
  w.signaled = qp->signalAll || (x->wr_flags & kSendSignaled);
  w.solicited = x->wr_flags & kSendSolicited;
  // As libefa checks them when they are begun.
  uint32_t state = std::atomic_ref(qp->state).load(std::memory_order_relaxed);
  if (qp->srd && state != kRts && state != kSqd)
    return refuse(qp, nullptr);
  if (!qp->srd && state < kRts)
    return refuse(qp, nullptr);
  if (qp->srd && !w.signaled)
    return refuse(qp, "EFA signals every work request");
  if (qp->srd && (x->wr_flags & ~(kSendSignaled | kSendInline)))
    return refuse(qp, "flags that EFA does not have");
  if (qp->sqUsed + qp->batch.size() >= qp->cap.max_send_wr)
    return refuse(qp, nullptr, ENOMEM);
  qp->batch.push_back(std::move(w));
}

void rdmaWrite(ibv_qp_ex *x, uint32_t rkey, uint64_t remote) {
  begin(x, rkey, remote, false, 0);
}

void rdmaWriteImm(ibv_qp_ex *x, uint32_t rkey, uint64_t remote, uint32_t imm) {
  begin(x, rkey, remote, true, imm);
}

void setSge(ibv_qp_ex *x, uint32_t lkey, uint64_t address, uint32_t bytes) {
  Qp *qp = of(x);
  Wqe *w = last(qp);
  if (!w)
    return;
  w->lkey = lkey;
  w->local = address;
  w->bytes = bytes;
  w->filled = true;
  if (bytes > Nic::of(x->context)->knobs.maxMessage)
    refuse(qp, "longer than the largest message");
}

void setSgeList(ibv_qp_ex *x, size_t n, const ibv_sge *list) {
  if (n == 1)
    return setSge(x, list->lkey, list->addr, list->length);
  Wqe *w = last(of(x));
  if (n > 1)
    refuse(of(x), "more than one scatter-gather element");
  else if (w)
    w->filled = true;
}

void setInline(ibv_qp_ex *x, void *data, size_t bytes) {
  Qp *qp = of(x);
  Wqe *w = last(qp);
  if (!w)
    return;
  if (qp->srd)
    return refuse(qp, "EFA writes no inline data");
  if (bytes > qp->cap.max_inline_data)
    return refuse(qp, nullptr, ENOMEM);
  w->copy.assign(static_cast<char *>(data), static_cast<char *>(data) + bytes);
  w->bytes = uint32_t(bytes);
  w->isInline = w->filled = true;
}

void setUdAddress(ibv_qp_ex *x, ibv_ah *ah, uint32_t qpn, uint32_t qkey) {
  Qp *qp = of(x);
  Wqe *w = last(qp);
  if (!w)
    return;
  if (!qp->srd)
    return refuse(qp, "an address handle on a connected queue pair");
  w->dgid = static_cast<Ah *>(ah)->gid;
  w->dqpn = qpn;
  w->qkey = qkey;
  w->addressed = true;
}

void abandon(ibv_qp_ex *x) {
  of(x)->batch.clear();
  of(x)->batchMutex.unlock();
}

int finish(ibv_qp_ex *x) {
  Qp *qp = of(x);
  Nic *nic = Nic::of(x->context);
  for (const Wqe &w : qp->batch)
    if (!qp->batchError && (!w.filled || w.addressed != qp->srd))
      refuse(qp, "without data or address");
  int error = qp->batchError;
  if (!error) {
    std::lock_guard lock(nic->mutex);
    if (nic->knobs.refuseNth && ++nic->completes == nic->knobs.refuseNth) {
      error = ENOMEM;
    } else {
      qp->sqUsed += uint32_t(qp->batch.size());
      if (qp->srd)
        nic->postSrd(qp, qp->batch);
      else
        nic->postRc(qp, qp->batch);
    }
  }
  qp->batch.clear();
  qp->batchMutex.unlock();
  nic->wake();
  return error;
}

} // namespace

void fillPostingOps(Qp *qp, uint64_t sendOps) {
  qp->wr_start = start;
  qp->wr_complete = finish;
  qp->wr_abort = abandon;
  if (sendOps & kOpWrite)
    qp->wr_rdma_write = rdmaWrite;
  if (sendOps & kOpWriteImm)
    qp->wr_rdma_write_imm = rdmaWriteImm;
  qp->wr_set_sge = setSge;
  qp->wr_set_sge_list = setSgeList;
  qp->wr_set_inline_data = setInline;
  if (qp->srd)
    qp->wr_set_ud_addr = setUdAddress;
}

int postReceive(ibv_qp *which, ibv_recv_wr *wr, ibv_recv_wr **bad) {
  Qp *qp = asQp(which);
  Nic *nic = Nic::of(which->context);
  std::lock_guard lock(nic->mutex);
  for (; wr; wr = wr->next) {
    int error = 0;
    if (qp->state == kReset || (qp->srd && qp->state == kError))
      error = EINVAL;
    else if (uint32_t(wr->num_sge) > qp->cap.max_recv_sge)
      error = EINVAL;
    else if (qp->rqUsed >= qp->cap.max_recv_wr)
      error = ENOMEM;
    if (error) {
      *bad = wr;
      return error;
    }
    ++qp->rqUsed;
    if (qp->state == kError) {
      Cqe c;
      c.wrId = wr->wr_id, c.status = kWcFlush, c.opcode = 0xbad;
      c.qp = qp, c.qpn = qp->qp_num, c.receive = true;
      push(asCq(qp->recv_cq), c);
    } else {
      qp->receives.push_back({wr->wr_id});
    }
  }
  if (qp->srd)
    nic->receivePosted(qp);
  return 0;
}

} // namespace soft
