//===- PackKernel.h - Copies an argument's rows to other strides -*- C++ -*-===//
//
// Rows may begin anywhere and be of any length; they arrive aligned. Never is a byte read in front of
// the argument or behind its last row.
//
//===----------------------------------------------------------------------===//
#ifndef MKERNEL_RUNTIME_DEVICE_CUDA_PACKKERNEL_H
#define MKERNEL_RUNTIME_DEVICE_CUDA_PACKKERNEL_H

#include "device/cuda/OwnKernel.h"

#include <span>

namespace mk::rt::cuda {

/// Of one argument; the PTX text has the offsets. A thread copies 16 bytes, and `1 << logLanes` threads
/// side by side a segment of a row.
struct PackCopy {
  static constexpr uint32_t kMaxDims = 4;
  uint64_t to = 0, from = 0;
  uint64_t begin = 0, end = 0; // of the argument in memory
  uint64_t rowBytes = 0;
  uint64_t pitch = 0; // from one row to the next at `to`, bytes, a multiple of 16
  uint32_t units = 0; // segments of all rows
  uint32_t segments = 1, logLanes = 0; // of a row
  uint32_t numDims = 0;
  struct Dim {
    uint64_t size = 1, stride = 0; // rows, and bytes at `from`
  } dims[kMaxDims]; // innermost first
  uint32_t firstCta = 0, ctas = 0; // that copy it

  uint64_t unitBytes() const { return uint64_t(16) << logLanes; }
};

/// The kernel's parameter.
struct PackParams {
  static constexpr uint32_t kMaxCopies = 16;
  PackCopy copies[kMaxCopies];
};

class PackKernel {
public:
  /// Has the driver compile the kernel.
  static Result<std::unique_ptr<PackKernel>> load(std::shared_ptr<Gpu> device);
  /// Enqueues copies side by side, their CTAs chosen here; a CUresult. The context is current.
  int launch(std::span<const PackCopy> copies, StreamHandle stream) const;
  /// The kernel's text.
  static const char *ptx();

private:
  explicit PackKernel(std::unique_ptr<OwnKernel> kernel) : kernel_(std::move(kernel)) {}
  std::unique_ptr<OwnKernel> kernel_;
};

} // namespace mk::rt::cuda

#endif // MKERNEL_RUNTIME_DEVICE_CUDA_PACKKERNEL_H
