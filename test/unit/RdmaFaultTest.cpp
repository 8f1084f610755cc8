//===- RdmaFaultTest.cpp - NICs that fail ---------------------------------===//
//
// Over NICs in software, which fail as they are told (test/softrdma/Knobs.h).
//
//===----------------------------------------------------------------------===//

#include "Knobs.h"
#include "TransportHarness.h"

#include "transport/rdma/Rdma.h"

#include <algorithm>
#include <cstring>
#include <dlfcn.h>
#include <fstream>
#include <sys/resource.h>

namespace mk::rt::test {
namespace {

using Knobs = std::vector<std::pair<std::string, std::string>>;

/// A harness with its own weather; what the suite's conditions say is not used.
class FaultHarness final : public TransportHarness {
public:
  FaultHarness(std::string transport, Knobs knobs, std::string options)
      : transport_(std::move(transport)), knobs_(std::move(knobs)),
        options_(std::move(options)) {}
  const char *name() const override { return transport_.c_str(); }
  Result<std::unique_ptr<Transport>> make(Heap &heap, const Conditions &,
                                          uint8_t generation) const override {
    if (heap.rank() == 0)
      setKnobs(knobs_);
    TransportConfig config;
    config.heap = &heap;
    config.generation = generation;
    config.options = str("linger=300ms,", options_);
    return createTransport(transport_, config);
  }
  void resume(Transport &) const override {}
  bool deliverPacket(Transport &, uint64_t) const override { return false; }

private:
  std::string transport_;
  Knobs knobs_;
  std::string options_;
};

constexpr const char *kTwoRoce = "soft0:roce:100,soft1:roce:100";
constexpr const char *kTwoEfa = "soft0:efa:100,soft1:efa:100";

/// Puts of both ranks to each other, with signals and without, small and in
/// pieces. All have to arrive, each once and whole.
struct Traffic {
  static constexpr uint64_t kPuts = 120, kSize = 12000;

  Traffic(Cluster &c, bool signals) : c(c), signals(signals) {}

  static uint64_t sizeOf(uint64_t i) { return i % 3 == 0 ? kSize : 40 + i; }

  void run() {
    for (uint32_t r = 0; r < 2; ++r)
      for (uint64_t i = 0; i < kPuts; ++i)
        memset(c.at(r, i * kSize), int(1 + (i + 100 * r) % 250), sizeOf(i));
    uint64_t posted[2] = {0, 0};
    done = eventually([&] {
      for (uint32_t r = 0; r < 2; ++r) {
        while (posted[r] < kPuts && !c[r].failed()) {
          uint64_t i = posted[r];
          PutRequest put = c.put(1 - r, i * kSize, (kPuts + i) * kSize, sizeOf(i), {}, i);
          if (signals)
            put.signal = SignalAdd{uint32_t(i % 60), uint32_t(1 + i % 5)};
          if (!c[r].post(put))
            break;
          ++posted[r];
        }
        c.poll(r).ignore();
      }
      if (c[0].failed() || c[1].failed())
        return true;
      uint64_t arrivals = signals ? kPuts : 0;
      return c.seen[0].local.size() == kPuts && c.seen[1].local.size() == kPuts &&
             c.seen[0].arrivals.size() >= arrivals && c.seen[1].arrivals.size() >= arrivals;
    });
    EXPECT_TRUE(done);
  }

  void expectDelivered() {
    EXPECT_OK(c[0].error());
    EXPECT_OK(c[1].error());
    // What comes twice comes late.
    std::this_thread::sleep_for(50ms);
    for (uint32_t r = 0; r < 2; ++r) {
      EXPECT_OK(c.poll(r));
      std::map<std::pair<uint32_t, uint32_t>, int> want, got;
      std::vector<char> bytes;
      for (uint64_t i = 0; i < kPuts; ++i) {
        if (signals)
          ++want[{uint32_t(i % 60), uint32_t(1 + i % 5)}];
        bytes.assign(sizeOf(i), char(1 + (i + 100 * (1 - r)) % 250));
        EXPECT_EQ(memcmp(c.at(r, (kPuts + i) * kSize), bytes.data(), bytes.size()), 0)
            << "put " << i << " to rank " << r;
      }
      for (const Arrival &a : c.seen[r].arrivals)
        ++got[{a.slot, a.amount}];
      EXPECT_EQ(got, want) << "rank " << r;
      std::set<uint64_t> cookies;
      for (const LocalCompletion &l : c.seen[r].local)
        cookies.insert(l.cookie);
      EXPECT_EQ(cookies.size(), kPuts);
    }
  }

