//===- Copies.h - Copies from and to the memory of a GPU --------*- C++ -*-===//
#ifndef MKERNEL_RUNTIME_DEVICE_CUDA_COPIES_H
#define MKERNEL_RUNTIME_DEVICE_CUDA_COPIES_H

#include "device/cuda/GpuHeap.h"
#include "device/cuda/Stream.h"
#include "mkernel/Runtime/HeapCopies.h"

#include <deque>

namespace mk::rt::cuda {

/// By the copy engines, in a stream of its own.
class GpuCopies final : public HeapCopies {
public:
  static Result<std::unique_ptr<HeapCopies>> create(std::shared_ptr<Gpu> gpu,
                                                    GpuHeap &heap);
  ~GpuCopies() override;

  Result<Fd> exportSegment(uint64_t offset, uint64_t bytes) override;
  Status mapSegment(uint32_t peer, const Fd &segment, uint64_t offset, uint64_t bytes,
                    std::string_view device) override;
  std::string device() const override;
  Status checkPeer(uint32_t peer, std::string_view device) const override;
  Status pin(std::byte *memory, uint64_t bytes) override;
  Status toPeer(uint32_t peer, uint64_t dst, uint64_t src, uint64_t bytes) override;
  Status toHost(std::byte *to, uint64_t src, uint64_t bytes) override;
  Status fromHost(uint64_t dst, const std::byte *from, uint64_t bytes) override;
  Result<uint64_t> mark() override;
  Result<uint64_t> reached() override;

private:
  GpuCopies(std::shared_ptr<Gpu> gpu, GpuHeap &heap);
  uint64_t here(uint64_t offset) const;

  std::shared_ptr<Gpu> gpu_;
  GpuHeap &heap_;
  Stream stream_;
  MappedRanges peers_;
  std::vector<std::byte *> pinned_;
  std::deque<EventHandle> marks_; // not reached yet
  std::vector<EventHandle> free_;
  uint64_t marked_ = 0, reached_ = 0;
};

} // namespace mk::rt::cuda

#endif // MKERNEL_RUNTIME_DEVICE_CUDA_COPIES_H
