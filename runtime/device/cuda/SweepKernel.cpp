//===- SweepKernel.cpp - Puts other data into the L2 cache ----------------===//

#include "device/cuda/SweepKernel.h"

#include "device/cuda/Kernels.h"

using namespace mk::rt;
using namespace mk::rt::cuda;

static constexpr uint64_t kUnknownCache = 64 << 20;

Result<SweepKernel> SweepKernel::load(std::shared_ptr<Gpu> device) {
  SweepKernel sweep;
  int cache = device->attribute(kL2CacheSize);
  sweep.params_.bytes = 2 * (cache > 0 ? uint64_t(cache) / 16 * 16 : kUnknownCache);
  MK_ASSIGN(sweep.memory_,
            DeviceMemory::allocate(device, sweep.params_.bytes,
                                   "what clears the cache between measured launches"));
  sweep.params_.from = sweep.memory_.address();
  MK_ASSIGN(sweep.kernel_, OwnKernel::load(std::move(device), kSweepPtx, "mk_sweep",
                                           "the kernel that clears the cache"));
  return sweep;
}

int SweepKernel::launch(StreamHandle stream) {
  return kernel_->launch(&params_, kernel_->countCtas(params_.bytes / 16), stream);
}
