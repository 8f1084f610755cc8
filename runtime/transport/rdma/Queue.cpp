//===- Queue.cpp - Queue pairs of both kinds ------------------------------===//

#include "transport/rdma/Rdma.h"

#include "mkernel/Runtime/Digest.h"

#include <algorithm>
#include <cerrno>
#include <cstring>

namespace mk::rt::rdma {

Queue &Rdma::newQueue(Nic &nic) {
  Queue &queue = queues_.emplace_back();
  queue.nic = &nic;
  queue.ordered = kind_ == NicKind::Verbs;
  queue.depth = loads_.at(&nic).depth;
  return queue;
}

Status Rdma::createQueuePair(Queue &queue, ibv_qp_init_attr_ex &attr,
                             efadv_qp_init_attr *efaAttr, uint32_t receives) {
  Nic &nic = *queue.nic;
  attr.send_cq = attr.recv_cq = reinterpret_cast<ibv_cq *>(nic.cq);
  attr.pd = nic.pd;
  attr.cap.max_send_wr = queue.depth;
  attr.cap.max_recv_wr = std::max(receives, 1u);
  attr.cap.max_send_sge = attr.cap.max_recv_sge = 1;
  attr.comp_mask = IBV_QP_INIT_ATTR_PD | IBV_QP_INIT_ATTR_SEND_OPS_FLAGS;
  attr.send_ops_flags =
      IBV_QP_EX_WITH_RDMA_WRITE | IBV_QP_EX_WITH_RDMA_WRITE_WITH_IMM;
  errno = 0;
  if (efaAttr) {
    queue.qp = library_.efa.create_qp_ex(nic.context, &attr, efaAttr,
                                         sizeof(*efaAttr));
  } else if (verbs_context *verbs = verbs_get_ctx_op(nic.context, create_qp_ex)) {
    queue.qp = verbs->create_qp_ex(nic.context, &attr);
  } else {
    errno = EOPNOTSUPP;
  }
  if (!queue.qp)
    return rt::error(errno == EOPNOTSUPP ? StatusCode::FailedPrecondition
                                         : StatusCode::ResourceExhausted,
                     "NIC ", nic.name(), " has no queue pair for ", queue.depth,
                     " requests and ", receives, " receives: ", registrationError(errno));
  queue.ex = library_.qp_to_qp_ex(queue.qp);
  return {};
}

/// They have no memory: what comes in are immediates.
Status Rdma::postReceives(Queue &queue, uint32_t count) {
  constexpr uint32_t batch = 64;
  ibv_recv_wr requests[batch];
  uint64_t id = kReceiveMark;
  while (id - kReceiveMark < queues_.size() &&
         &queues_[id - kReceiveMark] != &queue)
    ++id;
  while (count > 0) {
    uint32_t n = std::min(count, batch);
    for (uint32_t i = 0; i < n; ++i) {
      requests[i] = {};
      requests[i].wr_id = id;
      requests[i].next = i + 1 < n ? &requests[i + 1] : nullptr;
    }
    ibv_recv_wr *bad = nullptr;
    if (int err = queue.nic->context->ops.post_recv(queue.qp, requests, &bad))
      return errnoError(StatusCode::Unavailable,
                        str("NIC ", queue.nic->name(), ": posting ", n,
                            " receives"),
                        err);
    count -= n;
  }
  return {};
}

Status Rdma::modify(Queue &queue, ibv_qp_attr &attr, int mask,
                    std::string_view what) {
  // RoCE asks for the peer's address first. A host that is busy, or a switch that
  // learns where it is, may let one question go by: about a second each.
  constexpr int kQuestions = 8;
  int err = ETIMEDOUT;
  for (int i = 0; i < kQuestions && err == ETIMEDOUT; ++i)
    err = library_.modify_qp(queue.qp, &attr, mask | IBV_QP_STATE);
  if (err)
    return errnoError(StatusCode::Unavailable,
                      str("NIC ", queue.nic->name(), ": ", what), err);
  return {};
}

/// Of 31 bits: keys of queue pairs with the top bit set are the kernel's.
uint32_t Rdma::randomKey() {
  uint32_t key;
  std::string bytes = randomBytes(sizeof(key));
  std::memcpy(&key, bytes.data(), sizeof(key));
  return key & 0x7fffffff;
}

} // namespace mk::rt::rdma
