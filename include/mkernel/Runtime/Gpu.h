//===- Gpu.h - The GPUs of this machine -------------------------*- C++ -*-===//
#ifndef MKERNEL_RUNTIME_GPU_H
#define MKERNEL_RUNTIME_GPU_H

#include "mkernel/Runtime/Status.h"

#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

namespace mk::rt {

struct GpuInfo {
  std::string name; // "NVIDIA H200"
  std::string uuid; // "GPU-0f3b5a1c-...": names it in every process
  std::string pciAddress; // "0000:1b:00.0"; "" if the driver does not say it
  int major = 0, minor = 0; // compute capability
  uint32_t sms = 0;
  uint64_t memoryBytes = 0;
};

struct GpuSystem {
  int cudaVersion = 0;       // that the driver supports: 12090 for 12.9
  std::vector<GpuInfo> gpus; // those that CUDA_VISIBLE_DEVICES lets through
};

/// Loads the driver (libcuda.so.1, or MK_CUDA_LIBRARY) and asks it; uses no
/// GPU. Unavailable says what is missing and how to get it: driver, a newer
/// driver, a GPU.
Result<GpuSystem> queryGpus();

/// A target whose code runs on GPUs of one compute capability alone.
struct GpuTarget {
  const char *name, *capability, *products;
};

/// Those whose packages this runtime loads; the first is named in examples.
std::span<const GpuTarget> gpuTargets();
/// Null if there is none of that name.
const GpuTarget *findGpuTarget(std::string_view name);

/// "9.0".
inline std::string capabilityText(const GpuInfo &gpu) {
  return str(gpu.major, ".", gpu.minor);
}

} // namespace mk::rt

#endif // MKERNEL_RUNTIME_GPU_H
