//===- PeersTest.cpp - Kernels of several ranks on fake GPUs --------------===//

#include "FakeGpu.h"
#include "device/cuda/Gpu.h"

#include <cstring>

namespace mk::rt::test {
namespace {

struct CudaPeers : FakeGpu {
  CudaPeers() { fake->gpus = 2; }

  static ContextOptions optionsOf(Job &job, uint32_t rank, DeviceKind device) {
    ContextOptions options;
    options.mesh =
        *Mesh::create({{"node", 1, LinkKind::Net}, {"gpu", 2, LinkKind::Link}});
    options.rank = rank;
    options.store = std::shared_ptr<StoreClient>(std::shared_ptr<void>(),
                                                 job.clients[rank].get());
    options.heapBytes = 1 << 20;
    options.slots = 64;
    options.device = device;
    options.gpu = int(rank);
    return options;
  }

  /// Two ranks, each with a GPU of its own; `body` runs on a thread for each.
  void run(const std::function<void(Job &, uint32_t, Context &)> &body,
           DeviceKind device = DeviceKind::Gpu, bool aborts = false) {
    Job job(2);
    Job::parallel(2, [&](uint32_t rank) {
      auto context = Context::create(optionsOf(job, rank, device));
      ASSERT_OK(context);
      body(job, rank, **context);
      EXPECT_EQ((*context)->close().code(),
                aborts ? StatusCode::Aborted : StatusCode::Ok);
    });
  }

  /// Both ranks bind a kernel that hangs at `wait`; then rank 0 does `body` with it, which ends
  /// in an abort, and rank 1 hears of that.
  void runHanging(mk_gpu_wait_kind wait, const std::function<void(BoundKernel &)> &body) {
    Package package = shared("hang  ", "gather");
    fake->report = {0, wait, 7, MK_NO_ROLE, 0, 0, 1, 1, 0, 0};
    run(
        [&](Job &job, uint32_t rank, Context &context) {
          auto kernel = Kernel::load(context, package);
          ASSERT_OK(kernel);
          auto bound = (*kernel)->bind({{"M", {6}}, {"N", {4}}});
          ASSERT_OK(bound);
          // The abort must not meet a rank that still binds.
          ASSERT_OK(job.clients[rank]->barrier("bound", 2, soon()));
          if (rank == 0)
            body(**bound);
          EXPECT_TRUE(eventually([&] { return context.abort().raised(); }));
        },
        DeviceKind::Gpu, /*aborts=*/true);
  }

  /// `affine` for two GPUs, with an argument and a signal that peers write.
  Package shared(const std::string &fake = "affine",
                 const std::string &name = "affine") {
    return package(
        fake,
        {{R"("kernel": "affine")", str(R"("kernel": ")", name, "\"")},
         {R"("link": "net", "size": null)", R"("link": "net", "size": 1)"},
         {R"("link": "link", "size": null)", R"("link": "link", "size": 2)"},
         {R"("name": "c", "kind": "out", "type": "f32", "rank": 2,
           "symmetric": false)",
          R"("name": "c", "kind": "out", "type": "f32", "rank": 2,
           "symmetric": true)"},
         {R"("scope": "gpu")", R"("scope": "sys")"},
         {R"("param_bytes": 568)", R"("param_bytes": 632)"},
         {R"("peer_maps": [])",
          R"("peer_maps": [{"arg": 1, "box": [64, 16], "copies": false, "swizzle": 0}])"}},
        {"params=568", "params=632"});
  }
};

template <typename T> T at(uint64_t address, size_t i = 0) {
  T value;
  std::memcpy(&value, reinterpret_cast<const T *>(address) + i, sizeof(T));
  return value;
}

