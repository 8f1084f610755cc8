//===- StallsTest.cpp - Many launches while everything stalls at random ---===//
//
// Ranks, proxies and NICs stand still at random moments for random times. Every
// launch's result is right, and the process holds afterwards what it held before.
// MK_TEST_LAUNCHES and MK_TEST_SEED: for longer (scripts/test-faults).
//
//===----------------------------------------------------------------------===//

#include "Holdings.h"
#include "Knobs.h"
#include "Ranks.h"

#include "transport/loopback/Loopback.h"

#include <random>

namespace mk::rt::test {
namespace {

long numberOf(const char *variable, long otherwise) {
  const char *text = std::getenv(variable);
  return text ? std::atol(text) : otherwise;
}

/// Mostly short, seldom long.
std::chrono::microseconds draw(std::mt19937_64 &random) {
  uint64_t limit = random() % 16 ? 1000 : random() % 8 ? 5000 : 40000;
  return std::chrono::microseconds(random() % limit);
}

/// Stops proxies and NICs of a job until it goes.
class Staller {
public:
  Staller(Ranks &ranks, uint64_t seed) : ranks_(ranks) {
    threads_.emplace_back([this, seed] {
      drive(seed * 2, [this](uint32_t rank, bool on) {
        ranks_.contexts[rank]->proxy()->pause(on);
      });
    });
    threads_.emplace_back([this, seed] {
      drive(seed * 2 + 1, [this](uint32_t rank, bool on) { pauseNic(rank, on); });
    });
  }
  ~Staller() {
    over_ = true;
    for (std::thread &thread : threads_)
      thread.join();
  }
  uint64_t stalls() const { return stalls_; }

private:
  void drive(uint64_t seed, const std::function<void(uint32_t, bool)> &stop) {
    std::mt19937_64 random(seed);
    while (!over_) {
      std::this_thread::sleep_for(draw(random));
      auto rank = uint32_t(random() % ranks_.contexts.size());
      stop(rank, true);
      std::this_thread::sleep_for(draw(random));
      stop(rank, false);
      ++stalls_;
    }
  }
  void pauseNic(uint32_t rank, bool on) {
    if (auto *loopback = dynamic_cast<Loopback *>(ranks_.contexts[rank]->transport()))
      return loopback->pause(on);
#ifdef MK_SOFTRDMA
    // By the order in which they were opened; each rank has one.
    void *library = ::dlopen(MK_SOFTRDMA, RTLD_NOW | RTLD_LOCAL);
    reinterpret_cast<void (*)(int, int)>(::dlsym(library, "softrdma_pause"))(int(rank), on);
    ::dlclose(library);
#endif
  }

  Ranks &ranks_;
  std::vector<std::thread> threads_;
  std::atomic<bool> over_{false};
  std::atomic<uint64_t> stalls_{0};
};

constexpr uint32_t kRanks = 4;

struct Network {
  const char *name, *transport, *options;
};

class Stalls : public testing::TestWithParam<Network> {};

TEST_P(Stalls, EveryLaunchIsRightAndNothingIsLeft) {
  auto [name, transport, options] = GetParam();
  const long launches = numberOf("MK_TEST_LAUNCHES", 24);
  const uint64_t seed = uint64_t(numberOf("MK_TEST_SEED", 1));
  SCOPED_TRACE(str("MK_TEST_SEED=", seed));
  static const Package gather = package("allgather"), mix = package("mix");
  ContextOptions base;
  base.transport = transport;
  base.transportOptions = options;
  uint64_t stalled = 0;
  size_t grown = 0;
  int registered = 0;
  auto job = [&](long count, bool stalls) {
    std::vector<std::pair<std::string, std::string>> knobs = {{"SEED", str(seed)}, {"JITTER", "50"}};
    // A machine that is busy keeps a NIC in software from running for seconds.
    if (std::string_view(transport) == "efa")
      knobs.emplace_back("TIMEOUT", "20000000");
    setKnobs(knobs);
    Ranks ranks(2, 2, base);
    std::optional<Staller> staller;
    if (stalls)
      staller.emplace(ranks, seed);
    std::atomic<uint32_t> warm{0};
    size_t memory = 0;
    Holdings inUse;
    ranks.each([&](uint32_t r) {
      std::mt19937_64 random(seed * 100 + r);
      auto gathers = Kernel::load(*ranks.contexts[r], gather);
      auto sums = Kernel::load(*ranks.contexts[r], mix);
      ASSERT_OK(gathers);
      ASSERT_OK(sums);
      constexpr int64_t m = 23, n = 9;
      auto first = (*gathers)->bind({{"M", {m}}, {"N", {n}}});
      auto second = (*sums)->bind({{"T", {5, 0, 13, 1}}});
      ASSERT_OK(first);
      ASSERT_OK(second);
      std::vector<float> c(m * n);
      ASSERT_OK((*first)->attach("c", c.data()));
      for (long i = 0; i < count; ++i) {
        if (stalls && random() % 4 == 0)
          std::this_thread::sleep_for(draw(random));
        uint64_t order = random() % 2 ? random() | 1 : 0;
        if (i % 3 < 2) {
          ASSERT_OK(gatherOnce(**first, m, n, i, {.seed = order}, c)) << "launch " << i;
        } else {
          auto *x = reinterpret_cast<int32_t *>((*second)->data("x"));
          int32_t value = int32_t(i % 1000) + 1;
          std::fill_n(x, (*second)->shard("x").elements(), value);
          ASSERT_OK((*second)->launch({.seed = order})) << "launch " << i;
          // Two columns of 5 + 0 + 13 + 1 rows.
          ASSERT_EQ(*reinterpret_cast<float *>((*second)->data("acc")), float(38 * value))
              << "launch " << i;
        }
        // What queues grow to comes at the beginning.
        if (i == count / 4 && ++warm == kRanks)
          memory = allocatedBytes();
      }
      if (r == 0) {
        registered = nicObjects() - inUse.registered;
        size_t now = allocatedBytes();
        grown = now > memory ? now - memory : 0;
      }
    });
    if (staller)
      stalled = staller->stalls();
    staller.reset();
    ranks.close();
  };
  job(6, false); // what is made once and kept
  Holdings before;
  job(launches, true);
  EXPECT_TRUE(before.areBack());
  EXPECT_EQ(registered, 0) << "objects of NICs that launches have made";
  // Of each launch less than anything that it could forget.
  EXPECT_LT(double(grown), 512e3 + double(launches) * 4);
  EXPECT_GT(stalled, uint64_t(launches) / 10);
  RecordProperty("stalls", str(stalled));
  RecordProperty("grown_bytes", str(grown));
  if (std::getenv("MK_TEST_LAUNCHES"))
    printf("%s: %ld launches, %llu stalls, %zu bytes more allocated\n", name, launches,
           static_cast<unsigned long long>(stalled), grown);
  unsetKnobs();
}

INSTANTIATE_TEST_SUITE_P(Loopback, Stalls,
                         testing::Values(Network{"loopback", "loopback", "reorder=3,mtu=256"}),
                         [](const auto &info) { return std::string(info.param.name); });
#ifdef MK_SOFTRDMA
INSTANTIATE_TEST_SUITE_P(
    Nics, Stalls,
    testing::Values(Network{"verbs", "verbs", "timeout=18"}, Network{"efa", "efa", ""},
                    Network{"efaSmall", "efa", "depth=16,signals=16,request=4K,unsolicited=0"}),
    [](const auto &info) { return std::string(info.param.name); });
#endif

} // namespace
} // namespace mk::rt::test
