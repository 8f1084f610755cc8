//===- RdmaPartsTest.cpp - Immediates, options, endpoints -----------------===//

#include "Support.h"

#include "transport/rdma/Endpoint.h"
#include "transport/rdma/Immediate.h"
#include "transport/rdma/Memory.h"
#include "transport/rdma/Options.h"

#include <fstream>

namespace mk::rt::rdma {
namespace {

using namespace mk::rt::test;

TEST(RdmaImmediate, AllThatFitsComesBack) {
  for (uint32_t slots : {1u, 2u, 3u, 64u, 65536u, 65537u, kMaxSlots - 1}) {
    ImmediateCode code(slots);
    ASSERT_TRUE(code.fits(1)) << slots;
    EXPECT_FALSE(code.fits(0));
    for (uint32_t slot : {0u, slots / 2, slots - 1})
      for (uint32_t amount = 1; code.fits(amount) && amount <= kMaxAmount; amount *= 2) {
        Immediate i = code.decode(code.put(200, slot, amount), 4096);
        EXPECT_EQ(i.generation, 200);
        EXPECT_EQ(i.slot, slot);
        EXPECT_EQ(i.amount, amount);
        EXPECT_FALSE(i.credit);
      }
    for (uint32_t amount : {0u, 1u, 9u, kMaxAmount}) {
      uint32_t bytes = ImmediateCode::signalBytes(amount);
      EXPECT_GE(bytes, 1u);
      EXPECT_LE(bytes, kSinkBytes);
      Immediate i = code.decode(ImmediateCode::signal(7, slots - 1), bytes);
      EXPECT_EQ(i.slot, slots - 1);
      EXPECT_EQ(i.amount, amount);
      EXPECT_FALSE(i.credit);
    }
    EXPECT_TRUE(code.decode(ImmediateCode::credit(7), 1).credit);
  }
  EXPECT_TRUE(ImmediateCode(65536).fits(128));
  EXPECT_FALSE(ImmediateCode(65536).fits(129));
}

TEST(RdmaOptions, ValuesAndErrors) {
  auto o = Options::parse("qps=2,timeout=20,nics=a+b,,request=1M,relaxed=0", NicKind::Verbs);
  ASSERT_OK(o);
  EXPECT_EQ(o->qps, 2u);
  EXPECT_EQ(o->timeout, 20u);
  EXPECT_EQ(o->nics, (std::vector<std::string>{"a", "b"}));
  EXPECT_EQ(o->request, 1u << 20);
  EXPECT_FALSE(o->relaxed);
  auto bad = [](std::string_view text, const char *why,
                NicKind kind = NicKind::Verbs) {
    EXPECT_ERROR(Options::parse(text, kind).status(), InvalidArgument, why);
  };
  bad("timout=3", "did you mean timeout?");
  bad("timeout", "it needs a value");
  bad("timeout=32", "0 to 31");
  bad("timeout=x", "not an integer");
  bad("mtu=1000", "256, 512, 1024, 2048 or 4096");
  bad("request=1K", "from 4K to 1G");
  bad("nics=a+a", "different names");
  bad("nics=+", "different names");
  bad("deadline=1us", "more than 10 ms");
  bad("qps=17", "1 to 16");
  bad("timeout=18", "efa transport has no option 'timeout'", NicKind::Efa);
  bad("unsolicited=1", "verbs transport has no option");
}

TEST(RdmaOptions, TheTableIsTheDocumentation) {
  std::ifstream file(MK_SOURCE_DIR "/docs/network.md");
  std::string text{std::istreambuf_iterator<char>(file), {}};
  ASSERT_FALSE(text.empty());
  for (const Options::Description &d : Options::table()) {
    std::string row = str("| `", d.name, "=", d.form, "` | ", d.defaultText, " |");
    EXPECT_THAT(text, HasSubstr(row));
  }
}

TEST(RdmaOptions, DefaultsAreThoseOfTheTable) {
  for (const Options::Description &d : Options::table()) {
    std::string value = d.defaultText;
    if (value.find(' ') != std::string::npos || value.find('\'') != std::string::npos ||
        value == "chosen")
      continue;
    for (NicKind kind : {NicKind::Verbs, NicKind::Efa}) {
      if (d.of != Options::Description::Both &&
          (d.of == Options::Description::EfaOnly) != (kind == NicKind::Efa))
        continue;
      auto given = Options::parse(str(d.name, "=", value), kind);
      ASSERT_OK(given);
      Options none;
      EXPECT_EQ(given->qps, none.qps);
      EXPECT_EQ(given->depth, none.depth);
      EXPECT_EQ(given->signals, none.signals);
      EXPECT_EQ(given->request, none.request);
      EXPECT_EQ(given->stripe, none.stripe);
      EXPECT_EQ(given->timeout, none.timeout);
      EXPECT_EQ(given->retries, none.retries);
      EXPECT_EQ(given->rnr, none.rnr);
      EXPECT_EQ(given->tc, none.tc);
      EXPECT_EQ(given->sl, none.sl);
      EXPECT_EQ(given->pkey, none.pkey);
      EXPECT_EQ(given->relaxed, none.relaxed);
      EXPECT_EQ(given->unsolicited, none.unsolicited);
      EXPECT_EQ(given->deadline, none.deadline);
      EXPECT_EQ(given->linger, none.linger);
    }
  }
}

RankEndpoint sampleEndpoint() {
  RankEndpoint e;
  e.rank = 3;
  e.transport = "verbs";
  e.generation = 9;
  e.qps = 2;
  e.begin = 4096;
  e.end = 1 << 20;
  e.slots = 64;
  e.base = 0x7f0000000000;
  e.control = "10.0.0.1:4000";
  e.secret = std::string(32, '\0');
  NicEndpoint n;
  n.name = "mlx5_0";
  n.link = "InfiniBand";
  n.mbits = 400000;
  n.mtu = 4096;
  n.lid = 17;
  n.grh = true;
  n.gid[15] = 1;
  n.sinkAddress = 77;
  n.sinkKey = 88;
  e.nics = {n, n};
  e.nics[1].kind = NicKind::Efa;
  return e;
}

/// Every shorter text, one with more behind, and one of another version.
template <typename Decode> void spoil(const std::string &good, Decode decode) {
  for (size_t n = 0; n < good.size(); ++n)
    EXPECT_ERROR(decode(good.substr(0, n)), Unavailable, "rank 3 published");
  EXPECT_ERROR(decode(good + "x"), Unavailable, "bytes behind its end");
  std::string other = good;
  other[4] = 2;
  EXPECT_ERROR(decode(other), Unavailable, "version 2, this is version 1");
  other = good;
  other[0] = 0;
  EXPECT_ERROR(decode(other), Unavailable, "something else");
}

TEST(RdmaEndpoint, RanksRoundTripAndAreChecked) {
  RankEndpoint e = sampleEndpoint();
  auto decode = [](std::string_view bytes) {
    return RankEndpoint::decode(bytes, 3).status();
  };
  auto back = RankEndpoint::decode(e.encode(), 3);
  ASSERT_OK(back);
  EXPECT_EQ(*back, e);
  spoil(e.encode(), decode);
  EXPECT_ERROR(RankEndpoint::decode(e.encode(), 4).status(), Unavailable,
               "the endpoint of rank 3");
  e.begin = e.end + 1;
  EXPECT_ERROR(decode(e.encode()), Unavailable, "a window from");
  e = sampleEndpoint();
  e.nics.resize(65, e.nics[0]);
  EXPECT_ERROR(decode(e.encode()), Unavailable, "65 NICs");
}

TEST(RdmaEndpoint, PathsRoundTripAndAreChecked) {
  std::vector<PathEndpoint> paths = {{5, 6, 7, 512}, {0xffffff, 0, 0, 16}};
  auto decode = [](std::string_view bytes) {
    return decodePaths(bytes, 3, 2).status();
  };
  auto back = decodePaths(encodePaths(paths), 3, 2);
  ASSERT_OK(back);
  EXPECT_EQ(*back, paths);
  spoil(encodePaths(paths), decode);
  EXPECT_ERROR(decodePaths(encodePaths(paths), 3, 1).status(), Unavailable,
               "2 queue pairs for this rank, 1 are expected");
  paths[0].qpn = 1 << 24;
  EXPECT_ERROR(decode(encodePaths(paths)), Unavailable, "queue pair 16777216");
  paths[0] = {5, 6, 7, 0};
  EXPECT_ERROR(decode(encodePaths(paths)), Unavailable, "window of 0");
}

TEST(RdmaEndpoint, SegmentsRoundTripAndAreChecked) {
  SegmentEndpoint s{4096, 1 << 20, {1, 2}, {}};
  auto decode = [](std::string_view bytes) {
    return SegmentEndpoint::decode(bytes, 3, 2).status();
  };
  auto back = SegmentEndpoint::decode(s.encode(), 3, 2);
  ASSERT_OK(back);
  EXPECT_EQ(*back, s);
  spoil(s.encode(), decode);
  EXPECT_ERROR(SegmentEndpoint::decode(s.encode(), 3, 1).status(), Unavailable,
               "keys of 2 NICs");
  s.failure = "no memory";
  EXPECT_ERROR(decode(s.encode()), ResourceExhausted, "rank 3: no memory");
  s = {UINT64_MAX, 2, {1, 2}, {}};
  EXPECT_ERROR(decode(s.encode()), Unavailable, "beyond all addresses");
}

TEST(RdmaEndpoint, WhatHasToAgree) {
  RankEndpoint own = sampleEndpoint();
  EXPECT_OK(checkAgreement(own, own));
  auto differs = [&](auto &&change, const char *why) {
    RankEndpoint other = own;
    change(other);
    EXPECT_ERROR(checkAgreement(own, other), InvalidArgument, why);
  };
  differs([](RankEndpoint &e) { e.transport = "efa"; }, "transport verbs, rank 3 has efa");
  differs([](RankEndpoint &e) { e.qps = 4; }, "option qps 2, rank 3 has 4");
  differs([](RankEndpoint &e) { e.generation = 8; }, "generation 9");
  differs([](RankEndpoint &e) { e.slots = 8; }, "signal slots 64");
}

TEST(RdmaMemory, SegmentsAreFoundByOffset) {
  SegmentMap map;
  EXPECT_EQ(map.find(0), nullptr);
  map.add({100, 50, 1, {}, {}});
  map.add({150, 10, 2, {}, {}});
  map.add({200, 10, 3, {}, {}});
  EXPECT_EQ(map.find(99), nullptr);
  EXPECT_EQ(map.find(100)->address, 1u);
  EXPECT_EQ(map.find(149)->address, 1u);
  EXPECT_EQ(map.find(150)->address, 2u);
  EXPECT_EQ(map.find(160), nullptr);
  EXPECT_EQ(map.find(209)->address, 3u);
  EXPECT_EQ(map.find(210), nullptr);
}

} // namespace
} // namespace mk::rt::rdma
