//===- Loopback.h - A network inside one host -------------------*- C++ -*-===//
//
// Ranks of one host stand for several nodes. The transport maps its peers'
// heaps for itself alone: kernel code still cannot address them. A wire thread
// cuts requests into packets, holds them back as the options say, and has the device
// copy each from source to destination when its time has come (the CPU, or the copy
// engine of a GPU); the source is read only then, so that reusing it early shows.
// Arrival notices travel over a local socket, whose end also tells that a peer died.
//
//===----------------------------------------------------------------------===//
#ifndef MKERNEL_RUNTIME_TRANSPORT_LOOPBACK_LOOPBACK_H
#define MKERNEL_RUNTIME_TRANSPORT_LOOPBACK_LOOPBACK_H

#include "core/Socket.h"
#include "mkernel/Runtime/Heap.h"
#include "mkernel/Runtime/HeapCopies.h"
#include "mkernel/Runtime/Transport.h"
#include "transport/loopback/Options.h"

#include <condition_variable>
#include <deque>
#include <map>
#include <random>
#include <set>
#include <thread>

namespace mk::rt {

class Loopback final : public Transport {
public:
  Loopback(TransportConfig config, LoopbackOptions options);
  ~Loopback() override;

  std::string_view name() const override { return "loopback"; }
  std::string path() const override;
  void wait(std::chrono::microseconds limit) override;
  void wake() override;

  /// Stops and restarts the wire. What was held back is due on restart.
  void pause(bool paused);
  /// Tests, while paused: delivers packet `number` (counted from 0 in the order
  /// of posting) now; false if it is not in flight.
  bool deliverPacket(uint64_t number);

private:
  using Clock = std::chrono::steady_clock;

  struct Request {
    uint32_t peer = 0;
    std::optional<SignalAdd> signal;
    uint64_t cookie = 0;
    uint64_t packetsLeft = 0;
    bool fails = false;
  };
  struct Packet {
    std::shared_ptr<Request> request;
    Fragment part; // no bytes: a bare signal
    Clock::time_point due;
    uint64_t number = 0;
    uint64_t key = 0; // order among packets that are due
  };
  struct ByDue {
    bool operator()(const Packet &a, const Packet &b) const {
      return std::pair(a.due, a.number) < std::pair(b.due, b.number);
    }
  };
  struct ByKey {
    bool operator()(const Packet &a, const Packet &b) const {
      return std::pair(a.key, a.number) < std::pair(b.key, b.number);
    }
  };
  struct Notice {
    uint32_t kind; // kArrival or kGoodbye
    uint32_t generation;
    uint32_t slot;
    uint32_t amount;
  };
  static constexpr uint32_t kArrival = 0x6d6b6101, kGoodbye = 0x6d6b6102;
  struct Link {
    uint32_t peer = 0;
    Fd socket;
    Fd segments; // to it, for segments of heaps
    bool open = true;     // polling thread: the peer's end is still there
    bool goodbye = false; // polling thread: it said so
    // Requests whose bytes are there and whose notice the socket did not take
    // yet (the peer does not poll). Guarded by mutex_.
    std::deque<std::shared_ptr<Request>> outbox;
  };

  /// Packets whose copies are under way.
  struct Flight {
    uint64_t mark = 0; // of HeapCopies
    std::vector<Packet> packets;
  };

  // Connect.cpp
  Status doConnect(StoreClient &store, std::span<const uint32_t> peers,
                   Deadline deadline) override;
  Status shareSegment(uint64_t offset, uint64_t bytes, Deadline deadline);
  // Loopback.cpp
  Status doPost(const PutRequest &request) override;
  void doPoll(Completions &completions) override;
  void doShutdown(Deadline deadline) override;
  void receive(Link &link, Completions &completions);
  void stopWire();
  // Wire.cpp
  void enqueue(std::shared_ptr<Request> request, Fragment part,
               Clock::time_point now);
  void runWire();
  std::vector<Packet> nextPackets(Clock::time_point now);
  std::optional<Flight> start(std::vector<Packet> packets);
  bool land();
  void arrive(const Packet &packet);
  void flushOutboxes();
  bool sendNotice(Link &link, const Request &request);
  void complete(const Request &request);

  LoopbackOptions options_;
  bool onGpu_;
  std::unique_ptr<HeapCopies> copies_;
  std::deque<Flight> flights_; // of the wire thread
  bool listens_ = false;       // to the heap's segments
  Fd epoll_, waker_;
  std::map<uint32_t, Link> links_; // by peer; fixed once connected
  std::thread wire_;

  std::mutex mutex_; // guards the following
  std::condition_variable changed_;
  std::set<Packet, ByDue> held_;  // not due yet
  std::set<Packet, ByKey> ready_; // due
  std::vector<LocalCompletion> completed_;
  std::mt19937_64 random_;
  Clock::time_point wireFree_{}; // when the rate limit lets the next one go
  uint64_t packets_ = 0;         // numbered so far
  uint64_t requests_ = 0;
  uint64_t undelivered_ = 0; // requests
  size_t outboxed_ = 0;      // requests in outboxes
  bool paused_ = false, stop_ = false;
};

} // namespace mk::rt

#endif // MKERNEL_RUNTIME_TRANSPORT_LOOPBACK_LOOPBACK_H
