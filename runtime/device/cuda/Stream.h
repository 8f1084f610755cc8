//===- Stream.h - A stream beside kernels -----------------------*- C++ -*-===//
#ifndef MKERNEL_RUNTIME_DEVICE_CUDA_STREAM_H
#define MKERNEL_RUNTIME_DEVICE_CUDA_STREAM_H

#include "device/cuda/Gpu.h"

namespace mk::rt::cuda {

/// A stream of the highest priority that waits for no other: what is in it goes on while a
/// kernel has all SMs to itself. Move-only; waits for what is in it.
class Stream {
public:
  Stream() = default;
  Stream(Stream &&other) noexcept { *this = std::move(other); }
  Stream &operator=(Stream &&other) noexcept;
  ~Stream();

  static Result<Stream> create(std::shared_ptr<Gpu> gpu);
  StreamHandle handle() const { return handle_; }

private:
  std::shared_ptr<Gpu> gpu_;
  StreamHandle handle_ = nullptr;
};

} // namespace mk::rt::cuda

#endif // MKERNEL_RUNTIME_DEVICE_CUDA_STREAM_H
