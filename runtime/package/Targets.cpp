//===- Targets.cpp - What packages may be compiled for --------------------===//

#include "mkernel/Runtime/Gpu.h"

using namespace mk::rt;

static constexpr GpuTarget kTargets[] = {{"sm_90a", "9.0", "H100, H200 or GH200"}};

std::span<const GpuTarget> mk::rt::gpuTargets() { return kTargets; }

const GpuTarget *mk::rt::findGpuTarget(std::string_view name) {
  for (const GpuTarget &target : kTargets)
    if (target.name == name)
      return &target;
  return nullptr;
}