TEST_F(CudaPeers, RanksTakeOneVariant) {
  Package affine = package(
      "affine",
      {withTensorMaps(632),
       {R"("link": "net", "size": null)", R"("link": "net", "size": 1)"},
       {R"("link": "link", "size": null)", R"("link": "link", "size": 2)"},
       {R"("param_bytes": 568)", R"("param_bytes": 632)"}},
      {"params=568", "params=632"});
  run([&](Job &job, uint32_t rank, Context &context) {
    auto kernel = Kernel::load(context, affine);
    ASSERT_OK(kernel);
    auto bound = (*kernel)->bind({{"M", {6}}, {"N", {4}}});
    ASSERT_OK(bound);
    auto memory = context.allocate(256, "buffer");
    ASSERT_OK(memory);
    auto expect = [&](const std::string &name, unsigned threads) {
      for (uint32_t turn = 0; turn < 2; ++turn) {
        if (turn == rank) {
          ASSERT_OK((*bound)->launch({}));
          ASSERT_OK((*bound)->synchronize());
          EXPECT_EQ(fake->last.config.block[0], threads) << name << ", rank " << rank;
        }
        ASSERT_OK(job.clients[rank]->barrier(str(name, " ", turn), 2, soon()));
      }
    };
    expect("aligned", 256);
    // Rank 1's rows begin at no multiple of 16 bytes.
    ASSERT_OK((*bound)->attach("a", *memory + (rank ? 4 : 0)));
    expect("misaligned on one rank", 384);
    ASSERT_OK((*bound)->attach("a", *memory));
    expect("aligned again", 256);
  });
}

TEST_F(CudaPeers, TablesSayWherePeersAre) {
  Package package = shared();
  uint64_t places[2] = {};
  run([&](Job &job, uint32_t rank, Context &context) {
    auto kernel = Kernel::load(context, package);
    ASSERT_OK(kernel);
    auto bound = (*kernel)->bind({{"M", {6}}, {"N", {4}}});
    ASSERT_OK(bound);
    Heap &heap = context.heap();
    std::byte *c = (*bound)->data("c");
    EXPECT_TRUE(heap.contains(c)) << "symmetric";
    EXPECT_FALSE(heap.contains((*bound)->data("a")));
    places[rank] = *heap.offsetOf(c);
    // One after the other: the fake driver keeps one launch.
    for (uint32_t turn = 0; turn < 2; ++turn) {
      if (turn == rank) {
        ASSERT_OK((*bound)->launch({}));
        ASSERT_OK((*bound)->synchronize());
        const std::vector<std::byte> params = fake->last.params;
        mk_gpu_launch l;
        std::memcpy(&l, params.data() + 256, sizeof(l));
        EXPECT_EQ(l.rank, rank);
        EXPECT_EQ(l.world, 2u);
        for (uint32_t r = 0; r < 2; ++r) {
          EXPECT_EQ(at<uint64_t>(l.heaps, r),
                    reinterpret_cast<uint64_t>(heap.peerPointer(r, uint64_t(0))));
          EXPECT_EQ(at<int64_t>(l.rows, 1 * 2 + r), 6) << "rows of c";
          EXPECT_EQ(at<uint32_t>(l.peer_maps_valid, r), 1u);
          // That of rank r describes its part of c, as it is addressed here.
          uint64_t remote = reinterpret_cast<uint64_t>(heap.peerPointer(r, c));
          EXPECT_TRUE(std::any_of(fake->maps.begin(), fake->maps.end(),
                                  [&](const FakeCuda::Map &map) { return map.address == remote; }));
        }
        EXPECT_EQ(l.peer_maps % 128, 0u);
        EXPECT_EQ(l.network, 0u);
        // The signal, then `ready` and `done`: {values, bases, net, slot}.
        std::vector<uint64_t> words((params.size() - 256 - sizeof(l)) / 8);
        std::memcpy(words.data(), params.data() + 256 + sizeof(l),
                    8 * words.size());
        uint64_t signal = words[12], ready = words[words.size() - 8],
                 done = words[words.size() - 4];
        for (uint64_t values : {signal, ready, done}) {
          EXPECT_TRUE(heap.contains(reinterpret_cast<void *>(values)));
          EXPECT_EQ(at<uint32_t>(values), 0u);
        }
        EXPECT_NE(ready, done);
      }
      ASSERT_OK(job.clients[rank]->barrier(str("turn ", turn), 2, soon()));
    }
  });
  EXPECT_EQ(places[0], places[1]);
}

