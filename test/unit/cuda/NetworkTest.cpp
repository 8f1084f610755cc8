//===- NetworkTest.cpp - GPUs on two nodes, on the fake driver ------------===//
//
// The test writes commands as a kernel does, and looks at the words that a kernel would
// read.
//
//===----------------------------------------------------------------------===//

#include "FakeGpu.h"
#include "device/cuda/GpuHeap.h"
#include "device/cuda/Network.h"
#include "mkernel/Runtime/HeapCopies.h"

#include "core/Socket.h"
#ifdef MK_SOFTRDMA
#include "Knobs.h"
#endif
#include <atomic>
#include <cstring>

namespace mk::rt::test {
namespace {

using cuda::GpuNetwork;

struct CudaNetwork : FakeGpu, ::testing::WithParamInterface<const char *> {
  CudaNetwork() {
    fake->gpus = 2;
#ifdef MK_SOFTRDMA
    setKnobs({{"NICS", "soft0:efa"}, {"JITTER", "0"}});
#endif
  }
#ifdef MK_SOFTRDMA
  ~CudaNetwork() override { unsetKnobs(); }
#endif

  ContextOptions optionsOf(Job &job, uint32_t rank, std::string loopback) {
    ContextOptions options;
    options.mesh =
        *Mesh::create({{"node", 2, LinkKind::Net}, {"gpu", 1, LinkKind::Link}});
    options.rank = rank;
    options.store = std::shared_ptr<StoreClient>(std::shared_ptr<void>(),
                                                 job.clients[rank].get());
    options.slots = 64;
    options.maxGrid = 8;
    options.device = DeviceKind::Gpu;
    options.gpu = int(rank);
    // "efa" and its options: NICs in software.
    if (loopback.starts_with("efa")) {
      options.transport = "efa";
      loopback.erase(0, std::min<size_t>(4, loopback.size()));
    }
    options.transportOptions = std::move(loopback);
    options.timeout = 20s;
    return options;
  }
};

/// A kernel's view of the network of its rank.
struct NetKernel {
  explicit NetKernel(Context &context)
      : context(context), network(static_cast<GpuNetwork &>(*context.network())),
        state(reinterpret_cast<mk_gpu_network *>(network.address())) {}

  Command put(uint16_t peer, uint64_t src, uint64_t dst, uint32_t bytes, int slot = -1,
              uint8_t flags = 0, uint16_t channel = 3) {
    Command c;
    c.flags = uint8_t(flags | (slot >= 0 ? MK_CMD_HAS_SIGNAL : 0));
    c.peer = peer;
    c.channel = channel;
    c.amount = slot >= 0 ? 1 : 0;
    c.bytes = bytes;
    c.slot = slot >= 0 ? uint32_t(slot) : 0;
    c.src = src;
    c.dst = dst;
    return c;
  }
  uint64_t reserve() { return state->head++; }
  void write(uint64_t place, const Command &command) {
    auto *ring = reinterpret_cast<mk_command_ring *>(state->ring);
    EXPECT_TRUE(eventually([&] {
      return int64_t(place - __atomic_load_n(&ring->tail, __ATOMIC_ACQUIRE)) <
             int64_t(state->capacity);
    }));
    auto *commands = reinterpret_cast<mk_command *>(ring + 1);
    mk_command raw = encodeCommand(command, place / state->capacity);
    uint64_t words[4];
    std::memcpy(words, &raw, sizeof(words));
    auto *to = reinterpret_cast<uint64_t *>(&commands[place % state->capacity]);
    for (int i = 0; i < 4; ++i)
      __atomic_store_n(&to[i], words[i], __ATOMIC_RELEASE);
  }
  void send(const Command &command) { write(reserve(), command); }
  uint32_t arrivals(uint32_t slot) {
    return __atomic_load_n(reinterpret_cast<uint32_t *>(network.word(slot)),
                           __ATOMIC_ACQUIRE);
  }
  uint32_t completed(uint32_t channel) {
    return __atomic_load_n(reinterpret_cast<uint32_t *>(state->completed) + channel,
                           __ATOMIC_ACQUIRE);
  }

