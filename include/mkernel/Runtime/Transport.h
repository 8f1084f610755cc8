//===- Transport.h - What carries bytes across a net axis -------*- C++ -*-===//
//
// One interface for every network. The rules that all implementations keep and
// the conformance suite (test/unit/TransportConformance.cpp) checks:
//
//  * Requests complete and arrive in any order.
//  * One request is one arrival, however it is fragmented or striped: its
//    signal is raised when all of its bytes are in the peer's memory.
//  * A local completion means: delivered at the peer, sources reusable.
//  * Sources may be read at any time before that; who changes them early sends
//    the change.
//  * The first error is kept with its cause; every later call returns it.
//
//===----------------------------------------------------------------------===//
#ifndef MKERNEL_RUNTIME_TRANSPORT_H
#define MKERNEL_RUNTIME_TRANSPORT_H

#include "mkernel/Runtime/Deadline.h"
#include "mkernel/Runtime/Status.h"

#include <atomic>
#include <cstdint>
#include <memory>
#include <mutex>
#include <span>
#include <vector>

namespace mk::rt {

class Heap;
class StoreClient;

/// A contiguous piece of a put. Offsets are from the starts of the heaps.
struct Fragment {
  uint64_t src = 0; // in this rank's heap
  uint64_t dst = 0; // in the peer's
  uint64_t bytes = 0;
};

struct SignalAdd {
  uint32_t slot = 0;
  uint32_t amount = 1;
};

/// A put: any number of fragments (none: a bare signal) and at most one signal.
struct PutRequest {
  uint32_t peer = 0;
  std::vector<Fragment> fragments;
  std::optional<SignalAdd> signal;
  uint64_t cookie = 0; // returned with the completion
};

/// A request of this rank whose bytes (and signal) are at the peer.
struct LocalCompletion {
  uint64_t cookie = 0;
  uint32_t peer = 0;
};

/// A peer's request whose bytes are in this rank's heap, visible to the thread
/// that polled it. Who polls adds `amount` to the slot (release).
struct Arrival {
  uint32_t peer = 0; // the sender
  uint32_t slot = 0;
  uint32_t amount = 0;
  uint8_t generation = 0; // the sender's
};

struct Completions {
  std::vector<LocalCompletion> local;
  std::vector<Arrival> arrivals;
  void clear() { local.clear(), arrivals.clear(); }
  bool empty() const { return local.empty() && arrivals.empty(); }
};

struct PeerStats {
  uint64_t bytes = 0;    // payload posted to the peer
  uint64_t requests = 0; // posted
  uint64_t completed = 0;
  uint64_t arrivals = 0; // signalled requests that came from the peer
};

struct TransportConfig {
  Heap *heap = nullptr;    // registered window: [dataOffset(), bytes())
  /// PCI address of the rank's GPU, whose NICs the topology says; "": memory of the host, NICs
  /// are divided by the ranks of a machine.
  std::string gpu;
  uint8_t generation = 0;  // of the communicator; arrivals carry it
  std::string options;     // implementation-defined, "key=value,key,..."
  std::string scope = "0"; // distinguishes transports in one store
};

class Transport {
public:
  virtual ~Transport();
  Transport(const Transport &) = delete;
  Transport &operator=(const Transport &) = delete;

  virtual std::string_view name() const = 0;
  /// How bytes get from memory to memory, for reports: "by the copy engine".
  virtual std::string path() const { return {}; }
  /// NICs of this rank, once connected; none where there are none.
  virtual std::vector<std::string> nics() const { return {}; }

  /// Whether memory has to be registered, which may not be possible for a GPU's.
  virtual bool registersMemory() const { return false; }
  /// Whether that is possible for the heap, of which some memory has to be there; or why not.
  /// On all ranks, before connect().
  virtual Status reaches(StoreClient &, Deadline) { return Status::success(); }

  /// Exchanges endpoints through the store; each of `peers` must name this
  /// rank. Once, before anything else.
  Status connect(StoreClient &store, std::span<const uint32_t> peers,
                 Deadline deadline);

