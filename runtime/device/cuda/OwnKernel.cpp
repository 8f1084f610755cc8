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

int OwnKernel::launch(void *parameter, uint64_t threads, StreamHandle stream) const {
  uint64_t ctas = (threads + kThreads - 1) / kThreads;
  LaunchConfig config;
  config.grid[0] =
      uint32_t(std::min<uint64_t>(ctas, uint64_t(device_->info().sms) * kCtasOfSm));
  config.block[0] = kThreads;
  config.stream = stream;
  void *parameters[] = {parameter};
  return device_->driver().launchKernelEx(&config, function_, parameters, nullptr);
}
