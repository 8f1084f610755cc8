//===- Completions.cpp - Completion queues, channels and events -----------===//

#include "Functions.h"
#include "Nic.h"

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fcntl.h>
#include <unistd.h>

namespace soft {
namespace {

bool pop(Cq *cq, Cqe &entry) {
  std::lock_guard lock(cq->cqMutex);
  if (cq->entries.empty())
    return false;
  entry = cq->entries.front();
  cq->entries.pop_front();
  // Not before: a NIC's queues have room again when their program polls.
  entry.qp->sqUsed -= entry.retires;
  if (entry.receive)
    --entry.qp->rqUsed;
  return true;
}

Cq *of(ibv_cq_ex *cq) { return static_cast<Cq *>(cq); }

int nextPoll(ibv_cq_ex *x) {
  Cq *cq = of(x);
  if (!pop(cq, cq->current))
    return ENOENT;
  cq->wr_id = cq->current.wrId;
  cq->status = cq->current.status;
  return 0;
}

int startPoll(ibv_cq_ex *x, ibv_poll_cq_attr *attr) {
  return attr && attr->comp_mask ? EINVAL : nextPoll(x);
}

} // namespace

void push(Cq *cq, const Cqe &entry) {
  Nic *nic = Nic::of(cq->context);
  std::lock_guard lock(cq->cqMutex);
  if (cq->broken)
    return;
  if (cq->entries.size() >= cq->capacity) {
    if (nic->knobs.overrun == Overrun::Abort) {
      fprintf(stderr,
              "softrdma: overrun of a completion queue of %zu entries: a NIC "
              "would lose a completion and disable the queue\n",
              cq->capacity);
      abort();
    }
    if (nic->knobs.overrun == Overrun::Event) {
      cq->broken = true;
      nic->event(kEventCqError, static_cast<ibv_cq *>(cq));
      // Its queue pairs fail a little later: whoever completes is at work on one.
      nic->overrun.push_back(cq);
    }
    return;
  }
  cq->entries.push_back(entry);
  if (nic->cqPeak < cq->entries.size())
    nic->cqPeak = cq->entries.size();
  if (!cq->armed || (cq->armedSolicited && !entry.solicited && !entry.status))
    return;
  cq->armed = false;
  if (!cq->channel)
    return;
  ++cq->events;
  ibv_cq *which = cq;
  if (write(static_cast<Channel *>(cq->channel)->writeEnd, &which,
            sizeof which) < 0) {
  }
}

Cq *createCq(ibv_context *context, uint32_t depth, void *user,
             ibv_comp_channel *channel) {
  if (!depth || depth > Nic::of(context)->knobs.cqLimit) {
    errno = EINVAL;
    return nullptr;
  }
  Cq *cq = new Cq{};
  cq->context = context;
  cq->channel = channel;
  cq->cq_context = user;
  cq->cqe = int(depth);
  Nic *nic = Nic::of(context);
  cq->capacity = nic->knobs.cqEntries ? nic->knobs.cqEntries : depth;
  // Who is told too early sends more than the queue was made for; it is the order that is tried.
  if (nic->knobs.breakage == Break::EarlyCompletion)
    cq->capacity *= 64;
  nic->cqCapacity = cq->capacity;
  if (channel)
    ++channel->refcnt;
  cq->start_poll = startPoll;
  cq->next_poll = nextPoll;
  cq->end_poll = [](ibv_cq_ex *) {};
  cq->read_opcode = [](ibv_cq_ex *x) { return of(x)->current.opcode; };
  cq->read_vendor_err = [](ibv_cq_ex *x) { return of(x)->current.vendor; };
  cq->read_byte_len = [](ibv_cq_ex *x) { return of(x)->current.bytes; };
  cq->read_imm_data = [](ibv_cq_ex *x) { return of(x)->current.imm; };
  cq->read_qp_num = [](ibv_cq_ex *x) { return of(x)->current.qpn; };
  cq->read_src_qp = [](ibv_cq_ex *x) { return of(x)->current.srcQp; };
  cq->read_slid = [](ibv_cq_ex *x) { return of(x)->current.slid; };
  cq->read_wc_flags = [](ibv_cq_ex *x) {
    return unsigned(of(x)->current.flags);
  };
  return cq;
}

void purge(Cq *cq, const Qp *qp) {
  std::lock_guard lock(cq->cqMutex);
  std::erase_if(cq->entries, [&](const Cqe &e) { return e.qp == qp; });
}

int pollCq(ibv_cq *cq, int n, ibv_wc *wc) {
  int got = 0;
  for (Cqe e; got < n && pop(asCq(cq), e); ++got, ++wc) {
    *wc = {};
    wc->wr_id = e.wrId;
    wc->status = e.status;
    wc->opcode = e.opcode;
    wc->vendor_err = e.vendor;
    wc->byte_len = e.bytes;
    wc->imm_data = e.imm;
    wc->qp_num = e.qpn;
    wc->wc_flags = e.flags;
  }
  return got;
}

// Tells of the next entry, not of those that are there: poll again after it.
int requestNotify(ibv_cq *which, int solicitedOnly) {
  Cq *cq = asCq(which);
  std::lock_guard lock(cq->cqMutex);
  cq->armedSolicited = solicitedOnly && (!cq->armed || cq->armedSolicited);
  cq->armed = true;
  return 0;
}

extern "C" {

ibv_comp_channel *ibv_create_comp_channel(ibv_context *context) {
  int pipes[2];
  if (pipe2(pipes, O_CLOEXEC))
    return nullptr;
  fcntl(pipes[1], F_SETFL, O_NONBLOCK);
  Channel *c = new Channel{};
  c->context = context;
  c->fd = pipes[0];
  c->writeEnd = pipes[1];
  return c;
}

int ibv_destroy_comp_channel(ibv_comp_channel *channel) {
  if (channel->refcnt)
    return EBUSY;
  Channel *c = static_cast<Channel *>(channel);
  close(c->fd);
  close(c->writeEnd);
  delete c;
  return 0;
}

ibv_cq *ibv_create_cq(ibv_context *context, int depth, void *user,
                      ibv_comp_channel *channel, int) {
  return createCq(context, depth < 0 ? 0 : uint32_t(depth), user, channel);
}

int ibv_destroy_cq(ibv_cq *which) {
  Cq *cq = asCq(which);
  Nic *nic = Nic::of(cq->context);
  std::lock_guard lock(nic->mutex);
  for (auto &[qpn, qp] : nic->qps)
    if (qp->send_cq == which || qp->recv_cq == which)
      return EBUSY;
  if (cq->events != cq->acknowledged) {
    fprintf(stderr,
            "softrdma: ibv_destroy_cq with %u events that were not "
            "acknowledged would wait for ever\n",
            cq->events - cq->acknowledged);
    abort();
  }
  std::erase(nic->overrun, cq);
  if (cq->channel)
    --cq->channel->refcnt;
  delete cq;
  return 0;
}

int ibv_get_cq_event(ibv_comp_channel *channel, ibv_cq **cq, void **user) {
  ssize_t n;
  do
    n = read(channel->fd, cq, sizeof *cq);
  while (n < 0 && errno == EINTR);
  if (n != sizeof *cq)
    return -1;
  *user = (*cq)->cq_context;
  return 0;
}

void ibv_ack_cq_events(ibv_cq *cq, unsigned n) {
  std::lock_guard lock(asCq(cq)->cqMutex);
  asCq(cq)->acknowledged += n;
}

int ibv_get_async_event(ibv_context *context, ibv_async_event *event) {
  ssize_t n;
  do
    n = read(context->async_fd, event, sizeof *event);
  while (n < 0 && errno == EINTR);
  return n == sizeof *event ? 0 : -1;
}

void ibv_ack_async_event(ibv_async_event *) {}

const char *ibv_event_type_str(uint32_t type) {
  switch (type) {
  case kEventCqError:
    return "CQ error";
  case kEventQpFatal:
    return "local work queue catastrophic error";
  case kEventQpAccessError:
    return "local access violation work queue error";
  case kEventDeviceFatal:
    return "local catastrophic error";
  case kEventPortActive:
    return "port active";
  case kEventPortError:
    return "port error";
  }
  return "unknown";
}

const char *ibv_wc_status_str(uint32_t status) {
  switch (status) {
  case kWcSuccess:
    return "success";
  case kWcLocLen:
    return "local length error";
  case kWcLocQpOp:
    return "local QP operation error";
  case kWcLocProt:
    return "local protection error";
  case kWcFlush:
    return "Work Request Flushed Error";
  case kWcRemInvReq:
    return "remote invalid request error";
  case kWcRemAccess:
    return "remote access error";
  case kWcRemOp:
    return "remote operation error";
  case kWcRetryExceeded:
    return "transport retry counter exceeded";
  case kWcRnrRetryExceeded:
    return "RNR retry counter exceeded";
  case kWcRemInvRdReq:
    return "remote invalid RD request";
  case kWcFatal:
    return "fatal error";
  case kWcRespTimeout:
    return "response timeout error";
  case kWcGeneral:
    return "general error";
  }
  return "unknown";
}

} // extern "C"
} // namespace soft
