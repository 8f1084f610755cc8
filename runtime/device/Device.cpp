//===- Device.cpp - What a target does for a kernel -----------------------===//

#include "device/Device.h"

#include <algorithm>

using namespace mk::rt;

Result<std::shared_ptr<DeviceCode>>
mk::rt::loadDeviceCode(Context &context, const Metadata &metadata,
                       std::shared_ptr<const Payload> payload) {
  DeviceKind wanted = metadata.gpu ? DeviceKind::Gpu : DeviceKind::Host;
  if (context.device().kind() == wanted)
    return context.device().load(context, metadata, std::move(payload));
  if (wanted == DeviceKind::Host)
    return error(StatusCode::FailedPrecondition, "kernel '", metadata.kernel,
                 "' is compiled for ", metadata.target,
                 ", and the context was made for a GPU "
                 "(ContextOptions::device): compile it with --target=sm_90a, or "
                 "make a context for the host");
  if (context.world() > 1)
    return error(StatusCode::FailedPrecondition, "kernel '", metadata.kernel,
                 "' for ", metadata.target, " on a mesh of ", context.world(),
                 " ranks needs symmetric memory of GPUs: make the context with "
                 "ContextOptions::device = DeviceKind::Gpu");
  MK_ASSIGN(std::unique_ptr<Device> device, cuda::open(context.options().gpu));
  return device->load(context, metadata, std::move(payload));
}

std::string mk::rt::elementName(std::string_view what, std::string_view name,
                                std::span<const int64_t> extents,
                                int64_t index) {
  std::string text = str(what, " '", name, "'");
  if (extents.empty())
    return text;
  std::string coordinates;
  for (size_t d = extents.size(); d-- > 0;) {
    int64_t extent = std::max<int64_t>(extents[d], 1);
    int64_t at = d == 0 ? index : index % extent;
    index /= extent;
    coordinates = str(at, coordinates.empty() ? "" : ", ", coordinates);
  }
  return str(text, "[", coordinates, "]");
}

std::vector<int64_t> mk::rt::tightStrides(std::span<const int64_t> sizes) {
  std::vector<int64_t> strides(sizes.size());
  int64_t stride = 1;
  for (size_t d = sizes.size(); d-- > 0; stride *= sizes[d])
    strides[d] = stride;
  return strides;
}
