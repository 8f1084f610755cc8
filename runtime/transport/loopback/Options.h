//===- Options.h - Options of the loopback transport ------------*- C++ -*-===//
#ifndef MKERNEL_RUNTIME_TRANSPORT_LOOPBACK_OPTIONS_H
#define MKERNEL_RUNTIME_TRANSPORT_LOOPBACK_OPTIONS_H

#include "mkernel/Runtime/Status.h"

#include <chrono>
#include <cstdint>

namespace mk::rt {

/// What the wire does to packets.
struct LoopbackOptions {
  std::chrono::nanoseconds delay{0};  // of every packet
  std::chrono::nanoseconds jitter{0}; // more, uniformly up to this
  std::optional<uint64_t> reorder;    // seed: packets overtake each other
  double rate = 0;                    // bytes per second sent; 0: unlimited
  uint64_t mtu = 0; // payload bytes of a packet; 0: what suits the memory
  uint64_t fail = 0;  // request of this number (from 1) ends in an error
  bool pause = false; // nothing is ever delivered

  /// How bytes get from a GPU's memory to that of a peer.
  enum class Path {
    Auto,       // as CopyEngine
    CopyEngine, // its copy engine writes the peer's memory, which it must reach
    Staged,     // through memory of the host (runtime/transport/staged)
  };
  Path path = Path::Auto;
  uint64_t chunk = 256 << 10; // staged: bytes that travel at a time
  uint64_t chunks = 16;       // and how many of them, for each peer

  /// "delay=5ms,reorder=1,rate=100MB/s,pause". InvalidArgument names what is
  /// wrong and lists the valid options.
  static Result<LoopbackOptions> parse(std::string_view text);
};

} // namespace mk::rt

#endif // MKERNEL_RUNTIME_TRANSPORT_LOOPBACK_OPTIONS_H
