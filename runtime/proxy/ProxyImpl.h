//===- ProxyImpl.h - State of the proxy -------------------------*- C++ -*-===//
#ifndef MKERNEL_RUNTIME_PROXY_PROXYIMPL_H
#define MKERNEL_RUNTIME_PROXY_PROXYIMPL_H

#include "mkernel/Runtime/HostHeap.h"
#include "mkernel/Runtime/Mesh.h"
#include "mkernel/Runtime/Proxy.h"
#include "mkernel/Runtime/Transport.h"

#include <atomic>
#include <deque>
#include <mutex>
#include <thread>
#include <unordered_map>

namespace mk::rt {

struct Proxy::Impl {
  /// A put whose commands are all there, or one on its way to that.
  struct Put {
    uint32_t channel = 0;
    uint32_t commands = 0; // taken off the in-flight counts when it completes
    bool strong = false;
    PutRequest request;
  };
  /// A posted request; its cookie is its index.
  struct Work {
    uint32_t channel = 0, peer = 0, commands = 0;
    bool used = false;
    std::chrono::steady_clock::time_point posted;
  };
  /// Puts of one (channel, peer); proxy thread only.
  struct Pair {
    uint32_t outstanding = 0; // admitted to the transport, not completed
    std::deque<Put> held;     // first: a strong signal waiting for those
  };

  explicit Impl(const ProxyOptions &o);
  ~Impl();

  void run();
  bool round(); // whether there was anything to do
  void idle(uint32_t rounds);

  // Checking and grouping (Commands.cpp).
  void take(const mk_command &raw);
  Status accept(const Command &command);
  Status checkCommand(const Command &command) const;

  // Posting and completing (Requests.cpp).
  void admit(Put put);
  void pump(uint64_t key, Pair &pair);
  bool postReady();
  void completed(uint64_t cookie);
  void arrived(const Arrival &arrival);
  void checkAges();
  void publish();
  void uncount(uint32_t channel, uint32_t peer, uint32_t commands);

  void fail(Status status);
  Status settledError() const;
  bool discarding() const { return failed || options.abort->raised(); }

  uint64_t keyOf(uint32_t channel, uint32_t peer) const {
    return uint64_t(channel) * world + peer;
  }

  ProxyOptions options;
  uint32_t world, rank;
  std::unique_ptr<CommandRing> ownRing;
  CommandRing *ring = nullptr;
  std::unique_ptr<ProxySink> ownSink;
  ProxySink *sink = nullptr;
  std::thread thread;
  std::atomic<bool> stop{false}, paused;
  std::atomic<bool> failed{false};
  std::atomic<uint32_t> sleeping{0};

  // Commands handed over and not delivered; by (channel, peer), by channel,
  // and in all. CTAs add, the proxy subtracts; it adds, too, where a GPU writes.
  std::unique_ptr<std::atomic<uint32_t>[]> byPair;
  std::unique_ptr<std::atomic<uint32_t>[]> byChannel;
  std::atomic<uint64_t> total{0};

  // Proxy thread only.
  std::vector<Put> open; // by channel and team; commands == 0: none
  std::unordered_map<uint64_t, Pair> pairs;
  std::deque<Put> ready; // to be posted, in order
  uint64_t heldPuts = 0; // in all pairs
  std::vector<Work> works;
  std::vector<uint32_t> freeWorks;
  std::vector<mk_command> batch;
  Completions completions;
  std::chrono::steady_clock::time_point nextAgeCheck{};

  std::atomic<uint32_t> openPuts{0};
  std::atomic<uint64_t> commands{0}, requests{0}, arrivals{0}, signals{0}, stale{0},
      discarded{0};

  mutable std::mutex errorMutex;
  Status firstError;
};

} // namespace mk::rt

#endif // MKERNEL_RUNTIME_PROXY_PROXYIMPL_H
