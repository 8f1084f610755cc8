//===- GpuHeap.h - Symmetric memory of a GPU --------------------*- C++ -*-===//
//
// A range of addresses, in which physical memory of this rank's GPU is mapped as
// allocations need it; the peers' memory, which arrives as file descriptors, is
// mapped in a range for each (CUDA driver API, "Virtual Memory Management"). A
// process needs to see its own GPU alone: whether it reaches a peer's is found out by
// mapping its memory.
//
//===----------------------------------------------------------------------===//
#ifndef MKERNEL_RUNTIME_DEVICE_CUDA_GPUHEAP_H
#define MKERNEL_RUNTIME_DEVICE_CUDA_GPUHEAP_H

#include "device/cuda/Gpu.h"
#include "mkernel/Runtime/Heap.h"

#include <vector>

namespace mk::rt::cuda {

/// Ranges of addresses, one for each rank, in which memory is mapped. The context is
/// current in all calls.
class MappedRanges {
public:
  /// Addresses in each range: more than any GPU has memory.
  static constexpr uint64_t kBytes = uint64_t(1) << 39;

  MappedRanges(std::shared_ptr<Gpu> gpu, uint32_t world);
  ~MappedRanges();
  MappedRanges(const MappedRanges &) = delete;
  MappedRanges &operator=(const MappedRanges &) = delete;

  Status reserve(uint32_t rank, uint64_t alignment);
  /// Where the range of a rank begins; 0: nowhere.
  uint64_t base(uint32_t rank) const { return bases_[rank]; }
  /// Maps `memory`, which it takes over, in the range of `rank`.
  Status map(uint32_t rank, uint64_t memory, uint64_t offset, uint64_t bytes,
             std::string_view what);
  /// Maps what another process has exported; reserves the range.
  Status import(uint32_t rank, const Fd &segment, uint64_t offset, uint64_t bytes,
                std::string_view what);
  /// Unmaps and releases what begins at `offset`, if anything does.
  void unmap(uint32_t rank, uint64_t offset);
  /// The memory that begins at `offset`, 0: none does.
  uint64_t memoryAt(uint32_t rank, uint64_t offset) const;

private:
  struct Mapping {
    uint64_t address = 0, bytes = 0, memory = 0;
  };
  std::shared_ptr<Gpu> gpu_;
  std::vector<Mapping> mappings_;
  std::vector<uint64_t> bases_; // by rank
};

class GpuHeap : public Heap {
public:
  static constexpr uint64_t kBytes = MappedRanges::kBytes;

  /// Signals of GPUs are words of their own: options.slots is what the proxy can raise.
  static Result<std::unique_ptr<Heap>> create(std::shared_ptr<Gpu> gpu,
                                              HeapOptions options);
  ~GpuHeap() override;

  Status clear(std::byte *begin, uint64_t bytes) override;
  Result<std::unique_ptr<HeapCopies>> openCopies() override;
  Result<Fd> dmaBuf(uint64_t offset, uint64_t bytes) override;
  Status flushRemoteWrites() override;

  /// A descriptor of a segment.
  Result<Fd> exportSegment(uint64_t offset, uint64_t bytes);
  std::string deviceName() const { return device(); }
  /// `device` is that of a peer: an error where it is this rank's and ranks do not share GPUs.
  Status checkPeer(uint32_t peer, std::string_view device) const;

private:
  GpuHeap(std::shared_ptr<Gpu> gpu, HeapOptions options);

  Result<Fd> addSegment(uint64_t offset, uint64_t bytes) override;
  void dropSegment(uint64_t offset, uint64_t bytes) override;
  Status mapSegment(uint32_t peer, const Fd &segment, uint64_t offset,
                    uint64_t bytes, std::string_view device) override;
  uint64_t segmentBytes(uint64_t missing) const override;
  std::string device() const override;

  Status reserve(uint32_t rank);

  std::shared_ptr<Gpu> gpu_;
  uint64_t granularity_ = 0;
  bool flushes_ = false; // what NICs write needs to be made visible
  MappedRanges ranges_;
};

} // namespace mk::rt::cuda

#endif // MKERNEL_RUNTIME_DEVICE_CUDA_GPUHEAP_H
