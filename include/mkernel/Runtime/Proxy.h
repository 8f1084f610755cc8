//===- Proxy.h - The thread that drives the network -------------*- C++ -*-===//
//
// Drains the command ring of a rank, checks each command against the registered
// windows, posts to the transport, and tells the rank's kernels what has arrived and
// what is complete. A bad command never crashes and never reaches the network: it is
// latched, the abort word is raised, and from then on commands are consumed and
// dropped, so that no CTA waits for ring space.
//
//===----------------------------------------------------------------------===//
#ifndef MKERNEL_RUNTIME_PROXY_H
#define MKERNEL_RUNTIME_PROXY_H

#include "mkernel/Runtime/Abort.h"
#include "mkernel/Runtime/CommandRing.h"
#include "mkernel/Runtime/Deadline.h"

namespace mk::rt {

class Heap;
class Mesh;
class Transport;

/// Tells the kernels of a rank what its proxy has seen. All calls are by the proxy's thread.
class ProxySink {
public:
  virtual ~ProxySink() = default;
  /// Payload of a peer is in this rank's memory, and its signal is raised.
  virtual void arrived(uint32_t slot, uint32_t amount) = 0;
  /// A put of CTA `channel` is complete at its peer.
  virtual void completed(uint32_t channel) = 0;
  /// Behind any number of these; also called when there was nothing, for what is still
  /// under way.
  virtual Status publish() = 0;
};

struct ProxyOptions {
  const Mesh *mesh = nullptr;
  Heap *heap = nullptr;
  /// Null: signals are those of a HostHeap, and kernels ask inflightAll().
  ProxySink *sink = nullptr;
  /// Null: one of its own, for submit(). Otherwise a GPU writes it.
  CommandRing *ring = nullptr;
  Transport *transport = nullptr; // connected; polled only by the proxy
  AbortWord *abort = nullptr;
  uint32_t channels = 1;        // CTAs of the largest grid
  uint64_t ringCapacity = CommandRing::kOfHost; // commands, a power of two
  uint8_t generation = 0;       // arrivals of another one are dropped
  bool paused = false;          // start paused
  std::vector<uint32_t> cpus;   // that its thread runs on; empty: any (CpuBinding.h)
  /// A request older than this is an error; zero: no limit.
  std::chrono::nanoseconds requestTimeout{0};
};

class Proxy {
public:
  static Result<std::unique_ptr<Proxy>> start(const ProxyOptions &options);
  /// Stops the thread; in-flight requests are left to the transport.
  ~Proxy();
  Proxy(const Proxy &) = delete;
  Proxy &operator=(const Proxy &) = delete;

  /// Hands a command to the proxy; any thread, each channel by one thread at a
  /// time. Counts it as in flight from here on. Waits with `wait` while the
  /// ring is full; its error is returned and nothing was handed over.
  ///
  /// Release: the CTA's earlier writes to sources are visible to the proxy.
  /// A put of several commands: MK_CMD_MORE on all but the last, same channel,
  /// team and peer. FailedPrecondition where a GPU writes the ring.
  Status submit(const Command &command, const RingWait &wait);

  /// Commands of a channel handed over and not yet delivered at their peers. Zero (acquire)
  /// means: everything is in the peers' memory, sources may be reused.
  ///
  /// A fence or settle of a CTA waits until inflightAll(channel) is 0, polling
  /// the abort word: after an error the counts stay as they are. Commands of a GPU are
  /// counted when they have been taken off its ring.
  uint64_t inflightAll(uint32_t channel) const;
  uint64_t inflightTotal() const;

  /// The ring itself. Commands pushed here and not through submit are not
  /// counted as in flight: for tests.
  CommandRing &ring();

  /// A paused proxy drains nothing, posts nothing, adds no arrivals and leaves the
  /// transport alone; it is when this returns.
  void pause(bool paused);

  /// The first error; the abort word carries it, too.
  Status error() const;

  struct Stats {
    uint64_t commands = 0;  // drained
    uint64_t requests = 0;  // posted
    uint64_t arrivals = 0;  // added to slots
    uint64_t signals = 0;   // submitted with a signal
    uint64_t stale = 0;     // arrivals of another generation, dropped
    uint64_t discarded = 0; // commands dropped after an error
  };
  Stats stats() const;

  /// Waits until nothing is in flight.
  Status drain(Deadline deadline);

private:
  struct Impl;
  explicit Proxy(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl_;
};

} // namespace mk::rt

#endif // MKERNEL_RUNTIME_PROXY_H
