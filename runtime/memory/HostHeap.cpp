//===- HostHeap.cpp - Symmetric memory of the host ------------------------===//

#include "mkernel/Runtime/HostHeap.h"

#include "core/Socket.h"
#include "mkernel/ABI/Command.h"
#include "mkernel/Runtime/HeapCopies.h"

#include <cerrno>
#include <cstring>
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

namespace mk::rt {
namespace {

constexpr uint64_t kPage = 4096;
constexpr int kSeals = F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL;

uint64_t toPages(uint64_t v) { return (v + kPage - 1) / kPage * kPage; }

uint64_t dataOffsetOf(uint32_t slots) {
  return toPages(HostHeap::kSignalOffset + uint64_t(slots) * 8);
}

/// A copy has ended when it has begun.
class HostCopies final : public HeapCopies {
public:
  explicit HostCopies(const HostHeap &heap) : heap_(heap), peers_(heap.world()) {}

  Result<Fd> exportSegment(uint64_t, uint64_t) override {
    Fd copy(::fcntl(heap_.fd(), F_DUPFD_CLOEXEC, 0));
    if (!copy)
      return errnoError(StatusCode::ResourceExhausted, "a descriptor of the heap", errno);
    return copy;
  }
  Status mapSegment(uint32_t peer, const Fd &segment, uint64_t, uint64_t bytes,
                    std::string_view) override {
    MK_ASSIGN(peers_[peer], HeapMapping::map(segment.get(), bytes, peer));
    return Status::success();
  }
  std::string device() const override { return "host"; }
  Status pin(std::byte *, uint64_t) override { return Status::success(); }

