//===- Launches.cpp - In which order ranks launch kernels -----------------===//

#include "device/Launches.h"

#include <algorithm>
#include <cstring>

using namespace mk::rt;

static constexpr uint64_t kCapturedAt = 8, kFirstEntry = 64, kKernelAt = 8, kNameAt = 16;
static constexpr size_t kNameBytes = Launches::kEntryBytes - kNameAt;

/// Words that other processes read while they are written.
static std::atomic<uint64_t> &wordAt(std::byte *p) {
  return *reinterpret_cast<std::atomic<uint64_t> *>(p);
}

void Launches::open(const HostHeap &heap, uint64_t bytes) {
  heap_ = &heap;
  capacity_ = (bytes - kFirstEntry) / kEntryBytes;
}

std::byte *Launches::entryAt(uint32_t rank, uint64_t number) const {
  return heap_->peerPointer(
      rank, kFirstEntry + (number - 1) % capacity_ * kEntryBytes);
}

uint64_t Launches::countOf(uint32_t rank) const {
  return wordAt(heap_->peerPointer(rank, uint64_t(0)))
      .load(std::memory_order_acquire);
}

uint64_t Launches::bind(std::string sizes) {
  std::lock_guard lock(mutex_);
  sizes_[++kernels_] = std::move(sizes);
  return kernels_;
}

void Launches::unbind(uint64_t kernel) {
  std::lock_guard lock(mutex_);
  sizes_.erase(kernel);
}

std::string Launches::kernelText(uint64_t kernel, std::string_view name, uint64_t other,
                                 std::string_view itsName) const {
  std::string text = str("kernel '", name, "'");
  if (name != itsName)
    return text;
  std::lock_guard lock(mutex_);
  auto sizesOf = [&](uint64_t number) {
    auto it = sizes_.find(number);
    return it == sizes_.end() ? std::string() : it->second;
  };
  std::string sizes = sizesOf(kernel);
  return text + (sizes != sizesOf(other) && !sizes.empty()
                     ? sizes
                     : str(sizes, " (number ", kernel, " of those bound)"));
}

uint64_t Launches::begin(uint64_t kernel, std::string_view name) {
  ++count_;
  if (!heap_)
    return count_;
  std::byte *entry = entryAt(heap_->rank(), count_);
  // No number while it changes.
  wordAt(entry).store(0, std::memory_order_relaxed);
  std::atomic_thread_fence(std::memory_order_release);
  wordAt(entry + kKernelAt).store(kernel, std::memory_order_relaxed);
  char text[kNameBytes] = {};
  std::memcpy(text, name.data(), std::min(name.size(), kNameBytes - 1));
  for (size_t i = 0; i < kNameBytes; i += 8) {
    uint64_t word;
    std::memcpy(&word, text + i, 8);
    wordAt(entry + kNameAt + i).store(word, std::memory_order_relaxed);
  }
  wordAt(entry).store(count_, std::memory_order_release);
  wordAt(heap_->base()).store(count_, std::memory_order_release);
  return count_;
}

uint64_t Launches::capturedOf(uint32_t rank) const {
  return wordAt(heap_->peerPointer(rank, kCapturedAt)).load(std::memory_order_acquire);
}

void Launches::noteCaptured() {
  if (heap_)
    wordAt(heap_->base() + kCapturedAt).fetch_add(1, std::memory_order_acq_rel);
}

void Launches::watch(const void *owner, std::string_view name, IsIn isIn) {
  std::lock_guard lock(mutex_);
  watched_[owner] = {std::string(name), std::move(isIn)};
}

void Launches::unwatch(const void *owner) {
  std::lock_guard lock(mutex_);
  watched_.erase(owner);
}

