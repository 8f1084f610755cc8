//===- Gpu.h - A GPU and memory on it ------------------------*- C++ -*-===//
#ifndef MKERNEL_RUNTIME_DEVICE_CUDA_GPU_H
#define MKERNEL_RUNTIME_DEVICE_CUDA_GPU_H

#include "device/cuda/Driver.h"
#include "mkernel/Runtime/Gpu.h"

#include <memory>
#include <span>

namespace mk::rt::cuda {

/// One GPU with the CUDA context that everything on it uses.
class Gpu {
public:
  /// `ordinal` < 0: the GPU and context current on this thread, else GPU 0.
  /// Otherwise, and where none is current, the primary context, which programs
  /// share with the CUDA runtime.
  static Result<std::shared_ptr<Gpu>> open(int ordinal);
  ~Gpu();
  Gpu(const Gpu &) = delete;
  Gpu &operator=(const Gpu &) = delete;

  const Driver &driver() const { return driver_; }
  int ordinal() const { return ordinal_; }
  const GpuInfo &info() const { return info_; }
  /// "GPU 0 (NVIDIA H200)".
  std::string name() const { return str("GPU ", ordinal_, " (", info_.name, ")"); }
  int attribute(int which) const;
  int handle() const { return handle_; } // CUdevice
  ContextHandle context() const { return context_; }

private:
  explicit Gpu(const Driver &driver) : driver_(driver) {}
  const Driver &driver_;
  int ordinal_ = 0, handle_ = 0;
  GpuInfo info_;
  ContextHandle context_ = nullptr;
  bool retained_ = false;
};

/// Makes the device's context current for a scope, and leaves the caller's as
/// it was. A failure shows in the calls inside.
class Current {
public:
  explicit Current(const Gpu &device) : device_(device) {
    pushed_ = device.driver().ctxPushCurrent(device.context()) == kSuccess;
  }
  ~Current() {
    ContextHandle old;
    if (pushed_)
      device_.driver().ctxPopCurrent(&old);
  }
  Current(const Current &) = delete;
  Current &operator=(const Current &) = delete;

private:
  const Gpu &device_;
  bool pushed_;
};

/// Memory on the GPU, zeroed, aligned to 256. Move-only; frees.
class DeviceMemory {
public:
  DeviceMemory() = default;
  DeviceMemory(DeviceMemory &&other) noexcept { *this = std::move(other); }
  DeviceMemory &operator=(DeviceMemory &&other) noexcept;
  ~DeviceMemory() { reset(); }

  /// `what` is for messages: "argument 'a'".
  static Result<DeviceMemory> allocate(std::shared_ptr<Gpu> device,
                                       uint64_t bytes, std::string_view what);
  uint64_t address() const { return address_; }
  void reset();

private:
  std::shared_ptr<Gpu> device_;
  uint64_t address_ = 0;
};

/// Host memory that the GPU reads and writes, zeroed. Move-only; frees.
class PinnedMemory {
public:
  PinnedMemory() = default;
  PinnedMemory(PinnedMemory &&other) noexcept { *this = std::move(other); }
  PinnedMemory &operator=(PinnedMemory &&other) noexcept;
  ~PinnedMemory() { reset(); }

  static Result<PinnedMemory> allocate(std::shared_ptr<Gpu> device,
                                       uint64_t bytes);
  std::byte *host() const { return host_; }
  uint64_t address() const { return address_; } // as the GPU knows it
  void reset();

private:
  std::shared_ptr<Gpu> device_;
  std::byte *host_ = nullptr;
  uint64_t address_ = 0;
};

/// Times what lies in a stream between begin() and end(). Move-only.
class Stopwatch {
public:
  Stopwatch() = default;
  Stopwatch(Stopwatch &&other) noexcept { *this = std::move(other); }
  Stopwatch &operator=(Stopwatch &&other) noexcept;
  ~Stopwatch();

  static Result<Stopwatch> create(std::shared_ptr<Gpu> device);
  explicit operator bool() const { return device_ != nullptr; }
  /// CUresults of the driver. The context is current.
  int begin(StreamHandle stream);
  int end(StreamHandle stream);
  /// Milliseconds of what was enclosed last, which is done.
  int elapsed(double &ms) const;

private:
  std::shared_ptr<Gpu> device_;
  EventHandle begin_ = nullptr, end_ = nullptr;
};

} // namespace mk::rt::cuda

#endif // MKERNEL_RUNTIME_DEVICE_CUDA_GPU_H
