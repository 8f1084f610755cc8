//===- ProxySpeed.cpp - What the proxy adds to the posts it makes ---------===//
//
// A transport that sends nothing and takes a given time for each request stands for the
// network. Three measurements:
//
//   share      of a bare loop of posts of the same requests, which the proxy reaches with
//              a ring full of commands; here a request takes as long as a NIC's post. One
//              ring by the loop, one by the proxy, in turn: what else runs on the machine
//              slows both
//   rate       commands a second of one proxy thread when requests cost nothing
//   latency    from the store of a command by another thread to its post, the ring being
//              empty: as a GPU has it, which wakes nobody
//
// usage: mkernel-proxy-speed [--json] [--verbose] [--post NANOSECONDS]
// exit status: 1 where share, rate or latency misses what docs/benchmarking.md says
//
//===----------------------------------------------------------------------===//

#include "mkernel/Runtime/HostHeap.h"
#include "mkernel/Runtime/Mesh.h"
#include "mkernel/Runtime/Proxy.h"
#include "mkernel/Runtime/Store.h"
#include "mkernel/Runtime/Transport.h"

#include <algorithm>
#include <cstdio>
#include <cstring>
#include <thread>

using namespace mk::rt;
using Clock = std::chrono::steady_clock;

namespace {

constexpr uint64_t kCommands = 4096; // of a full ring
constexpr uint64_t kWarm = 512;      // of them, in which what others left in the caches goes
constexpr uint64_t kRings = 64;
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

protected:
  Status doConnect(StoreClient &, std::span<const uint32_t>, Deadline) override {
    for (uint32_t r = 0; r < heap().world(); ++r)
      if (r != heap().rank())
        setPeerWindow(r, heap().dataOffset(), heap().bytes(), heap().slots());
    return Status::ok();
  }
  Status doPost(const PutRequest &request) override {
    uint64_t number = posted.load(std::memory_order_relaxed) + 1;
    if (number == first)
      began_ = Clock::now();
    if (cost.count() > 0)
      spend();
    if (marksTime)
      postedAt.store(Clock::now().time_since_epoch().count(), std::memory_order_release);
    done_.push_back({request.cookie, request.peer});
    if (number == last)
      ended_ = Clock::now();
    posted.store(number, std::memory_order_release);
    return Status::ok();
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
void check(const Status &status) {
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

  Mesh mesh;
  std::unique_ptr<HostHeap> heap;
  std::unique_ptr<StoreServer> server;
  std::unique_ptr<NullTransport> transport;
  AbortWord abort;
  std::vector<std::byte> memory;
};

/// Nanoseconds of a request, by the loop and by the proxy.
struct Times {
  std::vector<double> bare, through;
};

/// From the first post to the last one's end, of a loop that does nothing else.
double bareRing(Rank &rank, std::vector<PutRequest> &requests) {
  NullTransport &transport = *rank.transport;
  Completions completions;
  transport.first = transport.posted + 1 + kWarm;
  transport.last = transport.posted + kCommands;
  for (uint64_t i = 0; i < kCommands; ++i) {
    requests[i % 1024].cookie = i;
    check(transport.post(requests[i % 1024]));
    if (i % 64 == 63) { // the proxy's batch
      completions.clear();
      check(transport.poll(completions));
    }
  }
  return transport.seconds() / double(kCommands - kWarm) * 1e9;
}

/// The same posts by the proxy, which finds the ring full.
double proxyRing(Rank &rank, Proxy &proxy) {
  NullTransport &transport = *rank.transport;
  for (uint64_t i = 0; i < kCommands; ++i)
    check(proxy.submit(rank.command(i), [] { return Status::ok(); }));
  transport.first = transport.posted + 1 + kWarm;
  transport.last = transport.posted + kCommands;
  proxy.pause(false);
  // Nobody looks on meanwhile, which would cost the proxy its cache lines.
  std::this_thread::sleep_for(kCommands * (transport.cost + std::chrono::nanoseconds(120)));
  check(proxy.drain(Deadline::after(std::chrono::seconds(10))));
  proxy.pause(true);
  return transport.seconds() / double(kCommands - kWarm) * 1e9;
}

void measure(Rank &rank, Times &times) {
  std::vector<PutRequest> requests(1024);
  for (uint64_t i = 0; i < requests.size(); ++i) {
    Command c = rank.command(i);
    requests[i].peer = c.peer;
    requests[i].fragments = {{c.src, c.dst, c.bytes}};
    requests[i].signal = SignalAdd{c.slot, c.amount};
  }
  auto proxy = rank.start(kCommands, /*paused=*/true);
  for (uint64_t ring = 0; ring < kRings; ++ring) {
    times.bare.push_back(bareRing(rank, requests));
    times.through.push_back(proxyRing(rank, *proxy));
  }
}

/// Microseconds from the store of a command to its post, sorted. By a thread that, like a
/// GPU, leaves the proxy to find it.
std::vector<double> latencies(Rank &rank) {
  rank.transport->marksTime = true;
  std::byte *aligned = rank.memory.data();
  aligned += (64 - reinterpret_cast<uintptr_t>(aligned) % 64) % 64;
  std::memset(aligned, 0, CommandRing::bytesOf(1024));
  auto ring = take(CommandRing::create(1024, aligned));
  ProxyOptions options;
  options.mesh = &rank.mesh;
  options.heap = rank.heap.get();
  options.transport = rank.transport.get();
  options.abort = &rank.abort;
  options.channels = kChannels;
  options.ring = ring.get();
  auto proxy = take(Proxy::start(options));
  auto *commands = reinterpret_cast<mk_command *>(aligned + sizeof(mk_command_ring));
  std::vector<double> result;
  for (uint64_t i = 0; i < 3000; ++i) {
    std::this_thread::sleep_for(std::chrono::microseconds(20 + i % 50));
    mk_command raw = encodeCommand(rank.command(i), i / 1024);
    uint64_t words[4];
    std::memcpy(words, &raw, sizeof(words));
    auto *place = reinterpret_cast<uint64_t *>(&commands[i % 1024]);
    uint64_t before = rank.transport->posted;
    auto begin = Clock::now();
    for (int w = 0; w < 4; ++w)
      std::atomic_ref<uint64_t>(place[w]).store(words[w], w % 2 ? std::memory_order_release
                                                              : std::memory_order_relaxed);
    while (rank.transport->posted.load(std::memory_order_acquire) == before)
      std::this_thread::yield();
    auto end = Clock::time_point(Clock::duration(
        rank.transport->postedAt.load(std::memory_order_acquire)));
    result.push_back(std::chrono::duration<double, std::micro>(end - begin).count());
  }
  rank.transport->marksTime = false;
  std::sort(result.begin(), result.end());
  return result;
}

double quantile(std::vector<double> values, double q) {
  std::sort(values.begin(), values.end());
  return values[size_t(double(values.size()) * q)];
}

} // namespace

int main(int argc, char **argv) {
  bool json = false, verbose = false;
  long post = 250;
  for (int i = 1; i < argc; ++i) {
    if (!std::strcmp(argv[i], "--json")) {
      json = true;
    } else if (!std::strcmp(argv[i], "--verbose")) {
      verbose = true;
    } else if (!std::strcmp(argv[i], "--post") && i + 1 < argc) {
      post = std::atol(argv[++i]);
    } else {
      std::fprintf(stderr, "usage: mkernel-proxy-speed [--json] [--verbose] [--post NANOSECONDS]\n");
      return 2;
    }
  }
  Rank rank;
  Times loaded, free;
  for (int round = 0; round < 4; ++round) {
    rank.transport->cost = std::chrono::nanoseconds(post);
    measure(rank, loaded);
    rank.transport->cost = {};
    measure(rank, free);
  }
  // Of rings that nothing else on the machine has slowed, which are the fastest tenth.
  double share = quantile(loaded.bare, 0.1) / quantile(loaded.through, 0.1);
  double rate = 1e9 / quantile(free.through, 0.5);
  if (verbose)
    for (auto &[what, times] : {std::pair("busy", &loaded), std::pair("free", &free)})
      for (double q : {0.1, 0.5})
        std::fprintf(stderr, "%s requests: %.0f %% of rings within %.1f ns in a bare loop, %.1f through the proxy\n",
                     what, q * 100, quantile(times->bare, q), quantile(times->through, q));
  std::vector<double> late = latencies(rank);
  double half = late[late.size() / 2], most = late[late.size() * 99 / 100];
  std::printf(json ? "{\"post_ns\": %ld, \"share\": %.4f, \"commands_per_second\": %.0f, "
                     "\"latency_us\": {\"median\": %.3f, \"p99\": %.3f}}\n"
                   : "requests of %ld ns: %.3f of a bare loop of posts\n"
                     "free requests: %.0f commands a second\n"
                     "store to post: median %.2f us, 99 %% within %.2f us\n",
              post, share, rate, half, most);
  return share >= 0.95 && rate >= 3e6 && half <= 3 ? 0 : 1;
}
