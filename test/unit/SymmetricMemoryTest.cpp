//===- SymmetricMemoryTest.cpp - Memory that programs allocate ------------===//

#include "mkernel/Runtime/Kernel.h"

#include "Ranks.h"

namespace mk::rt::test {
namespace {

struct Symmetric : ::testing::Test {
  /// As many bytes on all ranks, zeroed.
  float *allocate(Context &context, int64_t floats) {
    auto memory = context.allocate(floats * 4, "the test's memory");
    EXPECT_OK(memory);
    return memory ? reinterpret_cast<float *>(*memory) : nullptr;
  }
};

TEST_F(Symmetric, PeersAreAddressedAndMemoryIsUsedAgain) {
  Ranks ranks(2, 2); // 0 and 1 share a node, 2 and 3 do
  ranks.each([&](uint32_t r) {
    Context &context = *ranks.contexts[r];
    uint64_t used = context.heap().used();
    float *first = nullptr;
    for (int round = 0; round < 3; ++round) {
      float *x = allocate(context, 1000), *y = allocate(context, 10);
      ASSERT_NE(x, nullptr);
      ASSERT_NE(y, nullptr);
      first = first ? first : x;
      EXPECT_EQ(x, first) << "freed in the round before";
      EXPECT_EQ(reinterpret_cast<uintptr_t>(x) % Heap::kAlignment, 0u);
      for (int i = 0; i < 1000; ++i)
        ASSERT_EQ(x[i], 0) << "zeroed in round " << round;
      ASSERT_OK(context.allGather("zeroes", "").status());
      uint32_t peer = r ^ 1;
      auto remote = context.addressAt(peer, x + 999);
      ASSERT_OK(remote);
      *reinterpret_cast<float *>(*remote) = float(10 * round + r);
      ASSERT_OK(context.allGather("written", "").status());
      EXPECT_EQ(x[999], float(10 * round + peer));
      EXPECT_EQ(*context.addressAt(r, x), reinterpret_cast<std::byte *>(x));
      ASSERT_OK(context.allGather("read", "").status());
      EXPECT_ERROR(context.addressAt(r ^ 2, x).status(), FailedPrecondition,
                   str("the memory of rank ", r ^ 2, " is not mapped on rank ", r,
                       ": it is on another node"));
      EXPECT_ERROR(context.addressAt(4, x).status(), InvalidArgument,
                   "there is no rank 4 in a mesh of 4 ranks");
      EXPECT_ERROR(context.addressAt(peer, &peer).status(), InvalidArgument,
                   "not in symmetric memory");
      // In another order than they were allocated in.
      ASSERT_OK(context.free(x));
      ASSERT_OK(context.free(y));
      EXPECT_EQ(context.heap().used(), used);
    }
  });
  ranks.close();
}

TEST_F(Symmetric, SizesThatDifferAreNamedAndNothingIsLeft) {
  Ranks ranks(1, 3);
  ranks.each([&](uint32_t r) {
    Context &context = *ranks.contexts[r];
    uint64_t used = context.heap().used();
    EXPECT_ERROR(context.allocate(r == 2 ? 512 : 256, "buffer").status(),
                 InvalidArgument,
                 "ranks disagree: rank 0 allocates 256 bytes of symmetric memory, "
                 "rank 2 512");
    EXPECT_EQ(context.heap().used(), used);
    EXPECT_ERROR(context.allocate(uint64_t(1) << 40, "buffer").status(),
                 ResourceExhausted, "buffer needs 1099511627776 bytes");
    // The ranks are still together.
    float *x = allocate(context, 4), *y = allocate(context, 4);
    ASSERT_NE(x, nullptr);
    EXPECT_ERROR(context.free(r == 1 ? y : x), InvalidArgument,
                 "ranks disagree: rank 0 frees symmetric memory at offset");
    // What is wrong on one rank is an error of all.
    EXPECT_ERROR(context.free(r == 1 ? x + 1 : x), InvalidArgument,
                 r == 1 ? "this is no address that Context::allocate gave"
                        : "rank 1: this is no address that Context::allocate gave");
    ASSERT_OK(context.free(x));
    EXPECT_ERROR(context.free(x), InvalidArgument, "no address that");
    ASSERT_OK(context.free(y));
  });
  ranks.close();
}

TEST_F(Symmetric, KernelsShareABuffer) {
  // The first kernel writes all of C on every rank; the second takes that as this
  // rank's part of A.
  Ranks ranks(2, 1);
  constexpr int64_t m = 13, n = 5;
  Package gather = package("allgather");
  ranks.each([&](uint32_t r) {
    Context &context = *ranks.contexts[r];
    auto first = bindSizes(context, gather, m, n);
    auto second = bindSizes(context, gather, 2 * m, n);
    uint64_t before = context.heap().used();
    float *shared = allocate(context, m * n);
    ASSERT_OK(second->attach("a", shared));
    EXPECT_EQ(context.heap().used(), before) << "its own went back";
    ASSERT_OK(first->attach("c", shared));
    EXPECT_EQ(reinterpret_cast<float *>(second->data("a")), shared);
    for (int round = 0; round < 20; ++round) {
      auto *a = reinterpret_cast<float *>(first->data("a"));
      const Shard &shard = first->shard("a");
      for (int64_t i = 0; i < shard.elements(); ++i)
        a[i] = float(shard.begin[0] * n + i + round);
      ASSERT_OK(first->launch({.seed = uint64_t(round)}));
      ASSERT_OK(second->launch({.seed = uint64_t(round)}));
      auto *c = reinterpret_cast<float *>(second->data("c"));
      for (int64_t i = 0; i < 2 * m * n; ++i)
        ASSERT_EQ(c[i], 2 * (2 * float(i % (m * n) + round) + 1) + 1)
            << i << " in round " << round;
    }
    // Also what another kernel has of its own.
    auto third = bindSizes(context, gather, 2 * m, n);
    ASSERT_OK(third->attach("full", second->data("full")));
    ASSERT_OK(third->attach("a", second->data("a")));
    ASSERT_OK(third->launch({}));
    auto *c = reinterpret_cast<float *>(third->data("c"));
    EXPECT_EQ(c[1], 2 * (2 * float(1 + 19) + 1) + 1);
    third.reset();
    second.reset();
    first.reset();
    ASSERT_OK(context.free(shared));
  });
  ranks.close();
}

TEST_F(Symmetric, AttachedPlacesAreChecked) {
  Ranks ranks(1, 2);
  Package gather = package("allgather");
  ranks.each([&](uint32_t r) {
    Context &context = *ranks.contexts[r];
    auto bound = bindSizes(context, gather, 9, 8); // parts of 5 and 4 rows
    float *x = allocate(context, 100);
    ASSERT_NE(x, nullptr);
    std::string offset = str(*context.heap().offsetOf(x)),
                other = str(*context.heap().offsetOf(x) + 16);
    EXPECT_ERROR(bound->attach("a", r == 0 ? x : x + 4), InvalidArgument,
                 "ranks disagree: symmetric argument 'a' is attached at offset " +
                     offset + " of the symmetric memory on rank 0 and at " + other +
                     " on rank 1: attach the same place");
    float mine[100];
    EXPECT_ERROR(bound->attach("a", r == 1 ? mine : x), InvalidArgument,
                 r == 1 ? "argument 'a' of kernel 'allgather' is symmetric, peers "
                          "reach it: attach memory of Context::allocate"
                        : "rank 1: argument 'a' of kernel 'allgather'");
    EXPECT_ERROR(bound->attach("a", nullptr), InvalidArgument,
                 "attach memory of Context::allocate");
    EXPECT_ERROR(bound->attach("a", x + 1), InvalidArgument,
                 "its memory begins 4 bytes behind the start of the test's memory, "
                 "which is no multiple of 16");
    // Also on the rank whose own part would fit.
    EXPECT_ERROR(bound->attach("a", x + 64), InvalidArgument,
                 "it needs 160 bytes, as many as the largest part of all ranks, and "
                 "the test's memory has 144 from there on");
    int64_t wide[] = {9, 1}, tight[] = {8, 1};
    EXPECT_ERROR(bound->attach("a", x, wide), InvalidArgument,
                 "it is row-major and tight, strides cannot be given");
    EXPECT_ERROR(bound->attach("a", bound->data("full")), InvalidArgument,
                 "its memory would overlap that of argument 'full'");
    // None of it has changed anything; the last place that fits.
    ASSERT_OK(bound->attach("a", x + 60, tight));
    auto *a = reinterpret_cast<float *>(bound->data("a"));
    EXPECT_EQ(a, x + 60);
    for (int64_t i = 0; i < bound->shard("a").elements(); ++i)
      a[i] = float(i);
    ASSERT_OK(bound->launch({}));
    auto *c = reinterpret_cast<float *>(bound->data("c"));
    EXPECT_EQ(c[39], 79);
    EXPECT_EQ(c[71], 63);
    ASSERT_OK(context.allGather("looked", "").status());
  });
  ranks.close();
  // Behind the end of the context there is nothing to allocate.
  EXPECT_ERROR(ranks.contexts[0]->allocate(1).status(), FailedPrecondition,
               "the context is closed");
}

TEST_F(Symmetric, AnAbortEndsIt) {
  Ranks ranks(1, 2);
  ranks.each([&](uint32_t r) {
    Context &context = *ranks.contexts[r];
    if (r == 0) // while rank 1 waits for its answer
      context.abort().raise(AbortRecord::now(0, "test", "enough"));
    EXPECT_ERROR(context.allocate(1).status(), Aborted, "enough");
  });
}

} // namespace
} // namespace mk::rt::test