// Replays are not counted, so that launch n of one rank need not be launch n of another.
std::string Launches::explainCaptured(const void *owner) const {
  std::string ranks;
  uint32_t last = 0;
  for (uint32_t r = 0; r < heap_->world(); ++r)
    if (heap_->reachable(r) && capturedOf(r)) {
      last = r;
      ranks += str(ranks.empty() ? "" : ", ", "rank ", r, " ", capturedOf(r));
    }
  if (ranks.empty())
    return {};
  std::string in;
  if (owner) {
    std::lock_guard lock(mutex_);
    for (uint32_t r = 0; r < heap_->world(); ++r)
      for (const auto &[other, kernel] : watched_)
        if (other != owner && r != heap_->rank() && heap_->reachable(r) && kernel.isIn(r))
          in += str("; rank ", r, " is in kernel '", kernel.name, "'");
  }
  if (!in.empty())
    return str(in, ": launches were captured into graphs of the program (", ranks,
               "), and all ranks have to launch kernels and replay graphs in the same order");
  auto latest = read(last, countOf(last));
  return str("; launches were captured into graphs of the program (", ranks,
             "), whose replays are not counted",
             latest ? str("; the last one that rank ", last, " launched or captured is kernel '",
                          latest->name, "'")
                    : std::string(),
             ": all ranks have to launch kernels and replay graphs in the same order");
}

void Launches::withdraw() {
  --count_;
  if (heap_)
    wordAt(heap_->base()).store(count_, std::memory_order_release);
}

std::optional<Launches::Entry> Launches::read(uint32_t rank,
                                              uint64_t number) const {
  std::byte *entry = entryAt(rank, number);
  Entry result;
  result.number = wordAt(entry).load(std::memory_order_acquire);
  result.kernel = wordAt(entry + kKernelAt).load(std::memory_order_relaxed);
  char text[kNameBytes];
  for (size_t i = 0; i < kNameBytes; i += 8) {
    uint64_t word = wordAt(entry + kNameAt + i).load(std::memory_order_relaxed);
    std::memcpy(text + i, &word, 8);
  }
  std::atomic_thread_fence(std::memory_order_acquire);
  if (result.number != number ||
      wordAt(entry).load(std::memory_order_relaxed) != number)
    return std::nullopt;
  text[kNameBytes - 1] = 0;
  result.name = text;
  return result;
}

std::string Launches::explain(const void *owner) const {
  if (!heap_)
    return {};
  if (std::string captured = explainCaptured(owner); !captured.empty())
    return captured;
  uint32_t rank = heap_->rank();
  for (uint32_t r = 0; r < heap_->world(); ++r) {
    if (r == rank || !heap_->reachable(r))
      continue;
    uint64_t theirs = countOf(r), both = std::min(count_, theirs);
    for (uint64_t n = both - std::min(both, capacity_) + 1; n <= both; ++n) {
      auto mine = read(rank, n), other = read(r, n);
      if (!mine || !other || mine->kernel == other->kernel)
        continue;
      auto nameOf = [&](const Entry &e, const Entry &than) {
        return kernelText(e.kernel, e.name, than.kernel, than.name);
      };
      return "; " + orderText(n, rank, nameOf(*mine, *other), r, nameOf(*other, *mine));
    }
  }
  for (uint32_t r = 0; r < heap_->world(); ++r) {
    if (r == rank || !heap_->reachable(r) || countOf(r) >= count_)
      continue;
    uint64_t next = countOf(r) + 1;
    auto mine = read(rank, next);
    return str("; rank ", r, " has launched ", next - 1, " of the ", count_,
               " kernels that rank ", rank, " has",
               mine ? str(": what it has not launched is kernel '", mine->name,
                          "' (launch ", next, ")")
                    : std::string());
  }
  return {};
}

std::string mk::rt::orderText(uint64_t launch, uint32_t rank,
                              std::string_view kernel, uint32_t other,
                              std::string_view itsKernel) {
  if (other < rank) {
    std::swap(rank, other);
    std::swap(kernel, itsKernel);
  }
  return str("rank ", rank, " has ", kernel, " as launch ", launch, ", rank ",
             other, " ", itsKernel,
             ": kernels have to be enqueued in the same order on all ranks");
}