  Cluster &c;
  bool signals, done = false;
};

constexpr const char *kCut =
    "nics=soft0+soft1,stripe=4K,request=4K,signals=16,depth=32";

/// Late: it was delivered, and fails all the same.
struct Fault {
  const char *name;
  int nth;
  bool late = false;
};
class RcFailover : public testing::TestWithParam<Fault> {};

// One NIC of one rank fails at different moments, in different ways. RC knows what
// was delivered: nothing is lost, nothing comes twice.
TEST_P(RcFailover, NothingIsLostOrRepeated) {
  auto [fault, nth, late] = GetParam();
  FaultHarness harness("verbs",
                       {{"NICS", kTwoRoce}, {"SEED", "3"}, {"JITTER", "100"},
                        {"VICTIMS", "1"}, {fault, str(nth)}, {"FAIL_LATE", late ? "1" : "0"}},
                       str(kCut, ",timeout=13,retries=2,deadline=10s"));
  Cluster c(harness, 2, {}, 4 << 20);
  Traffic traffic(c, true);
  traffic.run();
  traffic.expectDelivered();
  // It did happen, and both ends know.
  for (uint32_t r = 0; r < 2; ++r)
    EXPECT_THAT(static_cast<rdma::Rdma &>(c[r]).describe(), HasSubstr("1 out of use"));
  EXPECT_OK(c[0].shutdown(soon()));
}

INSTANTIATE_TEST_SUITE_P(
    Faults, RcFailover,
    testing::Values(Fault{"DEAD_NIC", 1}, Fault{"DEAD_NIC", 20}, Fault{"DEAD_NIC", 57},
                    Fault{"FAIL_NTH", 1}, Fault{"FAIL_NTH", 33},
                    Fault{"FAIL_NTH", 2, true}, Fault{"FAIL_NTH", 41, true},
                    Fault{"LINK_DOWN", 25}, Fault{"FATAL", 25}),
    [](const auto &info) {
      return str(info.param.name, "_", info.param.nth, info.param.late ? "_late" : "");
    });

TEST(RdmaFault, TheLastPathIsTheError) {
  FaultHarness harness("verbs", {{"NICS", "soft0:roce"}, {"DEAD_NIC", "5"}, {"VICTIMS", "1"}},
                       "timeout=12,retries=1");
  Cluster c(harness, 2, {}, 4 << 20);
  Traffic traffic(c, true);
  traffic.run();
  // One end's request fails; it tells the other, whose own may have failed by then.
  ASSERT_TRUE(c.pollUntil(0, [&] { return c[0].failed(); }));
  ASSERT_TRUE(c.pollUntil(1, [&] { return c[1].failed(); }));
  int own = 0;
  for (uint32_t r = 0; r < 2; ++r) {
    own += c[r].error().message().starts_with("a request to rank");
    EXPECT_ERROR(c[r].error(), Unavailable, "bytes failed on NIC soft0 (transport retry");
  }
  EXPECT_GE(own, 1);
}

TEST(RdmaFault, PeersHearTheCause) {
  FaultHarness harness("efa", {{"FAIL_NTH", "1"}}, "");
  Cluster c(harness, 3);
  ASSERT_OK(c[1].post(c.put(0, 0, 0, 8, SignalAdd{1, 1})));
  for (uint32_t r : {1u, 0u, 2u})
    ASSERT_TRUE(c.pollUntil(r, [&] { return c[r].failed(); }));
  EXPECT_ERROR(c[1].error(), Unavailable, "a request to rank 0 of 8 bytes failed on NIC soft_efa0");
  for (uint32_t r : {0u, 2u})
    EXPECT_ERROR(c[r].error(), Unavailable, "rank 1 has failed: a request to rank 0 of 8 bytes");
}

TEST(RdmaFault, SrdSendsBytesAgain) {
  FaultHarness harness("efa", {{"NICS", kTwoEfa}, {"VICTIMS", "1"}, {"FAIL_NTH", "9"}, {"JITTER", "50"}},
                       kCut);
  Cluster c(harness, 2, {}, 4 << 20);
  Traffic traffic(c, false);
  traffic.run();
  traffic.expectDelivered();
}

TEST(RdmaFault, SrdNeverRepeatsASignal) {
  FaultHarness harness("efa", {{"NICS", kTwoEfa}, {"VICTIMS", "1"}, {"FAIL_NTH", "3"}, {"FAIL_LATE", "1"}, {"JITTER", "50"}},
                       "nics=soft0+soft1");
  Cluster c(harness, 2, {}, 4 << 20);
  Traffic traffic(c, true);
  traffic.run();
  ASSERT_TRUE(c.pollUntil(0, [&] { return c[0].failed(); }));
  ASSERT_TRUE(c.pollUntil(1, [&] { return c[1].failed(); }));
  for (uint32_t r = 0; r < 2; ++r) {
    EXPECT_ERROR(c[r].error(), Unavailable, "failed");
    // Of each put at most one arrival.
    std::map<uint32_t, int> bySlot;
    for (const Arrival &a : c.seen[r].arrivals)
      EXPECT_LE(++bySlot[a.slot], int(Traffic::kPuts / 60));
  }
}

TEST(RdmaFault, AQueueThatRefusesIsTriedAgain) {
  for (const char *transport : {"verbs", "efa"}) {
    FaultHarness harness(transport, {{"NICS", transport == std::string("efa") ? kTwoEfa : kTwoRoce}, {"REFUSE_NTH", "4"}},
                         kCut);
    Cluster c(harness, 2, {}, 4 << 20);
    Traffic traffic(c, true);
    traffic.run();
    traffic.expectDelivered();
  }
}

TEST(RdmaFault, ALossySwitch) {
  FaultHarness harness("verbs", {{"NICS", "soft0:roce"}, {"LOSS", "5%"}, {"SEED", "11"}, {"ACK_LOST", "40"}}, "timeout=10,qps=2");
  Cluster c(harness, 2, {}, 4 << 20);
  Traffic traffic(c, true);
  traffic.run();
  traffic.expectDelivered();
}

// Its process has been silent for longer than that: what stands still is still what is said.
TEST(RdmaFault, AReceiverThatSleeps) {
  for (const char *transport : {"verbs", "efa"}) {
    FaultHarness harness(transport, {}, "signals=16,deadline=1s");
    Cluster c(harness, 2);
    std::this_thread::sleep_for(300ms);
    for (int i = 0; i < 40; ++i)
      ASSERT_OK(c[0].post(c.put(1, 0, 0, 8, SignalAdd{1, 1})));
    ASSERT_TRUE(c.pollUntil(0, [&] { return c[0].failed(); }));
    EXPECT_ERROR(c[0].error(), DeadlineExceeded, "rank 1 has taken no signal for 1 s");
    // What had been sent is there.
    ASSERT_TRUE(c.arrived(1, 16));
    EXPECT_EQ(c.seen[1].arrivals.size(), 16u);
  }
}

template <typename Signature> Signature *ofLibrary(const char *name) {
  void *library = ::dlopen(MK_SOFTRDMA, RTLD_NOW | RTLD_LOCAL);
  return reinterpret_cast<Signature *>(::dlsym(library, name));
}

/// The fullest completion queue of the process, and what it holds.
std::pair<int, int> fullest() {
  std::pair<int, int> result{0, 0};
  int contexts = ofLibrary<int()>("softrdma_contexts")();
  for (int i = 0; i < contexts; ++i) {
    int capacity = 0;
    int peak = ofLibrary<int(int, int *)>("softrdma_cq_peak")(i, &capacity);
    if (peak > result.first)
      result = {peak, capacity};
  }
  return result;
}

/// All ranks send all that they may, with signals and without, and read nothing:
/// completion queues fill up.
void sendUnread(Cluster &c, int puts) {
  auto world = uint32_t(c.transports.size());
  for (int i = 0; i < puts; ++i)
    for (uint32_t r = 0; r < world; ++r) {
      uint32_t peer = (r + 1 + uint32_t(i) % (world - 1)) % world;
      for (auto signal : {std::optional(SignalAdd{1, 1}), std::optional<SignalAdd>()})
        if (Status posted = c[r].post(c.put(peer, 0, 0, 8, signal)); !posted) {
          ASSERT_TRUE(c[r].failed()) << posted.toString(); // the queue pair is gone
        }
    }
  ASSERT_TRUE(ofLibrary<int(int)>("softrdma_settle")(5000));
}

// A NIC in software ends the process that lets a completion queue run over, so that
// all tests here watch for it. These fill one to the last entry.
TEST(RdmaFault, ACompletionQueueHoldsAllThatCanComeIn) {
  for (const char *options : {"depth=16,signals=16", "depth=32,signals=16", "depth=16,signals=48"}) {
    // A request that fails ends the queue pair of RC: all that was posted comes back.
    FaultHarness harness("verbs", {{"NICS", "soft0:roce"}, {"JITTER", "0"}, {"FAIL_NTH", "16"}}, options);
    Cluster c(harness, 2);
    sendUnread(c, 100);
    auto [peak, capacity] = fullest();
    EXPECT_EQ(peak, capacity) << options << ": not one entry fewer would do";
    for (uint32_t r = 0; r < 2; ++r) {
      ASSERT_TRUE(c.pollUntil(r, [&] { return c[r].failed(); }));
      EXPECT_THAT(c[r].error().message(), HasSubstr("failed on NIC soft0"));
    }
  }
  for (const char *options : {"depth=16,signals=16", "depth=16,signals=16,unsolicited=0"}) {
    // SRD's goes on, and no credit comes from one that reads nothing.
    FaultHarness harness("efa", {{"NICS", "soft0:efa"}, {"JITTER", "0"}}, options);
    Cluster c(harness, 2);
    sendUnread(c, 100);
    auto [peak, capacity] = fullest();
    // Signals in the window may wait behind bytes: then the queue is not full.
    EXPECT_LE(peak, capacity - int(rdma::kCreditReserve)) << options;
    EXPECT_GE(peak, 16) << options;
    // What waited goes out as there is room.
    for (uint32_t r = 0; r < 2; ++r)
      ASSERT_TRUE(eventually([&] {
        c.poll(0).ignore(), c.poll(1).ignore();
        return c.seen[r].arrivals.size() >= 100 && c.seen[r].local.size() >= 200;
      }));
    EXPECT_OK(c[0].error());
    EXPECT_OK(c[1].error());
  }
}

// One that holds less than was asked for, by a defect of its library.
TEST(RdmaFault, ACompletionQueueThatRunsOver) {
  // Without unsolicited writes receives are posted, to a queue pair that may have failed.
  for (auto [transport, options] : {std::pair("verbs", ""), {"efa", ""}, {"efa", "unsolicited=0"}}) {
    FaultHarness harness(transport, {{"CQ_ENTRIES", "8"}, {"OVERRUN", "event"}, {"VICTIMS", "1"}, {"JITTER", "0"}}, options);
    Cluster c(harness, 3);
    sendUnread(c, 9);
    for (uint32_t r = 0; r < 3; ++r)
      ASSERT_TRUE(eventually([&] {
        for (uint32_t other = 0; other < 3; ++other)
          c.poll(other).ignore();
        return c[r].failed();
      }));
    int own = 0;
    for (uint32_t r = 0; r < 3; ++r) {
      own += c[r].error().message().starts_with("NIC ");
      // A peer of SRD may find the queue pair gone before it hears why.
      EXPECT_THAT(c[r].error().message(),
                  testing::AnyOf(HasSubstr("reports: CQ error: its completion queue of"),
                                 HasSubstr("failed on NIC soft_efa0 (remote invalid RD request")));
    }
    EXPECT_EQ(own, 1);
  }
}

// Who waits for what stands still elsewhere knows why, and that it goes on.
// A peer that waits for another one has nothing under way to it.
TEST(RdmaFault, APeerThatIsSilentIsLost) {
  for (const char *transport : {"verbs", "efa"}) {
    FaultHarness harness(transport, {}, "deadline=2s");
    Cluster c(harness, 2);
    // Both are there, and say so.
    auto until = std::chrono::steady_clock::now() + 3s;
    while (std::chrono::steady_clock::now() < until) {
      c.poll(0).ignore();
      c.poll(1).ignore();
      std::this_thread::sleep_for(5ms);
    }
    ASSERT_OK(c[0].error());
    // Nobody drives rank 1 any more.
    auto begin = std::chrono::steady_clock::now();
    std::string note;
    EXPECT_TRUE(eventually([&] {
      c.poll(0).ignore();
      if (std::string text = c[0].stuck(); !text.empty() && !c[0].failed())
        note = text;
      return c[0].failed();
    }));
    EXPECT_LT(std::chrono::steady_clock::now() - begin, 6s);
    EXPECT_NE(note.find("nothing has come from rank(s) 1 for"), std::string::npos) << note;
    EXPECT_ERROR(c[0].error(), Unavailable, "rank 1 was lost: nothing has come from it for 2 s");
  }
}

TEST(RdmaFault, PeersHearWhatStandsStill) {
  FaultHarness harness("verbs", {{"NICS", "soft0:roce"}}, "");
  Cluster c(harness, 3);
  auto pause = ofLibrary<void(int, int)>("softrdma_pause");
  auto say = [&](uint32_t r) {
    for (uint32_t other = 0; other < 3; ++other)
      c.poll(other).ignore();
    return c[r].stuck();
  };
  pause(-1, 1);
  ASSERT_OK(c[0].post(c.put(1, 0, 0, 8, SignalAdd{1, 1})));
  ASSERT_TRUE(eventually([&] { return !say(2).empty(); }));
  EXPECT_THAT(c[2].stuck(), testing::StartsWith("rank 0 says: rank 1 has acknowledged nothing for"));
  EXPECT_THAT(c[0].stuck(), testing::StartsWith("rank 1 has acknowledged nothing for"));
  pause(-1, 0);
  ASSERT_TRUE(eventually([&] { return say(2).empty() && say(1).empty() && say(0).empty(); }));
  EXPECT_EQ(c.seen[1].arrivals.size(), 1u);
}

TEST(RdmaFault, ANicThatIsDownIsLeftOut) {
  FaultHarness harness("verbs", {{"NICS", "soft0:roce:down,soft1:roce"}}, "nics=soft0+soft1");
  Cluster c(harness, 2, {}, 4 << 20);
  auto &rdma = static_cast<rdma::Rdma &>(c[0]);
  EXPECT_THAT(rdma.describe(), HasSubstr("soft1 (port 1"));
  EXPECT_THAT(rdma.describe(), testing::Not(HasSubstr("soft0")));
  Traffic traffic(c, true);
  traffic.run();
  traffic.expectDelivered();
}

TEST(RdmaFault, RelaxedOrderingWhereItIsTaken) {
  for (const char *taken : {"1", "0"}) {
    FaultHarness harness("verbs", {{"RELAXED", taken}}, "");
    Cluster c(harness, 2);
    auto &rdma = static_cast<rdma::Rdma &>(c[0]);
    EXPECT_THAT(rdma.describe(), HasSubstr(taken[0] == '1' ? "by address, relaxed" : "by address;"));
  }
}

// A question for the address of a peer goes by now and then.
TEST(RdmaFault, AnAddressIsAskedForAgain) {
  FaultHarness harness("verbs", {{"NICS", "soft0:roce"}, {"RESOLVE", "3"}}, "qps=2");
  Cluster c(harness, 2, {}, 4 << 20);
  Traffic traffic(c, true);
  traffic.run();
  traffic.expectDelivered();
}

TEST(RdmaFault, AnAddressThatIsNotThere) {
  setKnobs({{"RESOLVE", "1000"}});
  Job job(2);
  Job::parallel(2, [&](uint32_t r) {
    auto heap = HostHeap::create({.bytes = 1 << 20, .slots = 64, .rank = r, .world = 2});
    ASSERT_OK(heap);
    TransportConfig config;
    config.heap = heap->get();
    auto transport = createTransport("verbs", config);
    ASSERT_OK(transport);
    uint32_t peer = 1 - r;
    EXPECT_ERROR((*transport)->connect(*job.clients[r], {&peer, 1}, soon()), Unavailable,
                 "(is it on the same network, with the GID that is meant? option gid=INDEX) "
                 "failed: Connection timed out");
  });
}

/// The message of docs/network.md that begins so, as a regular expression.
std::string documented(const std::string &begin) {
  std::ifstream file(MK_SOURCE_DIR "/docs/network.md");
  for (std::string line; std::getline(file, line);) {
    if (!line.starts_with("| `" + begin))
      continue;
    std::string message = line.substr(3, line.find('`', 3) - 3);
    for (auto [from, to] : {std::pair(" N ", " [0-9]+ "), std::pair("...", ".*")})
      for (size_t at = 0; (at = message.find(from, at)) != std::string::npos;)
        message.replace(at, strlen(from), to), at += strlen(to);
    return message;
  }
  return "a row of the documentation";
}

/// What this process may lock, for a time.
class LockedMemory {
public:
  explicit LockedMemory(rlim_t bytes) {
    ::getrlimit(RLIMIT_MEMLOCK, &before_);
    rlimit now = before_;
    now.rlim_cur = std::min(bytes, before_.rlim_max);
    ::setrlimit(RLIMIT_MEMLOCK, &now);
  }
  ~LockedMemory() { ::setrlimit(RLIMIT_MEMLOCK, &before_); }

private:
  rlimit before_{};
};

// Of the NIC's own memory for signals, and of symmetric memory.
TEST(RdmaFault, ARefusedRegistrationIsWorded) {
  std::string symmetric = documented("cannot register N bytes of symmetric memory");
  for (const char *nth : {"1", "2", "3"}) {
    setKnobs({{"REFUSE_REG", nth}});
    LockedMemory limit(1 << 16);
    Job job(2);
    Job::parallel(2, [&](uint32_t r) {
      auto heap = HostHeap::create({.bytes = 1 << 20, .slots = 64, .rank = r, .world = 2});
      ASSERT_OK(heap);
      TransportConfig config;
      config.heap = heap->get();
      auto transport = createTransport("verbs", config);
      uint32_t peer = 1 - r;
      Status status = transport ? (*transport)->connect(*job.clients[r], {&peer, 1}, soon())
                                : transport.status();
      EXPECT_EQ(status.code(), StatusCode::ResourceExhausted);
      EXPECT_THAT(status.message(), HasSubstr("NIC soft_roce0 cannot register "));
      std::string said = status.message();
      if (size_t at = said.find("for signals"); at != std::string::npos)
        said.replace(at, 11, "of symmetric memory");
      EXPECT_THAT(said, testing::ContainsRegex(symmetric));
      EXPECT_THAT(said, HasSubstr("Cannot allocate memory; memory that may be locked is limited "
                                  "to 64 KiB: ulimit -l unlimited"));
    });
  }
}

TEST(RdmaFault, NumbersOfPathsAreWorded) {
  for (uint32_t world : {2u, 3u}) {
    FaultHarness harness("verbs", {}, "");
    Cluster c(harness, world);
    EXPECT_THAT(static_cast<rdma::Rdma &>(c[0]).describe(),
                testing::EndsWith(world == 2 ? "; 1 path to 1 peer" : "; 2 paths to 2 peers"));
  }
}

TEST(RdmaFault, RanksThatDoNotFit) {
  setKnobs({});
  Job job(2);
  Status statuses[2];
  Job::parallel(2, [&](uint32_t r) {
    auto heap = HostHeap::create({.bytes = 1 << 20, .slots = 64, .rank = r, .world = 2});
    ASSERT_OK(heap);
    TransportConfig config;
    config.heap = heap->get();
    config.options = str("qps=", r + 1);
    auto transport = createTransport("verbs", config);
    ASSERT_OK(transport);
    uint32_t peer = 1 - r;
    statuses[r] = (*transport)->connect(*job.clients[r], {&peer, 1}, soon());
  });
  EXPECT_ERROR(statuses[0], InvalidArgument, "rank 0 has option qps 1, rank 1 has 2");
  EXPECT_ERROR(statuses[1], InvalidArgument, "rank 1 has option qps 2, rank 0 has 1");
}

} // namespace
} // namespace mk::rt::test
