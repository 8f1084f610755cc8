//===- Memory.h - The heap's memory on the NICs -----------------*- C++ -*-===//
#ifndef MKERNEL_RUNTIME_TRANSPORT_RDMA_MEMORY_H
#define MKERNEL_RUNTIME_TRANSPORT_RDMA_MEMORY_H

#include "transport/rdma/Nic.h"

#include "mkernel/Runtime/Heap.h"

#include <map>

namespace mk::rt::rdma {

/// Part of a heap, here or at a peer.
struct Segment {
  uint64_t offset = 0, bytes = 0;
  uint64_t address = 0; // of the part's start, as NICs have it
  // By NIC. One number on the devices that there are; nothing promises it.
  std::vector<uint32_t> localKeys; // here only
  std::vector<uint32_t> remoteKeys;
};

/// In order of their offsets.
class SegmentMap {
public:
  void add(Segment segment) { segments_.push_back(std::move(segment)); }
  /// Where `offset` is; null where there is no memory.
  const Segment *find(uint64_t offset) const;

private:
  std::vector<Segment> segments_;
};

/// Registers a heap's memory with all NICs of this rank: exactly its window,
/// for local reads and remote writes.
class Memory {
public:
  Memory(Heap &heap, bool relaxed) : heap_(heap), relaxed_(relaxed) {}
  ~Memory() { clear(); }
  Memory(const Memory &) = delete;
  Memory &operator=(const Memory &) = delete;

  /// A part that has memory now, cut to the window. One of no bytes where it is
  /// outside.
  Result<Segment> add(std::span<const std::unique_ptr<Nic>> nics,
                      uint64_t offset, uint64_t bytes);
  const SegmentMap &segments() const { return segments_; }
  /// Before the NICs go.
  void clear();

  /// How: "by address", "by dma-buf", ", relaxed ordering"; for reports.
  const std::string &how() const { return how_; }

private:
  ibv_mr *registerPart(const Nic &nic, uint64_t offset, uint64_t bytes,
                       std::string &why);
  ibv_mr *byAddress(const Nic &nic, void *address, uint64_t bytes, int access);

  Heap &heap_;
  bool relaxed_;
  std::string how_;
  SegmentMap segments_;
  std::vector<std::pair<const Library *, ibv_mr *>> regions_;
};

} // namespace mk::rt::rdma

#endif // MKERNEL_RUNTIME_TRANSPORT_RDMA_MEMORY_H
