//===- GpuHeapTest.cpp - What every symmetric heap does -------------------===//
//
// The same tests for the heaps of all devices; the GPU is the fake one, whose
// memory the test can look at. Behind them what only a GPU's heap can do wrong.
//
//===----------------------------------------------------------------------===//

#include "FakeGpu.h"
#include "device/cuda/GpuHeap.h"
#include "mkernel/Runtime/HostHeap.h"

#include <cstring>

namespace mk::rt::test {
namespace {

using cuda::Gpu;
using cuda::GpuHeap;

struct GpuHeaps : FakeGpu {
  GpuHeaps() { fake->gpus = 4; }

  /// `rank` uses GPU `rank`.
  Result<std::unique_ptr<Heap>> make(uint32_t rank, uint32_t world, int gpu = -1) {
    HeapOptions options{.bytes = 256 << 20, .slots = 16, .rank = rank,
                        .world = world, .timeout = 20s};
    MK_ASSIGN(auto device, Gpu::open(gpu < 0 ? int(rank) : gpu));
    return GpuHeap::create(device, options);
  }
  /// Ranks of a node, exchanged; `body` runs on a thread for each.
  void run(uint32_t world, const std::function<void(uint32_t, Heap &)> &body) {
    Job job(world);
    Job::parallel(world, [&](uint32_t r) {
      auto heap = make(r, world);
      ASSERT_OK(heap);
      std::vector<uint32_t> peers;
      for (uint32_t p = 0; p < world; ++p)
        peers.push_back(p);
      ASSERT_OK((*heap)->exchange(*job.clients[r], peers, soon()));
      body(r, **heap);
      ASSERT_OK(job.clients[r]->barrier("end", world, soon()));
    });
  }
};

using Make = Result<std::unique_ptr<Heap>> (*)(uint32_t rank, uint32_t world);

Result<std::unique_ptr<Heap>> makeHost(uint32_t rank, uint32_t world) {
  MK_ASSIGN(auto heap, HostHeap::create({.bytes = 256 << 20, .slots = 16,
                                         .rank = rank, .world = world}));
  return std::unique_ptr<Heap>(std::move(heap));
}
Result<std::unique_ptr<Heap>> makeGpu(uint32_t rank, uint32_t world) {
  MK_ASSIGN(auto gpu, Gpu::open(int(rank)));
  return GpuHeap::create(gpu, {.slots = 16, .rank = rank, .world = world});
}

struct HeapConformance : GpuHeaps, ::testing::WithParamInterface<Make> {};

TEST_P(HeapConformance, OffsetsNameTheSameMemoryEverywhere) {
  constexpr uint32_t world = 4;
  Job job(world);
  Job::parallel(world, [&](uint32_t r) {
    auto made = GetParam()(r, world);
    ASSERT_OK(made);
    Heap &heap = **made;
    // Two nodes of two: before the exchange there is memory, too.
    auto early = heap.allocate(100, "early");
    ASSERT_OK(early);
    std::vector<uint32_t> peers = {r & ~1u, r | 1u};
    ASSERT_OK(heap.exchange(*job.clients[r], peers, soon()));
    auto small = heap.allocate(0, "small");
    auto large = heap.allocate(100 << 20, "large"); // more than a segment
    ASSERT_OK(small);
    ASSERT_OK(large);
    EXPECT_EQ(*small - *early, 256);
    EXPECT_EQ(*large - *small, 256);
    EXPECT_EQ(*heap.offsetOf(*early), heap.dataOffset());
    EXPECT_TRUE(heap.contains(*large, 100 << 20));
    for (uint32_t p = 0; p < world; ++p)
      EXPECT_EQ(heap.reachable(p), p / 2 == r / 2) << r << " " << p;
    EXPECT_EQ(heap.peerPointer(r ^ 2, *large), nullptr);
    ASSERT_OK(job.clients[r]->barrier("allocated", world, soon()));
    size_t last = (100 << 20) - 1;
    EXPECT_EQ((*large)[last], std::byte{0});
    ASSERT_OK(job.clients[r]->barrier("looked", world, soon()));
    uint32_t peer = r ^ 1;
    heap.peerPointer(peer, *early)[99] = std::byte(40 + r);
    heap.peerPointer(peer, *large)[last] = std::byte(50 + r);
    ASSERT_OK(job.clients[r]->barrier("written", world, soon()));
    EXPECT_EQ((*early)[99], std::byte(40 + peer));
    EXPECT_EQ((*large)[last], std::byte(50 + peer));
    ASSERT_OK(job.clients[r]->barrier("read", world, soon()));
    uint64_t used = heap.used();
    auto more = heap.allocate(1000, "more");
    ASSERT_OK(more);
    std::memset(*more, 7, 1000);
    ASSERT_OK(heap.clear(*more + 1, 998));
    EXPECT_EQ((*more)[0], std::byte{7});
    EXPECT_EQ((*more)[1], std::byte{0});
    EXPECT_EQ((*more)[998], std::byte{0});
    EXPECT_EQ((*more)[999], std::byte{7});
    ASSERT_OK(heap.free(*more));
    EXPECT_EQ(heap.used(), used);
    EXPECT_ERROR(heap.exchange(*job.clients[r], peers, soon()),
                 FailedPrecondition, "exchanged before");
    EXPECT_ERROR(heap.allocate(uint64_t(1) << 50, "argument 'a'").status(),
                 ResourceExhausted, "argument 'a' needs");
  });
}
TEST_P(HeapConformance, WhatDoesNotFitIsRefusedAndTheHeapGoesOn) {
  constexpr uint32_t world = 2;
  Job job(world);
  Job::parallel(world, [&](uint32_t r) {
    auto made = GetParam()(r, world);
    ASSERT_OK(made);
    Heap &heap = **made;
    std::vector<uint32_t> peers = {0, 1};
    ASSERT_OK(heap.exchange(*job.clients[r], peers, soon()));
    if (r == 0)
      fake->memoryBytes = 256 << 20;
    ASSERT_OK(job.clients[r]->barrier("small", world, soon()));
    // 300 MiB: more than a host's heap has, more than the GPU.
    EXPECT_ERROR(heap.allocate(300 << 20, "large").status(), ResourceExhausted, "large");
    ASSERT_OK(job.clients[r]->barrier("refused", world, soon()));
    EXPECT_EQ(heap.used(), 0u);
    auto small = heap.allocate(1000, "small");
    ASSERT_OK(small);
    EXPECT_EQ(*heap.offsetOf(*small), heap.dataOffset());
    (*small)[999] = std::byte(r);
    ASSERT_OK(job.clients[r]->barrier("written", world, soon()));
    EXPECT_EQ(heap.peerPointer(1 - r, *small)[999], std::byte(1 - r));
    ASSERT_OK(job.clients[r]->barrier("end", world, soon()));
  });
}

INSTANTIATE_TEST_SUITE_P(All, HeapConformance,
                         ::testing::Values(&makeHost, &makeGpu),
                         [](const auto &info) {
                           return std::string(info.index ? "Gpu" : "Host");
                         });

TEST_F(GpuHeaps, AreAddedToAsNeeded) {
  run(2, [&](uint32_t, Heap &heap) {
    ASSERT_OK(heap.allocate(1000, "a"));
    ASSERT_OK(heap.allocate(1000, "b"));
    EXPECT_EQ(heap.asHost(), nullptr);
    EXPECT_EQ(heap.slots(), 16u) << "that the proxy can raise";
  });
  EXPECT_EQ(fake->count("cuMemCreate"), 2u) << "one for each rank";
}

TEST_F(GpuHeaps, ARankWithoutMemoryIsNamedOnAll) {
  fake->fullDevice = 40 + 1; // its handle
  run(2, [&](uint32_t rank, Heap &heap) {
    Status status = heap.allocate(1 << 20, "argument 'a'").status();
    EXPECT_ERROR(status, ResourceExhausted, "argument 'a'");
    EXPECT_THAT(status.message(), HasSubstr("GPU 1 (Fake H200)"));
    if (rank == 0) {
      EXPECT_THAT(status.message(), HasSubstr("rank 1: "));
    }
  });
}

TEST_F(GpuHeaps, GoOnWhenThereIsMemoryAgain) {
  fake->fullDevice = 40 + 1;
  Job job(3);
  Job::parallel(3, [&](uint32_t r) {
    auto made = make(r, 3);
    ASSERT_OK(made);
    Heap &heap = **made;
    std::vector<uint32_t> peers = {0, 1, 2};
    ASSERT_OK(heap.exchange(*job.clients[r], peers, soon()));
    for (int i = 0; i < 2; ++i)
      EXPECT_ERROR(heap.allocate(1 << 20, "a").status(), ResourceExhausted,
                   "GPU 1 (Fake H200)");
    ASSERT_OK(job.clients[r]->barrier("full", 3, soon()));
    if (r == 0) {
      EXPECT_TRUE(fake->files.empty() && fake->mapped.empty()) << "nobody keeps the segment";
      fake->fullDevice = -1;
    }
    ASSERT_OK(job.clients[r]->barrier("free", 3, soon()));
    auto a = heap.allocate(1 << 20, "a"), b = heap.allocate(100 << 20, "b");
    ASSERT_OK(a);
    ASSERT_OK(b);
    EXPECT_EQ(*heap.offsetOf(*a), heap.dataOffset());
    (*b)[5] = std::byte(r);
    ASSERT_OK(job.clients[r]->barrier("written", 3, soon()));
    EXPECT_EQ(heap.peerPointer((r + 1) % 3, *b)[5], std::byte((r + 1) % 3));
    ASSERT_OK(job.clients[r]->barrier("end", 3, soon()));
  });
}

TEST_F(GpuHeaps, AreForNicsWhereTheGpuCanGiveItsMemory) {
  for (int rdma : {0, 1}) {
    fake->rdma = rdma;
    run(2, [&](uint32_t, Heap &heap) { ASSERT_OK(heap.allocate(1, "a")); });
    EXPECT_EQ(fake->rdmaSegments, 2 * rdma) << "as many as there are ranks";
  }
}

TEST_F(GpuHeaps, GpusThatDoNotReachEachOtherAreNamed) {
  fake->peerAccess = false;
  run(2, [&](uint32_t rank, Heap &heap) {
    Status status = heap.allocate(1, "a").status();
    EXPECT_ERROR(status, FailedPrecondition, "peer access");
    EXPECT_THAT(status.message(),
                HasSubstr(str("GPU-", 28 + rank, "000000"))); // 40 is 0x28
    EXPECT_THAT(status.message(),
                HasSubstr(str("memory of rank ", 1 - rank, " on GPU-")));
    EXPECT_THAT(status.message(), HasSubstr("PEER_ACCESS_UNSUPPORTED"));
  });
}

TEST_F(GpuHeaps, OneGpuForTwoRanksIsRefused) {
  Job job(2);
  Job::parallel(2, [&](uint32_t r) {
    auto heap = make(r, 2, /*gpu=*/0);
    ASSERT_OK(heap);
    std::vector<uint32_t> peers = {0, 1};
    ASSERT_OK((*heap)->exchange(*job.clients[r], peers, soon()));
    EXPECT_ERROR((*heap)->allocate(1, "a").status(), InvalidArgument,
                 "each rank needs a GPU of its own");
    ASSERT_OK(job.clients[r]->barrier("end", 2, soon()));
  });
}

TEST_F(GpuHeaps, DifferentAllocationsAreNamed) {
  run(2, [&](uint32_t rank, Heap &heap) {
    EXPECT_ERROR(heap.allocate((rank + 1) * (64 << 20), "a").status(),
                 InvalidArgument, "allocate the same on all ranks");
  });
}

TEST_F(GpuHeaps, NeedVirtualMemory) {
  fake->virtualMemory = 0;
  EXPECT_ERROR(make(0, 1).status(), FailedPrecondition,
               "GPU 0 (Fake H200) cannot share memory");
}

} // namespace
} // namespace mk::rt::test
