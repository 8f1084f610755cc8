//===- Heap.cpp - The symmetric memory of a rank --------------------------===//

#include "mkernel/Runtime/Heap.h"

#include "memory/HeapSegment.h"

#include <cassert>

namespace mk::rt {
namespace {

uint64_t roundUp(uint64_t v, uint64_t to) { return (v + to - 1) / to * to; }

} // namespace

Heap::Heap(HeapOptions options, uint64_t bytes, uint64_t dataOffset)
    : options_(std::move(options)), bytes_(bytes), dataOffset_(dataOffset),
      bases_(options_.world, nullptr), next_(dataOffset) {}

Heap::~Heap() = default;

Result<std::byte *> Heap::allocate(uint64_t bytes, std::string_view what) {
  std::lock_guard lock(mutex_);
  uint64_t free = bytes_ - next_;
  // At least one unit, so that every allocation has an address of its own.
  uint64_t want =
      bytes > free ? bytes : roundUp(std::max<uint64_t>(bytes, 1), kAlignment);
  if (want > free)
    return error(StatusCode::ResourceExhausted, what, " needs ", bytes,
                 " bytes of symmetric memory; ", free, " of ", bytes_,
                 " are free: use a heap of at least ",
                 roundUp(bytes_ - free + want, 4096),
                 " bytes (ContextOptions::heapBytes)");
  MK_TRY(grow(next_ + want, what));
  std::byte *p = base() + next_;
  next_ += want;
  return p;
}

uint64_t Heap::used() const {
  std::lock_guard lock(mutex_);
  return next_ - dataOffset();
}

uint64_t Heap::available() const {
  std::lock_guard lock(mutex_);
  return bytes_ - next_;
}

void Heap::rewind(uint64_t mark) {
  std::lock_guard lock(mutex_);
  assert(mark <= next_ - dataOffset() && mark % kAlignment == 0);
  next_ = dataOffset() + mark;
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

} // namespace mk::rt
