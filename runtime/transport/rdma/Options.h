//===- Options.h - Options of the transports over NICs ----------*- C++ -*-===//
#ifndef MKERNEL_RUNTIME_TRANSPORT_RDMA_OPTIONS_H
#define MKERNEL_RUNTIME_TRANSPORT_RDMA_OPTIONS_H

#include "mkernel/Runtime/Topology.h"

#include <chrono>
#include <span>

namespace mk::rt::rdma {

struct Options {
  std::vector<std::string> nics; // empty: those the topology says
  uint32_t qps = 1;              // for each pair of NICs
  uint32_t depth = 512;          // requests in flight on one
  uint32_t signals = 512;        // not taken by the receiver's proxy
  uint64_t request = 8u << 20;   // bytes of the largest request
  uint64_t stripe = 256u << 10;  // bytes from which a piece is divided
  uint32_t mtu = 0;              // bytes; 0: the port's
  uint32_t timeout = 18, retries = 7, rnr = 7;
  int gid = -1;                  // index; negative: chosen
  uint32_t tc = 0, sl = 0, pkey = 0;
  bool relaxed = true, unsolicited = true;
  std::chrono::nanoseconds deadline = std::chrono::seconds(30);
  std::chrono::nanoseconds linger = std::chrono::seconds(2);
  /// Auto: Direct for memory of the host, Staged for that of devices.
  enum class Path { Auto, Direct, Staged } path = Path::Auto;
  std::string address; // of this rank's control socket; empty: the store's

  /// One line of the documentation; the table is the only list of options.
  struct Description {
    const char *name, *form, *defaultText, *what;
    enum { Both, VerbsOnly, EfaOnly } of;
  };
  static std::span<const Description> table();

  /// "qps=2,timeout=20". InvalidArgument names what is wrong and lists the valid
  /// options of the kind.
  static Result<Options> parse(std::string_view text, NicKind kind);
};

} // namespace mk::rt::rdma

#endif // MKERNEL_RUNTIME_TRANSPORT_RDMA_OPTIONS_H
