//===- TransportConformance.cpp - What every transport must do ------------===//

#include "TransportHarness.h"

#include <algorithm>
#include <cstring>
#include <numeric>
#include <random>
#include <set>

namespace mk::rt::test {
namespace {

class Conformance : public testing::TestWithParam<const TransportHarness *> {
protected:
  const TransportHarness &harness() const { return *GetParam(); }
};

INSTANTIATE_TEST_SUITE_P(Transport, Conformance, testing::ValuesIn(harnesses()),
                         [](const auto &info) {
                           return std::string(info.param->name());
                         });

TEST_P(Conformance, PutCarriesBytesSignalAndCookie) {
  Cluster c(harness(), 2);
  memset(c.at(0, 0), 0x5a, 1000);
  ASSERT_OK(c[0].post(c.put(1, 0, 5000, 1000, SignalAdd{3, 9}, 77)));
  ASSERT_TRUE(c.arrived(1, 1));
  const Arrival &a = c.seen[1].arrivals[0];
  EXPECT_EQ(a.peer, 0u);
  EXPECT_EQ(a.slot, 3u);
  EXPECT_EQ(a.amount, 9u);
  EXPECT_EQ(a.generation, 7);
  EXPECT_EQ(memcmp(c.at(1, 5000), c.at(0, 0), 1000), 0);
  EXPECT_EQ(*c.at(1, 4999), std::byte{0});
  EXPECT_EQ(*c.at(1, 6000), std::byte{0});
  ASSERT_TRUE(c.completed(0, 1));
  EXPECT_EQ(c.seen[0].local[0].cookie, 77u);
  EXPECT_EQ(c.seen[0].local[0].peer, 1u);
  EXPECT_EQ(c[0].inFlight(), 0u);
}

TEST_P(Conformance, OneRequestIsOneArrival) {
  Cluster c(harness(), 2, {.mtu = 512});
  PutRequest r = c.put(1, 0, 0, 5000, SignalAdd{1, 1});
  r.fragments.push_back({c.offset(8000), c.offset(9000), 3});
  r.fragments.push_back({c.offset(8100), c.offset(9100), 0});
  r.fragments.push_back({c.offset(8200), c.offset(9200), 700});
  ASSERT_OK(c[0].post(r));
  ASSERT_OK(c[0].post(c.put(1, 0, 20000, 10))); // no signal: no arrival
  PutRequest bare;
  bare.peer = 1;
  bare.signal = SignalAdd{2, 1};
  ASSERT_OK(c[0].post(bare));
  PutRequest nothing;
  nothing.peer = 1;
  ASSERT_OK(c[0].post(nothing));
  ASSERT_TRUE(c.completed(0, 4));
  ASSERT_TRUE(c.arrived(1, 2));
  std::this_thread::sleep_for(5ms);
  EXPECT_OK(c.poll(1));
  EXPECT_EQ(c.seen[1].arrivals.size(), 2u);
  EXPECT_EQ(c[1].stats(0).arrivals, 2u);
  EXPECT_EQ(c[0].stats(1).bytes, 5713u);
  EXPECT_EQ(c[0].stats(1).requests, 4u);
  EXPECT_EQ(c[0].stats(1).completed, 4u);
  EXPECT_EQ(c[0].stats(0).bytes, 0u);
}

TEST_P(Conformance, ManyRanksAllToAll) {
  constexpr uint32_t world = 5;
  Cluster c(harness(), world, {.reorder = 11, .mtu = 700});
  constexpr uint64_t piece = 4096;
  for (uint32_t r = 0; r < world; ++r)
    for (uint32_t p = 0; p < world; ++p)
      memset(c.at(r, p * piece), int(r * 16 + p), piece);
  Job::parallel(world, [&](uint32_t r) {
    for (uint32_t p = 0; p < world; ++p)
      if (p != r) {
        EXPECT_OK(c[r].post(
            c.put(p, p * piece, (8 + r) * piece, piece, SignalAdd{r, 1})));
      }
    EXPECT_TRUE(c.arrived(r, world - 1));
    EXPECT_TRUE(c.completed(r, world - 1));
    for (uint32_t s = 0; s < world; ++s)
      if (s != r) {
        std::vector<char> want(piece, char(s * 16 + r));
        EXPECT_EQ(memcmp(c.at(r, (8 + s) * piece), want.data(), piece), 0);
      }
  });
}

TEST_P(Conformance, RequestsOvertakeEachOther) {
  if (!harness().makesWeather())
    GTEST_SKIP() << "real networks";
  Cluster c(harness(), 2, {.reorder = 5, .pause = true});
  constexpr uint32_t n = 40;
  for (uint32_t i = 0; i < n; ++i)
    ASSERT_OK(c[0].post(c.put(1, i, i, 1, SignalAdd{i, 1})));
  harness().resume(c[0]);
  ASSERT_TRUE(c.arrived(1, n));
  std::set<uint32_t> slots;
  bool inOrder = true;
  for (uint32_t i = 0; i < n; ++i) {
    slots.insert(c.seen[1].arrivals[i].slot);
    inOrder &= c.seen[1].arrivals[i].slot == i;
  }
  EXPECT_EQ(slots.size(), n);
  EXPECT_FALSE(inOrder);
}

TEST_P(Conformance, SeedsAreReproducible) {
  if (!harness().makesWeather())
    GTEST_SKIP() << "real networks";
  if (!harness().isReproducible())
    GTEST_SKIP() << "threads of their own decide on the order, too";
  auto order = [&](uint64_t seed) {
    Cluster c(harness(), 2, {.reorder = seed, .pause = true});
    for (uint32_t i = 0; i < 30; ++i)
      EXPECT_OK(c[0].post(c.put(1, i, i, 1, SignalAdd{i, 1})));
    harness().resume(c[0]);
    EXPECT_TRUE(c.arrived(1, 30));
    std::vector<uint32_t> slots;
    for (const Arrival &a : c.seen[1].arrivals)
      slots.push_back(a.slot);
    return slots;
  };
  auto first = order(1);
  EXPECT_EQ(first, order(1));
  EXPECT_NE(first, order(2));
}

// Two puts of two packets into one slot: in 16 of the 24 orders a receiver that
// counted packets would reach one put's worth while neither is whole.
TEST_P(Conformance, FragmentsInAllOrders) {
  if (!harness().makesWeather())
    GTEST_SKIP() << "real networks";
  std::array<uint64_t, 4> order{0, 1, 2, 3};
  int orders = 0;
  do {
    Cluster c(harness(), 2, {.mtu = 512, .pause = true});
    memset(c.at(0, 0), 1, 2048);
    ASSERT_OK(c[0].post(c.put(1, 0, 0, 1024, SignalAdd{4, 1}, 100)));
    ASSERT_OK(c[0].post(c.put(1, 1024, 1024, 1024, SignalAdd{4, 1}, 101)));
    std::set<uint64_t> delivered;
    for (uint64_t packet : order) {
      if (!harness().deliverPacket(c[0], packet))
        GTEST_SKIP() << "packets cannot be scripted";
      delivered.insert(packet);
      size_t whole = delivered.count(0) * delivered.count(1) +
                     delivered.count(2) * delivered.count(3);
      EXPECT_OK(c.poll(1));
      EXPECT_OK(c.poll(0));
      EXPECT_EQ(c.seen[1].arrivals.size(), whole);
      EXPECT_EQ(c.seen[0].local.size(), whole);
      // The bytes of whatever was announced are there.
      if (c.seen[0].local.size() == 1) {
        uint64_t first = c.seen[0].local[0].cookie == 100 ? 0 : 1024;
        EXPECT_EQ(memcmp(c.at(1, first), c.at(0, first), 1024), 0);
      }
    }
    ++orders;
  } while (std::next_permutation(order.begin(), order.end()));
  EXPECT_EQ(orders, 24);
}

TEST_P(Conformance, CompletionMeansDelivered) {
  Cluster c(harness(), 2, {.reorder = 3, .mtu = 256});
  constexpr uint64_t n = 64, size = 1500;
  for (uint64_t i = 0; i < n; ++i) {
    memset(c.at(0, i * size), int(i + 1), size);
    ASSERT_OK(c[0].post(c.put(1, i * size, i * size, size, {}, i)));
  }
  // Only the sender polls: delivery may not depend on the receiver.
  for (uint64_t checked = 0; checked < n;) {
    ASSERT_TRUE(c.completed(0, checked + 1));
    for (; checked < c.seen[0].local.size(); ++checked) {
      uint64_t i = c.seen[0].local[checked].cookie;
      ASSERT_EQ(memcmp(c.at(1, i * size), c.at(0, i * size), size), 0);
      memset(c.at(0, i * size), 0xff, size); // reuse is legal now
    }
  }
  for (uint64_t i = 0; i < n; ++i)
    EXPECT_EQ(*c.at(1, i * size + size - 1), std::byte(i + 1));
}

TEST_P(Conformance, EarlyReuseShows) {
  if (!harness().makesWeather())
    GTEST_SKIP() << "real networks";
  if (!harness().readsLate())
    GTEST_SKIP() << "sources are read at once";
  Cluster c(harness(), 2, {.pause = true});
  memset(c.at(0, 0), 1, 64);
  ASSERT_OK(c[0].post(c.put(1, 0, 0, 64)));
  memset(c.at(0, 0), 2, 64); // too early
  harness().resume(c[0]);
  ASSERT_TRUE(c.completed(0, 1));
  EXPECT_EQ(*c.at(1, 63), std::byte{2});
}

TEST_P(Conformance, PauseDeliversNothing) {
  if (!harness().makesWeather())
    GTEST_SKIP() << "real networks";
  Cluster c(harness(), 2, {.pause = true});
  memset(c.at(0, 0), 1, 64);
  ASSERT_OK(c[0].post(c.put(1, 0, 0, 64, SignalAdd{0, 1})));
  std::this_thread::sleep_for(20ms);
  EXPECT_OK(c.poll(0));
  EXPECT_OK(c.poll(1));
  EXPECT_TRUE(c.seen[0].empty() && c.seen[1].empty());
  EXPECT_EQ(*c.at(1, 0), std::byte{0});
  EXPECT_EQ(c[0].inFlight(), 1u);
  EXPECT_ERROR(c[0].shutdown(Deadline::after(10ms)), DeadlineExceeded,
               "1 requests were still in flight");
}

TEST_P(Conformance, BoundsOfBothEnds) {
  Cluster c(harness(), 2);
  uint64_t begin = c.heaps[0]->dataOffset(), end = c.heaps[0]->bytes();
  auto post = [&](uint64_t src, uint64_t dst, uint64_t bytes) {
    PutRequest r;
    r.peer = 1;
    r.fragments = {{src, dst, bytes}};
    return c[0].post(r);
  };
  EXPECT_ERROR(post(begin - 1, begin, 8), OutOfRange, "outside this rank's");
  EXPECT_ERROR(post(end - 7, begin, 8), OutOfRange, "outside this rank's");
  EXPECT_ERROR(post(begin, begin - 1, 8), OutOfRange, "outside that rank's");
  EXPECT_ERROR(post(begin, end - 7, 8), OutOfRange, "outside that rank's");
  EXPECT_ERROR(post(begin, 0, 8), OutOfRange, "outside that rank's");
  EXPECT_ERROR(post(begin, begin, UINT64_MAX), OutOfRange, "reads");
  EXPECT_ERROR(post(UINT64_MAX - 3, begin, 8), OutOfRange, "reads");
  EXPECT_ERROR(c[0].post(c.put(1, 0, 0, 8, SignalAdd{64, 1})), OutOfRange,
               "slot 64 of rank 1, which has 64");
  EXPECT_ERROR(c[0].post(c.put(0, 0, 0, 8)), InvalidArgument,
               "rank 0 is not connected");
  EXPECT_ERROR(c[0].post(c.put(9, 0, 0, 8)), InvalidArgument,
               "rank 9 is not connected");
  // Nothing was sent and nothing latched: the edges themselves work.
  EXPECT_FALSE(c[0].failed());
  EXPECT_EQ(c[0].inFlight(), 0u);
  EXPECT_OK(post(end - 8, begin, 8));
  EXPECT_OK(post(begin, end - 8, 8));
  EXPECT_OK(post(end, end, 0));
  EXPECT_TRUE(c.completed(0, 3));
}

TEST_P(Conformance, FirstErrorIsKept) {
  if (!harness().makesWeather())
    GTEST_SKIP() << "real networks";
  Cluster c(harness(), 2, {.fail = 2});
  ASSERT_OK(c[0].post(c.put(1, 0, 0, 8, {}, 1)));
  ASSERT_TRUE(c.completed(0, 1));
  ASSERT_OK(c[0].post(c.put(1, 0, 0, 8, SignalAdd{0, 1}, 2)));
  ASSERT_TRUE(c.pollUntil(0, [&] { return c[0].failed(); }));
  Status first = c[0].error();
  EXPECT_ERROR(first, Unavailable, "to rank 1");
  EXPECT_EQ(c[0].post(c.put(1, 0, 0, 8)).message(), first.message());
  EXPECT_EQ(c.poll(0).message(), first.message());
  EXPECT_EQ(c[0].shutdown(soon()).message(), first.message());
  EXPECT_EQ(c.seen[0].local.size(), 1u); // the failed one never completes
}

TEST_P(Conformance, DeadPeerIsNamed) {
  Cluster c(harness(), 3);
  c.transports[2].reset(); // no goodbye
  for (uint32_t r : {0u, 1u}) {
    EXPECT_TRUE(c.pollUntil(r, [&] { return c[r].failed(); }));
    EXPECT_ERROR(c[r].error(), Unavailable, "rank 2 was lost");
  }
}

TEST_P(Conformance, GoodbyeIsNoError) {
  Cluster c(harness(), 2);
  ASSERT_OK(c[0].post(c.put(1, 0, 0, 64, SignalAdd{1, 1})));
  EXPECT_OK(c[0].shutdown(soon())); // drains
  EXPECT_OK(c[0].shutdown(soon()));
  EXPECT_ERROR(c[0].post(c.put(1, 0, 0, 8)), FailedPrecondition, "connected");
  c.transports[0].reset();
  EXPECT_TRUE(c.arrived(1, 1));
  std::this_thread::sleep_for(5ms);
  EXPECT_OK(c.poll(1));
  EXPECT_OK(c[1].shutdown(soon()));
}

TEST_P(Conformance, GoodbyeComesBehindUnreadArrivals) {
  Cluster c(harness(), 2);
  for (int i = 0; i < 20; ++i)
    ASSERT_OK(c[0].post(c.put(1, 0, 0, 8, SignalAdd{1, 1})));
  ASSERT_OK(c[1].post(c.put(0, 0, 0, 8, SignalAdd{1, 1}))); // never polled
  ASSERT_TRUE(c.completed(1, 1));
  EXPECT_OK(c[0].shutdown(soon()));
  EXPECT_TRUE(c.arrived(1, 20));
  EXPECT_OK(c.poll(1));
  EXPECT_OK(c[1].error());
}

TEST_P(Conformance, RateIsLimited) {
  if (!harness().limitsRate())
    GTEST_SKIP() << "the wire has no rate";
  Cluster c(harness(), 2, {.mtu = 4096, .rate = 4e6}, 4 << 20);
  auto begin = std::chrono::steady_clock::now();
  for (int i = 0; i < 4; ++i)
    ASSERT_OK(c[0].post(c.put(1, 0, 0, 100000, {}, 0)));
  ASSERT_TRUE(c.completed(0, 4));
  EXPECT_GE(std::chrono::steady_clock::now() - begin, 95ms);
}

TEST_P(Conformance, DelayIsKept) {
  if (!harness().makesWeather())
    GTEST_SKIP() << "real networks";
  Cluster c(harness(), 2, {.delay = 20ms});
  auto begin = std::chrono::steady_clock::now();
  ASSERT_OK(c[0].post(c.put(1, 0, 0, 8, SignalAdd{1, 1})));
  ASSERT_TRUE(c.arrived(1, 1));
  EXPECT_GE(std::chrono::steady_clock::now() - begin, 20ms);
}

TEST_P(Conformance, SenderOutrunsASleepingReceiver) {
  // More arrivals than any socket or queue holds; nothing may be lost.
  Cluster c(harness(), 2);
  constexpr uint64_t n = 20000;
  uint64_t posted = 0;
  Completions mine;
  auto push = [&](uint64_t most) {
    while (posted < most) {
      Status s =
          c[0].post(c.put(1, 0, 0, 8, SignalAdd{posted % 64 ? 1u : 2u, 1}));
      if (s.code() == StatusCode::Again)
        return;
      ASSERT_OK(s);
      ++posted;
    }
  };
  push(n);
  std::this_thread::sleep_for(20ms);
  uint64_t sum = 0;
  EXPECT_TRUE(eventually([&] {
    push(n);
    EXPECT_OK(c[0].poll(mine));
    c.seen[1].clear();
    EXPECT_OK(c.poll(1));
    sum += c.seen[1].arrivals.size();
    return sum == n && mine.local.size() == n;
  }));
  EXPECT_EQ(posted, n);
}

TEST_P(Conformance, WaitEndsWithAnEventOrAWake) {
  Cluster c(harness(), 2);
  auto begin = std::chrono::steady_clock::now();
  std::thread later([&] {
    std::this_thread::sleep_for(10ms);
    EXPECT_OK(c[0].post(c.put(1, 0, 0, 8, SignalAdd{1, 1})));
  });
  EXPECT_TRUE(eventually([&] {
    c[1].wait(20s);
    EXPECT_OK(c.poll(1));
    return !c.seen[1].arrivals.empty();
  }));
  later.join();
  c[1].wake();
  c[1].wait(20s);
  EXPECT_LT(std::chrono::steady_clock::now() - begin, 15s);
}

TEST_P(Conformance, UseBeforeConnectIsAnError) {
  auto heap = HostHeap::create({.bytes = 1 << 20, .rank = 0, .world = 2});
  ASSERT_OK(heap);
  auto t = harness().make(**heap, {}, 0);
  ASSERT_OK(t);
  PutRequest r;
  r.peer = 1;
  Completions completions;
  EXPECT_ERROR((*t)->post(r), FailedPrecondition, "connected");
  EXPECT_ERROR((*t)->poll(completions), FailedPrecondition, "connected");
  EXPECT_OK((*t)->shutdown(soon()));
}

} // namespace
} // namespace mk::rt::test