TEST_F(CudaPeers, AllRanksMakeTheirContextsAnewAfterAFailedLaunch) {
  Package good = shared(), bad = shared("hang  ");
  fake->report = {0, MK_WAIT_READY, 7, 0, 0, 0, 1, 1, 0, 0};
  Job job(2);
  Job::parallel(2, [&](uint32_t rank) {
    ContextOptions options = optionsOf(job, rank, DeviceKind::Gpu);
    auto turns = [&](Context &context, const std::function<void()> &body) {
      for (uint32_t turn = 0; turn < 2; ++turn) {
        if (turn == rank)
          body();
        if (!context.abort().raised())
          job.clients[rank]->barrier(str("turn ", turn), 2, soon()).ignore();
      }
    };
    {
      auto context = Context::create(options);
      ASSERT_OK(context);
      auto kernel = Kernel::load(**context, bad);
      ASSERT_OK(kernel);
      auto bound = (*kernel)->bind({{"M", {6}}, {"N", {4}}});
      ASSERT_OK(bound);
      // Nobody binds any more when the launch fails.
      ASSERT_OK(job.clients[rank]->barrier("bound", 2, soon()));
      if (rank == 0) {
        ASSERT_OK((*bound)->launch({}));
        EXPECT_ERROR((*bound)->synchronize(), Aborted, "for rank 1 to begin this launch");
      }
      // The other one hears of it.
      while (!(*context)->abort().raised())
        std::this_thread::sleep_for(1ms);
      EXPECT_ERROR((*bound)->launch({}), Aborted, "rank 0, wait, at ");
      EXPECT_ERROR((*context)->close(), Aborted, "rank 0, wait, at ");
    }
    // The same scope: what is left of the first one in the store does not count.
    auto context = Context::create(options);
    ASSERT_OK(context);
    EXPECT_FALSE((*context)->abort().raised());
    auto kernel = Kernel::load(**context, good);
    ASSERT_OK(kernel);
    auto bound = (*kernel)->bind({{"M", {6}}, {"N", {4}}});
    ASSERT_OK(bound);
    turns(**context, [&] {
      ASSERT_OK((*bound)->launch({}));
      ASSERT_OK((*bound)->synchronize());
      mk_gpu_launch l;
      std::memcpy(&l, fake->last.params.data() + 256, sizeof(l));
      EXPECT_EQ(at<mk_gpu_control>(l.control).epoch, 1u);
      std::vector<uint64_t> words((fake->last.params.size() - 256 - sizeof(l)) / 8);
      std::memcpy(words.data(), fake->last.params.data() + 256 + sizeof(l),
                  8 * words.size());
      for (uint64_t values : {words[12], words[words.size() - 8], words[words.size() - 4]})
        EXPECT_EQ(at<uint32_t>(values), 0u);
    });
    bound->reset();
    EXPECT_OK((*context)->close());
  });
}

TEST_F(CudaPeers, MemoryIsAStackOfKernels) {
  Package package = shared();
  run([&](Job &, uint32_t, Context &context) {
    auto kernel = Kernel::load(context, package);
    ASSERT_OK(kernel);
    uint64_t used = context.heap().used();
    for (int i = 0; i < 3; ++i) {
      auto bound = (*kernel)->bind({{"M", {6}}, {"N", {4}}});
      ASSERT_OK(bound);
      EXPECT_GT(context.heap().used(), used);
    }
    EXPECT_EQ(context.heap().used(), used);
  });
}

