//===- ProxyTest.cpp - The proxy and its promises -------------------------===//

#include "TransportHarness.h"

#include "mkernel/Runtime/Mesh.h"
#include "mkernel/Runtime/Proxy.h"

#include <cstring>
#include <random>

namespace mk::rt::test {
namespace {

/// A cluster of single-rank nodes with a proxy each.
struct Nodes {
  explicit Nodes(uint32_t world, const Conditions &conditions = {},
                 ProxyOptions options = {})
      : c(*harnesses()[0], world, conditions), words(world) {
    mesh = *Mesh::create({{"node", world, LinkKind::Net}});
    for (uint32_t r = 0; r < world; ++r) {
      options.mesh = &mesh;
      options.heap = c.heaps[r].get();
      options.transport = c.transports[r].get();
      options.abort = &words[r];
      options.generation = options.generation ? options.generation : 7;
      if (options.channels == 1)
        options.channels = 4;
      auto proxy = Proxy::start(options);
      EXPECT_OK(proxy);
      proxies.push_back(std::move(*proxy));
    }
  }

  static Status wait() {
    std::this_thread::sleep_for(50us);
    return {};
  }
  Command put(uint16_t channel, uint16_t peer, uint64_t src, uint64_t dst,
              uint32_t bytes, uint8_t flags = 0, uint32_t slot = 0) {
    Command k;
    k.channel = channel;
    k.peer = peer;
    k.src = c.offset(src);
    k.dst = c.offset(dst);
    k.bytes = bytes;
    k.flags = flags;
    k.slot = slot;
    k.amount = 1;
    return k;
  }
  Command signal(uint16_t channel, uint16_t peer, uint32_t slot,
                 uint8_t flags = 0) {
    Command k = put(channel, peer, 0, 0, 0, flags | MK_CMD_HAS_SIGNAL, slot);
    k.op = MK_CMD_SIGNAL;
    return k;
  }
  Status submit(uint32_t r, const Command &k) {
    return proxies[r]->submit(k, wait);
  }
  uint64_t value(uint32_t r, uint32_t slot) {
    return c.heaps[r]->signal(slot).load(std::memory_order_acquire);
  }
  bool reaches(uint32_t r, uint32_t slot, uint64_t n) {
    return eventually([&] { return value(r, slot) >= n; });
  }

