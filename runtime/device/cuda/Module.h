//===- Module.h - Device code made ready to launch --------------*- C++ -*-===//
#ifndef MKERNEL_RUNTIME_DEVICE_CUDA_MODULE_H
#define MKERNEL_RUNTIME_DEVICE_CUDA_MODULE_H

#include "device/cuda/Gpu.h"
#include "mkernel/Runtime/DiskCache.h"
#include "mkernel/Runtime/Package.h"

namespace mk::rt::cuda {

class Module {
public:
  /// Loads PTX text, or a cubin as it is. PTX is compiled by ptxas, and the
  /// result kept in `cache` under the digest of the text, the driver and the
  /// compute capability; without ptxas the driver compiles it, and keeps it in its own way. Errors
  /// carry the compiler's log. `variant` says what this code of the kernel needs, which is checked
  /// against the code and the GPU.
  static Result<std::unique_ptr<Module>> load(std::shared_ptr<Gpu> device,
                                              std::string_view code,
                                              const Metadata &metadata,
                                              const Metadata::Variant &variant,
                                              const DiskCache &cache);
  ~Module();
  Module(const Module &) = delete;
  Module &operator=(const Module &) = delete;

  FunctionHandle function() const { return function_; }
  /// Whether the compiled code came from the cache.
  bool cached() const { return cached_; }

private:
  explicit Module(std::shared_ptr<Gpu> device)
      : device_(std::move(device)) {}
  Status loadCode(std::string_view code, const std::string &kernel,
                  const DiskCache &cache);
  Status loadImage(const void *image, std::string &log);
  Status prepare(const Metadata &metadata, const Metadata::Variant &variant);
  Status checkResident(const Metadata &metadata, const Metadata::Variant &variant);

  std::shared_ptr<Gpu> device_;
  ModuleHandle module_ = nullptr;
  FunctionHandle function_ = nullptr;
  bool cached_ = false;
};

} // namespace mk::rt::cuda

#endif // MKERNEL_RUNTIME_DEVICE_CUDA_MODULE_H
