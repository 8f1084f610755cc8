//===- TransportHarness.h - Plugging a transport into the suite -*- C++ -*-===//
//
// The conformance suite knows transports only through this. A transport joins
// by adding a harness to harnesses() in TransportHarness.cpp.
//
//===----------------------------------------------------------------------===//
#ifndef MKERNEL_TEST_UNIT_TRANSPORTHARNESS_H
#define MKERNEL_TEST_UNIT_TRANSPORTHARNESS_H

#include "Support.h"

#include "mkernel/Runtime/HostHeap.h"
#include "mkernel/Runtime/Transport.h"

namespace mk::rt::test {

/// The weather on the wire.
struct Conditions {
  std::optional<uint64_t> reorder = {}; // seed
  uint64_t mtu = 0;                     // bytes; 0: the transport's own
  std::chrono::microseconds delay{0};
  double rate = 0;    // bytes per second
  uint64_t fail = 0;  // number of the request that fails, from 1
  bool pause = false; // until resume() or deliverPacket()
};

class TransportHarness {
public:
  virtual ~TransportHarness() = default;
  virtual const char *name() const = 0;
  virtual Result<std::unique_ptr<Transport>>
  make(Heap &heap, const Conditions &conditions, uint8_t generation) const = 0;

  /// Called when a cluster is connected: where a pause begins only then.
  virtual void connected(const Conditions &) const {}
  /// Ends a pause.
  virtual void resume(Transport &transport) const = 0;
  /// Whether sources are read late, when a packet is delivered.
  virtual bool readsLate() const { return true; }
  /// While paused, delivers the packet posted as number `n` (from 0); false
  /// where the transport's packets cannot be had one by one.
  virtual bool deliverPacket(Transport &transport, uint64_t n) const = 0;

  /// Whether there are conditions at all, but the size of packets.
  virtual bool makesWeather() const { return true; }
  /// Whether the weather has a rate, and seeds give the same order again.
  virtual bool limitsRate() const { return true; }
  virtual bool isReproducible() const { return true; }
};

/// Over NICs in software (RdmaHarness.cpp); none where there are no headers.
const std::vector<const TransportHarness *> &rdmaHarnesses();

/// Over the real libibverbs (LibibverbsHarness.cpp) where MK_TEST_LIBIBVERBS says
/// that there are devices: scripts/test-roce does. Null elsewhere.
const TransportHarness *libibverbsHarness();

const std::vector<const TransportHarness *> &harnesses();

/// `world` connected ranks in this process, all across net axes.
struct Cluster {
  Cluster(const TransportHarness &harness, uint32_t world,
          const Conditions &conditions = {}, uint64_t heapBytes = 1 << 20)
      : job(world), harness(harness) {
    heaps.resize(world);
    transports.resize(world);
    for (uint32_t r = 0; r < world; ++r) {
      auto heap = HostHeap::create(
          {.bytes = heapBytes, .slots = 64, .rank = r, .world = world});
      EXPECT_OK(heap);
      heaps[r] = std::move(*heap);
      auto transport = harness.make(*heaps[r], conditions, 7);
      EXPECT_OK(transport);
      transports[r] = std::move(*transport);
    }
    Job::parallel(world, [&](uint32_t r) {
      std::vector<uint32_t> peers;
      for (uint32_t p = 0; p < world; ++p)
        if (p != r)
          peers.push_back(p);
      EXPECT_OK(transports[r]->connect(*job.clients[r], peers, soon()));
    });
    seen.resize(world);
    harness.connected(conditions);
  }

  Transport &operator[](uint32_t r) { return *transports[r]; }
  /// Memory of rank `r` at `offset` in the window.
  std::byte *at(uint32_t r, uint64_t offset) {
    return heaps[r]->base() + heaps[r]->dataOffset() + offset;
  }
  uint64_t offset(uint64_t inWindow) {
    return heaps[0]->dataOffset() + inWindow;
  }
  PutRequest put(uint32_t peer, uint64_t src, uint64_t dst, uint64_t bytes,
                 std::optional<SignalAdd> signal = {}, uint64_t cookie = 0) {
    PutRequest r;
    r.peer = peer;
    r.fragments = {{offset(src), offset(dst), bytes}};
    r.signal = signal;
    r.cookie = cookie;
    return r;
  }
  /// Polls rank `r` once, collecting into seen[r].
  Status poll(uint32_t r) { return transports[r]->poll(seen[r]); }
  bool pollUntil(uint32_t r, const std::function<bool()> &condition) {
    return eventually([&] {
      poll(r).ignore();
      return condition();
    });
  }
  bool completed(uint32_t r, size_t n) {
    return pollUntil(r, [&] { return seen[r].local.size() >= n; });
  }
  bool arrived(uint32_t r, size_t n) {
    return pollUntil(r, [&] { return seen[r].arrivals.size() >= n; });
  }

  Job job;
  const TransportHarness &harness;
  std::vector<std::unique_ptr<HostHeap>> heaps;
  std::vector<std::unique_ptr<Transport>> transports;
  std::vector<Completions> seen;
};

} // namespace mk::rt::test

#endif // MKERNEL_TEST_UNIT_TRANSPORTHARNESS_H
