//===- Timeline.h - What a kernel on a GPU records of its time --*- C++ -*-===//
#ifndef MKERNEL_RUNTIME_DEVICE_CUDA_TIMELINE_H
#define MKERNEL_RUNTIME_DEVICE_CUDA_TIMELINE_H

#include "device/SteadyClock.h"
#include "device/cuda/Gpu.h"
#include "mkernel/Runtime/Package.h"
#include "mkernel/Runtime/Timeline.h"

#include <span>

namespace mk::rt::cuda {

/// How far the host's steady clock is ahead of a GPU's, in nanoseconds.
struct ClockOffset {
  int64_t offset = 0;
  int64_t uncertainty = 0;
};

/// The tracks of mkernel/ABI/Timeline.h in the memory of a GPU. The context is current in all
/// calls.
class TimelineTracks {
public:
  Status allocate(std::shared_ptr<Gpu> device, const Metadata &metadata);
  /// What the parameter block gets.
  uint64_t address() const { return memory_.address(); }
  /// Of the last launch, which has ended. `ended`: a time on the host's clock soon behind it,
  /// for GPUs whose clock cannot be compared with it.
  Result<Timeline> read(const Metadata &metadata, int64_t ended);

private:
  uint64_t bytes(const Metadata &metadata) const;
  /// Compares the clocks.
  Result<ClockOffset> compareClocks();

  std::shared_ptr<Gpu> device_;
  DeviceMemory memory_;
};

/// The tracks in `bytes`, as a kernel leaves them, in nanoseconds of the GPU's clock.
std::vector<Timeline::Track> readTracks(const Metadata &metadata,
                                        std::span<const std::byte> bytes);

} // namespace mk::rt::cuda

#endif // MKERNEL_RUNTIME_DEVICE_CUDA_TIMELINE_H
