//===- KernelTest.cpp - The API, all ranks in this process ----------------===//

#include "mkernel/Runtime/Kernel.h"

#include "Ranks.h"

#include <csignal>

namespace mk::rt::test {
namespace {

TEST(Kernel, LaunchesWithChangingDataInAttachedMemory) {
  Ranks ranks(2, 2);
  Package ag = package("allgather");
  ranks.each([&](uint32_t r) {
    auto kernel = Kernel::load(*ranks.contexts[r], ag);
    ASSERT_OK(kernel);
    auto bound = (*kernel)->bind({{"M", {23}}, {"N", {9}}});
    ASSERT_OK(bound);
    std::vector<float> c(23 * 9);
    ASSERT_OK((*bound)->attach("c", c.data()));
    for (int round = 0; round < 50; ++round)
      ASSERT_OK(gatherOnce(**bound, 23, 9, round, {.seed = uint64_t(round % 3)}, c));
    EXPECT_EQ((*bound)->epoch(), 50u);
    EXPECT_EQ((*bound)->stats().peers[(r + 1) % 4].bytes,
              uint64_t((*bound)->shard("a").elements()) * 4);
  });
  ranks.close();
}

// A thread sanitizer hands over signals only when a thread calls something.
#ifndef __SANITIZE_THREAD__
TEST(Kernel, EndlessLoopsEnd) {
  Ranks ranks(1, 2);
  Package wrong = package("wrong");
  ranks.each([&](uint32_t r) {
    auto kernel = Kernel::load(*ranks.contexts[r], wrong);
    ASSERT_OK(kernel);
    auto bound = (*kernel)->bind({{"MODE", {16}}});
    ASSERT_OK(bound);
    // All threads are gone when this returns, and their memory may go.
    EXPECT_ERROR((*bound)->launch({.computeDeadline = 200ms}), Aborted,
                 "has computed for 200 ms of processor time");
  });
  // The signal that it took is given back.
  for (int s = SIGRTMIN; s <= SIGRTMAX; ++s) {
    struct sigaction action;
    ASSERT_EQ(sigaction(s, nullptr, &action), 0);
    EXPECT_EQ(action.sa_handler, SIG_DFL) << s;
  }
}
#endif

TEST(Kernel, TwoKernelsTakeTurnsAndMemoryIsReused) {
  Ranks ranks(1, 2);
  Package ag = package("allgather"), mix = package("mix");
  ranks.each([&](uint32_t r) {
    auto gather = Kernel::load(*ranks.contexts[r], ag);
    auto sum = Kernel::load(*ranks.contexts[r], mix);
    ASSERT_OK(gather);
    ASSERT_OK(sum);
    uint64_t heap = ranks.contexts[r]->heap().used();
    // Sizes change from round to round; slots keep the values of earlier
    // kernels, and everything still counts from where it starts.
    for (int round = 0; round < 6; ++round) {
      int64_t m = 5 + 7 * round;
      auto first = (*gather)->bind({{"M", {m}}, {"N", {3}}});
      auto second = (*sum)->bind({{"T", {round, 2 * round}}});
      ASSERT_OK(first);
      ASSERT_OK(second);
      std::vector<float> c(m * 3);
      ASSERT_OK((*first)->attach("c", c.data()));
      for (int i = 0; i < 3; ++i) {
        ASSERT_OK(gatherOnce(**first, m, 3, i, {}, c));
        auto *x = reinterpret_cast<int32_t *>((*second)->data("x"));
        std::fill_n(x, (*second)->shard("x").elements(), i + 1);
        ASSERT_OK((*second)->launch({}));
        auto *acc = reinterpret_cast<float *>((*second)->data("acc"));
        EXPECT_EQ(*acc, 6 * round * (i + 1));
      }
      second->reset();
      first->reset();
      EXPECT_EQ(ranks.contexts[r]->heap().used(), heap);
    }
  });
  ranks.close();
}

TEST(Kernel, RanksThatDisagreeAreNamed) {
  Ranks ranks(1, 2);
  Package ag = package("allgather");
  ranks.each([&](uint32_t r) {
    auto kernel = Kernel::load(*ranks.contexts[r], ag);
    ASSERT_OK(kernel);
    auto bound = (*kernel)->bind({{"M", {8 + r}}, {"N", {4}}});
    EXPECT_ERROR(bound.status(), InvalidArgument,
                 "ranks disagree: dimension 'M' is 8 on rank 0 and 9 on rank "
                 "1: bind the same package and dimensions on every rank");
  });
}

TEST(Kernel, ArgumentsAreChecked) {
  Ranks ranks(1, 1);
  Package ag = package("allgather");
  auto kernel = Kernel::load(*ranks.contexts[0], ag);
  ASSERT_OK(kernel);
  auto bound = (*kernel)->bind({{"M", {8}}, {"N", {4}}});
  ASSERT_OK(bound);
  float value[2];
  EXPECT_ERROR((*bound)->attach("a", value), InvalidArgument,
               "is symmetric, peers reach it: attach memory of Context::allocate");
  int64_t wide[] = {5, 1};
  EXPECT_ERROR((*bound)->attach("c", value, wide), InvalidArgument,
               "the host target takes row-major, tight memory only: copy it");
  EXPECT_ERROR((*bound)->attach("c", nullptr), InvalidArgument, "is null");
  EXPECT_ERROR((*bound)->attach("c", reinterpret_cast<char *>(value) + 1),
               InvalidArgument, "not aligned");
  EXPECT_ERROR((*kernel)->bind({{"M", {1 << 20}}, {"N", {4}}}).status(),
               ResourceExhausted, "argument 'a'");
  EXPECT_ERROR((*kernel)->bind({{"M", {8}}}).status(), InvalidArgument,
               "dimension 'N' has no value");
  EXPECT_ERROR((*kernel)->bind({{"M", {8}}, {"N", {4}}, {"Q", {1}}}).status(), InvalidArgument,
               "has no dimension 'Q'; it has M, N");
  // An argument that is not there, by name or by number.
  EXPECT_EQ((*bound)->index("z"), BoundKernel::kNoArgument);
  EXPECT_ERROR((*bound)->attach("z", value), InvalidArgument, "has no argument 'z'; it has a, ");
  EXPECT_ERROR((*bound)->upload("z", value), InvalidArgument, "has no argument 'z'");
  EXPECT_ERROR((*bound)->download("z", value), InvalidArgument, "has no argument 'z'");
  EXPECT_ERROR((*bound)->upload(size_t(17), value), InvalidArgument, "none is number 17");
  EXPECT_ERROR((*bound)->download(size_t(17), value), InvalidArgument, "none is number 17");
  EXPECT_ERROR((*bound)->upload("c", nullptr), InvalidArgument, "argument 'c': the memory is null");
  EXPECT_ERROR((*bound)->download("c", nullptr), InvalidArgument,
               "argument 'c': the memory is null");
  // There is nothing to move of an empty one.
  auto empty = (*kernel)->bind({{"M", {0}}, {"N", {4}}});
  ASSERT_OK(empty);
  EXPECT_OK((*empty)->upload("c", nullptr));
  EXPECT_OK((*empty)->download("c", nullptr));
  EXPECT_ERROR((*bound)->fill(17, std::byte(0)), InvalidArgument, "none is number 17");
}

TEST(Kernel, NothingIsLaunchedOnceTheContextIsClosed) {
  Ranks ranks(1, 1);
  auto kernel = Kernel::load(*ranks.contexts[0], package("allgather"));
  ASSERT_OK(kernel);
  auto bound = (*kernel)->bind({{"M", {8}}, {"N", {4}}});
  ASSERT_OK(bound);
  ASSERT_OK((*bound)->launch({}));
  auto graph = (*bound)->capture({});
  ASSERT_OK(graph);
  ASSERT_OK((*graph)->launch(nullptr));
  ASSERT_OK(ranks.contexts[0]->close());
  EXPECT_ERROR((*graph)->launch(nullptr), FailedPrecondition, "the context is closed");
  EXPECT_ERROR((*bound)->launch({}), FailedPrecondition, "the context is closed");
  EXPECT_ERROR((*bound)->capture({}).status(), FailedPrecondition, "the context is closed");
  EXPECT_ERROR((*kernel)->bind({{"M", {8}}, {"N", {4}}}).status(), FailedPrecondition,
               "the context is closed");
}

// A wait for a peer allows it a little more than the deadline.
TEST(Kernel, TheLongestDeadlineIsNotOver) {
  Ranks ranks(1, 2);
  Package ag = package("allgather");
  ranks.each([&](uint32_t r) {
    auto kernel = Kernel::load(*ranks.contexts[r], ag);
    ASSERT_OK(kernel);
    auto bound = (*kernel)->bind({{"M", {8}}, {"N", {4}}});
    ASSERT_OK(bound);
    for (int i = 0; i < 20; ++i) {
      if (r == 1)
        std::this_thread::sleep_for(2ms);
      ASSERT_OK((*bound)->launch({.deadline = std::chrono::nanoseconds::max(),
                                  .computeDeadline = std::chrono::nanoseconds::max()}));
    }
    EXPECT_ERROR((*bound)->launch({.deadline = -1s}), InvalidArgument,
                 "LaunchOptions::deadline is -1000000000 ns: a time must not be negative");
    EXPECT_ERROR((*bound)->launch({.computeDeadline = -1s}), InvalidArgument,
                 "LaunchOptions::computeDeadline is -1000000000 ns");
    EXPECT_ERROR((*bound)->capture({.deadline = -1s}).status(), InvalidArgument,
                 "LaunchOptions::deadline is");
    MeasureOptions measure;
    measure.deadline = -1s;
    EXPECT_ERROR((*kernel)->findFastest({}, measure).status(), InvalidArgument,
                 "MeasureOptions::deadline is");
  });
  ranks.close();
  ContextOptions options;
  options.timeout = -1ns;
  EXPECT_ERROR(Context::create(options).status(), InvalidArgument,
               "ContextOptions::timeout is -1 ns: a time must not be negative");
}

TEST(Kernel, AfterAFailureNothingIsGivenOut) {
  Ranks ranks(1, 1);
  auto bound = bindSizes(*ranks.contexts[0], package("allgather"), 8, 4);
  auto graph = bound->capture({});
  ASSERT_OK(graph);
  ranks.contexts[0]->abort().raise(AbortRecord::now(0, "test", "it broke"));
  std::vector<float> c(8 * 4);
  EXPECT_ERROR(bound->download("c", c.data()), Aborted, "it broke");
  EXPECT_ERROR(bound->upload("a", c.data()), Aborted, "it broke");
  EXPECT_ERROR(bound->attach("c", c.data()), Aborted, "it broke");
  EXPECT_ERROR(bound->fill(0, std::byte(0)), Aborted, "it broke");
  EXPECT_ERROR(bound->fillRandom(0, RandomValues(ElementType::f32, 1, 0, 8)), Aborted, "it broke");
  EXPECT_ERROR(bound->capture({}).status(), Aborted, "it broke");
  EXPECT_ERROR((*graph)->launch(nullptr), Aborted, "it broke");
  EXPECT_ERROR(bound->synchronize(), Aborted, "it broke");
}

TEST(Kernel, AnArgumentsOwnMemoryMayBeAttached) {
  Ranks ranks(1, 2);
  Package ag = package("allgather");
  ranks.each([&](uint32_t r) {
    Context &context = *ranks.contexts[r];
    auto bound = bindSizes(context, ag, 23, 9);
    uint64_t used = context.heap().used();
    ASSERT_OK(bound->attach("a", bound->data("a")));
    EXPECT_EQ(context.heap().used(), used);
    std::byte *own = bound->data("c");
    ASSERT_OK(bound->attach("c", own));
    std::vector<float> c(23 * 9);
    ASSERT_OK(bound->upload("c", c.data())); // a sanitizer sees whether it is there
    ASSERT_OK(bound->attach("c", c.data()));
    ASSERT_OK(gatherOnce(*bound, 23, 9, 1, {}, c));
  });
  ranks.close();
}

// Each binding is there before the one that it takes the place of goes.
TEST(Kernel, SlotsAreGivenBackInAnyOrder) {
  Ranks ranks(2, 1);
  Package ag = package("allgather");
  ranks.each([&](uint32_t r) {
    Context &context = *ranks.contexts[r];
    uint32_t before = context.slotsUsed();
    auto kernel = Kernel::load(context, ag);
    ASSERT_OK(kernel);
    std::unique_ptr<BoundKernel> bound;
    std::vector<float> c(23 * 9);
    uint32_t most = 0;
    for (int64_t i = 0; i < 300; ++i) {
      // Sizes change, so that gaps do.
      int64_t m = 9 + i % 15, n = 1 + i % 9;
      auto next = (*kernel)->bind({{"M", {m}}, {"N", {n}}});
      ASSERT_OK(next);
      most = std::max(most, context.slotsUsed());
      bound = std::move(*next);
      if (i % 10 == 0) {
        c.resize(size_t(m * n));
        ASSERT_OK(bound->attach("c", c.data()));
        ASSERT_OK(gatherOnce(*bound, m, n, i, {}, c));
      }
    }
    EXPECT_LT(most, 4096u / 4);
    bound.reset();
    EXPECT_EQ(context.slotsUsed(), before);
    // Too many, in several pieces.
    auto all = context.allocateSlots(4096, "all");
    ASSERT_OK(all);
    EXPECT_ERROR(
        context.allocateSlots(1, "the test's").status(), ResourceExhausted,
        "the test's need 1 signal slots; 0 of 4096 are free: create the context with more");
    *all = SlotRange();
    auto first = context.allocateSlots(2000, "a"), second = context.allocateSlots(1000, "b");
    ASSERT_OK(first);
    ASSERT_OK(second);
    *first = SlotRange();
    EXPECT_ERROR(context.allocateSlots(3000, "the test's").status(), ResourceExhausted,
                 "need 3000 signal slots; 3096 of 4096 are free, at most 2000 in a row: create");
  });
  ranks.close();
}

TEST(Kernel, RanksWhoseSignalsLieElsewhereAreNamed) {
  Ranks ranks(1, 2);
  Package ag = package("allgather");
  ranks.each([&](uint32_t r) {
    Context &context = *ranks.contexts[r];
    auto kernel = loadKernel(context, ag);
    SlotRange held;
    if (r == 1) {
      auto taken = context.allocateSlots(5, "the test's");
      ASSERT_OK(taken);
      held = std::move(*taken);
    }
    EXPECT_ERROR(kernel->bind({{"M", {8}}, {"N", {4}}}).status(), InvalidArgument,
                 "ranks disagree: place of the signals of kernel 'allgather' is slots 0, 2, ");
    EXPECT_ERROR(kernel->bind({{"M", {8}}, {"N", {4}}}).status(), InvalidArgument,
                 ": allocate, bind and destroy kernels in the same order on all ranks");
  });
}

TEST(Kernel, ARankWithoutMemoryIsNamedOnAll) {
  Ranks ranks(1, 2);
  Package ag = package("allgather");
  ranks.each([&](uint32_t r) {
    Context &context = *ranks.contexts[r];
    auto kernel = loadKernel(context, ag);
    std::byte *taken = nullptr;
    if (r == 1) {
      auto most = context.heap().allocate(980 << 10, "the test's");
      ASSERT_OK(most);
      taken = *most;
    }
    EXPECT_ERROR(kernel->bind({{"M", {64}}, {"N", {64}}}).status(), ResourceExhausted,
                 std::string(r == 1 ? "" : "rank 1: ") + "argument 'full' needs ");
    // All can go on with what there is memory for.
    if (taken) {
      ASSERT_OK(context.heap().free(taken));
    }
    EXPECT_OK(kernel->bind({{"M", {64}}, {"N", {64}}}));
  });
}

TEST(Kernel, WhoDoesNotComeIsNamed) {
  ContextOptions options;
  options.timeout = 3s;
  Ranks ranks(1, 2, options);
  auto kernel = Kernel::load(*ranks.contexts[0], package("allgather"));
  ASSERT_OK(kernel);
  ranks.contexts[0]->allGather("a", "").status().ignore();
  Status status = ranks.contexts[0]->allocate(64).status();
  EXPECT_ERROR(
      status, DeadlineExceeded,
      "exchange of symmetric memory: waited 3 s for rank 1, which has not come to it: what "
      "is collective (bind, attach, allocate, free ...) all ranks have to do, in the same "
      "order; if a rank is only late, give more time (ContextOptions::timeout)");
}

TEST(Kernel, MeshMustFit) {
  auto mesh = Mesh::create({{"gpu", 1, LinkKind::Link}});
  ASSERT_OK(mesh);
  ContextOptions options;
  options.mesh = *mesh;
  auto context = Context::create(options);
  ASSERT_OK(context);
  EXPECT_ERROR(Kernel::load(**context, package("allgather")).status(),
               InvalidArgument,
               "needs the mesh (node = ? via net, gpu = ? via link), the job "
               "has (gpu = 1 via link)");
  EXPECT_OK((*context)->close());
}

TEST(Kernel, APausedProxyEndsInOneReportOnAllRanks) {
  ContextOptions options;
  options.proxyPaused = true; // of rank 0
  Ranks ranks(2, 1, options);
  Package ag = package("allgather");
  std::vector<std::string> messages(2);
  ranks.each([&](uint32_t r) {
    auto kernel = Kernel::load(*ranks.contexts[r], ag);
    ASSERT_OK(kernel);
    auto bound = (*kernel)->bind({{"M", {8}}, {"N", {4}}});
    ASSERT_OK(bound);
    Status status = (*bound)->launch({.deadline = 300ms});
    EXPECT_EQ(status.code(), StatusCode::Aborted);
    EXPECT_THAT(status.message(), HasSubstr("waited 300 ms for"));
    // Final: the next launch fails at once.
    EXPECT_FALSE((*bound)->launch({}));
    EXPECT_FALSE(ranks.contexts[r]->close());
  });
  EXPECT_TRUE(ranks.server->aborted());
}

TEST(Kernel, AfterAnAbortAllRanksMakeTheirContextsAnew) {
  Job job(2);
  auto mesh = Mesh::create({{"node", 2, LinkKind::Net}, {"gpu", 1, LinkKind::Link}});
  ASSERT_OK(mesh);
  Package ag = package("allgather");
  Job::parallel(2, [&](uint32_t r) {
    ContextOptions options;
    options.mesh = *mesh;
    options.rank = r;
    options.heapBytes = 1 << 20;
    options.slots = 4096;
    options.store = std::shared_ptr<StoreClient>(std::shared_ptr<void>(),
                                                 job.clients[r].get());
    uint8_t generation = 0;
    for (int round = 0; round < 4; ++round) {
      bool fails = round % 2 == 0;
      options.proxyPaused = fails && r == 0;
      auto context = Context::create(options);
      ASSERT_OK(context);
      // What the one before still has under way is not this one's.
      if (round && !fails) {
        EXPECT_NE((*context)->generation(), generation);
      }
      generation = (*context)->generation();
      auto kernel = Kernel::load(**context, ag);
      ASSERT_OK(kernel);
      auto bound = (*kernel)->bind({{"M", {23}}, {"N", {9}}});
      ASSERT_OK(bound);
      if (fails) {
        EXPECT_ERROR((*bound)->launch({.deadline = 300ms}), Aborted,
                     "waited 300 ms for");
        EXPECT_ERROR((*context)->close(), Aborted, "waited 300 ms for");
        continue;
      }
      std::vector<float> c(23 * 9);
      ASSERT_OK((*bound)->attach("c", c.data()));
      for (int i = 0; i < 5; ++i)
        ASSERT_OK(gatherOnce(**bound, 23, 9, i, {}, c));
      EXPECT_EQ((*bound)->epoch(), 5u) << "counted from the new context on";
      bound->reset();
      ASSERT_OK((*context)->close());
      // The next one fails: its names in the store are those of another.
      options.scope = str("round", round);
    }
  });
  EXPECT_FALSE(job.server->aborted());
}

/// Two members of a job, of which rank 1 gives up its context without closing it, and then does
/// `next`; what rank 0 hears.
static Status hearsOfRank1(const std::function<void(StoreClient &)> &next) {
  Job job(2);
  auto mesh = Mesh::create({{"node", 1, LinkKind::Net}, {"gpu", 2, LinkKind::Link}});
  EXPECT_OK(mesh);
  Status heard;
  Job::parallel(2, [&](uint32_t r) {
    ContextOptions options;
    options.mesh = *mesh;
    options.rank = r;
    options.heapBytes = 1 << 20;
    options.store = std::shared_ptr<StoreClient>(std::shared_ptr<void>(), job.clients[r].get());
    auto context = Context::create(options);
    ASSERT_OK(context);
    if (r == 1) {
      context->reset();
      next(*job.clients[1]);
      return;
    }
    EXPECT_TRUE(eventually([&] { return (*context)->abort().raised(); }));
    heard = (*context)->close();
  });
  return heard;
}

TEST(Kernel, AContextThatIsNotClosedIsSeenAsLost) {
  EXPECT_ERROR(hearsOfRank1([](StoreClient &) {}), Aborted,
               "rank 1 was lost: its context was destroyed without being closed; see that rank's "
               "own output for the cause, and let it call Context::close");
  // At once, when the rank goes on.
  EXPECT_ERROR(hearsOfRank1([](StoreClient &store) { EXPECT_TRUE(store.publishPending()); }),
               Aborted, "rank 1 was lost: its context was destroyed");
  // A rank that says why is heard.
  EXPECT_ERROR(hearsOfRank1([](StoreClient &store) {
                 EXPECT_OK(store.publishAbort(AbortRecord::now(1, "job", "out of ideas")));
                 EXPECT_FALSE(store.publishPending());
               }),
               Aborted, "out of ideas");
}

TEST(Kernel, ARankThatIsLostEndsTheJobForGood) {
  Job job(2);
  auto mesh = Mesh::create({{"node", 2, LinkKind::Net}, {"gpu", 1, LinkKind::Link}});
  ASSERT_OK(mesh);
  ContextOptions options;
  options.mesh = *mesh;
  options.heapBytes = 1 << 20;
  auto create = [&](uint32_t r) {
    ContextOptions own = options;
    own.rank = r;
    own.store = std::shared_ptr<StoreClient>(std::shared_ptr<void>(),
                                             job.clients[r].get());
    return Context::create(own);
  };
  std::unique_ptr<Context> contexts[2];
  Job::parallel(2, [&](uint32_t r) {
    auto context = create(r);
    ASSERT_OK(context);
    contexts[r] = std::move(*context);
  });
  contexts[1].reset();
  job.clients[1].reset();
  EXPECT_TRUE(eventually([&] { return contexts[0]->abort().raised(); }));
  EXPECT_ERROR(contexts[0]->close(), Aborted, "rank 1 was lost");
  EXPECT_ERROR(create(0).status(), Aborted,
               "no new context: the job cannot go on after an abort: only 1 of 2 ranks "
               "are left; the one before failed: rank 1, store, at ");
}

} // namespace
} // namespace mk::rt::test
