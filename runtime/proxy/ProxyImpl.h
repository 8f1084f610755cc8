//===- ProxyImpl.h - State of the proxy -------------------------*- C++ -*-===//
#ifndef MKERNEL_RUNTIME_PROXY_PROXYIMPL_H
#define MKERNEL_RUNTIME_PROXY_PROXYIMPL_H

#include "mkernel/Runtime/HostHeap.h"
#include "mkernel/Runtime/Mesh.h"
#include "mkernel/Runtime/Proxy.h"
#include "mkernel/Runtime/Transport.h"

#include <atomic>
#include <mutex>
#include <thread>
#include <utility>

namespace mk::rt {

struct Proxy::Impl {
  static constexpr uint32_t kNone = ~0u;

  /// A put on its way from the ring to its completion; its index is the request's cookie.
  /// Kept for the next one when it is complete, with the memory of its fragments.
  struct Put {
    PutRequest request;
    uint32_t channel = 0;
    uint32_t commands = 0; // that are complete with it
    uint32_t next = kNone; // in the list that it is in
    bool strong = false;
    bool posted = false;
    std::chrono::steady_clock::time_point postedAt;
  };
  /// Puts, first to last.
  struct List {
    uint32_t first = kNone, last = kNone;
    bool empty() const { return first == kNone; }
  };
  /// Puts of one (channel, peer).
  struct Pair {
    uint32_t outstanding = 0; // admitted to the transport, not completed
    List held;                // first: a strong signal waiting for those
  };
  /// Commands handed over, and those of them that are complete. Each has one side that
  /// writes it, so that neither waits for the other's cache line to add.
  struct Counts {
    explicit Counts(uint64_t n)
        : begun(new std::atomic<uint32_t>[n]()), ended(new std::atomic<uint32_t>[n]()) {}
    /// What was completed and never counted takes nothing off.
    uint32_t open(uint64_t i) const {
      // In this order: what ends in between was begun.
      uint32_t done = ended[i].load(std::memory_order_acquire);
      auto left = static_cast<int32_t>(begun[i].load(std::memory_order_acquire) - done);
      return left > 0 ? static_cast<uint32_t>(left) : 0;
    }
    /// By the proxy's thread alone. Release: who sees it knows that the bytes are at the peer.
    void end(uint64_t i, uint32_t n) {
      ended[i].store(ended[i].load(std::memory_order_relaxed) + n,
                     std::memory_order_release);
    }
    std::unique_ptr<std::atomic<uint32_t>[]> begun, ended;
  };

  explicit Impl(const ProxyOptions &o);
  ~Impl();

  void run();
  bool round(); // whether there was anything to do
  void idle(uint32_t rounds);

  // Checking and grouping (Commands.cpp).
  void take(const CommandWords &words);
  Status accept(const Command &command);
  bool isSound(const Command &command) const;
  Status explain(const Command &command) const;

  // Posting and completing (Requests.cpp).
  void admit(uint32_t put);
  bool post(uint32_t put);
  void pump(Pair &pair);
  void postReady();
  void completed(uint64_t cookie);
  void arrived(const Arrival &arrival);
  void checkAges();
  void publish();

  void fail(Status status);
  Status settledError() const;
  bool discarding() const { return failed || options.abort->raised(); }

  void append(List &list, uint32_t number) {
    puts[number].next = kNone;
    (list.empty() ? list.first : puts[list.last].next) = number;
    list.last = number;
  }
  uint32_t removeFirst(List &list) {
    return std::exchange(list.first, puts[list.first].next);
  }
  /// A put of nothing yet.
  uint32_t takePut(uint32_t channel, uint32_t peer) {
    uint32_t number = unused;
    if (number == kNone) {
      number = static_cast<uint32_t>(puts.size());
      puts.emplace_back();
    } else {
      unused = puts[number].next;
    }
    Put &put = puts[number];
    put.channel = channel;
    put.request.peer = peer;
    put.request.cookie = number;
    return number;
  }
  void giveBack(uint32_t number) {
    Put &put = puts[number];
    put.request.fragments.clear();
    put.request.signal.reset();
    put.commands = 0;
    put.strong = put.posted = false;
    put.next = std::exchange(unused, number);
  }

  uint64_t keyOf(uint32_t channel, uint32_t peer) const {
    return uint64_t(channel) * world + peer;
  }

  ProxyOptions options;
  uint32_t world, rank, slots;
  std::unique_ptr<CommandRing> ownRing;
  CommandRing *ring = nullptr;
  std::unique_ptr<ProxySink> ownSink;
  ProxySink *sink = nullptr;
  std::thread thread;
  std::atomic<bool> stop{false}, paused, resting{false};
  std::atomic<bool> failed{false};
  std::atomic<uint32_t> sleeping{0};

  // By (channel, peer) and by channel. CTAs begin, the proxy ends; it begins, too, where a
  // GPU writes.
  Counts byPair, byChannel;

  // Proxy thread only.
  std::vector<uint8_t> isNet; // by rank: only puts reach it
  std::vector<Put> puts;
  uint32_t unused = kNone;    // the last one first, as its memory is near
  List ready;                 // to be posted, in order
  uint64_t pending = 0;       // in `ready` and held
  std::vector<uint32_t> open; // put of a channel and team, or kNone
  std::unique_ptr<Pair[]> pairs; // by keyOf
  uint64_t postedInRound = 0;
  std::chrono::steady_clock::time_point roundBegan{};
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