TEST_F(CudaPeers, MemoryOfTheProgramIsAttached) {
  Package package = shared();
  run([&](Job &job, uint32_t rank, Context &context) {
    auto kernel = Kernel::load(context, package);
    ASSERT_OK(kernel);
    auto bound = (*kernel)->bind({{"M", {6}}, {"N", {4}}});
    ASSERT_OK(bound);
    BoundKernel &affine = **bound;
    uint64_t before = context.heap().used();
    std::byte *memory[2] = {};
    for (std::byte *&m : memory) {
      auto made = context.allocate(6 * 4 * 4 + 256, "buffer");
      ASSERT_OK(made);
      m = *made;
      EXPECT_TRUE(context.heap().contains(m));
      EXPECT_EQ(*context.addressAt(1 - rank, m), context.heap().peerPointer(1 - rank, m));
    }
    EXPECT_ERROR(affine.attach("c", rank ? memory[0] : memory[1]), InvalidArgument,
                 "ranks disagree: symmetric argument 'c' is attached at offset");
    EXPECT_ERROR(affine.attach("c", memory[0] + 272), InvalidArgument,
                 "it needs 96 bytes, as many as the largest part of all ranks, and "
                 "buffer has 80 from there on");
    // An argument that is not symmetric may lie there, too.
    ASSERT_OK(affine.attach("a", memory[1] + 128));
    uint64_t tables[2] = {};
    for (int round = 0; round < 4; ++round) {
      ASSERT_OK(affine.attach("c", memory[round % 2] + (round % 2 ? 0 : 256)));
      ASSERT_OK(job.clients[rank]->barrier(str("attached ", round), 2, soon()));
      if (round == 0) {
        EXPECT_EQ(context.heap().used(), before + 2 * 512 - 256) << "its own went";
      }
      for (uint32_t turn = 0; turn < 2; ++turn) {
        if (turn == rank) {
          ASSERT_OK(affine.launch({}));
          ASSERT_OK(affine.synchronize());
          const std::vector<std::byte> params = fake->last.params;
          mk_gpu_launch l;
          std::memcpy(&l, params.data() + 256, sizeof(l));
          // What other ranks have at the new place; made once for each place.
          if (round < 2)
            tables[round] = l.peer_maps;
          EXPECT_EQ(l.peer_maps, tables[round % 2]) << round;
          EXPECT_NE(tables[0], tables[1]);
          EXPECT_EQ(at<uint32_t>(l.peer_maps_valid, 1 - rank), 1u);
          auto remote = reinterpret_cast<uint64_t>(*context.addressAt(1 - rank, affine.data("c")));
          EXPECT_TRUE(std::any_of(fake->maps.begin(), fake->maps.end(),
                                  [&](const FakeCuda::Map &map) { return map.address == remote; }));
        }
        ASSERT_OK(job.clients[rank]->barrier(str("round ", round, turn), 2, soon()));
      }
    }
    EXPECT_EQ(affine.data("c"), memory[1]);
    bound->reset();
    ASSERT_OK(context.free(memory[0]));
    ASSERT_OK(context.free(memory[1]));
    EXPECT_EQ(context.heap().used(), 0u);
  });
}

TEST_F(CudaPeers, OtherSizesAreNamedBeforeMemoryIsShared) {
  Package package = shared();
  run([&](Job &, uint32_t rank, Context &context) {
    auto kernel = Kernel::load(context, package);
    ASSERT_OK(kernel);
    int64_t m = rank == 0 ? 6 : int64_t(64) << 20; // a segment of its own
    EXPECT_ERROR((*kernel)->bind({{"M", {m}}, {"N", {4}}}).status(),
                 InvalidArgument, "ranks disagree: dimension 'M' is 6 on rank 0");
  });
}

