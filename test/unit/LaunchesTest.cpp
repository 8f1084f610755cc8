//===- LaunchesTest.cpp - In which order ranks launch kernels -------------===//

#include "Ranks.h"
#include "device/Launches.h"

namespace mk::rt::test {
namespace {

/// Lists of ranks 0 and 1 of a node and 2 of another one.
struct Lists : ::testing::Test {
  static constexpr uint64_t kBytes = 64 + 8 * Launches::kEntryBytes;
  Lists() : job(3) {
    Job::parallel(3, [&](uint32_t r) {
      auto heap = HostHeap::create({.bytes = 64 << 10, .slots = 8, .rank = r, .world = 3});
      ASSERT_OK(heap);
      std::vector<uint32_t> peers = {r == 2 ? 2u : 1 - r};
      ASSERT_OK((*heap)->exchange(*job.clients[r], peers, soon()));
      of[r].open(**heap, kBytes);
      heaps[r] = std::move(*heap);
    });
  }
  void launch(std::initializer_list<uint32_t> ranks, uint64_t kernel,
              std::string_view name) {
    for (uint32_t r : ranks)
      of[r].begin(kernel, name);
  }
  Job job;
  std::unique_ptr<HostHeap> heaps[3];
  Launches of[3];
};

TEST_F(Lists, NothingIsSaidOfLaunchesInOneOrder) {
  Launches alone;
  EXPECT_EQ(alone.begin(1, "a"), 1u);
  EXPECT_EQ(alone.explain(), "");
  for (int i = 0; i < 30; ++i)
    launch({0, 1}, uint64_t(i % 3), i % 3 ? "a" : "b");
  for (auto &list : of)
    EXPECT_EQ(list.explain(), "");
  EXPECT_EQ(of[0].count(), 30u);
}

TEST_F(Lists, TheFirstLaunchThatDiffersIsNamedOnBoth) {
  for (int i = 0; i < 20; ++i)
    launch({0, 1}, 1, "all_gather");
  launch({0}, 2, "gemm");
  launch({1}, 3, "reduce");
  launch({0}, 3, "reduce");
  std::string text = "; rank 0 has kernel 'gemm' as launch 21, rank 1 kernel 'reduce': "
                     "kernels have to be enqueued in the same order on all ranks";
  EXPECT_EQ(of[0].explain(), text);
  EXPECT_EQ(of[1].explain(), text);
  EXPECT_EQ(of[2].explain(), "") << "on another node";
  // Until it has left the list.
  launch({0, 1}, 1, "all_gather");
  EXPECT_EQ(of[0].explain(), text);
  for (int i = 0; i < 8; ++i)
    launch({0, 1}, 1, "all_gather");
  EXPECT_THAT(of[0].explain(), Not(HasSubstr("order")));
}

TEST_F(Lists, KernelsOfOneNameAreToldApart) {
  launch({0}, 1, "gemm");
  launch({1}, 2, "gemm");
  EXPECT_THAT(of[1].explain(),
              HasSubstr("rank 0 has kernel 'gemm' (number 1 of those bound) as launch 1, "
                        "rank 1 kernel 'gemm' (number 2 of those bound)"));
}

TEST_F(Lists, ALaunchThatIsMissingIsNamedWhereItIsWaitedFor) {
  std::string name(100, 'x');
  launch({0, 1}, 1, "a");
  launch({0}, 2, name);
  launch({0}, 1, "a");
  EXPECT_EQ(of[0].explain(),
            "; rank 1 has launched 1 of the 3 kernels that rank 0 has: what it has not "
            "launched is kernel '" +
                name.substr(0, 47) + "' (launch 2)");
  EXPECT_EQ(of[1].explain(), "");
  for (int i = 0; i < 20; ++i)
    launch({0}, 1, "a");
  EXPECT_EQ(of[0].explain(),
            "; rank 1 has launched 1 of the 23 kernels that rank 0 has");
}

TEST_F(Lists, WhatCouldNotBeEnqueuedDoesNotCount) {
  launch({0, 1}, 1, "a");
  launch({0}, 2, "b");
  of[0].withdraw();
  EXPECT_EQ(of[0].count(), 1u);
  EXPECT_EQ(of[0].explain(), "");
  EXPECT_EQ(of[0].begin(3, "c"), 2u);
  launch({1}, 3, "c");
  EXPECT_EQ(of[0].explain(), "");
}

TEST_F(Lists, NobodyIsAccusedWhereLaunchesWereCaptured) {
  launch({0, 1}, 1, "a");
  launch({0}, 2, "b");
  launch({1}, 3, "c");
  EXPECT_THAT(of[0].explain(), HasSubstr("in the same order on all ranks"));
  // Graphs that were captured in one order may be replayed in another.
  of[1].noteCaptured();
  std::string text =
      "; launches were captured into graphs of the program (rank 1 1), whose replays are not "
      "counted; the last one that rank 1 launched or captured is kernel 'c': all ranks have to "
      "launch kernels and replay graphs in the same order";
  EXPECT_EQ(of[0].explain(), text);
  EXPECT_EQ(of[1].explain(), text);
  EXPECT_EQ(of[2].explain(), "") << "on another node";
}

/// Rank 0 launches one kernel and rank 1 another, on one node or two.
void launchApart(int64_t nodes, int64_t gpus) {
  Ranks ranks(nodes, gpus);
  Package gather = package("allgather"), mix = package("mix");
  auto begin = Deadline::Clock::now();
  ranks.each([&](uint32_t r) {
    Context &context = *ranks.contexts[r];
    auto first = Kernel::load(context, gather), second = Kernel::load(context, mix);
    ASSERT_OK(first);
    ASSERT_OK(second);
    auto a = (*first)->bind({{"M", {8}}, {"N", {4}}});
    auto b = (*second)->bind({{"T", {3, 3}}});
    ASSERT_OK(a);
    ASSERT_OK(b);
    ASSERT_OK((*a)->launch({}));
    auto graph = (*b)->capture({});
    ASSERT_OK(graph);
    Status status = r == 0 ? (*a)->launch({}) : (*graph)->launch();
    EXPECT_ERROR(status, Aborted,
                 "rank 0 has kernel 'allgather' as launch 2, rank 1 kernel 'mix': "
                 "kernels have to be enqueued in the same order on all ranks");
    EXPECT_EQ(context.close().code(), StatusCode::Aborted);
  });
  // Long before the deadline of 30 s.
  EXPECT_LT(Deadline::Clock::now() - begin, 20s);
}
TEST(Order, OtherKernelsAreFoundOnANode) { launchApart(1, 2); }
TEST(Order, OtherKernelsAreFoundAcrossNodes) { launchApart(2, 1); }

TEST(Order, BindingsOfOneKernelAreToldApartBySizes) {
  Ranks ranks(1, 2);
  Package gather = package("allgather");
  ranks.each([&](uint32_t r) {
    Context &context = *ranks.contexts[r];
    auto a = bindSizes(context, gather, 8, 4), b = bindSizes(context, gather, 9, 4);
    EXPECT_ERROR((r == 0 ? a : b)->launch({}), Aborted,
                 "rank 0 has kernel 'allgather' (M = 8, N = 4) as launch 1, rank 1 kernel "
                 "'allgather' (M = 9, N = 4): kernels have to be enqueued in the same order");
    EXPECT_EQ(context.close().code(), StatusCode::Aborted);
  });
}

TEST(Order, ALaunchThatIsLeftOutIsNamed) {
  Ranks ranks(1, 2);
  Package gather = package("allgather");
  ranks.each([&](uint32_t r) {
    Context &context = *ranks.contexts[r];
    auto kernel = Kernel::load(context, gather);
    ASSERT_OK(kernel);
    auto bound = (*kernel)->bind({{"M", {8}}, {"N", {4}}});
    ASSERT_OK(bound);
    ASSERT_OK((*bound)->launch({}));
    Status status = r == 0 ? (*bound)->launch({.deadline = 200ms})
                           : context.allGather("something else", "").status();
    EXPECT_ERROR(status, Aborted, "waited 200 ms for ");
    EXPECT_THAT(status.message(),
                HasSubstr("; rank 1 has launched 1 of the 2 kernels that rank 0 has: "
                          "what it has not launched is kernel 'allgather' (launch 2)"));
  });
}

} // namespace
} // namespace mk::rt::test
