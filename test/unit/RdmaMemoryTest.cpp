//===- RdmaMemoryTest.cpp - Memory that grows, and that of devices --------===//

#include "Knobs.h"
#include "Support.h"

#include "core/Socket.h"
#include "mkernel/Runtime/Heap.h"
#include "mkernel/Runtime/HeapCopies.h"
#include "transport/rdma/Rdma.h"

#include <cstring>
#include <fcntl.h>
#include <sys/mman.h>

namespace mk::rt::test {
namespace {

constexpr uint64_t kRange = 64 << 20, kStep = 1 << 20;

/// Memory that no CPU is said to reach, which comes in parts as that of a GPU
/// does, each with a dma-buf (a memory file).
class DeviceHeap final : public Heap {
public:
  DeviceHeap(uint32_t rank, bool hasDmaBuf)
      : Heap({.bytes = kRange, .slots = 64, .rank = rank, .world = 2}, kRange, 0),
        hasDmaBuf_(hasDmaBuf) {
    range_ = ::mmap(nullptr, kRange, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    setBase(rank, static_cast<std::byte *>(range_));
  }
  ~DeviceHeap() override { ::munmap(range_, kRange); }

  Result<Fd> dmaBuf(uint64_t offset, uint64_t bytes) override {
    for (auto &[at, file] : files_)
      if (hasDmaBuf_ && at == offset && bytes <= kRange)
        return Fd(::fcntl(file.get(), F_DUPFD_CLOEXEC, 0));
    return error(StatusCode::FailedPrecondition, "this driver has no dma-buf");
  }
  Result<std::unique_ptr<HeapCopies>> openCopies() override {
    return error(StatusCode::FailedPrecondition, "no copies");
  }
  Status clear(std::byte *begin, uint64_t bytes) override {
    memset(begin, 0, bytes);
    return {};
  }

private:
  Result<Fd> addSegment(uint64_t offset, uint64_t bytes) override {
    Fd file(::memfd_create("device", MFD_CLOEXEC));
    if (::ftruncate(file.get(), off_t(bytes)) < 0 ||
        ::mmap(base() + offset, bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_FIXED,
               file.get(), 0) == MAP_FAILED)
      return errnoError(StatusCode::ResourceExhausted, "memory", errno);
    files_.emplace_back(offset, std::move(file));
    return Fd();
  }
  Status mapSegment(uint32_t, const Fd &, uint64_t, uint64_t, std::string_view) override {
    return {};
  }
  uint64_t segmentBytes(uint64_t missing) const override {
    return (missing + kStep - 1) / kStep * kStep;
  }
  std::string device() const override { return "device"; }

  bool hasDmaBuf_;
  void *range_ = nullptr;
  std::vector<std::pair<uint64_t, Fd>> files_;
};

struct Registration {
  const char *transport;
  bool dmaBuf;
  const char *how;
};

class RdmaDeviceMemory : public testing::TestWithParam<Registration> {};

TEST_P(RdmaDeviceMemory, PartsThatAreAddedAreReached) {
  auto [transport, dmaBuf, how] = GetParam();
  setKnobs({{"DMABUF", "1"}, {"SEED", "5"}});
  Job job(2);
  std::unique_ptr<DeviceHeap> heaps[2];
  std::unique_ptr<Transport> transports[2];
  std::byte *early[2], *late[2];
  Completions seen[2];
  Job::parallel(2, [&](uint32_t r) {
    heaps[r] = std::make_unique<DeviceHeap>(r, dmaBuf);
    auto first = heaps[r]->allocate(300000, "early");
    ASSERT_OK(first);
    early[r] = *first;
    auto made = createTransport(transport, {.heap = heaps[r].get(), .gpu = {}, .generation = 3,
                      .options = "linger=300ms,path=direct", .scope = "0"});
    ASSERT_OK(made);
    transports[r] = std::move(*made);
    uint32_t peer = 1 - r;
    ASSERT_OK(transports[r]->connect(*job.clients[r], {&peer, 1}, soon()));
    // Crosses the end of the first part.
    auto second = heaps[r]->allocate(3 << 20, "late");
    ASSERT_OK(second);
    late[r] = *second;
  });
  ASSERT_FALSE(HasFailure());
  EXPECT_THAT(static_cast<rdma::Rdma &>(*transports[0]).describe(), HasSubstr(how));
  memset(early[0], 1, 300000);
  memset(late[0], 2, 3 << 20);
  auto at = [&](std::byte *p) { return *heaps[0]->offsetOf(p); };
  PutRequest put;
  put.peer = 1;
  put.fragments = {{at(early[0]), at(early[0]), 300000}, {at(late[0]), at(late[0]), 3 << 20}};
  put.signal = SignalAdd{5, 2};
  put.cookie = 9;
  ASSERT_OK(transports[0]->post(put));
  EXPECT_TRUE(eventually([&] {
    for (uint32_t r = 0; r < 2; ++r)
      EXPECT_OK(transports[r]->poll(seen[r]));
    return seen[0].local.size() == 1 && seen[1].arrivals.size() == 1;
  }));
  EXPECT_EQ(memcmp(early[1], early[0], 300000), 0);
  EXPECT_EQ(memcmp(late[1], late[0], 3 << 20), 0);
  // Beyond what there is.
  put.fragments = {{at(early[0]), 40 << 20, 8}};
  EXPECT_ERROR(transports[0]->post(put), OutOfRange, "where no memory is registered");
  for (uint32_t r = 0; r < 2; ++r)
    transports[r].reset();
}

INSTANTIATE_TEST_SUITE_P(
    Kinds, RdmaDeviceMemory,
    testing::Values(Registration{"verbs", true, "by dma-buf, relaxed ordering"},
                    Registration{"efa", true, "by dma-buf, relaxed ordering"},
                    Registration{"verbs", false, "by address, relaxed ordering (peer memory)"}),
    [](const auto &info) {
      return str(info.param.transport, info.param.dmaBuf ? "DmaBuf" : "Peermem");
    });

} // namespace
} // namespace mk::rt::test