  Context &context;
  GpuNetwork &network;
  mk_gpu_network *state;
};

INSTANTIATE_TEST_SUITE_P(Paths, CudaNetwork,
                         ::testing::Values("", "path=staged",
                                           "reorder=3,mtu=512",
                                           "path=staged,reorder=4,chunk=1K,chunks=3"));
#ifdef MK_SOFTRDMA
INSTANTIATE_TEST_SUITE_P(Nics, CudaNetwork,
                         ::testing::Values("efa", "efa,path=staged,chunk=1K,chunks=3"));
#endif

TEST_P(CudaNetwork, PutsArriveBehindTheirPayload) {
  fake->notReady = 20;
  Job job(2);
  Job::parallel(2, [&](uint32_t rank) {
    auto made = Context::create(optionsOf(job, rank, GetParam()));
    ASSERT_OK(made);
    Context &context = **made;
    EXPECT_FALSE(context.heap().reachable(1 - rank)) << "kernels must not";
    EXPECT_ERROR(context.proxy()->submit({}, [] { return Status::success(); }), FailedPrecondition,
                 "only the GPU writes");
    constexpr uint64_t kBytes = 40000;
    constexpr uint32_t kPuts = 300;
    auto from = context.allocate(kBytes, "from"), to = context.allocate(kBytes, "to");
    // A second segment.
    auto more = context.allocate(64 << 20, "more");
    ASSERT_OK(from);
    ASSERT_OK(to);
    ASSERT_OK(more);
    std::memset(*from, int(10 + rank), kBytes);
    std::memset(*more, int(20 + rank), 5000);
    uint64_t src = *context.heap().offsetOf(*from), dst = *context.heap().offsetOf(*to),
             far = *context.heap().offsetOf(*more);
    NetKernel kernel(context);
    auto peer = uint16_t(1 - rank);
    // Of two teams, part by part.
    constexpr uint8_t kTeam = 1 << MK_CMD_TEAM_SHIFT;
    kernel.send(kernel.put(peer, src, dst, 20000, -1, MK_CMD_MORE));
    kernel.send(kernel.put(peer, far, far + 10000, 5000, -1, MK_CMD_MORE | kTeam));
    kernel.send(kernel.put(peer, src + 20000, dst + 20000, 20000, 5));
    kernel.send(kernel.put(peer, far, far + 20000, 5000, 6, kTeam));
    EXPECT_TRUE(eventually([&] { return kernel.completed(3) == 2; }));
    EXPECT_TRUE(eventually([&] { return kernel.arrivals(5) == 1; }));
    EXPECT_EQ((*to)[0], std::byte(10 + peer));
    EXPECT_EQ((*to)[kBytes - 1], std::byte(10 + peer));
    EXPECT_TRUE(eventually([&] { return kernel.arrivals(6) == 1; }));
    EXPECT_EQ((*more)[24999], std::byte(20 + peer));
    EXPECT_EQ((*more)[14999], std::byte(20 + peer));
    // More than the ring has room for, over what both have read.
    ASSERT_OK(job.clients[rank]->barrier("read", 2, soon()));
    for (uint32_t i = 0; i < kPuts; ++i)
      kernel.send(kernel.put(peer, src, dst, 16, 7, 0, uint16_t(i % 8)));
    EXPECT_TRUE(eventually([&] { return kernel.arrivals(7) == kPuts; }));
    EXPECT_TRUE(eventually([&] { return context.proxy()->inflightTotal() == 0; }));
    EXPECT_TRUE(eventually([&] { return kernel.completed(0) == (kPuts + 7) / 8; }));
    EXPECT_EQ(context.proxy()->stats().commands, 4 + kPuts);
    // The slots of the next kernel begin at 0.
    ASSERT_OK(job.clients[rank]->barrier("counted", 2, soon()));
    ASSERT_OK(kernel.network.clear(5, 2));
    EXPECT_EQ(kernel.arrivals(5), 0u);
    EXPECT_EQ(kernel.arrivals(7), kPuts);
    ASSERT_OK(job.clients[rank]->barrier("cleared", 2, soon()));
    kernel.send(kernel.put(peer, src, dst, 16, 5));
    EXPECT_TRUE(eventually([&] { return kernel.arrivals(5) == 1; }));
    EXPECT_OK(context.close());
  });
}

TEST_F(CudaNetwork, AnAbortLeavesAHoleInTheRing) {
  Job job(2);
  for (int round = 0; round < 2; ++round)
    Job::parallel(2, [&](uint32_t rank) {
      ContextOptions options = optionsOf(job, rank, "");
      options.scope = str("round ", round, ".");
      auto made = Context::create(options);
      ASSERT_OK(made);
      auto memory = (*made)->allocate(1000, "memory");
      ASSERT_OK(memory);
      uint64_t at = *(*made)->heap().offsetOf(*memory);
      NetKernel kernel(**made);
      auto peer = uint16_t(1 - rank);
      kernel.send(kernel.put(peer, at, at + 500, 100, 1));
      EXPECT_TRUE(eventually([&] { return kernel.arrivals(1) == 1; }));
      if (round == 1) {
        EXPECT_OK((*made)->close());
        return;
      }
      // A wait for a place was given up; another CTA goes on.
      kernel.reserve();
      kernel.send(kernel.put(peer, at, at + 500, 100, 1));
      ASSERT_OK(job.clients[rank]->barrier("written", 2, soon()));
      if (rank == 0)
        (*made)->abort().raise(AbortRecord::now(0, "wait", "given up"));
      auto begin = Deadline::Clock::now();
      EXPECT_TRUE(eventually([&] { return (*made)->abort().raised(); }));
      EXPECT_ERROR((*made)->close(), Aborted, "given up");
      made->reset();
      EXPECT_LT(Deadline::Clock::now() - begin, 10s);
    });
}

TEST_F(CudaNetwork, CommandsBeyondTheMemoryAreRefused) {
  Job job(2);
  Job::parallel(2, [&](uint32_t rank) {
    auto made = Context::create(optionsOf(job, rank, ""));
    ASSERT_OK(made);
    ASSERT_OK((*made)->allocate(1000, "memory"));
    ASSERT_OK(job.clients[rank]->barrier("allocated", 2, soon()));
    uint64_t end = (*made)->heap().backed();
    EXPECT_LT(end, (*made)->heap().bytes());
    NetKernel kernel(**made);
    if (rank == 0)
      kernel.send(kernel.put(1, end - 8, 0, 16, 1));
    EXPECT_TRUE(eventually([&] { return (*made)->abort().raised(); }));
    EXPECT_ERROR((*made)->close(), Aborted, "outside the symmetric window");
  });
}

TEST_F(CudaNetwork, GpusThatDoNotReachEachOtherNeedStaging) {
  fake->peerAccess = false;
  for (const char *path : {"", "path=staged"}) {
    Job job(2);
    Job::parallel(2, [&](uint32_t rank) {
      auto made = Context::create(optionsOf(job, rank, path));
      ASSERT_OK(made);
      auto memory = (*made)->allocate(1000, "memory");
      if (*path) {
        EXPECT_OK(memory);
        EXPECT_THAT((*made)->transport()->path(), HasSubstr("host memory"));
        EXPECT_OK((*made)->close());
        return;
      }
      EXPECT_ERROR(memory.status(), FailedPrecondition, "--loopback path=staged");
      EXPECT_EQ((*made)->transport()->path(), "by the copy engine");
    });
  }
}

TEST_F(CudaNetwork, LaunchesAreNotMoreThanTheDriverHasRoomFor) {
  Job job(2);
  Job::parallel(2, [&](uint32_t rank) {
    auto made = Context::create(optionsOf(job, rank, ""));
    ASSERT_OK(made);
    auto &network = static_cast<GpuNetwork &>(*(*made)->network());
    ASSERT_OK(job.clients[rank]->barrier("made", 2, soon()));
    if (rank == 0) {
      AbortWord abort;
      // The GPU gets nowhere.
      fake->notReady = 1 << 30;
      std::atomic<int> launches{0};
      std::atomic<Status *> ended{nullptr};
      Status status;
      std::thread program([&] {
        while (launches < 1000 && status.isOk()) {
          status = network.awaitRoom(nullptr, abort);
          if (status.isOk() && network.launched(nullptr).isOk())
            ++launches;
        }
        ended = &status;
      });
      std::this_thread::sleep_for(50ms);
      EXPECT_EQ(launches, 64);
      std::atomic_ref(fake->notReady) = 0;
      EXPECT_TRUE(eventually([&] { return launches == 1000; }));
      program.join();
      EXPECT_OK(status);
      fake->notReady = 1 << 30;
      for (int i = 0; i < 64; ++i)
        EXPECT_OK(network.launched(nullptr));
      // A captured one needs no room, and nothing may be asked that ends the capture.
      auto gpu = cuda::Gpu::open(0);
      ASSERT_OK(gpu);
      const cuda::Driver &driver = (*gpu)->driver();
      cuda::StreamHandle stream = nullptr;
      ASSERT_EQ(driver.streamCreate(&stream, 1), 0);
      ASSERT_EQ(driver.streamBeginCapture(stream, 1), 0);
      fake->unsafe.clear();
      EXPECT_OK(network.awaitRoom(stream, abort));
      EXPECT_OK(network.launched(stream));
      EXPECT_TRUE(fake->unsafe.empty());
      cuda::GraphHandle graph = nullptr;
      ASSERT_EQ(driver.streamEndCapture(stream, &graph), 0);
      driver.graphDestroy(graph);
      driver.streamDestroy(stream);
      abort.raise(AbortRecord::now(0, "wait", "given up"));
      EXPECT_ERROR(network.awaitRoom(nullptr, abort), Aborted, "given up");
      std::atomic_ref(fake->notReady) = 0;
    }
    ASSERT_OK(job.clients[rank]->barrier("seen", 2, soon()));
    EXPECT_OK((*made)->close());
  });
}

TEST_F(CudaNetwork, KernelsOnTwoStreamsRunOneAfterTheOther) {
  Job job(2);
  Job::parallel(2, [&](uint32_t rank) {
    auto made = Context::create(optionsOf(job, rank, ""));
    ASSERT_OK(made);
    auto &network = static_cast<GpuNetwork &>(*(*made)->network());
    ASSERT_OK(job.clients[rank]->barrier("made", 2, soon()));
    if (rank == 0) {
      using namespace cuda;
      const Driver *driver = *Driver::get();
      StreamHandle streams[2] = {};
      for (StreamHandle &stream : streams)
        ASSERT_EQ(driver->streamCreate(&stream, kStreamNonBlocking), kSuccess);
      // How often the launch has to wait for another stream.
      auto waits = [&](StreamHandle stream) {
        auto count = [&] {
          return std::ranges::count(fake->calls, std::string("cuStreamWaitEvent"));
        };
        auto before = count();
        EXPECT_OK(network.order(stream));
        EXPECT_OK(network.launched(stream));
        return count() - before;
      };
      EXPECT_EQ(waits(streams[0]), 0); // the first one
      EXPECT_EQ(waits(streams[0]), 0);
      EXPECT_EQ(waits(streams[1]), 1);
      EXPECT_EQ(waits(nullptr), 1);
      EXPECT_EQ(waits(streams[0]), 1);
      // What is captured runs at another time.
      ASSERT_EQ(driver->streamBeginCapture(streams[1], kCaptureThreadLocal), kSuccess);
      EXPECT_EQ(waits(streams[1]), 0);
      GraphHandle graph = nullptr;
      ASSERT_EQ(driver->streamEndCapture(streams[1], &graph), kSuccess);
      EXPECT_EQ(waits(streams[0]), 0);
      EXPECT_EQ(waits(streams[1]), 1);
      driver->graphDestroy(graph);
      for (StreamHandle stream : streams)
        driver->streamDestroy(stream);
    }
    ASSERT_OK(job.clients[rank]->barrier("seen", 2, soon()));
    EXPECT_OK((*made)->close());
  });
}

TEST_F(CudaNetwork, TwoNodesOnOneGpuAreRefused) {
  for (const char *path : {"", "path=staged"}) {
    Job job(2);
    Job::parallel(2, [&](uint32_t rank) {
      ContextOptions options = optionsOf(job, rank, path);
      options.gpu = 1;
      auto made = Context::create(options);
      Status status = made ? (*made)->allocate(1000, "memory").status() : made.status();
      EXPECT_ERROR(status, InvalidArgument, "both use GPU-29");
    });
  }
}

TEST_F(CudaNetwork, TwoNodesShareAGpuIfTold) {
  for (const char *path : {"", "path=staged"}) {
    Job job(2);
    Job::parallel(2, [&](uint32_t rank) {
      ContextOptions options = optionsOf(job, rank, path);
      options.gpu = 1;
      options.ranksPerGpu = 2;
      auto made = Context::create(options);
      ASSERT_OK(made);
      EXPECT_OK((*made)->allocate(1000, "memory"));
      EXPECT_OK((*made)->close());
    });
  }
}

TEST_F(CudaNetwork, WhatNicsWriteIsMadeVisibleFirst) {
  for (int ordering : {0, 100}) {
    fake->writesOrdering = ordering;
    fake->flushOptions = 1;
    fake->calls.clear();
    Job job(2);
    Job::parallel(2, [&](uint32_t rank) {
      auto made = Context::create(optionsOf(job, rank, ""));
      ASSERT_OK(made);
      NetKernel kernel(**made);
      Command signal = kernel.put(uint16_t(1 - rank), 0, 0, 0, 2);
      signal.op = MK_CMD_SIGNAL;
      kernel.send(signal);
      EXPECT_TRUE(eventually([&] { return kernel.arrivals(2) == 1; }));
      EXPECT_OK((*made)->close());
    });
    EXPECT_EQ(fake->count("cuFlushGPUDirectRDMAWrites"), ordering ? 0u : 2u);
    // Words of completed puts are written without; behind each flush one of an arrival is.
    size_t flushed = 0, written = 0;
    for (const std::string &call : fake->calls) {
      flushed += call == "cuFlushGPUDirectRDMAWrites";
      written += call == "cuStreamWriteValue32" && flushed > 0;
    }
    EXPECT_GE(written, flushed);
  }
}

TEST_F(CudaNetwork, MemoryForNics) {
  auto gpu = cuda::Gpu::open(0);
  ASSERT_OK(gpu);
  auto heap = cuda::GpuHeap::create(*gpu, {.slots = 4});
  ASSERT_OK(heap);
  ASSERT_OK((*heap)->allocate(100000, "a"));
  EXPECT_ERROR((*heap)->dmaBuf(0, 4096).status(), FailedPrecondition, "open kernel modules");
  fake->dmaBuf = 1;
  EXPECT_ERROR((*heap)->dmaBuf(0, 100).status(), InvalidArgument, "multiples of 4096");
  EXPECT_TRUE((*heap)->dmaBuf(4096, 8192).isOk());
  EXPECT_EQ(fake->count("cuMemGetHandleForAddressRange, PCIe"), 1u);
  EXPECT_EQ(fake->count("cuMemGetHandleForAddressRange"), 0u);
  fake->dmaBufPcieCode = 801; // an older driver
  EXPECT_TRUE((*heap)->dmaBuf(0, 4096).isOk());
  EXPECT_EQ(fake->count("cuMemGetHandleForAddressRange"), 1u);
  EXPECT_ERROR((*heap)->dmaBuf(1ull << 35, 4096).status(), Unavailable, "a dma-buf of");
}

} // namespace
} // namespace mk::rt::test
