//===- Heap.h - The symmetric memory of a rank ------------------*- C++ -*-===//
//
// A range of addresses that every rank of a job has, of the same size and with
// the same layout, so that an offset names the same buffer everywhere. The device
// provides the memory behind it: a memory file on the host, memory of the GPU on
// a GPU. Peers along `link` axes map it, each at an address of its own.
//
// The range is reserved once. Memory is put behind it in segments, from the start
// on: all at once, or as allocations need it, which all ranks then do together.
//
// Addresses are the device's. Only the device's own part of the runtime may
// dereference them.
//
//===----------------------------------------------------------------------===//
#ifndef MKERNEL_RUNTIME_HEAP_H
#define MKERNEL_RUNTIME_HEAP_H

#include "mkernel/Runtime/Deadline.h"
#include "mkernel/Runtime/Status.h"

#include <atomic>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <span>
#include <string>
#include <vector>

namespace mk::rt {

class Fd;
class HeapCopies;
class HostHeap;
class StoreClient;

struct HeapOptions {
  uint64_t bytes = 64u << 20; // whole heap, rounded up to pages
  uint32_t slots = 1u << 16;  // signal slots, at most MK_COMMAND_MAX_SLOTS
  uint32_t rank = 0;
  uint32_t world = 1;
  std::string scope = {}; // tells apart the heaps of one job in its store
  /// Ranks may be on the GPU of another one: ContextOptions::ranksPerGpu.
  bool sharesGpu = false;
  /// For peers to take part when memory is added.
  std::chrono::nanoseconds timeout = std::chrono::seconds(30);
};

class Heap {
public:
  static constexpr uint64_t kAlignment = 256; // of allocations, bytes

  virtual ~Heap();
  Heap(const Heap &) = delete;
  Heap &operator=(const Heap &) = delete;

  /// Maps the heaps of `linkPeers` (own rank is skipped); each of them must
  /// call it with this rank among its peers. Fails when a peer's size or slots
  /// differ from this heap's. Once a heap.
  Status exchange(StoreClient &store, std::span<const uint32_t> linkPeers,
                  Deadline deadline);

  uint32_t rank() const { return options_.rank; }
  uint32_t world() const { return options_.world; }
  std::byte *base() const { return bases_[options_.rank]; }
  /// Of the range of addresses.
  uint64_t bytes() const { return bytes_; }
  /// Memory is there up to here, from the start. Any thread.
  uint64_t backed() const { return backed_.load(std::memory_order_acquire); }
  /// Signal slots that the proxy can raise; 0 where it cannot.
  uint32_t slots() const { return options_.slots; }
  /// Start of the allocatable (and transport-visible) window.
  uint64_t dataOffset() const { return dataOffset_; }

  /// The first gap that is large enough, kAlignment aligned. Zero bytes give a
  /// distinct valid address. All ranks must allocate and free in the same order
  /// and sizes, so that they get the same offsets; where memory is added as needed
  /// they meet here. ResourceExhausted names wanted, free and total bytes. `what`
  /// is for messages ("argument 'a'").
  Result<std::byte *> allocate(uint64_t bytes, std::string_view what);
  /// Gives back what allocate() returned; InvalidArgument for any other address.
  /// No rank may use it any more. Nothing happens to the memory behind it.
  Status free(const void *allocation);
  /// Bytes handed out (with padding) and bytes left, in one piece or not.
  uint64_t used() const;
  uint64_t available() const;

  struct Allocation {
    uint64_t offset = 0, bytes = 0; // from the heap's start; as asked for
    std::string what;
  };
  /// The allocation that `p` points into, or just behind.
  std::optional<Allocation> allocationOf(const void *p) const;
  /// Calls `listener` with each segment [offset, offset + bytes) of this rank's range that
  /// has memory: now with what is there, and later with what is added, on all ranks alike and
  /// before allocate() returns, whose error its error is. One listener; an empty one
  /// ends it. For transports, which register memory.
  using SegmentListener = std::function<Status(uint64_t offset, uint64_t bytes)>;
  Status onSegment(SegmentListener listener);
  /// Asks all ranks whether each has memory for a segment that is added: `own` is whether this one
  /// has, the result whether all have (ResourceExhausted names the first that has not). Needed
  /// where some ranks are no link peers: these would wait for the segment.
  using Agreement = std::function<Status(const Status &own)>;
  void agreeBy(Agreement agreement);
  /// A descriptor (dma-buf) of a part of this rank's memory, by which a NIC
  /// registers it. FailedPrecondition where the memory is the host's, or its driver has no
  /// such thing.
  virtual Result<Fd> dmaBuf(uint64_t offset, uint64_t bytes);
  /// Copies for a transport. FailedPrecondition says why there are none.
  virtual Result<std::unique_ptr<HeapCopies>> openCopies() = 0;
  /// Makes what NICs wrote here before visible to the device's kernels.
  virtual Status flushRemoteWrites() { return Status::success(); }

