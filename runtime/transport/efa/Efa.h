//===- Efa.h - SRD queue pairs of AWS's adapter -----------------*- C++ -*-===//
#ifndef MKERNEL_RUNTIME_TRANSPORT_EFA_EFA_H
#define MKERNEL_RUNTIME_TRANSPORT_EFA_EFA_H

#include "transport/rdma/Rdma.h"

namespace mk::rt::rdma {

/// A queue pair for each NIC and an address handle for each path. Untested on
/// hardware.
class Efa final : public Rdma {
public:
  static Result<std::unique_ptr<Transport>> create(TransportConfig config);

private:
  using Rdma::Rdma;
  Status openPath(Path &path) override;
  Status joinPath(Path &path, const NicEndpoint &remote) override;
  Path *pathOfSignal(Nic &nic) override;
  Status openQueue(Nic &nic, Queue &queue);

  struct Source {
    Queue *queue = nullptr;
    uint32_t qkey = 0;
    // By the sender's queue pair, with and without its address's number.
    std::unordered_map<uint64_t, Path *> byAddress;
    std::unordered_map<uint32_t, Path *> byNumber; // null: not unique
  };
  std::map<const Nic *, Source> sources_;
};

} // namespace mk::rt::rdma

#endif // MKERNEL_RUNTIME_TRANSPORT_EFA_EFA_H
