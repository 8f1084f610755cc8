//===- Path.h - Ways to a peer and what is under way on them ----*- C++ -*-===//
#ifndef MKERNEL_RUNTIME_TRANSPORT_RDMA_PATH_H
#define MKERNEL_RUNTIME_TRANSPORT_RDMA_PATH_H

#include "transport/rdma/Nic.h"

#include "mkernel/Runtime/Transport.h"

#include <deque>

namespace mk::rt::rdma {

using Clock = std::chrono::steady_clock;

/// A put that was accepted and has not completed.
struct Put {
  uint32_t peer = 0;
  uint64_t cookie = 0;
  std::optional<SignalAdd> signal; // to be raised when `left` comes to 0
  uint32_t left = 0;               // requests that have not completed
};

struct Path;

/// A request of the NIC, posted or waiting for its turn.
struct Work {
  enum Kind : uint8_t {
    Write,       // bytes alone
    WriteSignal, // bytes and the put's signal
    Signal,      // a signal of its own
    Credit,      // for the peer, to send more signals
  };
  Kind kind = Write;
  bool used = false;
  uint16_t serial = 0;    // of the use of its number, for late completions
  Path *path = nullptr;
  uint32_t put = 0;       // not of Credit
  uint32_t immediate = 0; // not of Write
  uint32_t bytes = 0;
  uint64_t src = 0, dst = 0; // offsets; not of Signal and Credit

  /// Takes a place in the peer's window.
  bool signals() const { return kind == WriteSignal || kind == Signal; }
};

/// A queue pair: of one path on RC, of all paths of a NIC on SRD.
struct Queue {
  Nic *nic = nullptr;
  ibv_qp *qp = nullptr;
  ibv_qp_ex *ex = nullptr;
  bool ordered = false; // a completion stands for those before it
  uint32_t depth = 0, inFlight = 0;
  uint32_t sinceSignaled = 0;
  std::deque<uint32_t> order;  // ordered: posted works, oldest first
  uint32_t receivesOwed = 0;   // to be posted again
  bool postsReceives = true;
  bool broken = false;         // moved to the error state
};

struct Path {
  uint32_t peer = 0, index = 0; // among the peer's paths, the same on both ends
  uint32_t nic = 0, remoteNic = 0;
  double share = 0;             // of the traffic to the peer
  Queue *queue = nullptr;
  ibv_ah *ah = nullptr; // SRD
  PathEndpoint local, remote;
  double sent = 0; // bytes, each counted as 1 / share

  // Signals. `credits` may be sent; each credit message brings a quarter of the
  // window back, so that at most four of those are under way.
  uint32_t credits = 0;
  uint32_t owed = 0;      // taken here and not given back
  uint64_t immediatesTaken = 0; // credits included, as in the next one
  uint64_t immediatesDone = 0;  // of this end, completed
  uint32_t quantum() const { return remote.window / 4; }
  uint32_t ownQuantum() const { return local.window / 4; }

  std::deque<uint32_t> writes, signals; // works that wait
  uint32_t creditsToSend = 0;
  uint32_t inFlight = 0;
  bool stuck = false;         // peers were told that it stands still
  Clock::time_point progress; // the last completion, or the end of idleness

  // A path that is out of use (Failover.cpp).
  bool up = true;
  bool failing = false;              // RC: its requests fail from one on
  Status cause;                      // why not
  std::optional<uint64_t> delivered; // of this end's immediates: the peer's word
  bool recovered = false;
  Clock::time_point downSince;

  bool idle() const {
    return inFlight == 0 && writes.empty() && signals.empty() && !creditsToSend;
  }
};

/// Credit messages that may be under way beside the signals of a window.
constexpr uint32_t kCreditReserve = 8;

} // namespace mk::rt::rdma

#endif // MKERNEL_RUNTIME_TRANSPORT_RDMA_PATH_H
