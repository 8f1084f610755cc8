//===- Heap.h - The symmetric heap of a rank --------------------*- C++ -*-===//
//
// One anonymous memory file of fixed size, mapped by its owner and by the peers
// that a `link` axis reaches. Every rank has the same layout, so an offset
// names the same buffer everywhere:
//
//   0                header page (size, slots; checked by who maps it)
//   4096             signal slots, uint64_t each
//   dataOffset()     what allocate() hands out
//
// Nothing has a name in a filesystem: when the processes are gone, so is it.
//
//===----------------------------------------------------------------------===//
#ifndef MKERNEL_RUNTIME_HEAP_H
#define MKERNEL_RUNTIME_HEAP_H

#include "mkernel/Runtime/Deadline.h"
#include "mkernel/Runtime/Status.h"

#include <atomic>
#include <cstdint>
#include <memory>
#include <mutex>
#include <span>
#include <vector>

namespace mk::rt {

class StoreClient;

struct HeapOptions {
  uint64_t bytes = 64u << 20; // whole heap, rounded up to pages
  uint32_t slots = 1u << 16;  // signal slots, at most MK_COMMAND_MAX_SLOTS
  uint32_t rank = 0;
  uint32_t world = 1;
  std::string scope = {}; // tells apart the heaps of one job in its store
};

/// A mapping of a heap file: of the owner, a link peer, or, privately, of a
/// transport that stands for a network. Move-only; unmaps.
class HeapMapping {
public:
  HeapMapping() = default;
  HeapMapping(HeapMapping &&other) noexcept;
  HeapMapping &operator=(HeapMapping &&other) noexcept;
  ~HeapMapping();

  /// Maps `fd` (kept open by the caller) after checking seals, size and
  /// header; `owner` is for messages.
  static Result<HeapMapping> map(int fd, uint32_t owner);

  explicit operator bool() const { return base_ != nullptr; }
  std::byte *base() const { return base_; }
  uint64_t bytes() const { return bytes_; }
  uint32_t slots() const { return slots_; }
  uint64_t dataOffset() const;

private:
  friend class Heap;
  std::byte *base_ = nullptr;
  uint64_t bytes_ = 0;
  uint32_t slots_ = 0;
};

class Heap {
public:
  static constexpr uint64_t kAlignment = 256;     // of allocations, bytes
  static constexpr uint64_t kSignalOffset = 4096; // of slot 0, bytes

  static Result<std::unique_ptr<Heap>> create(const HeapOptions &options);
  ~Heap();
  Heap(const Heap &) = delete;
  Heap &operator=(const Heap &) = delete;

  /// Maps the heaps of `linkPeers` (own rank is skipped); each of them must
  /// call it with this rank among its peers. Fails when a peer's size or slots
  /// differ from this heap's. Once a heap.
  Status exchange(StoreClient &store, std::span<const uint32_t> linkPeers,
                  Deadline deadline);

  uint32_t rank() const { return options_.rank; }
  uint32_t world() const { return options_.world; }
  std::byte *base() const { return own_.base(); }
  uint64_t bytes() const { return own_.bytes(); }
  uint32_t slots() const { return own_.slots(); }
  /// Start of the allocatable (and transport-visible) window.
  uint64_t dataOffset() const { return own_.dataOffset(); }
  int fd() const { return fd_; }

  /// Bump allocation, kAlignment aligned. Zero bytes give a distinct valid
  /// address. All ranks must allocate in the same order and sizes.
  /// ResourceExhausted names wanted, free and total bytes. `what` is for the
  /// message ("argument 'a'").
  Result<std::byte *> allocate(uint64_t bytes, std::string_view what);
  /// Bytes handed out (with padding) and bytes left.
  uint64_t used() const;
  uint64_t available() const;
  /// Frees everything allocated since used() returned `mark`.
  void rewind(uint64_t mark);

  /// Whether [p, p + bytes) lies in this rank's heap.
  bool contains(const void *p, uint64_t bytes = 1) const;
  /// Offset of a pointer into this rank's heap from its start.
  std::optional<uint64_t> offsetOf(const void *p) const;

  /// Whether `peer`'s heap is mapped here (own rank: true).
  bool reachable(uint32_t peer) const;
  /// Address here of `offset` in `peer`'s heap; null across a net axis or
  /// beyond the end. O(1).
  std::byte *peerPointer(uint32_t peer, uint64_t offset) const {
    if (peer >= bases_.size() || !bases_[peer] || offset >= own_.bytes_)
      return nullptr;
    return bases_[peer] + offset;
  }
  /// peerPointer of the offset that `local` has in this rank's heap.
  std::byte *peerPointer(uint32_t peer, const void *local) const;

  /// Signal slots live in shared memory: lock-free atomics. `slot` < slots().
  std::atomic<uint64_t> &signal(uint32_t slot) const {
    return reinterpret_cast<std::atomic<uint64_t> *>(own_.base_ +
                                                     kSignalOffset)[slot];
  }
  /// Null across a net axis.
  std::atomic<uint64_t> *peerSignal(uint32_t peer, uint32_t slot) const;

private:
  Heap() = default;

  HeapOptions options_;
  int fd_ = -1;
  HeapMapping own_;
  std::vector<HeapMapping> peers_; // by rank, empty where not mapped
  std::vector<std::byte *> bases_; // by rank; own included
  bool exchanged_ = false;
  mutable std::mutex mutex_; // guards next_
  uint64_t next_ = 0;        // offset of the next allocation
};

} // namespace mk::rt

#endif // MKERNEL_RUNTIME_HEAP_H
