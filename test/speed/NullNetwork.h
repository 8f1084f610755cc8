//===- NullNetwork.h - A rank whose network sends nothing -------*- C++ -*-===//
#ifndef MKERNEL_TEST_SPEED_NULLNETWORK_H
#define MKERNEL_TEST_SPEED_NULLNETWORK_H

#include "mkernel/Runtime/HostHeap.h"
#include "mkernel/Runtime/Mesh.h"
#include "mkernel/Runtime/Proxy.h"
#include "mkernel/Runtime/Store.h"
#include "mkernel/Runtime/Transport.h"

#include <algorithm>
#include <cstdio>
#include <cstring>
#include <functional>
#include <thread>

namespace mk::rt::speed {

using Clock = std::chrono::steady_clock;

constexpr uint64_t kCommands = 4096; // of a full ring
constexpr uint32_t kChannels = 132, kPeers = 4;

/// Takes requests and completes them at the next poll.
class NullTransport final : public Transport {
public:
  explicit NullTransport(TransportConfig config) : Transport(std::move(config)) {}
  std::string_view name() const override { return "null"; }
  void wait(std::chrono::microseconds limit) override {
    std::this_thread::sleep_for(std::min(limit, std::chrono::microseconds(50)));
  }
  void wake() override {}

  std::chrono::nanoseconds cost{0}; // of a request
  std::atomic<Clock::rep> postedAt{0}; // of the last one
  uint64_t first = 0, last = 0;        // when the one begins and the other ends is kept
  double seconds() const { return std::chrono::duration<double>(ended_ - began_).count(); }
  std::atomic<uint64_t> posted{0};
  bool marksTime = false;
  /// Called with the number of each post and its time where times are marked.
  std::function<void(uint64_t, Clock::time_point)> onPost;

protected:
  Status doConnect(StoreClient &, std::span<const uint32_t>, Deadline) override {
    for (uint32_t r = 0; r < heap().world(); ++r)
      if (r != heap().rank())
        setPeerWindow(r, heap().dataOffset(), heap().bytes(), heap().slots());
    return Status::success();
  }
  Status doPost(const PutRequest &request) override {
    uint64_t number = posted.load(std::memory_order_relaxed) + 1;
    if (number == first)
      began_ = Clock::now();
    if (cost.count() > 0)
      spend();
    if (marksTime) {
      auto now = Clock::now();
      postedAt.store(now.time_since_epoch().count(), std::memory_order_release);
      if (onPost)
        onPost(number, now);
    }
    done_.push_back({request.cookie, request.peer});
    if (number == last)
      ended_ = Clock::now();
    posted.store(number, std::memory_order_release);
    return Status::success();
  }
  void doPoll(Completions &completions) override {
    completions.local.insert(completions.local.end(), done_.begin(), done_.end());
    done_.clear();
  }
  void doShutdown(Deadline) override {}

private:
#if defined(__x86_64__)
  /// By the counter itself: reading a clock may take a third of what is to be spent.
  static double ticksPerNanosecond() {
    auto begin = Clock::now();
    uint64_t ticks = __builtin_ia32_rdtsc();
    std::this_thread::sleep_for(std::chrono::milliseconds(50));
    ticks = __builtin_ia32_rdtsc() - ticks;
    return double(ticks) / std::chrono::duration<double, std::nano>(Clock::now() - begin).count();
  }
  void spend() const {
    static const double rate = ticksPerNanosecond();
    uint64_t begin = __builtin_ia32_rdtsc(), ticks = uint64_t(double(cost.count()) * rate);
    while (__builtin_ia32_rdtsc() - begin < ticks)
      ;
  }
#else
  void spend() const {
    auto end = Clock::now() + cost;
    while (Clock::now() < end)
      ;
  }
#endif

  std::vector<LocalCompletion> done_;
  Clock::time_point began_, ended_; // read when all are complete
};

template <typename T> T take(Result<T> result) {
  if (!result) {
    std::fprintf(stderr, "error: %s\n", result.status().toString().c_str());
    std::exit(1);
  }
  return std::move(*result);
}
inline void check(const Status &status) {
  if (!status) {
    std::fprintf(stderr, "error: %s\n", status.toString().c_str());
    std::exit(1);
  }
}

/// A rank with peers that are not there.
struct Rank {
  Rank() {
    mesh = take(Mesh::create({{"node", kPeers + 1, LinkKind::Net}}));
    HeapOptions options;
    options.world = kPeers + 1;
    heap = take(HostHeap::create(options));
    TransportConfig config;
    config.heap = heap.get();
    transport = std::make_unique<NullTransport>(config);
    StoreServerOptions serverOptions;
    serverOptions.token = "of a measurement only";
    server = take(StoreServer::start(serverOptions));
    StoreClientOptions clientOptions;
    clientOptions.endpoint = server->endpoint();
    clientOptions.token = serverOptions.token;
    clientOptions.rank = 0;
    auto deadline = Deadline::after(std::chrono::seconds(10));
    auto store = take(StoreClient::connect(clientOptions, deadline));
    std::vector<uint32_t> peers;
    for (uint32_t r = 1; r <= kPeers; ++r)
      peers.push_back(r);
    check(transport->connect(*store, peers, deadline));
    memory.resize(CommandRing::bytesOf(kCommands) + 64);
  }

  /// Puts of 4 KiB with a signal each, as CTAs of a grid write them.
  Command command(uint64_t i) const {
    Command c;
    c.channel = uint16_t(i % kChannels);
    c.peer = uint16_t(1 + i % kPeers);
    c.flags = MK_CMD_HAS_SIGNAL;
    c.amount = 1;
    c.bytes = 4096;
    c.slot = uint32_t(i % 1000);
    c.src = c.dst = heap->dataOffset() + i % 1024 * 4096;
    return c;
  }

  std::unique_ptr<Proxy> start(uint64_t capacity, bool paused) {
    ProxyOptions options;
    options.mesh = &mesh;
    options.heap = heap.get();
    options.transport = transport.get();
    options.abort = &abort;
    options.channels = kChannels;
    options.ringCapacity = capacity;
    options.paused = paused;
    return take(Proxy::start(options));
  }
  /// One that drains a ring which others write.
  std::unique_ptr<Proxy> start(CommandRing &ring) {
    ProxyOptions options;
    options.mesh = &mesh;
    options.heap = heap.get();
    options.transport = transport.get();
    options.abort = &abort;
    options.channels = kChannels;
    options.ring = &ring;
    return take(Proxy::start(options));
  }

  Mesh mesh;
  std::unique_ptr<HostHeap> heap;
  std::unique_ptr<StoreServer> server;
  std::unique_ptr<NullTransport> transport;
  AbortWord abort;
  std::vector<std::byte> memory;
};

} // namespace mk::rt::speed

#endif // MKERNEL_TEST_SPEED_NULLNETWORK_H
