//===- ProxyImpl.h - State of the proxy -------------------------*- C++ -*-===//
#ifndef MKERNEL_RUNTIME_PROXY_PROXYIMPL_H
#define MKERNEL_RUNTIME_PROXY_PROXYIMPL_H

#include "mkernel/Runtime/HostHeap.h"
#include "mkernel/Runtime/Mesh.h"
#include "mkernel/Runtime/Proxy.h"
#include "mkernel/Runtime/Transport.h"

#include <algorithm>
#include <atomic>
#include <iterator>
#include <mutex>
#include <thread>
#include <utility>

namespace mk::rt {

struct Proxy::Impl {
  static constexpr uint32_t kNone = ~0u;

  /// A put on its way from the ring to its completion, in one cache line. Kept for the next one
  /// when it is complete, with the memory of its fragments.
  struct alignas(64) Put {
    PutRequest request;    // its cookie: see below
    uint32_t next = kNone; // in the list that it is in
    uint16_t channel = 0;
    bool strong = false;
    bool posted = false;
  };
  static_assert(sizeof(void *) != 8 || sizeof(Put) == 64);
  /// The cookie of a request: number of its put, and the commands that are complete with it.
  static constexpr uint64_t kOneCommand = uint64_t(1) << 32;
  static uint32_t numberIn(uint64_t cookie) { return static_cast<uint32_t>(cookie); }
  static uint32_t commandsIn(uint64_t cookie) { return static_cast<uint32_t>(cookie >> 32); }
  /// Puts, first to last.
  struct List {
    uint32_t first = kNone, last = kNone;
    bool empty() const { return first == kNone; }
  };
  using Count = std::atomic<uint32_t>;
  /// Commands handed over and not complete. What was completed and never counted takes
  /// nothing off.
  static uint32_t openOf(const Count &begun, const Count &ended) {
    // In this order: what ends in between was begun.
    uint32_t done = ended.load(std::memory_order_acquire);
    auto left = static_cast<int32_t>(begun.load(std::memory_order_acquire) - done);
    return left > 0 ? static_cast<uint32_t>(left) : 0;
  }
  /// By the one thread that writes it. Release: who sees that a command has ended knows that
  /// its bytes are at the peer.
  template <typename T> static void add(std::atomic<T> &count, T n) {
    count.store(count.load(std::memory_order_relaxed) + n, std::memory_order_release);
  }

  explicit Impl(const ProxyOptions &o);
  ~Impl();

  void run();
  bool round(); // whether there was anything to do
  void idle(uint32_t rounds);

  // What each command goes through (Round.cpp). By value: its words stay in registers, from
  // memory they would be read back while they are being written.
  size_t takeCommands();
  void take(CommandWords words);
  bool takePlain(CommandWords words);
  void postGroup();
  void completed(uint64_t cookie);

  // What fewer go through (Commands.cpp): strong signals, pieces of a put, and what is wrong.
  void takeOther(CommandWords words);
  bool isSound(const Command &command) const;
  void accept(const Command &command);
  Status acceptPart(const Command &command);
  void refuse(CommandWords words);
  Status explain(const Command &command) const;

  // Posting and completing (Requests.cpp).
  void admit(uint32_t put);
  void notPosted(uint32_t put, const Status &why);
  void pump(uint64_t key);
  void postReady();
  void strayCompletion(uint64_t cookie);
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
  /// Whether the transport has taken it; if not, there was no room, or an error.
  bool post(uint32_t number) {
    Put &put = puts[number];
    put.posted = true;
    if (timed)
      postedAt[number] = roundBegan;
    if (Status posted = transport->post(put.request); !posted) [[unlikely]] {
      notPosted(number, posted);
      return false;
    }
    ++postedInRound;
    return true;
  }
  /// A put of nothing yet.
  uint32_t takePut(uint32_t channel, uint32_t peer);
  void newPut();
  /// One that is unused has one fragment, whatever it says, and is not posted.
  void giveBack(uint32_t number, Put &put) {
    put.posted = false;
    if (put.request.fragments.size() != 1) [[unlikely]]
      put.request.fragments.resize(1);
    unused[numUnused++] = number;
  }

  uint64_t keyOf(const Put &put) const { return keyOf(put.channel, put.request.peer); }
  uint64_t keyOf(uint32_t channel, uint32_t peer) const {
    return uint64_t(channel) * world + peer;
  }

  // Lines of their own for what CTAs write, so that they do not take from the proxy what it
  // looks at for each command.
  static constexpr size_t kLine = 64;

  ProxyOptions options;
  uint32_t world, rank, slots, channels;
  Transport *transport;
  HostHeap *hostHeap = nullptr; // whose signals arrivals raise; else `sink` does
  ProxySink *sink = nullptr;
  std::unique_ptr<CommandRing> ownRing;
  CommandRing *ring = nullptr;
  bool foreign = false; // a GPU writes the ring
  std::thread thread;

  alignas(kLine) std::atomic<uint32_t> sleeping{0};
  std::atomic<uint64_t> signals{0};

  alignas(kLine) std::atomic<bool> stop{false};
  std::atomic<bool> paused, resting{false}, failed{false};

  // Commands by channel. CTAs begin them, the proxy ends them; it begins them, too,
  // where a GPU writes.
  std::unique_ptr<Count[]> begun, ended;

  // Proxy thread only.
  uint64_t windowBegin = 0, windowEnd = 0; // of the heap, when the round began
  std::vector<uint8_t> isNet; // by rank, and a 0 behind the last: only puts reach it
  std::vector<Put> puts;
  uint32_t numPuts = 0;
  std::vector<uint32_t> unused; // the last one first, as its memory is near
  uint32_t numUnused = 0;
  static constexpr size_t kGroup = 8;
  uint32_t group[kGroup] = {}; // puts to be posted next
  uint32_t grouped = 0;
  List ready;                 // to be posted behind them, in order
  uint64_t pending = 0;       // in `ready` and held
  // By keyOf: admitted to the transport and not completed; what waits for those, first a
  // strong signal.
  std::unique_ptr<uint32_t[]> outstanding;
  std::unique_ptr<List[]> held;
  // By channel and team: the put that lacks its last command; how many there are.
  std::vector<uint32_t> open;
  uint32_t numOpen = 0;
  uint64_t postedInRound = 0;
  // Where requests have a timeout: of each put.
  bool timed = false;
  std::vector<std::chrono::steady_clock::time_point> postedAt;
  std::chrono::steady_clock::time_point roundBegan{};
  Completions completions;
  std::chrono::steady_clock::time_point nextAgeCheck{};

  // Written by the proxy's thread alone, but for what others count as failed.
  std::atomic<uint32_t> openPuts{0};
  std::atomic<uint64_t> commands{0}, requests{0}, arrivals{0}, stale{0}, discarded{0};

  mutable std::mutex errorMutex;
  Status firstError;
};

} // namespace mk::rt

#endif // MKERNEL_RUNTIME_PROXY_PROXYIMPL_H
