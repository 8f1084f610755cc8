//===- HostHeap.h - Symmetric memory of the host ----------------*- C++ -*-===//
//
// One anonymous memory file of fixed size, mapped by its owner, by the peers
// that a `link` axis reaches, and, privately, by a transport that stands for a
// network:
//
//   0                the rank's list of launches (runtime/device/Launches.h)
//   4096             signal slots, uint64_t each
//   dataOffset()     what allocate() hands out
//
// Nothing has a name in a filesystem: when the processes are gone, so is it.
//
//===----------------------------------------------------------------------===//
#ifndef MKERNEL_RUNTIME_HOSTHEAP_H
#define MKERNEL_RUNTIME_HOSTHEAP_H

#include "mkernel/Runtime/Heap.h"

#include <atomic>

namespace mk::rt {

/// A mapping of a heap's file. Move-only; unmaps.
class HeapMapping {
public:
  HeapMapping() = default;
  HeapMapping(HeapMapping &&other) noexcept;
  HeapMapping &operator=(HeapMapping &&other) noexcept;
  ~HeapMapping();

  /// Maps `fd` (kept open by the caller) after checking that it is a sealed
  /// file of `bytes`; `owner` is for messages.
  static Result<HeapMapping> map(int fd, uint64_t bytes, uint32_t owner);

  explicit operator bool() const { return base_ != nullptr; }
  std::byte *base() const { return base_; }
  uint64_t bytes() const { return bytes_; }

private:
  std::byte *base_ = nullptr;
  uint64_t bytes_ = 0;
};

class HostHeap : public Heap {
public:
  static constexpr uint64_t kSignalOffset = 4096; // of slot 0, bytes

  static Result<std::unique_ptr<HostHeap>> create(const HeapOptions &options);
  ~HostHeap() override;

  int fd() const { return fd_; }
  HostHeap *asHost() override { return this; }
  Status clear(std::byte *begin, uint64_t bytes) override;
  Result<std::unique_ptr<HeapCopies>> openCopies() override;

  /// Signal slots live in shared memory: lock-free atomics. `slot` < slots().
  std::atomic<uint64_t> &signal(uint32_t slot) const {
    return reinterpret_cast<std::atomic<uint64_t> *>(base() +
                                                     kSignalOffset)[slot];
  }
  /// Null across a net axis.
  std::atomic<uint64_t> *peerSignal(uint32_t peer, uint32_t slot) const;

private:
  HostHeap(const HeapOptions &options, uint64_t bytes);

  Result<Fd> addSegment(uint64_t offset, uint64_t bytes) override;
  Status mapSegment(uint32_t peer, const Fd &segment, uint64_t offset,
                    uint64_t bytes, std::string_view device) override;
  uint64_t segmentBytes(uint64_t) const override { return bytes(); }
  std::string device() const override { return "host"; }

  int fd_ = -1;
  HeapMapping own_;
  std::vector<HeapMapping> mappings_; // by rank, empty where not mapped
};

} // namespace mk::rt

#endif // MKERNEL_RUNTIME_HOSTHEAP_H
