//===- OwnKernel.cpp - Kernels that the runtime brings itself -------------===//

#include "device/cuda/OwnKernel.h"

#include <algorithm>

using namespace mk::rt;
using namespace mk::rt::cuda;

static constexpr uint32_t kCtasOfSm = 8;

Result<std::unique_ptr<OwnKernel>> OwnKernel::load(std::shared_ptr<Gpu> device, const char *ptx,
                                                   const char *name, std::string_view what) {
  const Driver &driver = device->driver();
  Current current(*device);
  std::unique_ptr<OwnKernel> kernel(new OwnKernel(std::move(device)));
  MK_TRY(driver.check(driver.moduleLoadDataEx(&kernel->module_, ptx, 0, nullptr, nullptr),
                      str("cuModuleLoadDataEx of ", what)));
  MK_TRY(driver.check(driver.moduleGetFunction(&kernel->function_, kernel->module_, name),
                      str("cuModuleGetFunction of ", name)));
  return kernel;
}

OwnKernel::~OwnKernel() {
  if (!module_)
    return;
  Current current(*device_);
  device_->driver().moduleUnload(module_);
}

uint32_t OwnKernel::countCtas(uint64_t threads, double share) const {
  uint64_t most = uint64_t(share * device_->info().sms * kCtasOfSm);
  return uint32_t(std::clamp<uint64_t>((threads + kThreads - 1) / kThreads, 1, std::max<uint64_t>(most, 1)));
}

int OwnKernel::launch(void *parameter, uint32_t ctas, StreamHandle stream) const {
  LaunchConfig config;
  config.grid[0] = ctas;
  config.block[0] = kThreads;
  config.stream = stream;
  void *parameters[] = {parameter};
  return device_->driver().launchKernelEx(&config, function_, parameters, nullptr);
}
