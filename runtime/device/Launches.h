//===- Launches.h - In which order ranks launch kernels ---------*- C++ -*-===//
//
// Kernels of several ranks wait for one another, so all ranks have to enqueue them in
// the same order. Each rank keeps a list of its last launches in memory that the other
// ranks of its node map; whoever finds that a wait does not end compares them. A launch
// writes one entry of its own list, and asks nobody.
//
// In the list, in memory of a HostHeap:
//   0    count of launches
//   8    launches that were captured into graphs of the program, which may run in any order and
//        any number of times
//   64   entries, of 64 bytes each: launch n is number (n - 1) modulo their number
//
//===----------------------------------------------------------------------===//
#ifndef MKERNEL_RUNTIME_DEVICE_LAUNCHES_H
#define MKERNEL_RUNTIME_DEVICE_LAUNCHES_H

#include "mkernel/Runtime/HostHeap.h"

#include <functional>
#include <map>
#include <mutex>
#include <optional>

namespace mk::rt {

class Launches {
public:
  static constexpr uint64_t kEntryBytes = 64;

  /// Where lists are: the first `bytes` of `heap`, which outlives this. Before the
  /// first launch; without it launches are counted only.
  void open(const HostHeap &heap, uint64_t bytes);

  /// Number of a kernel that is bound, the same on all ranks. `sizes`, as dimsText() has them, are
  /// for messages, until unbind().
  uint64_t bind(std::string sizes);
  void unbind(uint64_t kernel);
  /// "kernel 'a'"; of two kernels of one name, with what tells them apart.
  std::string kernelText(uint64_t kernel, std::string_view name, uint64_t other,
                         std::string_view itsName) const;
  /// Counts a launch of a bound kernel, before it is enqueued; its number, from 1.
  uint64_t begin(uint64_t kernel, std::string_view name);
  /// The last one was recorded into a graph of the program's own: when it runs is not known.
  void noteCaptured();
  /// The last one could not be enqueued.
  void withdraw();
  uint64_t count() const { return count_; }

  /// For the end of a report about a wait that does not end: "; ..." with the first
  /// launch that is another kernel's on another rank of the node, else with a rank
  /// that has launched less than this one. Empty when there is nothing to say. Where launches
  /// were captured it says what is known, and that it may be no mistake.
  /// `owner`, of the kernel whose wait it is (watch()): then also what other ranks are in.
  std::string explain(const void *owner = nullptr) const;

  /// Whether that rank is in a launch of the owner's kernel.
  using IsIn = std::function<bool(uint32_t rank)>;
  void watch(const void *owner, std::string_view name, IsIn isIn);
  void unwatch(const void *owner);

private:
  struct Watched {
    std::string name;
    IsIn isIn;
  };
  struct Entry {
    uint64_t number = 0, kernel = 0;
    std::string name;
  };
  std::byte *entryAt(uint32_t rank, uint64_t number) const;
  uint64_t countOf(uint32_t rank) const;
  uint64_t capturedOf(uint32_t rank) const;
  std::string explainCaptured(const void *owner) const;
  /// Nothing when launch `number` of that rank is not in the list (any more).
  std::optional<Entry> read(uint32_t rank, uint64_t number) const;

  const HostHeap *heap_ = nullptr;
  uint64_t capacity_ = 0; // entries
  uint64_t count_ = 0, kernels_ = 0;
  mutable std::mutex mutex_;              // guards watched_ and sizes_
  std::map<uint64_t, std::string> sizes_; // of kernels that are bound
  std::map<const void *, Watched> watched_;
};

/// What two ranks do wrong whose launches of one number are of different kernels ("kernel
/// 'a'"): "rank 0 has kernel 'a' as launch 7, rank 1 kernel 'b': ...".
std::string orderText(uint64_t launch, uint32_t rank, std::string_view kernel,
                      uint32_t other, std::string_view itsKernel);

} // namespace mk::rt

#endif // MKERNEL_RUNTIME_DEVICE_LAUNCHES_H