  /// Queues a request. OutOfRange when it leaves the windows of either end or
  /// the peer's slots, InvalidArgument for a peer that is not connected;
  /// neither latches, nothing was sent. Again: the queue is full, poll first.
  /// Any other error is latched. Thread-safe.
  Status post(const PutRequest &request);
  /// The same for several (at least one), in order, by the thread that polls: what is counted for
  /// each peer needs no locked instructions then. Returns how many were queued; `why` is the status
  /// of the first that was not.
  size_t postAll(std::span<const PutRequest *const> requests, Status &why);

  /// Appends what happened since; does not block. Returns the latched error,
  /// if any (what completed before it is still delivered). One thread.
  Status poll(Completions &completions);

  /// Blocks the polling thread until poll may find something, wake() was
  /// called, or `limit` passed. Spurious returns are allowed.
  virtual void wait(std::chrono::microseconds limit) = 0;
  /// Ends a wait() of another thread, or the next one.
  virtual void wake() = 0;

  /// What has been under way for long, and to whom, for reports of waits that do not
  /// end; empty: nothing. Any thread.
  virtual std::string stuck() const;

  /// The latched error.
  Status error() const;
  bool failed() const { return failed_.load(std::memory_order_acquire); }

  /// Requests posted and not completed.
  uint64_t inFlight() const;

  /// By peer rank; zeros for ranks not connected.
  PeerStats stats(uint32_t peer) const;

  /// Delivers what is in flight, tells the peers goodbye and disconnects.
  /// DeadlineExceeded (and disconnects all the same) when not drained in time;
  /// the latched error if there is one. Peers must have posted all they have
  /// for this rank before: meet in a barrier first. Idempotent.
  Status shutdown(Deadline deadline);

protected:
  explicit Transport(TransportConfig config);

  virtual Status doConnect(StoreClient &store, std::span<const uint32_t> peers,
                           Deadline deadline) = 0;
  virtual Status doPost(const PutRequest &request) = 0;
  /// Appends; need not return the latched error.
  virtual void doPoll(Completions &completions) = 0;
  virtual void doShutdown(Deadline deadline) = 0;

  /// Keeps the first error. Returns the kept one. Any thread.
  Status latch(Status status);
  /// Declares a peer's window, learned while connecting.
  void setPeerWindow(uint32_t peer, uint64_t begin, uint64_t end,
                     uint32_t slots);

  const TransportConfig &config() const { return config_; }
  Heap &heap() const { return *config_.heap; }

private:
  struct alignas(64) Peer {
    uint64_t begin = 0, end = 0; // window, bytes from the heap's start
    uint32_t slots = 0;
    bool connected = false;
    // Written by the thread that polls.
    std::atomic<uint64_t> ownBytes{0}, ownRequests{0}, completed{0}, arrivals{0};
    // Of posts by any thread.
    std::atomic<uint64_t> bytes{0}, requests{0};
  };
  bool isInside(const PutRequest &request) const;
  /// Why it is not.
  Status explain(const PutRequest &request) const;

  TransportConfig config_;
  std::unique_ptr<Peer[]> peers_; // by rank
  std::atomic<bool> failed_{false};
  mutable std::mutex errorMutex_;
  Status error_;
  enum class State { Created, Connected, Closed };
  std::atomic<State> state_{State::Created};
};

/// Whether there is a transport of this name that takes these options, as far as that can be told
/// without a heap and without NICs. InvalidArgument names the option, what is wrong with it and
/// what is valid.
Status checkTransport(std::string_view name, std::string_view options);

/// Makes the transport `name` ("loopback", "verbs", "efa"). Beside its own options it takes
/// path=auto|direct|staged, chunk=BYTES and chunks=COUNT (docs/network.md). InvalidArgument
/// lists the valid names, or the valid options of the transport.
Result<std::unique_ptr<Transport>> createTransport(std::string_view name,
                                                   TransportConfig config);

/// The options with which a transport goes through memory of the host, for one that does not
/// reach its heap; empty where the path was given.
Result<std::string> stagedInstead(std::string_view options);

} // namespace mk::rt

#endif // MKERNEL_RUNTIME_TRANSPORT_H