TEST_F(CudaPeers, KernelsInAnotherOrderAreNamed) {
  Package first = shared("hang  ", "gather"), second = shared("affine", "reduce");
  fake->report = {0, MK_WAIT_READY, 7, MK_NO_ROLE, 0, 0, 1, 1, 0, 0};
  run(
      [&](Job &job, uint32_t rank, Context &context) {
        auto loaded = Kernel::load(context, first),
             other = Kernel::load(context, second);
        ASSERT_OK(loaded);
        ASSERT_OK(other);
        auto gather = (*loaded)->bind({{"M", {6}}, {"N", {4}}}),
             reduce = (*other)->bind({{"M", {6}}, {"N", {4}}});
        ASSERT_OK(gather);
        ASSERT_OK(reduce);
        // Many launches in the same order, as a graph on one rank.
        auto graph = (*reduce)->capture({});
        ASSERT_OK(graph);
        for (int i = 0; i < 2; ++i)
          for (uint32_t turn = 0; turn < 2; ++turn) {
            // One after the other: the fake driver keeps one launch.
            if (turn == rank) {
              ASSERT_OK(rank ? (*graph)->launch() : (*reduce)->launch({}));
            }
            ASSERT_OK(job.clients[rank]->barrier(str("turn ", i, turn), 2, soon()));
          }
        for (uint32_t turn = 0; turn < 2; ++turn) {
          // Rank 1, whose kernels do not hang in the fake driver, is one ahead.
          for (int i = 2; turn == rank && i < 3000 + int(rank); ++i) {
            ASSERT_OK((*reduce)->launch({}));
          }
          ASSERT_OK(job.clients[rank]->barrier(str("many ", turn), 2, soon()));
        }
        if (rank == 0) {
          ASSERT_OK((*gather)->launch({.deadline = 2s}));
          Status status = (*gather)->synchronize();
          EXPECT_ERROR(
              status, Aborted,
              "kernel 'gather', CTA 7: waited 2 s for rank 1 to begin this launch "
              "(its memory may be written only then); rank 0 has kernel 'gather' as "
              "launch 3001, rank 1 kernel 'reduce': kernels have to be enqueued in "
              "the same order on all ranks");
        } else {
          EXPECT_TRUE(eventually([&] { return context.abort().raised(); }));
          EXPECT_ERROR((*reduce)->launch({}), Aborted, "rank 1 kernel 'reduce'");
        }
        graph->reset();
      },
      DeviceKind::Gpu, /*aborts=*/true);
}

TEST_F(CudaPeers, ALaunchThatARankLeftOutIsNamed) {
  runHanging(MK_WAIT_DONE, [&](BoundKernel &gather) {
    ASSERT_OK(gather.launch({.deadline = 2s}));
    EXPECT_ERROR(gather.synchronize(), Aborted,
                 "for rank 1 to close this launch; rank 1 has launched 0 of the "
                 "1 kernels that rank 0 has: what it has not launched is kernel "
                 "'gather' (launch 1)");
  });
}

// The program's own capture: how often and when it is replayed nobody knows.
TEST_F(CudaPeers, AfterACaptureOfTheProgramNobodyIsAccused) {
  runHanging(MK_WAIT_DONE, [&](BoundKernel &gather) {
    auto gpu = cuda::Gpu::open(0);
    ASSERT_OK(gpu);
    const cuda::Driver &driver = (*gpu)->driver();
    cuda::StreamHandle stream = nullptr;
    cuda::GraphHandle graph = nullptr;
    ASSERT_EQ(driver.streamCreate(&stream, cuda::kStreamNonBlocking), 0);
    ASSERT_EQ(driver.streamBeginCapture(stream, 1), 0);
    ASSERT_OK(gather.launch({.deadline = 2s, .stream = stream}));
    ASSERT_EQ(driver.streamEndCapture(stream, &graph), 0);
    driver.graphDestroy(graph);
    driver.streamDestroy(stream);
    ASSERT_OK(gather.launch({.deadline = 2s}));
    Status status = gather.synchronize();
    EXPECT_ERROR(status, Aborted,
                 "for rank 1 to close this launch; launches were captured into graphs of "
                 "the program (rank 0 1), whose replays are not counted");
    EXPECT_THAT(status.message(), Not(HasSubstr("has launched")));
  });
}

TEST_F(CudaPeers, AMemberOfAJobTakesTheGpuOfItsLocalRank) {
  fake->gpus = 2;
  for (uint32_t local : {0u, 1u, 3u}) {
    ContextOptions options;
    options.mesh = *Mesh::create({{"gpu", 1, LinkKind::Link}});
    options.device = DeviceKind::Gpu;
    options.localRank = local;
    auto context = Context::create(options);
    ASSERT_OK(context);
    EXPECT_EQ((*context)->options().gpu, int(local % 2));
    ASSERT_OK((*context)->close());
  }
}

TEST_F(CudaPeers, AContextForTheHostHasNoMemoryOfGpus) {
  Package package = shared();
  run(
      [&](Job &, uint32_t, Context &context) {
        EXPECT_ERROR(Kernel::load(context, package).status(), FailedPrecondition,
                     "kernel 'affine' for sm_90a on a mesh of 2 ranks needs "
                     "symmetric memory of GPUs");
      },
      DeviceKind::Host);
}

} // namespace
} // namespace mk::rt::test
