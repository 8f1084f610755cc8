//===- Variant.cpp - A variant of a bound kernel --------------------------===//

#include "device/cuda/Variant.h"

#include "device/Device.h"

#include <algorithm>

using namespace mk::rt;
using namespace mk::rt::cuda;

namespace {

bool isEmpty(const Tensor &tensor) {
  return std::find(tensor.sizes.begin(), tensor.sizes.end(), 0) != tensor.sizes.end();
}

} // namespace

Status Variant::allocate(Context &context, std::shared_ptr<Gpu> gpu, const JobPlan &plan) {
  gpu_ = std::move(gpu);
  return context.world() > 1 ? peers_.allocate(context, gpu_, metadata_, plan) : Status::success();
}

// The driver may refuse a map for a reason of its own.
bool Variant::takes(std::span<const Tensor> args) {
  // A kernel that does without maps reads arguments as they are.
  if (!packing_.prepare(gpu_, metadata_, about_, args))
    return !about_.needsMaps;
  return !about_.needsMaps ||
         std::all_of(about_.tensorMaps.begin(), about_.tensorMaps.end(),
                     [&](const Metadata::TensorMap &map) {
                       TensorMapBytes bytes;
                       const Tensor &arg = packing_.args()[map.arg];
                       return !map.copies || isEmpty(arg) ||
                              encodeTensorMap(gpu_->driver(), map, arg,
                                              metadata_.args[map.arg].name, bytes);
                     });
}

Status Variant::prepare(Context &context, const JobPlan &plan, std::span<const EnginePut> puts,
                        const std::function<Result<std::shared_ptr<const Module>>()> &load,
                        const mk_gpu_launch &launch, uint64_t timeline) {
  if (!module_) {
    MK_ASSIGN(layout_, StateLayout::create(metadata_, about_, plan.plan(context.rank())));
    MK_ASSIGN(state_, DeviceMemory::allocate(
                          gpu_, layout_.bytes,
                          str("what the CTAs of kernel '", metadata_.kernel, "' share")));
    params_ = ParamBlock(metadata_, about_);
    params_.launch() = launch;
    MK_ASSIGN(module_, load());
  }
  if (context.world() > 1)
    MK_TRY(peers_.describe(context, metadata_, about_, plan, packing_.args()));
  Current current(*gpu_);
  const std::vector<Tensor> &args = packing_.args();
  mk_gpu_launch &l = params_.launch();
  l.maps_valid = 0;
  for (size_t i = 0; i < about_.tensorMaps.size(); ++i) {
    const Metadata::TensorMap &map = about_.tensorMaps[i];
    Tensor tensor = args[map.arg];
    bool empty = isEmpty(tensor);
    // Read as zeroes, like what lies outside of any argument: one of them.
    if (empty && map.copies) {
      std::fill(tensor.sizes.begin(), tensor.sizes.end(), 1);
      tensor.strides = tightStrides(tensor.sizes);
      tensor.address = state_.address() + layout_.zeroes;
    }
    bool made = encodeTensorMap(gpu_->driver(), map, tensor, metadata_.args[map.arg].name,
                                params_.tensorMap(i));
    if (made && !empty)
      l.maps_valid |= uint64_t(1) << i;
  }
  params_.fill(metadata_, plan.dims(context.rank()), args, plan.plan(context.rank()), layout_,
               state_.address(), peers_.signals(), timeline);
  if (context.world() > 1)
    peers_.fill(l);
  return Engines::areNeeded(metadata_) ? prepareEngines(context, plan.plan(context.rank()), puts)
                                       : Status::success();
}

Status Variant::prepareEngines(Context &context, const Plan &own, std::span<const EnginePut> puts) {
  if (!engines_) {
    MK_ASSIGN(engines_, Engines::create(gpu_));
  }
  std::span<const SharedSignal> shared = peers_.signals();
  size_t count = metadata_.signals.size();
  std::vector<uint64_t> values;
  for (size_t i = 0; i < count; ++i)
    values.push_back(i < shared.size() && shared[i].values
                         ? shared[i].values
                         : state_.address() + layout_.signals[i].values);
  return engines_->prepare(context, metadata_, own, puts, values,
                           shared.empty() ? 0 : shared[count].values, params_.launch());
}
