//===- PeerSockets.h - Local connections between ranks ----------*- C++ -*-===//
#ifndef MKERNEL_RUNTIME_BOOTSTRAP_PEERSOCKETS_H
#define MKERNEL_RUNTIME_BOOTSTRAP_PEERSOCKETS_H

#include "core/Socket.h"

#include <cstdint>
#include <span>
#include <vector>

namespace mk::rt {

class StoreClient;

/// One SOCK_SEQPACKET connection to each of `peers` (ranks of this host, in the
/// order given; every one must call it with this rank among its peers). The
/// listener's random name and a secret travel through the store under `scope`;
/// who does not know the secret is refused. Errors name the rank.
Result<std::vector<Fd>> connectPeers(StoreClient &store, std::string_view scope,
                                     uint32_t rank,
                                     std::span<const uint32_t> peers,
                                     const Deadline &deadline);

} // namespace mk::rt

#endif // MKERNEL_RUNTIME_BOOTSTRAP_PEERSOCKETS_H
