//===- OrderTest.cpp - Orders that protocols may and may not rely on ------===//
//
// Tests of the tests: protocols that are wrong over SRD are caught as wrong.
//
//===----------------------------------------------------------------------===//

#include "SoftRdmaTest.h"

#include <algorithm>
#include <array>
#include <atomic>

namespace soft::test {
namespace {

constexpr int kMessages = 300;
constexpr uint32_t kBytes = 16 * 1024, kFlag = 1 << 19;

bool whole(End &e, uint64_t value) {
  for (uint32_t i = 0; i < kBytes / 8; ++i)
    if (e.words(0)[i] != value)
      return false;
  return true;
}

/// Data, then a flag as a second write on the queue pair. Returns how many
/// flags were there before their data; with `wait`, the flag is posted when the
/// data has completed.
int flagsBeforeData(bool srd, bool wait, int messages = kMessages) {
  Options o;
  o.srd = srd;
  Wire w(o);
  int wrong = 0;
  for (uint64_t i = 1; int(i) <= messages; ++i) {
    std::fill_n(w.a.words(0), kBytes / 8, i);
    *w.a.words(kFlag) = i;
    EXPECT_EQ(w.a.write(1, 0, 0, kBytes), 0);
    if (wait) {
      EXPECT_EQ(w.a.next().status, 0u);
    }
    EXPECT_EQ(w.a.write(2, kFlag, kFlag, 8), 0);
    auto *flag = reinterpret_cast<std::atomic<uint64_t> *>(w.b.words(kFlag));
    auto until = std::chrono::steady_clock::now() + std::chrono::seconds(20);
    while (flag->load(std::memory_order_acquire) != i) {
      std::this_thread::yield();
      if (std::chrono::steady_clock::now() > until) {
        ADD_FAILURE() << "flag " << i << " did not arrive";
        return wrong;
      }
    }
    wrong += !whole(w.b, i);
    for (int n = wait; n < 2; ++n)
      EXPECT_EQ(w.a.next().status, 0u);
  }
  return wrong;
}

TEST(SoftRdmaOrder, DataThenFlagIsCaughtOverSrd) {
  SOFT_ONLY();
  // More than the other threads of a busy machine take.
  Knob jitter("JITTER", "10000");
  EXPECT_GT(flagsBeforeData(true, false, 120), 120 / 4);
}

TEST(SoftRdmaOrder, FlagAfterTheCompletionHoldsOverSrd) {
  SOFT_ONLY();
  EXPECT_EQ(flagsBeforeData(true, true), 0);
}

TEST(SoftRdmaOrder, DataThenFlagHoldsOnOneRcQueuePair) {
  EXPECT_EQ(flagsBeforeData(false, false), 0);
}

TEST(SoftRdmaOrder, AnEarlyImmediateShows) {
  SOFT_ONLY();
  Knob k("BREAK", "early-immediate");
  Wire w;
  int wrong = 0;
  for (uint64_t i = 1; i <= 50; ++i) {
    std::fill_n(w.a.words(0), kBytes / 8, i);
    EXPECT_EQ(w.a.write(1, 0, 0, kBytes, int64_t(i)), 0);
    EXPECT_EQ(w.b.next().imm, i);
    wrong += !whole(w.b, i);
    w.a.next();
  }
  EXPECT_GT(wrong, 10);
}

TEST(SoftRdmaOrder, ImmediatesComeAfterTheirDataAndOvertakeEachOther) {
  for (bool srd : protocols()) {
    Options o;
    o.srd = srd;
    Wire w(o);
    constexpr uint32_t n = 200, bytes = 5000;
    for (uint32_t i = 0; i < n; ++i) {
      std::fill_n(w.a.words(i * bytes), bytes / 8, i + 1);
      ASSERT_EQ(w.a.write(i, i * bytes, i * bytes, bytes, i), 0);
    }
    std::vector<uint32_t> order;
    for (uint32_t i = 0; i < n; ++i) {
      Completion c = w.b.next();
      ASSERT_EQ(c.status, 0u);
      ASSERT_EQ(c.opcode, kWcRecvRdmaWithImm);
      ASSERT_EQ(c.bytes, bytes);
      order.push_back(c.imm);
      for (uint32_t k = 0; k < bytes / 8; ++k)
        ASSERT_EQ(w.b.words(c.imm * bytes)[k], c.imm + 1) << "srd " << srd;
    }
    bool sorted = std::is_sorted(order.begin(), order.end());
    EXPECT_EQ(sorted, !srd);
    std::sort(order.begin(), order.end());
    for (uint32_t i = 0; i < n; ++i)
      EXPECT_EQ(order[i], i) << "each exactly once";
    for (uint32_t i = 0; i < n; ++i)
      EXPECT_EQ(w.a.next().status, 0u);
  }
}

// Two puts of two fragments into one slot, and a receiver that counts
// fragments. In 16 of 24 orders the count reaches one put's worth while neither
// is whole.
TEST(SoftRdmaOrder, CountingFragmentsIsCaughtInAllOrders) {
  SOFT_ONLY();
  std::array<uint64_t, 4> order{0, 1, 2, 3};
  int wrong = 0, orders = 0;
  do {
    Wire w;
    softrdma_pause(-1, 1);
    for (uint64_t i = 0; i < 4; ++i)
      ASSERT_EQ(w.a.write(i, i * 512, i * 512, 512, 0), 0);
    int count = 0;
    bool announcedEarly = false;
    std::array<bool, 4> arrived{};
    for (uint64_t packet : order) {
      ASSERT_TRUE(softrdma_deliver(0, packet));
      arrived[packet] = true;
      Completion c;
      while (w.b.poll(c, 0))
        ++count;
      bool one = (arrived[0] && arrived[1]) || (arrived[2] && arrived[3]);
      announcedEarly |= count == 2 && !one;
    }
    EXPECT_EQ(count, 4);
    wrong += announcedEarly;
    ++orders;
  } while (std::next_permutation(order.begin(), order.end()));
  EXPECT_EQ(orders, 24);
  EXPECT_EQ(wrong, 16);
}

TEST(SoftRdmaOrder, SourcesAreReadWhenSent) {
  SOFT_ONLY();
  for (bool srd : protocols()) {
    Options o;
    o.srd = srd;
    Wire w(o);
    softrdma_pause(-1, 1);
    *w.a.words(0) = 1;
    ASSERT_EQ(w.a.write(1, 0, 0, 8), 0);
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
    *w.a.words(0) = 2;
    softrdma_pause(-1, 0);
    ASSERT_EQ(w.a.next().status, 0u);
    EXPECT_EQ(*w.b.words(0), 2u);
  }
}

TEST(SoftRdmaOrder, SeedsAreReproducible) {
  SOFT_ONLY();
  auto order = [](const char *seed) {
    Knob k("SEED", seed);
    Wire w;
    softrdma_pause(-1, 1);
    for (int i = 0; i < 30; ++i)
      EXPECT_EQ(w.a.write(1, 0, uint64_t(i) * 8, 8, i), 0);
    softrdma_pause(-1, 0);
    std::vector<uint32_t> result;
    for (int i = 0; i < 30; ++i)
      result.push_back(w.b.next().imm);
    return result;
  };
  auto first = order("1");
  EXPECT_EQ(first, order("1"));
  EXPECT_NE(first, order("2"));
}

} // namespace
} // namespace soft::test
