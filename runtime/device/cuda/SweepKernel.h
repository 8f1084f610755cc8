//===- SweepKernel.h - Puts other data into the L2 cache --------*- C++ -*-===//
//
// Between launches that are measured: what a program runs between two launches of a kernel leaves
// little of its weights there. It reads, since lines that were written would have to be written
// back while the kernel runs.
//
//===----------------------------------------------------------------------===//
#ifndef MKERNEL_RUNTIME_DEVICE_CUDA_SWEEPKERNEL_H
#define MKERNEL_RUNTIME_DEVICE_CUDA_SWEEPKERNEL_H

#include "device/cuda/OwnKernel.h"

namespace mk::rt::cuda {

class SweepKernel {
public:
  /// With memory of twice the size of the cache.
  static Result<SweepKernel> load(std::shared_ptr<Gpu> device);
  /// Enqueues; a CUresult. The context is current.
  int launch(StreamHandle stream);

private:
  struct Params {
    uint64_t from = 0, bytes = 0; // zeros; a multiple of 16
  };
  std::unique_ptr<OwnKernel> kernel_;
  DeviceMemory memory_;
  Params params_;
};

} // namespace mk::rt::cuda

#endif // MKERNEL_RUNTIME_DEVICE_CUDA_SWEEPKERNEL_H
