//===- OpenKernel.h - Opens a launch in front of its kernel -----*- C++ -*-===//
//
// In front of copies by copy engines (mkernel/ABI/Gpu.h): they may touch a peer once that is ready,
// and a kernel on all SMs leaves no room for one beside it that would wait. One thread raises
// `ready` at all peers and waits for theirs, within the launch's deadline. Then it writes the words
// that copies bring to signals, which follow from the epoch. Where it fails it reports, and words
// stay as they are.
//
//===----------------------------------------------------------------------===//
#ifndef MKERNEL_RUNTIME_DEVICE_CUDA_OPENKERNEL_H
#define MKERNEL_RUNTIME_DEVICE_CUDA_OPENKERNEL_H

#include "device/cuda/OwnKernel.h"
#include "mkernel/ABI/Gpu.h"

namespace mk::rt::cuda {

/// A word becomes epoch * arrivals + number.
struct OpenWord {
  uint32_t arrivals = 0, number = 0;
};

/// The kernel's parameter; the PTX text has the offsets.
struct OpenParams {
  uint64_t control = 0, report = 0, jobAbort = 0, deadline = 0, heaps = 0; // of mk_gpu_launch
  uint64_t ready = 0;             // uint32_t[world] of this rank, 0: it has no peers
  uint64_t words = 0, values = 0; // const OpenWord[count], uint32_t[count]
  uint32_t count = 0, rank = 0, world = 0, unused = 0;
};

class OpenKernel {
public:
  /// Has the driver compile the kernel.
  static Result<std::unique_ptr<OpenKernel>> load(std::shared_ptr<Gpu> device);
  /// A CUresult. The context is current.
  int launch(OpenParams params, StreamHandle stream) const {
    return kernel_->launch(&params, 1, stream);
  }

private:
  explicit OpenKernel(std::unique_ptr<OwnKernel> kernel) : kernel_(std::move(kernel)) {}
  std::unique_ptr<OwnKernel> kernel_;
};

} // namespace mk::rt::cuda

#endif // MKERNEL_RUNTIME_DEVICE_CUDA_OPENKERNEL_H
