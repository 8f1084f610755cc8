//===- OwnKernel.h - Kernels that the runtime brings itself -----*- C++ -*-===//
//
// Small ones that no package holds: random values, copies with other strides. The driver compiles
// their text.
//
//===----------------------------------------------------------------------===//
#ifndef MKERNEL_RUNTIME_DEVICE_CUDA_OWNKERNEL_H
#define MKERNEL_RUNTIME_DEVICE_CUDA_OWNKERNEL_H

#include "device/cuda/Gpu.h"
#include "device/cuda/Stream.h"

namespace mk::rt::cuda {

class OwnKernel {
public:
  static constexpr uint32_t kThreads = 256; // of a CTA

  /// Has the driver compile `ptx`, whose entry is `name`. `what` is for messages: "the kernel that ...".
  static Result<std::unique_ptr<OwnKernel>> load(std::shared_ptr<Gpu> device, const char *ptx,
                                                 const char *name, std::string_view what);
  ~OwnKernel();
  OwnKernel(const OwnKernel &) = delete;
  OwnKernel &operator=(const OwnKernel &) = delete;

  /// CTAs for so many threads, at most a share of those that the GPU holds: they step over the rest.
  uint32_t countCtas(uint64_t threads, double share = 1) const;
  /// Enqueues it with one parameter; a CUresult. The context is current.
  int launch(void *parameter, uint32_t ctas, StreamHandle stream) const;

private:
  explicit OwnKernel(std::shared_ptr<Gpu> device) : device_(std::move(device)) {}
  std::shared_ptr<Gpu> device_;
  ModuleHandle module_ = nullptr;
  FunctionHandle function_ = nullptr;
};

} // namespace mk::rt::cuda

#endif // MKERNEL_RUNTIME_DEVICE_CUDA_OWNKERNEL_H
