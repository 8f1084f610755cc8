//===- Code.cpp - The GPU targets behind the device interface -------------===//

#include "device/cuda/Binding.h"
#include "device/cuda/GpuHeap.h"
#include "device/cuda/Network.h"

using namespace mk::rt;
using namespace mk::rt::cuda;

namespace {

class CudaCode : public DeviceCode {
public:
  CudaCode(Context &context, std::shared_ptr<Gpu> device,
           std::shared_ptr<const Payload> payload)
      : context_(context), device_(std::move(device)), payload_(std::move(payload)),
        modules_(payload_->deviceCode.size()) {}

  Result<std::unique_ptr<DeviceBinding>> bind(const Metadata &metadata,
                                              const JobPlan &plan) override {
    auto binding = std::make_unique<Binding>(
        context_, device_, [this, &metadata](size_t variant) { return load(metadata, variant); },
        payload_, metadata, plan);
    MK_TRY(binding->allocate());
    return std::unique_ptr<DeviceBinding>(std::move(binding));
  }
  std::string model() const override { return device_->info().name; }

private:
  /// Once for all bindings.
  Result<std::shared_ptr<const Module>> load(const Metadata &metadata, size_t variant) {
    std::shared_ptr<const Module> &module = modules_[variant];
    if (!module) {
      MK_ASSIGN(module, Module::load(device_, payload_->deviceCode[variant], metadata,
                                     metadata.gpu->variants[variant], DiskCache::standard()));
    }
    return module;
  }

  Context &context_;
  std::shared_ptr<Gpu> device_;
  std::shared_ptr<const Payload> payload_;
  std::vector<std::shared_ptr<const Module>> modules_; // null: not loaded yet
};

/// Code of an architecture-specific target ("a") runs on that one alone.
Status checkCapability(const Gpu &device, const Metadata &metadata) {
  const GpuInfo &gpu = device.info();
  const GpuTarget *target = findGpuTarget(metadata.target); // Payload::load has found it
  if (capabilityText(gpu) == target->capability)
    return Status::success();
  return error(StatusCode::FailedPrecondition, "kernel '", metadata.kernel,
               "' is compiled for ", metadata.target,
               ", compute capability ", target->capability, " (", target->products, "); ",
               device.name(),
               " has ", capabilityText(gpu),
               ": choose another with CUDA_VISIBLE_DEVICES, or compile the "
               "kernel with --target=host");
}

class CudaDevice : public Device {
public:
  explicit CudaDevice(std::shared_ptr<Gpu> gpu) : gpu_(std::move(gpu)) {}
  DeviceKind kind() const override { return DeviceKind::Gpu; }
  std::string pciAddress() const override { return gpu_->info().pciAddress; }
  Status synchronize() override {
    Current current(*gpu_);
    return gpu_->driver().check(gpu_->driver().ctxSynchronize(),
                                "cuCtxSynchronize");
  }
  Result<std::unique_ptr<Heap>>
  createHeap(const HeapOptions &options) override {
    return GpuHeap::create(gpu_, options);
  }
  Result<std::unique_ptr<DeviceNetwork>> openNetwork(Heap &heap,
                                                     uint32_t channels) override {
    MK_ASSIGN(std::unique_ptr<GpuNetwork> network,
              GpuNetwork::create(gpu_, heap, channels));
    return std::unique_ptr<DeviceNetwork>(std::move(network));
  }
  Result<std::shared_ptr<DeviceCode>>
  load(Context &context, const Metadata &metadata,
       std::shared_ptr<const Payload> payload) override {
    MK_TRY(checkCapability(*gpu_, metadata));
    return std::shared_ptr<DeviceCode>(new CudaCode(context, gpu_, std::move(payload)));
  }

private:
  std::shared_ptr<Gpu> gpu_;
};

} // namespace

Result<std::unique_ptr<Device>> cuda::open(int ordinal) {
  MK_ASSIGN(std::shared_ptr<Gpu> gpu, Gpu::open(ordinal));
  return std::unique_ptr<Device>(new CudaDevice(std::move(gpu)));
}
