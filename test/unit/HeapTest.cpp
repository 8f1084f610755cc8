//===- HeapTest.cpp - The symmetric heap ----------------------------------===//

#include "Support.h"

#include "core/Socket.h"
#include "mkernel/ABI/Command.h"
#include "mkernel/Runtime/HostHeap.h"

#include <csignal>
#include <fstream>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

namespace mk::rt::test {
namespace {

std::unique_ptr<HostHeap> make(HeapOptions o) {
  auto heap = HostHeap::create(o);
  EXPECT_OK(heap);
  return std::move(*heap);
}

TEST(Heap, LayoutAndAlignment) {
  auto heap = make({.bytes = 1 << 20, .slots = 1000});
  EXPECT_EQ(heap->bytes(), 1u << 20);
  EXPECT_EQ(heap->dataOffset(), 4096u + 8192u);
  auto a = heap->allocate(1, "a"), b = heap->allocate(0, "b"),
       c = heap->allocate(257, "c");
  ASSERT_OK(c);
  EXPECT_EQ(*heap->offsetOf(*a), heap->dataOffset());
  EXPECT_EQ(*b - *a, 256);
  EXPECT_EQ(*c - *b, 256);
  EXPECT_EQ(heap->used(), 1024u);
  EXPECT_EQ(heap->used() + heap->available() + heap->dataOffset(),
            heap->bytes());
  uint64_t before = heap->used();
  auto d = heap->allocate(5000, "d");
  ASSERT_OK(d);
  EXPECT_OK(heap->free(*d));
  EXPECT_EQ(heap->used(), before);
}

TEST(Heap, TransportsLearnOfItsMemory) {
  auto heap = make({.bytes = 1 << 20, .slots = 8});
  uint64_t seen = 0;
  EXPECT_OK(heap->onSegment([&](uint64_t offset, uint64_t bytes) {
    EXPECT_EQ(offset, seen);
    seen += bytes;
    return Status::success();
  }));
  EXPECT_EQ(seen, heap->bytes());
  EXPECT_OK(heap->onSegment({}));
  auto refused = heap->onSegment([](uint64_t, uint64_t) {
    return error(StatusCode::ResourceExhausted, "no more keys");
  });
  EXPECT_EQ(refused.code(), StatusCode::ResourceExhausted);
  EXPECT_EQ(heap->dmaBuf(0, 4096).status().code(), StatusCode::FailedPrecondition);
  EXPECT_OK(heap->flushRemoteWrites());
}

TEST(Heap, GapsAreUsedAgain) {
  auto heap = make({.bytes = 1 << 20, .slots = 8});
  std::byte *at[5];
  uint64_t sizes[] = {1000, 5000, 300, 2000, 1};
  for (int i = 0; i < 5; ++i)
    at[i] = *heap->allocate(sizes[i], str("piece ", i));
  EXPECT_OK(heap->free(at[1]));
  EXPECT_OK(heap->free(at[3]));
  // The first gap that is large enough; what is left of it stays a gap.
  EXPECT_EQ(*heap->allocate(2000, "x"), at[1]);
  EXPECT_EQ(*heap->allocate(3000, "y"), at[1] + 2048);
  EXPECT_EQ(*heap->allocate(2048, "z"), at[3]);
  EXPECT_EQ(*heap->allocate(1, "end"), at[4] + 256);
  // Neighbouring gaps are one.
  EXPECT_OK(heap->free(at[1]));
  EXPECT_OK(heap->free(at[1] + 2048));
  EXPECT_EQ(*heap->allocate(5120, "all"), at[1]);
  EXPECT_ERROR(heap->free(at[1] + 256), InvalidArgument,
               "no symmetric memory that was allocated at this address");
  EXPECT_ERROR(heap->free(sizes), InvalidArgument, "free what was allocated");
  EXPECT_OK(heap->free(at[0]));
  EXPECT_ERROR(heap->free(at[0]), InvalidArgument, "once");
}

TEST(Heap, AllocationsAreFoundByAddress) {
  auto heap = make({.bytes = 1 << 20, .slots = 8});
  std::byte *a = *heap->allocate(1000, "a"), *b = *heap->allocate(10, "b");
  EXPECT_FALSE(heap->allocationOf(a - 1));
  for (std::byte *p : {a, a + 999, a + 1000})
    EXPECT_EQ(heap->allocationOf(p)->what, "a");
  EXPECT_FALSE(heap->allocationOf(a + 1001)) << "padding";
  EXPECT_EQ(heap->allocationOf(b + 5)->bytes, 10u);
  EXPECT_EQ(heap->allocationOf(b)->offset, *heap->offsetOf(b));
  EXPECT_OK(heap->free(a));
  EXPECT_FALSE(heap->allocationOf(a));
  EXPECT_FALSE(heap->allocationOf(&heap));
}

TEST(Heap, MemoryInPiecesIsSaid) {
  auto heap = make({.bytes = 64 << 10, .slots = 8});
  std::byte *first = *heap->allocate(16 << 10, "first");
  ASSERT_OK(heap->allocate(16 << 10, "second"));
  EXPECT_OK(heap->free(first));
  // 56 KiB can be had (two pages are the header's and the slots'), 40 are free.
  Status status = heap->allocate(30 << 10, "third").status();
  EXPECT_ERROR(status, ResourceExhausted,
               "third needs 30720 bytes of symmetric memory; 40960 of 65536 are "
               "free, at most 24576 in one piece: use a heap of at least 73728 "
               "bytes");
}

TEST(Heap, ExhaustionSaysHowMuchIsMissing) {
  auto heap = make({.bytes = 64 << 10, .slots = 8});
  EXPECT_ERROR(heap->allocate(1 << 20, "argument 'a'").status(),
               ResourceExhausted, "argument 'a' needs 1048576 bytes");
  EXPECT_ERROR(heap->allocate(UINT64_MAX, "x").status(), ResourceExhausted,
               "ContextOptions::heapBytes");
  EXPECT_OK(heap->allocate(heap->available(), "the rest"));
  EXPECT_ERROR(heap->allocate(0, "one more").status(), ResourceExhausted,
               "0 of 65536 are free");
}

TEST(Heap, OptionsAreChecked) {
  EXPECT_ERROR(HostHeap::create({.bytes = 4096, .slots = 8}).status(),
               InvalidArgument, "use 12288 to");
  EXPECT_ERROR(HostHeap::create({.bytes = UINT64_MAX}).status(), InvalidArgument,
               "ContextOptions::heapBytes");
  EXPECT_ERROR(HostHeap::create({.slots = MK_COMMAND_MAX_SLOTS + 1}).status(),
               InvalidArgument, "ContextOptions::slots");
  EXPECT_ERROR(HostHeap::create({.rank = 1, .world = 1}).status(), InvalidArgument,
               "rank 1 of 1");
}

TEST(Heap, OneThatNoProcessHasAddressesForIsRefused) {
  EXPECT_ERROR(
      HostHeap::create({.bytes = uint64_t(1) << 47, .slots = 8, .rank = 0, .world = 1}).status(),
      ResourceExhausted,
      "mapping 140737488355328 bytes of rank 0's heap failed: Cannot allocate memory: make "
      "heaps smaller (ContextOptions::heapBytes), or raise the limit of memory (ulimit -v)");
}

TEST(Heap, ContainsAndOffsets) {
  auto heap = make({.bytes = 64 << 10, .slots = 8});
  std::byte *base = heap->base();
  EXPECT_TRUE(heap->contains(base, heap->bytes()));
  EXPECT_FALSE(heap->contains(base, heap->bytes() + 1));
  EXPECT_FALSE(heap->contains(base + 1, UINT64_MAX));
  EXPECT_FALSE(heap->contains(base - 1));
  EXPECT_FALSE(heap->offsetOf(base + heap->bytes()));
  EXPECT_EQ(heap->peerPointer(0, 100), base + 100);
  EXPECT_EQ(heap->peerPointer(0, heap->bytes()), nullptr);
  EXPECT_EQ(heap->peerPointer(1, uint64_t(0)), nullptr);
}

TEST(Heap, LinkPeersShareMemory) {
  // Two nodes of two: 0-1 and 2-3 are linked.
  constexpr uint32_t world = 4;
  Job job(world);
  std::vector<std::unique_ptr<HostHeap>> heaps(world);
  Job::parallel(world, [&](uint32_t r) {
    heaps[r] = make({.bytes = 1 << 20, .slots = 16, .rank = r, .world = world});
    std::vector<uint32_t> peers = {r & ~1u, r | 1u};
    EXPECT_OK(heaps[r]->exchange(*job.clients[r], peers, soon()));
  });
  for (uint32_t r = 0; r < world; ++r)
    for (uint32_t p = 0; p < world; ++p) {
      EXPECT_EQ(heaps[r]->reachable(p), r / 2 == p / 2);
      EXPECT_EQ(heaps[r]->peerSignal(p, 0) != nullptr, r / 2 == p / 2);
    }
  auto p = heaps[0]->allocate(8, "x");
  *heaps[0]->peerPointer(1, *p) = std::byte{42};
  EXPECT_EQ(heaps[1]->base()[*heaps[0]->offsetOf(*p)], std::byte{42});
  heaps[2]->peerSignal(3, 15)->fetch_add(7);
  EXPECT_EQ(heaps[3]->signal(15), 7u);
  EXPECT_EQ(heaps[2]->peerSignal(3, 16), nullptr);
  EXPECT_ERROR(heaps[0]->exchange(*job.clients[0], {}, soon()),
               FailedPrecondition, "exchanged before");
}

TEST(Heap, DifferentSizesAreRefused) {
  Job job(2);
  Job::parallel(2, [&](uint32_t r) {
    auto heap = make({.bytes = (r + 1) << 20, .rank = r, .world = 2});
    std::vector<uint32_t> peers = {1 - r};
    EXPECT_ERROR(heap->exchange(*job.clients[r], peers, soon()),
                 InvalidArgument, "the same ContextOptions::heapBytes");
  });
}

TEST(Heap, MissingPeerIsNamed) {
  Job job(2);
  auto heap = make({.bytes = 1 << 20, .rank = 1, .world = 2});
  std::vector<uint32_t> peers = {0};
  EXPECT_ERROR(heap->exchange(*job.clients[1], peers, Deadline::after(50ms)),
               DeadlineExceeded, "rank(s) 0");
}

TEST(Heap, ForeignDescriptorsAreRefused) {
  Fd plain(::memfd_create("plain", MFD_CLOEXEC));
  ASSERT_EQ(::ftruncate(plain.get(), 1 << 20), 0);
  EXPECT_ERROR(HeapMapping::map(plain.get(), 1 << 20, 3).status(), Unavailable,
               "the descriptor from rank 3 is no sealed heap");
  auto heap = make({.bytes = 1 << 20, .rank = 1, .world = 2});
  EXPECT_ERROR(HeapMapping::map(heap->fd(), 1 << 21, 0).status(), Unavailable,
               "has 1048576 bytes, and 2097152 were announced");
  EXPECT_NE(::ftruncate(heap->fd(), 4096), 0) << "the size is sealed";
}

TEST(Heap, NothingIsLeftByAKilledProcess) {
  int ready[2];
  ASSERT_EQ(::pipe(ready), 0);
  // Other jobs of the machine have sockets as well.
  const std::string name = "mkernel-leftover-" + std::to_string(::getpid());
  auto count = [&] {
    size_t n = 0;
    std::ifstream sockets("/proc/net/unix");
    for (std::string line; std::getline(sockets, line);)
      n += line.find("@" + name) != std::string::npos;
    return n;
  };
  pid_t child = ::fork();
  if (child == 0) {
    auto heap = HostHeap::create({.bytes = 1 << 20});
    auto listener = listenLocal(name);
    if (!heap || !listener || ::write(ready[1], "1", 1) != 1)
      ::_exit(1);
    ::pause();
  }
  char c;
  ASSERT_EQ(::read(ready[0], &c, 1), 1);
  EXPECT_EQ(count(), 1u);
  ::kill(child, SIGKILL);
  ::waitpid(child, nullptr, 0);
  EXPECT_EQ(count(), 0u);
  ::close(ready[0]);
  ::close(ready[1]);
}

} // namespace
} // namespace mk::rt::test