  Status toPeer(uint32_t peer, uint64_t dst, uint64_t src, uint64_t bytes) override {
    std::byte *base = peers_[peer] ? peers_[peer].base() : heap_.peerPointer(peer, uint64_t(0));
    std::memcpy(base + dst, heap_.base() + src, bytes);
    return Status::success();
  }
  Status toHost(std::byte *to, uint64_t src, uint64_t bytes) override {
    std::memcpy(to, heap_.base() + src, bytes);
    return Status::success();
  }
  Status fromHost(uint64_t dst, const std::byte *from, uint64_t bytes) override {
    std::memcpy(heap_.base() + dst, from, bytes);
    return Status::success();
  }
  Result<uint64_t> mark() override { return ++marks_; }
  Result<uint64_t> reached() override { return marks_; }

private:
  const HostHeap &heap_;
  std::vector<HeapMapping> peers_; // by rank
  uint64_t marks_ = 0;
};

static_assert(std::atomic<uint64_t>::is_always_lock_free &&
                  sizeof(std::atomic<uint64_t>) == 8,
              "signals are shared between processes");

} // namespace

HeapMapping::HeapMapping(HeapMapping &&other) noexcept
    : base_(std::exchange(other.base_, nullptr)),
      bytes_(std::exchange(other.bytes_, 0)) {}

HeapMapping &HeapMapping::operator=(HeapMapping &&other) noexcept {
  std::swap(base_, other.base_);
  std::swap(bytes_, other.bytes_);
  return *this;
}

HeapMapping::~HeapMapping() {
  if (base_)
    ::munmap(base_, bytes_);
}

Result<HeapMapping> HeapMapping::map(int fd, uint64_t bytes, uint32_t owner) {
  // Unsealed, the owner could truncate the file and kill who maps it (SIGBUS).
  int seals = ::fcntl(fd, F_GET_SEALS);
  struct stat info {};
  if (seals < 0 || (seals & kSeals) != kSeals || ::fstat(fd, &info) < 0 ||
      info.st_size < static_cast<off_t>(kPage))
    return error(StatusCode::Unavailable, "the descriptor from rank ", owner,
                 " is no sealed heap");
  if (static_cast<uint64_t>(info.st_size) != bytes)
    return error(StatusCode::Unavailable, "the heap of rank ", owner, " has ",
                 info.st_size, " bytes, and ", bytes, " were announced");
  void *p = ::mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
  if (p == MAP_FAILED) {
    Status why = errnoError(StatusCode::ResourceExhausted,
                            str("mapping ", bytes, " bytes of rank ", owner, "'s heap"), errno);
    return error(why.code(), why.message(),
                 ": make heaps smaller (ContextOptions::heapBytes), or raise the limit of memory "
                 "(ulimit -v)");
  }
  HeapMapping mapping;
  mapping.base_ = static_cast<std::byte *>(p);
  mapping.bytes_ = bytes;
  return mapping;
}

HostHeap::HostHeap(const HeapOptions &options, uint64_t bytes)
    : Heap(options, bytes, dataOffsetOf(options.slots)) {
  mappings_.resize(options.world);
}

Result<std::unique_ptr<HostHeap>> HostHeap::create(const HeapOptions &options) {
  if (options.rank >= options.world)
    return error(StatusCode::InvalidArgument, "a heap for rank ", options.rank,
                 " of ", options.world);
  if (options.slots > MK_COMMAND_MAX_SLOTS)
    return error(StatusCode::InvalidArgument, "a heap with ", options.slots,
                 " signal slots: a command can name ", MK_COMMAND_MAX_SLOTS,
                 " (ContextOptions::slots)");
  uint64_t bytes = toPages(options.bytes);
  uint64_t limit = uint64_t(1) << MK_COMMAND_OFFSET_BITS;
  if (options.bytes > limit || dataOffsetOf(options.slots) + kPage > bytes)
    return error(StatusCode::InvalidArgument, "a heap of ", options.bytes,
                 " bytes with ", options.slots, " signal slots: use ",
                 dataOffsetOf(options.slots) + kPage, " to ", limit,
                 " bytes (ContextOptions::heapBytes)");
  std::unique_ptr<HostHeap> heap(new HostHeap(options, bytes));
  MK_TRY(heap->grow(bytes, "the heap"));
  return heap;
}

HostHeap::~HostHeap() {
  if (fd_ >= 0)
    ::close(fd_);
}

Result<Fd> HostHeap::addSegment(uint64_t, uint64_t bytes) {
  // memfd_create may refuse a name with odd characters; it is only for /proc.
  fd_ = ::memfd_create("mkernel-heap", MFD_CLOEXEC | MFD_ALLOW_SEALING);
  if (fd_ < 0)
    return errnoError(StatusCode::ResourceExhausted, "memfd_create", errno);
  if (::ftruncate(fd_, static_cast<off_t>(bytes)) < 0)
    return errnoError(StatusCode::ResourceExhausted,
                      str("sizing the heap to ", bytes, " bytes"), errno);
  if (::fcntl(fd_, F_ADD_SEALS, kSeals) < 0)
    return errnoError(StatusCode::Internal, "sealing the heap", errno);
  MK_ASSIGN(own_, HeapMapping::map(fd_, bytes, rank()));
  setBase(rank(), own_.base());
  Fd copy(::fcntl(fd_, F_DUPFD_CLOEXEC, 0));
  if (!copy)
    return errnoError(StatusCode::ResourceExhausted,
                      "a descriptor of the heap for its peers", errno);
  return copy;
}

Status HostHeap::mapSegment(uint32_t peer, const Fd &segment, uint64_t,
                            uint64_t bytes, std::string_view) {
  MK_ASSIGN(mappings_[peer], HeapMapping::map(segment.get(), bytes, peer));
  setBase(peer, mappings_[peer].base());
  return Status::success();
}

Status HostHeap::clear(std::byte *begin, uint64_t bytes) {
  if (bytes)
    std::memset(begin, 0, bytes);
  return Status::success();
}

Result<std::unique_ptr<HeapCopies>> HostHeap::openCopies() {
  return std::unique_ptr<HeapCopies>(std::make_unique<HostCopies>(*this));
}

std::atomic<uint64_t> *HostHeap::peerSignal(uint32_t peer, uint32_t slot) const {
  if (!reachable(peer) || slot >= slots())
    return nullptr;
  return reinterpret_cast<std::atomic<uint64_t> *>(
             peerPointer(peer, kSignalOffset)) +
         slot;
}

} // namespace mk::rt
