//===- Heap.cpp - The symmetric heap of a rank ----------------------------===//

#include "mkernel/Runtime/Heap.h"
#include "mkernel/ABI/Command.h"

#include <cerrno>
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

namespace mk::rt {
namespace {

/// First bytes of the header page; whoever maps the heap checks them.
struct Header {
  static constexpr uint64_t kMagic = 0x3170616568206b6d; // "mk heap1"
  uint64_t magic;
  uint64_t bytes;
  uint32_t slots;
  uint32_t rank;
};

constexpr uint64_t kPage = 4096;
constexpr int kSeals = F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL;

uint64_t roundUp(uint64_t v, uint64_t to) { return (v + to - 1) / to * to; }

uint64_t dataOffsetOf(uint32_t slots) {
  return roundUp(Heap::kSignalOffset + uint64_t(slots) * 8, kPage);
}

static_assert(std::atomic<uint64_t>::is_always_lock_free &&
                  sizeof(std::atomic<uint64_t>) == 8,
              "signals are shared between processes");

} // namespace

HeapMapping::HeapMapping(HeapMapping &&other) noexcept
    : base_(std::exchange(other.base_, nullptr)),
      bytes_(std::exchange(other.bytes_, 0)),
      slots_(std::exchange(other.slots_, 0)) {}

HeapMapping &HeapMapping::operator=(HeapMapping &&other) noexcept {
  std::swap(base_, other.base_);
  std::swap(bytes_, other.bytes_);
  std::swap(slots_, other.slots_);
  return *this;
}

HeapMapping::~HeapMapping() {
  if (base_)
    ::munmap(base_, bytes_);
}

uint64_t HeapMapping::dataOffset() const { return dataOffsetOf(slots_); }

Result<HeapMapping> HeapMapping::map(int fd, uint32_t owner) {
  // Unsealed, the owner could truncate the file and kill who maps it (SIGBUS).
  int seals = ::fcntl(fd, F_GET_SEALS);
  struct stat info {};
  if (seals < 0 || (seals & kSeals) != kSeals || ::fstat(fd, &info) < 0 ||
      info.st_size < static_cast<off_t>(kPage))
    return error(StatusCode::Unavailable, "the descriptor from rank ", owner,
                 " is no sealed heap");
  HeapMapping mapping;
  uint64_t bytes = static_cast<uint64_t>(info.st_size);
  void *p = ::mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
  if (p == MAP_FAILED)
    return errnoError(
        StatusCode::ResourceExhausted,
        str("mapping ", bytes, " bytes of rank ", owner, "'s heap"), errno);
  mapping.base_ = static_cast<std::byte *>(p);
  mapping.bytes_ = bytes;
  const auto *header = static_cast<const Header *>(p);
  if (header->magic != Header::kMagic || header->bytes != bytes ||
      header->rank != owner || dataOffsetOf(header->slots) > bytes)
    return error(StatusCode::Unavailable, "the memory from rank ", owner,
                 " has no valid heap header");
  mapping.slots_ = header->slots;
  return mapping;
}

Result<std::unique_ptr<Heap>> Heap::create(const HeapOptions &options) {
  if (options.rank >= options.world)
    return error(StatusCode::InvalidArgument, "a heap for rank ", options.rank,
                 " of ", options.world);
  if (options.slots > MK_COMMAND_MAX_SLOTS)
    return error(StatusCode::InvalidArgument, "a heap with ", options.slots,
                 " signal slots: a command can name ", MK_COMMAND_MAX_SLOTS,
                 " (ContextOptions::slots)");
  uint64_t bytes = roundUp(options.bytes, kPage);
  uint64_t limit = uint64_t(1) << MK_COMMAND_OFFSET_BITS;
  if (options.bytes > limit || dataOffsetOf(options.slots) + kPage > bytes)
    return error(StatusCode::InvalidArgument, "a heap of ", options.bytes,
                 " bytes with ", options.slots, " signal slots: use ",
                 dataOffsetOf(options.slots) + kPage, " to ", limit,
                 " bytes (ContextOptions::heapBytes)");

  std::unique_ptr<Heap> heap(new Heap());
  heap->options_ = options;
  // memfd_create may refuse a name with odd characters; it is only for /proc.
  heap->fd_ = ::memfd_create("mkernel-heap", MFD_CLOEXEC | MFD_ALLOW_SEALING);
  if (heap->fd_ < 0)
    return errnoError(StatusCode::ResourceExhausted, "memfd_create", errno);
  if (::ftruncate(heap->fd_, static_cast<off_t>(bytes)) < 0)
    return errnoError(StatusCode::ResourceExhausted,
                      str("sizing the heap to ", bytes, " bytes"), errno);
  Header header{Header::kMagic, bytes, options.slots, options.rank};
  if (::pwrite(heap->fd_, &header, sizeof(header), 0) !=
      static_cast<ssize_t>(sizeof(header)))
    return errnoError(StatusCode::ResourceExhausted,
                      "writing the heap's header", errno);
  if (::fcntl(heap->fd_, F_ADD_SEALS, kSeals) < 0)
    return errnoError(StatusCode::Internal, "sealing the heap", errno);
  MK_ASSIGN(heap->own_, HeapMapping::map(heap->fd_, options.rank));
  heap->next_ = heap->dataOffset();
  heap->peers_.resize(options.world);
  heap->bases_.resize(options.world, nullptr);
  heap->bases_[options.rank] = heap->own_.base();
  return heap;
}

Heap::~Heap() {
  if (fd_ >= 0)
    ::close(fd_);
}

Result<std::byte *> Heap::allocate(uint64_t bytes, std::string_view what) {
  std::lock_guard lock(mutex_);
  uint64_t free = own_.bytes() - next_;
  // At least one unit, so that every allocation has an address of its own.
  uint64_t want =
      bytes > free ? bytes : roundUp(std::max<uint64_t>(bytes, 1), kAlignment);
  if (want > free)
    return error(StatusCode::ResourceExhausted, what, " needs ", bytes,
                 " bytes of symmetric memory; ", free, " of ", own_.bytes(),
                 " are free: use a heap of at least ",
                 roundUp(own_.bytes() - free + want, kPage),
                 " bytes (ContextOptions::heapBytes)");
  std::byte *p = own_.base() + next_;
  next_ += want;
  return p;
}

uint64_t Heap::used() const {
  std::lock_guard lock(mutex_);
  return next_ - dataOffset();
}

uint64_t Heap::available() const {
  std::lock_guard lock(mutex_);
  return own_.bytes() - next_;
}

void Heap::rewind(uint64_t mark) {
  std::lock_guard lock(mutex_);
  assert(mark <= next_ - dataOffset() && mark % kAlignment == 0);
  next_ = dataOffset() + mark;
}

bool Heap::contains(const void *p, uint64_t bytes) const {
  auto offset = offsetOf(p);
  return offset && bytes <= own_.bytes() - *offset;
}

std::optional<uint64_t> Heap::offsetOf(const void *p) const {
  auto address = reinterpret_cast<uintptr_t>(p);
  auto base = reinterpret_cast<uintptr_t>(own_.base());
  if (address < base || address - base >= own_.bytes())
    return std::nullopt;
  return address - base;
}

bool Heap::reachable(uint32_t peer) const {
  return peer < bases_.size() && bases_[peer];
}

std::byte *Heap::peerPointer(uint32_t peer, const void *local) const {
  auto offset = offsetOf(local);
  return offset ? peerPointer(peer, *offset) : nullptr;
}

std::atomic<uint64_t> *Heap::peerSignal(uint32_t peer, uint32_t slot) const {
  if (!reachable(peer) || slot >= slots())
    return nullptr;
  return reinterpret_cast<std::atomic<uint64_t> *>(bases_[peer] +
                                                   kSignalOffset) +
         slot;
}

} // namespace mk::rt
