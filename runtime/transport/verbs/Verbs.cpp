//===- Verbs.cpp - RC queue pairs: InfiniBand and RoCE --------------------===//

#include "transport/verbs/Verbs.h"

#include <algorithm>
#include <cstring>

namespace mk::rt::rdma {
namespace {
constexpr uint8_t kMinRnrTimer = 12; // 0.64 ms
constexpr uint8_t kHopLimit = 64;
} // namespace

Result<std::unique_ptr<Transport>> Verbs::create(TransportConfig config) {
  MK_ASSIGN(Options options, Options::parse(config.options, NicKind::Verbs));
  MK_ASSIGN(Library library, Library::load(/*efa=*/false));
  return std::unique_ptr<Transport>(new Verbs(
      std::move(config), NicKind::Verbs, std::move(options), library));
}

Status Verbs::openPath(Path &path) {
  Nic &nic = nicOf(path);
  Queue &queue = newQueue(nic);
  path.queue = &queue;
  ibv_qp_init_attr_ex init{};
  init.qp_type = IBV_QPT_RC;
  MK_TRY(createQueuePair(queue, init, nullptr, receivesOfPath(nic)));
  pathOfQueuePair_[&nic][queue.qp->qp_num] = &path;
  ibv_qp_attr attr{};
  attr.qp_state = IBV_QPS_INIT;
  attr.pkey_index = static_cast<uint16_t>(options().pkey);
  attr.port_num = static_cast<uint8_t>(nic.port);
  attr.qp_access_flags = IBV_ACCESS_REMOTE_WRITE;
  MK_TRY(modify(queue, attr,
                IBV_QP_PKEY_INDEX | IBV_QP_PORT | IBV_QP_ACCESS_FLAGS,
                "initializing a queue pair"));
  MK_TRY(postReceives(queue, receivesOfPath(nic)));
  path.local.qpn = queue.qp->qp_num;
  path.local.psn = randomKey() & 0xffffff;
  return {};
}

Status Verbs::joinPath(Path &path, const NicEndpoint &remote) {
  Nic &nic = nicOf(path);
  ibv_qp_attr attr{};
  attr.qp_state = IBV_QPS_RTR;
  attr.path_mtu = mtuOf(std::min(nic.mtu, remote.mtu));
  attr.dest_qp_num = path.remote.qpn;
  attr.rq_psn = path.remote.psn;
  attr.min_rnr_timer = kMinRnrTimer;
  ibv_ah_attr &address = attr.ah_attr;
  address.port_num = static_cast<uint8_t>(nic.port);
  address.sl = static_cast<uint8_t>(options().sl);
  bool infiniband = nic.portAttr.link_layer == IBV_LINK_LAYER_INFINIBAND;
  constexpr size_t prefix = 8; // bytes of a GID that name the subnet
  // Routers between subnets want global addresses, as RoCE always does.
  bool global = !infiniband || remote.grh || nic.endpoint().grh ||
                std::memcmp(nic.gid.raw, remote.gid.data(), prefix) != 0;
  if (infiniband)
    address.dlid = static_cast<uint16_t>(remote.lid);
  if (global) {
    address.is_global = 1;
    std::memcpy(address.grh.dgid.raw, remote.gid.data(), remote.gid.size());
    address.grh.sgid_index = static_cast<uint8_t>(nic.gidIndex);
    address.grh.hop_limit = kHopLimit;
    address.grh.traffic_class = static_cast<uint8_t>(options().tc);
  }
  std::string to = str(" to rank ", path.peer, ", NIC ", remote.name);
  MK_TRY(modify(*path.queue, attr,
                IBV_QP_AV | IBV_QP_PATH_MTU | IBV_QP_DEST_QPN | IBV_QP_RQ_PSN |
                    IBV_QP_MAX_DEST_RD_ATOMIC | IBV_QP_MIN_RNR_TIMER,
                str("connecting", to,
                    " (is it on the same network, with the GID that is meant? "
                    "option gid=INDEX)")));
  attr = {};
  attr.qp_state = IBV_QPS_RTS;
  attr.timeout = static_cast<uint8_t>(options().timeout);
  attr.retry_cnt = static_cast<uint8_t>(options().retries);
  attr.rnr_retry = static_cast<uint8_t>(options().rnr);
  attr.sq_psn = path.local.psn;
  return modify(*path.queue, attr,
                IBV_QP_TIMEOUT | IBV_QP_RETRY_CNT | IBV_QP_RNR_RETRY |
                    IBV_QP_SQ_PSN | IBV_QP_MAX_QP_RD_ATOMIC,
                str("starting to send", to));
}

Path *Verbs::pathOfSignal(Nic &nic) {
  auto &paths = pathOfQueuePair_[&nic];
  auto found = paths.find(nic.cq->read_qp_num(nic.cq));
  return found == paths.end() ? nullptr : found->second;
}

} // namespace mk::rt::rdma
