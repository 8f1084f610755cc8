//===- LoopbackTest.cpp - Options of the loopback transport ---------------===//

#include "TransportHarness.h"

#include "transport/loopback/Loopback.h"

#include <csignal>
#include <fstream>
#include <sys/wait.h>
#include <unistd.h>

namespace mk::rt::test {
namespace {

TEST(LoopbackOptions, Parses) {
  auto o = LoopbackOptions::parse(
      "delay=5ms,jitter=10us,reorder=42,rate=100MB/s,mtu=4K,fail=3,pause");
  ASSERT_OK(o);
  EXPECT_EQ(o->delay, 5ms);
  EXPECT_EQ(o->jitter, 10us);
  EXPECT_EQ(o->reorder, 42u);
  EXPECT_EQ(o->rate, 100e6);
  EXPECT_EQ(o->mtu, 4096u);
  EXPECT_EQ(o->fail, 3u);
  EXPECT_TRUE(o->pause);
  EXPECT_OK(LoopbackOptions::parse(""));
  EXPECT_EQ(LoopbackOptions::parse("rate=2GB/s")->rate, 2e9);
  EXPECT_EQ(LoopbackOptions::parse("rate=1.5M")->rate, 1.5e6);
}

TEST(LoopbackOptions, AreDocumentedWithTheirDefaults) {
  std::ifstream file(MK_SOURCE_DIR "/docs/network.md");
  std::string text{std::istreambuf_iterator<char>(file), {}};
  // Each that the error lists has a row with a default.
  std::string valid = LoopbackOptions::parse("none").status().message();
  valid = valid.substr(valid.find("valid: ") + 7);
  size_t at = 0;
  for (size_t end; at < valid.size(); at = end + 2) {
    end = std::min(valid.find(", ", at), valid.size());
    std::string option = valid.substr(at, end - at);
    option = option.substr(0, option.find("|copy-engine")); // said below the table
    if (option.starts_with("path="))
      option = "path=auto\\|direct\\|staged";
    EXPECT_THAT(text, HasSubstr(str("| `", option, "` | "))) << option;
  }
  EXPECT_GT(at, 60u);
}

TEST(LoopbackOptions, ErrorsListWhatIsValid) {
  auto refused = [](std::string_view text, std::string_view why) {
    Status s = LoopbackOptions::parse(text).status();
    EXPECT_ERROR(s, InvalidArgument, std::string(why));
    EXPECT_THAT(s.message(), HasSubstr("delay=TIME, jitter=TIME"));
  };
  refused("dealy=5ms", "no option 'dealy' (did you mean delay?)");
  refused("delay", "it needs a value");
  refused("delay=fast", "'fast' is not a duration");
  refused("delay=2000m", "more than an hour");
  refused("rate=0", "use 'pause'");
  refused("rate=50GiB/s", "'50GiB/s' is not a rate");
  refused("mtu=0", "a packet of no bytes");
  refused("reorder=-1", "is negative");
  refused("pause=1", "takes no value");
  refused("pause,,=", "no option ''");
}

TEST(Transport, NamesAreListed) {
  auto heap = HostHeap::create({.bytes = 1 << 20});
  ASSERT_OK(heap);
  TransportConfig config;
  EXPECT_ERROR(createTransport("loopback", config).status(), InvalidArgument,
               "needs a heap");
  config.heap = heap->get();
  EXPECT_ERROR(createTransport("carrier-pigeon", config).status(),
               InvalidArgument, "there are: loopback");
  config.options = "nonsense";
  EXPECT_ERROR(createTransport("loopback", config).status(), InvalidArgument,
               "no option 'nonsense'");
  for (auto [options, why] : {std::pair("path=copy-engine", "memory is the host's"),
                              {"path=wormhole", "none of auto, direct, copy-engine, staged"},
                              {"path", "it needs a value"},
                              {"path=staged,chunk=10", "use 256 bytes"},
                              {"chunks=0", "use 1 to 1024"}}) {
    config.options = options;
    EXPECT_ERROR(createTransport("loopback", config).status(), InvalidArgument, why);
  }
}

#ifndef MK_SOFTRDMA
TEST(Transport, WhatIsNotInThisBuildIsNamed) {
  auto heap = HostHeap::create({.bytes = 1 << 20});
  ASSERT_OK(heap);
  TransportConfig config;
  config.heap = heap->get();
  for (std::string name : {"verbs", "efa"})
    EXPECT_ERROR(createTransport(name, config).status(), Unavailable,
                 str("this mKernel was built without transport '", name,
                     "': install libibverbs-dev"));
}
#endif

TEST(Transport, OnlyAPathThatWasLeftOpenIsChanged) {
  EXPECT_EQ(*stagedInstead(""), "path=staged");
  EXPECT_EQ(*stagedInstead("chunk=1K,qps=2"), "chunk=1K,qps=2,path=staged");
  EXPECT_EQ(*stagedInstead("path=direct"), "");
  EXPECT_EQ(*stagedInstead("path=staged"), "");
  EXPECT_ERROR(stagedInstead("path=").status(), InvalidArgument,
               "network option 'path=': it needs a value; valid: path=auto|");
}

TEST(Loopback, KernelCodeCannotAddressNetPeers) {
  Cluster c(*harnesses()[0], 2);
  EXPECT_FALSE(c.heaps[0]->reachable(1));
  EXPECT_EQ(c.heaps[0]->peerPointer(1, c.offset(0)), nullptr);
}

TEST(Loopback, KilledRankIsNoticed) {
  // Forked before this test makes threads.
  int endpoint[2];
  ASSERT_EQ(::pipe(endpoint), 0);
  std::string token = randomToken();
  auto clientOptions = [&](int32_t rank, std::string at) {
    StoreClientOptions o;
    o.endpoint = std::move(at);
    o.job = "unit-test";
    o.token = token;
    o.rank = rank;
    return o;
  };
  struct Side {
    std::unique_ptr<StoreClient> client;
    std::unique_ptr<HostHeap> heap;
    std::unique_ptr<Transport> transport;
  };
  auto connect = [&](uint32_t rank, std::string at) -> Result<Side> {
    Side s;
    MK_ASSIGN(s.client,
              StoreClient::connect(clientOptions(int32_t(rank), at), soon()));
    MK_ASSIGN(s.heap,
              HostHeap::create({.bytes = 1 << 20, .rank = rank, .world = 2}));
    TransportConfig config;
    config.heap = s.heap.get();
    MK_ASSIGN(s.transport, createTransport("loopback", config));
    std::vector<uint32_t> peers = {1 - rank};
    MK_TRY(s.transport->connect(*s.client, peers, soon()));
    return s;
  };
  pid_t child = ::fork();
  if (child == 0) {
    char text[64] = {};
    if (::read(endpoint[0], text, sizeof(text) - 1) <= 0)
      ::_exit(1);
    auto side = connect(1, text);
    if (!side)
      ::_exit(2);
    ::pause();
  }
  QuietLog quiet;
  StoreServerOptions options;
  options.job = "unit-test";
  options.token = token;
  options.world = 2;
  auto server = StoreServer::start(options);
  ASSERT_OK(server);
  std::string at = (*server)->endpoint();
  ASSERT_GT(::write(endpoint[1], at.data(), at.size()), 0);
  auto side = connect(0, at);
  ASSERT_OK(side);
  ::kill(child, SIGKILL);
  ::waitpid(child, nullptr, 0);
  Completions completions;
  EXPECT_TRUE(eventually([&] { return !side->transport->poll(completions); }));
  EXPECT_ERROR(side->transport->error(), Unavailable, "rank 1 was lost");
  EXPECT_TRUE(eventually([&] { return side->client->aborted().has_value(); }));
  side->client->goodbye(soon()).ignore();
  ::close(endpoint[0]);
  ::close(endpoint[1]);
}

} // namespace
} // namespace mk::rt::test
