//===- Heap.cpp - The symmetric memory of a rank --------------------------===//

#include "mkernel/Runtime/Heap.h"

#include "memory/FirstFit.h"
#include "memory/HeapSegment.h"

#include <algorithm>

namespace mk::rt {
namespace {

uint64_t roundUp(uint64_t v, uint64_t to) { return (v + to - 1) / to * to; }

/// At least one unit, so that every allocation has an address of its own.
uint64_t padded(uint64_t bytes) {
  return roundUp(std::max<uint64_t>(bytes, 1), Heap::kAlignment);
}

} // namespace

Heap::Heap(HeapOptions options, uint64_t bytes, uint64_t dataOffset)
    : options_(std::move(options)), bytes_(bytes), dataOffset_(dataOffset),
      bases_(options_.world, nullptr) {}

Heap::~Heap() = default;

Result<std::byte *> Heap::allocate(uint64_t bytes, std::string_view what) {
  std::lock_guard lock(mutex_);
  uint64_t free = bytes_ - dataOffset_ - used_;
  uint64_t want = bytes > free ? bytes : padded(bytes);
  auto [begin, largest] = findGap(allocations_, dataOffset_, bytes_, want,
                                  [](const Allocation &a) { return padded(a.bytes); });
  if (want > largest) {
    uint64_t last = bytes_ - begin;
    return error(StatusCode::ResourceExhausted, what, " needs ", bytes,
                 " bytes of symmetric memory; ", free, " of ", bytes_,
                 " are free",
                 largest < free ? str(", at most ", largest, " in one piece")
                                : std::string(),
                 ": use a heap of at least ",
                 roundUp(bytes_ - last + want, 4096),
                 " bytes (ContextOptions::heapBytes)");
  }
  MK_TRY(grow(begin + want, what));
  allocations_[begin] = {begin, bytes, std::string(what)};
  used_ += want;
  return base() + begin;
}

Status Heap::free(const void *allocation) {
  auto offset = offsetOf(allocation);
  std::lock_guard lock(mutex_);
  auto it = offset ? allocations_.find(*offset) : allocations_.end();
  if (it == allocations_.end())
    return error(StatusCode::InvalidArgument,
                 "there is no symmetric memory that was allocated at this "
                 "address: free what was allocated, once");
  used_ -= padded(it->second.bytes);
  allocations_.erase(it);
  return {};
}

Status Heap::onSegment(SegmentListener listener) {
  std::lock_guard lock(mutex_);
  listener_ = std::move(listener);
  if (listener_)
    for (auto [offset, bytes] : parts_)
      MK_TRY(listener_(offset, bytes));
  return Status::success();
}

void Heap::agreeBy(Agreement agreement) {
  std::lock_guard lock(mutex_);
  agreement_ = std::move(agreement);
}

Result<Fd> Heap::dmaBuf(uint64_t, uint64_t) {
  return error(StatusCode::FailedPrecondition,
               "memory of the host has no dma-buf: it is registered by address");
}

uint64_t Heap::used() const {
  std::lock_guard lock(mutex_);
  return used_;
}

uint64_t Heap::available() const {
  std::lock_guard lock(mutex_);
  return bytes_ - dataOffset_ - used_;
}

std::optional<Heap::Allocation> Heap::allocationOf(const void *p) const {
  auto offset = offsetOf(p);
  std::lock_guard lock(mutex_);
  if (!offset)
    return std::nullopt;
  auto it = allocations_.upper_bound(*offset);
  if (it == allocations_.begin())
    return std::nullopt;
  const Allocation &before = std::prev(it)->second;
  if (*offset - before.offset > before.bytes)
    return std::nullopt;
  return before;
}

bool Heap::contains(const void *p, uint64_t bytes) const {
  auto offset = offsetOf(p);
  return offset && bytes <= bytes_ - *offset;
}

std::optional<uint64_t> Heap::offsetOf(const void *p) const {
  auto address = reinterpret_cast<uintptr_t>(p);
  auto begin = reinterpret_cast<uintptr_t>(base());
  if (address < begin || address - begin >= bytes_)
    return std::nullopt;
  return address - begin;
}

bool Heap::reachable(uint32_t peer) const {
  return peer < bases_.size() && bases_[peer];
}

std::byte *Heap::peerPointer(uint32_t peer, const void *local) const {
  auto offset = offsetOf(local);
  return offset ? peerPointer(peer, *offset) : nullptr;
}

Result<HeapMemory> HeapMemory::allocate(Heap &heap, uint64_t bytes,
                                        std::string_view what) {
  HeapMemory memory;
  MK_ASSIGN(memory.data_, heap.allocate(bytes, what));
  memory.heap_ = &heap;
  return memory;
}

void HeapMemory::reset() {
  if (heap_)
    heap_->free(data_).ignore();
  heap_ = nullptr;
  data_ = nullptr;
}

} // namespace mk::rt