  Cluster c;
  Mesh mesh;
  std::vector<AbortWord> words;
  std::vector<std::unique_ptr<Proxy>> proxies;
};

TEST(Proxy, PutRaisesTheSignalOfThePeer) {
  Nodes n(3);
  memset(n.c.at(0, 0), 3, 5000);
  ASSERT_OK(n.submit(0, n.put(1, 2, 0, 100, 5000, MK_CMD_HAS_SIGNAL, 9)));
  ASSERT_TRUE(n.reaches(2, 9, 1));
  EXPECT_EQ(memcmp(n.c.at(2, 100), n.c.at(0, 0), 5000), 0);
  EXPECT_OK(n.proxies[0]->drain(soon()));
  EXPECT_EQ(n.proxies[0]->inflightAll(1), 0u);
  EXPECT_EQ(n.proxies[0]->stats().requests, 1u);
  EXPECT_EQ(n.value(1, 9), 0u);
}

TEST(Proxy, ManyCommandsMakeOnePut) {
  Nodes n(2, {.reorder = 3, .mtu = 64});
  for (int i = 0; i < 50; ++i)
    memset(n.c.at(0, i * 100), i + 1, 100);
  for (uint8_t i = 0; i < 50; ++i) {
    // Another CTA's puts in between belong to that CTA.
    ASSERT_OK(n.submit(0, n.put(1, 1, 0, 60000, 1, MK_CMD_HAS_SIGNAL, 2)));
    ASSERT_OK(n.submit(0, n.put(0, 1, i * 100, i * 200, 100,
                                i < 49 ? MK_CMD_MORE : MK_CMD_HAS_SIGNAL, 1)));
  }
  ASSERT_TRUE(n.reaches(1, 1, 1));
  for (int i = 0; i < 50; ++i)
    EXPECT_EQ(memcmp(n.c.at(1, i * 200), n.c.at(0, i * 100), 100), 0) << i;
  ASSERT_TRUE(n.reaches(1, 2, 50));
  EXPECT_EQ(n.value(1, 1), 1u);
  EXPECT_OK(n.proxies[0]->drain(soon()));
  EXPECT_EQ(n.proxies[0]->stats().requests, 51u);
}

TEST(Proxy, FenceSeesEverythingDelivered) {
  Nodes n(3, {.reorder = 8, .mtu = 128});
  for (int round = 1; round <= 10; ++round) {
    for (uint16_t p : {1, 2}) {
      memset(n.c.at(0, p * 8192), round * p, 4096);
      for (int i = 0; i < 8; ++i)
        ASSERT_OK(n.submit(0, n.put(0, p, p * 8192 + i * 512, i * 512, 512)));
    }
    ASSERT_TRUE(eventually([&] { return n.proxies[0]->inflightAll(0) == 0; }));
    for (uint16_t p : {1, 2})
      ASSERT_EQ(memcmp(n.c.at(p, 0), n.c.at(0, p * 8192), 4096), 0);
  }
}

TEST(Proxy, CountsAreForChannels) {
  Nodes n(3, {.pause = true});
  ASSERT_OK(n.submit(0, n.put(0, 1, 0, 0, 8)));
  ASSERT_OK(n.submit(0, n.put(0, 2, 0, 0, 8, MK_CMD_MORE)));
  ASSERT_OK(n.submit(0, n.put(0, 2, 0, 0, 8)));
  ASSERT_OK(n.submit(0, n.put(3, 2, 0, 0, 8)));
  Proxy &p = *n.proxies[0];
  EXPECT_EQ(p.inflightAll(0), 3u);
  EXPECT_EQ(p.inflightAll(3), 1u);
  EXPECT_EQ(p.inflightAll(1), 0u);
  EXPECT_EQ(p.inflightTotal(), 4u);
  n.c.harness.resume(n.c[0]);
  EXPECT_OK(p.drain(soon()));
  EXPECT_EQ(p.inflightAll(0), 0u);
}

TEST(Proxy, StrongSignalCoversAllEarlierPuts) {
  for (uint64_t seed = 0; seed < 10; ++seed) {
    Nodes n(2, {.reorder = seed, .mtu = 100});
    memset(n.c.at(0, 0), 7, 20000);
    for (int i = 0; i < 20; ++i)
      ASSERT_OK(n.submit(0, n.put(0, 1, i * 1000, i * 1000, 1000)));
    ASSERT_OK(n.submit(0, n.signal(0, 1, 5, MK_CMD_STRONG)));
    // A later one waits behind it; another CTA's does not.
    ASSERT_OK(n.submit(0, n.put(0, 1, 0, 30000, 8, MK_CMD_HAS_SIGNAL, 6)));
    ASSERT_OK(n.submit(0, n.put(1, 1, 0, 40000, 8, MK_CMD_HAS_SIGNAL, 7)));
    ASSERT_TRUE(n.reaches(1, 5, 1));
    ASSERT_EQ(memcmp(n.c.at(1, 0), n.c.at(0, 0), 20000), 0) << seed;
    ASSERT_TRUE(n.reaches(1, 6, 1));
    ASSERT_TRUE(n.reaches(1, 7, 1));
    EXPECT_OK(n.proxies[0]->drain(soon()));
  }
}

TEST(Proxy, StrongPutWaitsWithItsSignalOnly) {
  Nodes n(2, {.mtu = 512, .pause = true});
  memset(n.c.at(0, 0), 1, 2048);
  ASSERT_OK(n.submit(0, n.put(0, 1, 0, 0, 512)));
  ASSERT_OK(n.submit(
      0, n.put(0, 1, 1024, 1024, 512, MK_CMD_HAS_SIGNAL | MK_CMD_STRONG, 3)));
  ASSERT_TRUE(eventually([&] { return n.c[0].inFlight() == 2; }));
  // The strong put's bytes come first and say nothing yet.
  ASSERT_TRUE(n.c.harness.deliverPacket(n.c[0], 1));
  std::this_thread::sleep_for(5ms);
  EXPECT_EQ(*n.c.at(1, 1024), std::byte{1});
  EXPECT_EQ(n.value(1, 3), 0u);
  ASSERT_TRUE(n.c.harness.deliverPacket(n.c[0], 0));
  n.c.harness.resume(n.c[0]);
  ASSERT_TRUE(n.reaches(1, 3, 1));
  EXPECT_OK(n.proxies[0]->drain(soon()));
  EXPECT_EQ(n.value(1, 3), 1u);
  EXPECT_EQ(n.proxies[0]->inflightTotal(), 0u);
}

TEST(Proxy, PausedProxyDrainsNothing) {
  ProxyOptions o;
  o.ringCapacity = 8;
  o.paused = true;
  Nodes n(2, {}, o);
  for (int i = 0; i < 8; ++i)
    ASSERT_OK(n.submit(0, n.put(0, 1, 0, 0, 8, MK_CMD_HAS_SIGNAL, 1)));
  int waits = 0;
  Status full = n.proxies[0]->submit(n.signal(0, 1, 1), [&]() -> Status {
    if (++waits < 3)
      return Nodes::wait();
    return error(StatusCode::DeadlineExceeded, "ring");
  });
  EXPECT_ERROR(full, DeadlineExceeded, "ring");
  EXPECT_EQ(n.proxies[0]->inflightTotal(), 8u); // what was given up is not
  EXPECT_EQ(n.proxies[0]->stats().commands, 0u);
  n.proxies[0]->pause(false);
  EXPECT_OK(n.proxies[0]->drain(soon()));
  EXPECT_EQ(n.value(1, 1), 0u); // the receiver is paused as well
  n.proxies[1]->pause(false);
  EXPECT_TRUE(n.reaches(1, 1, 8));
}

struct BadCommand {
  const char *what;
  std::function<Command(Nodes &)> make;
  const char *message;
};

TEST(Proxy, BadCommandsAreLatchedAndNeverPosted) {
  const BadCommand cases[] = {
      {"op",
       [](Nodes &n) {
         auto k = n.put(0, 1, 0, 0, 8);
         k.op = 77;
         return k;
       },
       "unknown operation 77"},
      {"flags", [](Nodes &n) { return n.put(0, 1, 0, 0, 8, 0x80); },
       "unknown flags 128"},
      {"own rank", [](Nodes &n) { return n.put(0, 0, 0, 0, 8); },
       "no net axis separates"},
      {"source",
       [](Nodes &n) {
         auto k = n.put(0, 1, 0, 0, 8);
         k.src = 0;
         return k;
       },
       "reads [0, +8), outside the symmetric window"},
      {"destination",
       [](Nodes &n) {
         auto k = n.put(0, 1, 0, 0, 8);
         k.dst = n.c.heaps[0]->bytes() - 7;
         return k;
       },
       "writes ["},
      {"size", [](Nodes &n) { return n.put(0, 1, 0, 0, UINT32_MAX); },
       "reads ["},
      {"slot", [](Nodes &n) { return n.signal(0, 1, 64); }, "slot 64 of 64"},
      {"more with signal",
       [](Nodes &n) {
         return n.put(0, 1, 0, 0, 8, MK_CMD_MORE | MK_CMD_HAS_SIGNAL);
       },
       "before the last part"},
      {"strong without signal",
       [](Nodes &n) { return n.put(0, 1, 0, 0, 8, MK_CMD_STRONG); },
       "strong and has no signal"},
      {"signal with bytes",
       [](Nodes &n) {
         auto k = n.signal(0, 1, 1);
         k.bytes = 8;
         return k;
       },
       "a signal with bytes"},
  };
  for (const BadCommand &bad : cases) {
    SCOPED_TRACE(bad.what);
    ProxyOptions o;
    o.ringCapacity = 8;
    Nodes n(2, {}, o);
    ASSERT_OK(n.submit(0, bad.make(n)));
    ASSERT_TRUE(eventually([&] { return n.words[0].raised(); }));
    EXPECT_THAT(n.proxies[0]->error().message(), HasSubstr(bad.message));
    EXPECT_ERROR(n.words[0].status(), Aborted, bad.message);
    // No CTA waits for ring space afterwards: many more than the ring holds.
    for (int i = 0; i < 100; ++i)
      ASSERT_OK(n.submit(0, n.put(0, 1, 0, 0, 8, MK_CMD_HAS_SIGNAL, 1)));
    EXPECT_TRUE(
        eventually([&] { return n.proxies[0]->stats().discarded == 100; }));
    EXPECT_EQ(n.proxies[0]->stats().requests, 0u);
    EXPECT_GT(n.proxies[0]->inflightAll(0), 0u); // never reads as delivered
    EXPECT_FALSE(n.proxies[0]->drain(soon()));
  }
}

TEST(Proxy, PutLeftOpen) {
  Nodes n(3);
  ASSERT_OK(n.submit(0, n.put(0, 1, 0, 0, 8, MK_CMD_MORE)));
  ASSERT_TRUE(eventually([&] { return n.proxies[0]->stats().commands == 1; }));
  EXPECT_ERROR(n.proxies[0]->drain(Deadline::after(20ms)), DeadlineExceeded,
               "1 puts lack their last command");
  ASSERT_OK(n.submit(0, n.put(0, 2, 0, 0, 8)));
  ASSERT_TRUE(eventually([&] { return n.words[0].raised(); }));
  EXPECT_THAT(n.proxies[0]->error().message(),
              HasSubstr("began a command for rank 2 within a put to rank 1"));
}

TEST(Proxy, SubmitChecksWhatItIndexes) {
  Nodes n(2);
  EXPECT_ERROR(n.submit(0, n.put(4, 1, 0, 0, 8)), OutOfRange, "4 channels");
  EXPECT_ERROR(n.submit(0, n.put(0, 2, 0, 0, 8)), OutOfRange, "2 ranks");
  auto k = n.put(0, 1, 0, 0, 8);
  k.src = UINT64_MAX;
  EXPECT_ERROR(n.submit(0, k), OutOfRange, "source offset");
  EXPECT_EQ(n.proxies[0]->inflightTotal(), 0u);
  EXPECT_OK(n.proxies[0]->error());
}

TEST(Proxy, RandomCommandsNeverCrash) {
  std::mt19937_64 random(17);
  for (int round = 0; round < 20; ++round) {
    Nodes n(2);
    for (int i = 0; i < 50; ++i) {
      Command k;
      // Half of it nearly right, so that it gets past the first checks.
      k.op = random() % 4 ? 1 + random() % 2 : uint8_t(random());
      k.flags = random() % 4 ? random() % 8 : uint8_t(random());
      k.peer = random() % 3;
      k.channel = random() % 5;
      k.amount = uint16_t(random());
      k.bytes = random() % 2 ? random() % 10000 : uint32_t(random());
      k.slot = random() % 2 ? random() % 70 : random() & 0xffffff;
      k.src = random() % (3 << 19);
      k.dst = random() % (3 << 19);
      ASSERT_OK(n.proxies[0]->ring().push(k, Nodes::wait));
    }
    EXPECT_TRUE(
        eventually([&] { return n.proxies[0]->stats().commands == 50; }));
    EXPECT_FALSE(n.proxies[0]->error().isOk());
  }
}

TEST(Proxy, CommandsThatNobodyCountedTakeNothingOffTheCounts) {
  Nodes n(2);
  for (int i = 0; i < 5; ++i)
    ASSERT_OK(n.proxies[0]->ring().push(n.put(0, 1, 0, 0, 8, MK_CMD_HAS_SIGNAL, 1),
                                        Nodes::wait));
  ASSERT_TRUE(n.reaches(1, 1, 5));
  EXPECT_TRUE(eventually([&] { return n.c[0].stats(1).completed == 5; }));
  EXPECT_EQ(n.proxies[0]->inflightAll(0), 0u);
  EXPECT_EQ(n.proxies[0]->inflightTotal(), 0u);
  ASSERT_OK(n.submit(0, n.put(0, 1, 0, 0, 8, MK_CMD_HAS_SIGNAL, 1)));
  EXPECT_OK(n.proxies[0]->drain(soon()));
  EXPECT_EQ(n.proxies[0]->inflightAll(0), 0u);
}

TEST(Proxy, TeamsOfACtaPutSideBySide) {
  Nodes n(2);
  for (int i = 0; i < 4; ++i)
    memset(n.c.at(0, i * 100), i + 1, 100);
  constexpr uint8_t kTeam = 1 << MK_CMD_TEAM_SHIFT;
  ASSERT_OK(n.submit(0, n.put(0, 1, 0, 0, 100, MK_CMD_MORE)));
  ASSERT_OK(n.submit(0, n.put(0, 1, 100, 100, 100, MK_CMD_MORE | kTeam)));
  ASSERT_OK(n.submit(0, n.put(0, 1, 200, 200, 100, MK_CMD_HAS_SIGNAL | kTeam, 2)));
  ASSERT_TRUE(n.reaches(1, 2, 1));
  EXPECT_EQ(*n.c.at(1, 299), std::byte{3});
  EXPECT_EQ(n.value(1, 1), 0u);
  EXPECT_EQ(*n.c.at(1, 0), std::byte{0});
  // Both are the CTA's: a fence waits for the other one, too.
  // The sender learns of the arrival a little later.
  EXPECT_TRUE(eventually([&] { return n.proxies[0]->inflightAll(0) == 1; }));
  ASSERT_OK(n.submit(0, n.put(0, 1, 300, 300, 100, MK_CMD_HAS_SIGNAL, 1)));
  ASSERT_TRUE(n.reaches(1, 1, 1));
  EXPECT_EQ(*n.c.at(1, 0), std::byte{1});
  EXPECT_OK(n.proxies[0]->drain(soon()));
  EXPECT_EQ(n.proxies[0]->stats().requests, 2u);
}

TEST(Proxy, TransportErrorAborts) {
  Nodes n(2, {.fail = 1});
  ASSERT_OK(n.submit(0, n.put(0, 1, 0, 0, 8)));
  EXPECT_TRUE(eventually([&] { return n.words[0].raised(); }));
  EXPECT_ERROR(n.proxies[0]->error(), Unavailable, "to rank 1");
}

TEST(Proxy, WhyAPeerWentIsHeardThoughItComesLater) {
  Nodes n(2);
  n.proxies[1].reset();
  n.c.transports[1].reset(); // without goodbye
  std::this_thread::sleep_for(100ms);
  EXPECT_FALSE(n.words[0].raised());
  n.words[0].raiseRemote(AbortRecord::now(1, "wait", "out of time"));
  EXPECT_ERROR(n.proxies[0]->drain(soon()), Aborted, "out of time");
  EXPECT_TRUE(eventually([&] { return !n.proxies[0]->error().isOk(); }));
  EXPECT_ERROR(n.proxies[0]->error(), Aborted, "out of time");

  // Nobody says why.
  Nodes m(2);
  m.proxies[1].reset();
  m.c.transports[1].reset();
  EXPECT_TRUE(eventually([&] { return m.words[0].raised(); }));
  EXPECT_THAT(m.words[0].record()->text, HasSubstr("rank 1 was lost"));
  EXPECT_ERROR(m.proxies[0]->error(), Unavailable, "rank 1 was lost");
}

TEST(Proxy, StuckRequestIsReported) {
  ProxyOptions o;
  o.requestTimeout = 30ms;
  Nodes n(2, {.pause = true}, o);
  ASSERT_OK(n.submit(0, n.put(2, 1, 0, 0, 8)));
  EXPECT_TRUE(eventually([&] { return n.words[0].raised(); }));
  EXPECT_ERROR(n.proxies[0]->error(), DeadlineExceeded,
               "of CTA 2 to rank 1 was not delivered within 30 ms");
}

TEST(Proxy, ArrivalsOfAnotherGenerationAreDropped) {
  ProxyOptions o;
  o.generation = 8; // the transports of the cluster send 7
  Nodes n(2, {}, o);
  ASSERT_OK(n.submit(0, n.signal(0, 1, 1)));
  EXPECT_TRUE(eventually([&] { return n.proxies[1]->stats().stale == 1; }));
  EXPECT_EQ(n.value(1, 1), 0u);
}

TEST(Proxy, AbortElsewhereDiscards) {
  ProxyOptions o;
  o.ringCapacity = 4;
  Nodes n(2, {.pause = true}, o);
  n.words[0].raiseRemote(AbortRecord::now(1, "wait", "elsewhere"));
  for (int i = 0; i < 50; ++i)
    ASSERT_OK(n.submit(0, n.put(0, 1, 0, 0, 8)));
  EXPECT_TRUE(
      eventually([&] { return n.proxies[0]->stats().discarded == 50; }));
  EXPECT_OK(n.proxies[0]->error());
  EXPECT_ERROR(n.proxies[0]->drain(soon()), Aborted, "elsewhere");
}

void manyCtasManyRanks(uint64_t ringCapacity) {
  constexpr uint32_t world = 4, ctas = 4, each = 60;
  ProxyOptions o;
  o.ringCapacity = ringCapacity;
  Nodes n(world, {.reorder = 21, .mtu = 256}, o);
  Job::parallel(world * ctas, [&](uint32_t t) {
    uint32_t r = t / ctas;
    auto channel = uint16_t(t % ctas);
    for (uint32_t i = 0; i < each; ++i)
      for (uint16_t p = 0; p < world; ++p)
        if (p != r) {
          uint64_t mine = (r * ctas + channel) * 1024;
          EXPECT_OK(
              n.submit(r, n.put(channel, p, mine, 32768 + mine, 1024,
                                i % 3 == 2 ? MK_CMD_HAS_SIGNAL | MK_CMD_STRONG
                                           : MK_CMD_HAS_SIGNAL,
                                r)));
        }
    EXPECT_TRUE(
        eventually([&] { return n.proxies[r]->inflightAll(channel) == 0; }));
  });
  for (uint32_t r = 0; r < world; ++r)
    for (uint32_t s = 0; s < world; ++s) {
      uint64_t want = s == r ? 0 : ctas * each;
      EXPECT_TRUE(n.reaches(r, s, want));
      EXPECT_EQ(n.value(r, s), want);
    }
}

TEST(Proxy, ManyCtasManyRanks) { manyCtasManyRanks(16); }
// The ring is full whenever a command is in it.
TEST(Proxy, ARingOfOnePlace) { manyCtasManyRanks(1); }

} // namespace
} // namespace mk::rt::test
