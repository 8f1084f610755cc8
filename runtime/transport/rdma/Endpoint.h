//===- Endpoint.h - What ranks tell each other through the store -*- C++ -*-===//
//
// Three messages, each with a magic number and a version in front and with nothing
// behind: who a rank is and which NICs it has; the queue pairs that it has for one
// peer; and a part of its heap that has become reachable. The store has
// authenticated its sender; sizes and values are checked all the same.
//
//===----------------------------------------------------------------------===//
#ifndef MKERNEL_RUNTIME_TRANSPORT_RDMA_ENDPOINT_H
#define MKERNEL_RUNTIME_TRANSPORT_RDMA_ENDPOINT_H

#include "mkernel/Runtime/Rails.h"

#include <array>

namespace mk::rt::rdma {

using Gid = std::array<uint8_t, 16>;

/// A port of a NIC, as peers have to know it.
struct NicEndpoint {
  std::string name;
  NicKind kind = NicKind::Verbs;
  std::string link;      // "InfiniBand", "Ethernet", "Unspecified"
  uint64_t mbits = 0;    // this rank's part
  uint32_t mtu = 0;      // bytes
  uint32_t lid = 0;      // InfiniBand
  bool grh = false;      // the port wants global addresses
  Gid gid{};
  uint64_t sinkAddress = 0; // where signals of their own are written to
  uint32_t sinkKey = 0;

  bool operator==(const NicEndpoint &) const = default;
};

struct RankEndpoint {
  uint32_t rank = 0;
  std::string transport; // "verbs"
  uint32_t generation = 0, qps = 1;
  uint64_t begin = 0, end = 0, slots = 0; // window
  uint64_t base = 0;                      // the heap's address
  std::string control, secret;            // "10.0.0.1:40123"
  std::vector<NicEndpoint> nics;

  bool operator==(const RankEndpoint &) const = default;
  std::string encode() const;
  /// `rank` is whose it shall be, for messages too.
  static Result<RankEndpoint> decode(std::string_view bytes, uint32_t rank);
  /// The NICs as rail pairing wants them.
  NodeNics rails() const;
};

/// This rank's end of a path to a peer.
struct PathEndpoint {
  uint32_t qpn = 0, psn = 0, qkey = 0;
  uint32_t window = 0; // signals that the peer may have under way

  bool operator==(const PathEndpoint &) const = default;
};

std::string encodePaths(std::span<const PathEndpoint> paths);
Result<std::vector<PathEndpoint>> decodePaths(std::string_view bytes,
                                              uint32_t rank, size_t expected);

/// Memory of a rank and the keys by which its NICs take it.
struct SegmentEndpoint {
  uint64_t offset = 0, bytes = 0; // of the heap
  std::vector<uint32_t> keys;     // by NIC
  std::string failure;            // why there is none; it is an error of all

  bool operator==(const SegmentEndpoint &) const = default;
  std::string encode() const;
  static Result<SegmentEndpoint> decode(std::string_view bytes, uint32_t rank,
                                        size_t nics);
};

/// InvalidArgument names what differs and where to set it.
Status checkAgreement(const RankEndpoint &own, const RankEndpoint &theirs);

} // namespace mk::rt::rdma

#endif // MKERNEL_RUNTIME_TRANSPORT_RDMA_ENDPOINT_H
