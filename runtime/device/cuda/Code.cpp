//===- Code.cpp - The GPU targets behind the device interface -------------===//

#include "device/cuda/Binding.h"

using namespace mk::rt;
using namespace mk::rt::cuda;

namespace {

class CudaCode : public DeviceCode {
public:
  CudaCode(Context &context, std::shared_ptr<Device> device,
           std::shared_ptr<const Module> module)
      : context_(context), device_(std::move(device)),
        module_(std::move(module)) {}

  Result<std::unique_ptr<DeviceBinding>> bind(const Metadata &metadata,
                                              const JobPlan &plan) override {
    auto binding =
        std::make_unique<Binding>(context_, device_, module_, metadata, plan);
    MK_TRY(binding->allocate());
    return std::unique_ptr<DeviceBinding>(std::move(binding));
  }

private:
  Context &context_;
  std::shared_ptr<Device> device_;
  std::shared_ptr<const Module> module_;
};

/// Code of an architecture-specific target ("a") runs on that one alone.
Status checkCapability(const Device &device, const Metadata &metadata) {
  const GpuInfo &gpu = device.info();
  if (gpu.major == 9 && gpu.minor == 0)
    return Status::ok();
  return error(StatusCode::FailedPrecondition, "kernel '", metadata.kernel,
               "' is compiled for ", metadata.target,
               ", compute capability 9.0 (H100, H200, GH200); ", device.name(),
               " has ", capabilityText(gpu),
               ": choose another with CUDA_VISIBLE_DEVICES, or compile the "
               "kernel with --target=host");
}

} // namespace

Result<std::shared_ptr<DeviceCode>>
cuda::loadCode(Context &context, const Metadata &metadata,
               std::shared_ptr<const Payload> payload) {
  if (context.world() > 1)
    return error(StatusCode::InvalidArgument, "kernel '", metadata.kernel,
                 "' for ", metadata.target, " on a mesh of ", context.world(),
                 " ranks: several GPUs are not supported yet by this target: "
                 "run one rank, or compile it with --target=host");
  MK_ASSIGN(std::shared_ptr<Device> device,
            Device::open(context.options().gpu));
  MK_TRY(checkCapability(*device, metadata));
  MK_ASSIGN(std::unique_ptr<Module> module,
            Module::load(device, payload->deviceCode, metadata,
                         DiskCache::standard()));
  return std::shared_ptr<DeviceCode>(
      new CudaCode(context, std::move(device), std::move(module)));
}