  /// Fills bytes of this rank's heap with zeroes; done when it returns.
  virtual Status clear(std::byte *begin, uint64_t bytes) = 0;

  /// Whether [p, p + bytes) lies in this rank's heap.
  bool contains(const void *p, uint64_t bytes = 1) const;
  /// Offset of a pointer into this rank's heap from its start.
  std::optional<uint64_t> offsetOf(const void *p) const;

  /// Whether `peer`'s heap is mapped here (own rank: true).
  bool reachable(uint32_t peer) const;
  /// Address here of `offset` in `peer`'s heap; null across a net axis or
  /// beyond the end. O(1).
  std::byte *peerPointer(uint32_t peer, uint64_t offset) const {
    if (peer >= bases_.size() || !bases_[peer] || offset >= bytes_)
      return nullptr;
    return bases_[peer] + offset;
  }
  /// peerPointer of the offset that `local` has in this rank's heap.
  std::byte *peerPointer(uint32_t peer, const void *local) const;

  /// This heap where a CPU may load and store; null on a GPU.
  virtual HostHeap *asHost() { return nullptr; }

protected:
  /// `bytes` of addresses, of which what is before `dataOffset` is not handed
  /// out. No memory is behind them yet.
  Heap(HeapOptions options, uint64_t bytes, uint64_t dataOffset);

  /// Puts memory, zeroed, behind [offset, offset + bytes) of this rank's range, and
  /// returns a descriptor by which peers map it.
  virtual Result<Fd> addSegment(uint64_t offset, uint64_t bytes) = 0;
  /// Takes it back, or what there is of it: some rank has no memory for it. No peer has mapped it.
  virtual void dropSegment(uint64_t, uint64_t) {}
  /// Maps the same part of `peer`'s heap. `device` is what the peer says of its
  /// device.
  virtual Status mapSegment(uint32_t peer, const Fd &segment, uint64_t offset,
                            uint64_t bytes, std::string_view device) = 0;
  /// Bytes to add where `missing` more are needed, the same on all ranks.
  virtual uint64_t segmentBytes(uint64_t missing) const = 0;
  /// For the messages of peers: "GPU-0f3b... (NVIDIA H200)". At most 100 bytes.
  virtual std::string device() const = 0;

  const HeapOptions &options() const { return options_; }
  void setBase(uint32_t rank, std::byte *base) { bases_[rank] = base; }
  /// Adds memory up to `end`, and shares it with the peers.
  Status grow(uint64_t end, std::string_view what);

private:
  struct Segment;
  /// `anyFailed`: some rank has no such segment, and nobody has mapped any.
  Status share(const Segment &segment, Deadline deadline, bool &anyFailed);

  HeapOptions options_;
  uint64_t bytes_ = 0, dataOffset_ = 0;
  std::vector<std::byte *> bases_; // by rank; own included; null: not mapped
  std::vector<uint32_t> peers_;    // that are mapped
  std::vector<Fd> sockets_;        // to them
  std::vector<Segment> segments_;  // before the exchange
  std::vector<std::pair<uint64_t, uint64_t>> parts_; // offset and bytes of all segments
  bool exchanged_ = false;
  SegmentListener listener_;
  Agreement agreement_;
  Status broken_;            // a peer was lost, or a segment could not be mapped
  mutable std::mutex mutex_; // guards what follows
  std::map<uint64_t, Allocation> allocations_; // by offset
  uint64_t used_ = 0;   // by them, with padding
  std::atomic<uint64_t> backed_{0};
};

/// An allocation of a heap, which it must not outlive. Move-only; frees.
class HeapMemory {
public:
  HeapMemory() = default;
  HeapMemory(HeapMemory &&other) noexcept { *this = std::move(other); }
  HeapMemory &operator=(HeapMemory &&other) noexcept {
    std::swap(heap_, other.heap_);
    std::swap(data_, other.data_);
    return *this;
  }
  ~HeapMemory() { reset(); }

  /// As Heap::allocate.
  static Result<HeapMemory> allocate(Heap &heap, uint64_t bytes,
                                     std::string_view what);
  explicit operator bool() const { return data_; }
  std::byte *data() const { return data_; }
  void reset();

private:
  Heap *heap_ = nullptr;
  std::byte *data_ = nullptr;
};

} // namespace mk::rt

#endif // MKERNEL_RUNTIME_HEAP_H
