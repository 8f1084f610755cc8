//===- Efa.cpp - SRD queue pairs of AWS's adapter -------------------------===//

#include "transport/efa/Efa.h"

#include <cerrno>
#include <cstring>

namespace mk::rt::rdma {
namespace {

// efadv_qp_init_attr of rdma-core 52 and later has flags in reserved bytes of
// older ones, which refuse it if it is not zero.
constexpr size_t kQpFlagsOffset = 12;
constexpr uint16_t kQpUnsolicited = 1;
static_assert(sizeof(efadv_qp_init_attr) >= kQpFlagsOffset + sizeof(uint16_t));

uint64_t addressKey(uint32_t address, uint32_t qpn) {
  return uint64_t(address) << 32 | qpn;
}

} // namespace

Result<std::unique_ptr<Transport>> Efa::create(TransportConfig config) {
  MK_ASSIGN(Options options, Options::parse(config.options, NicKind::Efa));
  MK_ASSIGN(Library library, Library::load(/*efa=*/true));
  return std::unique_ptr<Transport>(
      new Efa(std::move(config), NicKind::Efa, std::move(options), library));
}

Status Efa::openQueue(Nic &nic, Queue &queue) {
  bool unsolicited =
      options().unsolicited && nic.efa.device_caps & kEfaUnsolicited;
  uint32_t receives = receivesOfNic(nic);
  while (true) {
    ibv_qp_init_attr_ex init{};
    init.qp_type = IBV_QPT_DRIVER;
    init.sq_sig_all = 1; // SRD has no other requests
    efadv_qp_init_attr efaInit{};
    efaInit.driver_qp_type = EFADV_QP_DRIVER_TYPE_SRD;
    uint16_t flags = unsolicited ? kQpUnsolicited : 0;
    std::memcpy(reinterpret_cast<char *>(&efaInit) + kQpFlagsOffset, &flags,
                sizeof(flags));
    Status created = createQueuePair(queue, init, &efaInit,
                                     unsolicited ? 1 : receives);
    if (created.isOk())
      break;
    // The device can, the library is too old.
    if (!unsolicited || created.code() != StatusCode::FailedPrecondition)
      return created;
    unsolicited = false;
  }
  queue.postsReceives = !unsolicited;
  uint32_t qkey = randomKey();
  sources_[&nic].qkey = qkey;
  ibv_qp_attr attr{};
  attr.qp_state = IBV_QPS_INIT;
  attr.pkey_index = static_cast<uint16_t>(options().pkey);
  attr.port_num = static_cast<uint8_t>(nic.port);
  attr.qkey = qkey;
  MK_TRY(modify(queue, attr, IBV_QP_PKEY_INDEX | IBV_QP_PORT | IBV_QP_QKEY,
                "initializing a queue pair"));
  attr = {};
  attr.qp_state = IBV_QPS_RTR;
  MK_TRY(modify(queue, attr, 0, "making a queue pair receive"));
  attr.qp_state = IBV_QPS_RTS;
  attr.sq_psn = randomKey() & 0xffffff;
  MK_TRY(modify(queue, attr, IBV_QP_SQ_PSN, "making a queue pair send"));
  return unsolicited ? Status::success() : postReceives(queue, receives);
}

Status Efa::openPath(Path &path) {
  Nic &nic = nicOf(path);
  Source &source = sources_[&nic];
  if (!source.queue) {
    source.queue = &newQueue(nic);
    MK_TRY(openQueue(nic, *source.queue));
  }
  path.queue = source.queue;
  path.local.qpn = source.queue->qp->qp_num;
  path.local.qkey = source.qkey;
  return {};
}

Status Efa::joinPath(Path &path, const NicEndpoint &remote) {
  Nic &nic = nicOf(path);
  ibv_ah_attr address{};
  address.is_global = 1;
  address.port_num = static_cast<uint8_t>(nic.port);
  std::memcpy(address.grh.dgid.raw, remote.gid.data(), remote.gid.size());
  errno = 0;
  path.ah = library().create_ah(nic.pd, &address);
  if (!path.ah)
    return errnoError(StatusCode::Unavailable,
                      str("EFA device ", nic.name(), ": an address of rank ", path.peer,
                          ", device ", remote.name,
                          " (are both in one subnet, and does the security "
                          "group allow all traffic within itself?)"),
                      errno);
  Source &source = sources_[&nic];
  efadv_ah_attr number{};
  if (library().efa.query_ah(path.ah, &number, sizeof(number)) == 0)
    source.byAddress[addressKey(number.ahn, path.remote.qpn)] = &path;
  auto [at, fresh] = source.byNumber.try_emplace(path.remote.qpn, &path);
  if (!fresh)
    at->second = nullptr;
  return {};
}

Path *Efa::pathOfSignal(Nic &nic) {
  Source &source = sources_[&nic];
  uint32_t qpn = nic.cq->read_src_qp(nic.cq);
  auto exact =
      source.byAddress.find(addressKey(nic.cq->read_slid(nic.cq), qpn));
  if (exact != source.byAddress.end())
    return exact->second;
  auto found = source.byNumber.find(qpn);
  return found == source.byNumber.end() ? nullptr : found->second;
}

} // namespace mk::rt::rdma
