//===- Verbs.h - RC queue pairs: InfiniBand and RoCE ------------*- C++ -*-===//
#ifndef MKERNEL_RUNTIME_TRANSPORT_VERBS_VERBS_H
#define MKERNEL_RUNTIME_TRANSPORT_VERBS_VERBS_H

#include "transport/rdma/Rdma.h"

namespace mk::rt::rdma {

/// A queue pair for each path. Untested on hardware; soft-RoCE of Linux works.
class Verbs final : public Rdma {
public:
  static Result<std::unique_ptr<Transport>> create(TransportConfig config);

private:
  using Rdma::Rdma;
  Status openPath(Path &path) override;
  Status joinPath(Path &path, const NicEndpoint &remote) override;
  Path *pathOfSignal(Nic &nic) override;

  std::map<const Nic *, std::unordered_map<uint32_t, Path *>> pathOfQueuePair_;
};

} // namespace mk::rt::rdma

#endif // MKERNEL_RUNTIME_TRANSPORT_VERBS_VERBS_H
