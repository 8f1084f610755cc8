//===- Device.cpp - What a target does for a kernel -----------------------===//

#include "device/Device.h"
#include "mkernel/ABI/Site.h"

#include <algorithm>

using namespace mk::rt;

static DeviceKind wantedBy(const Metadata &metadata) {
  return metadata.gpu ? DeviceKind::Gpu : DeviceKind::Host;
}

Status mk::rt::checkDevice(Context &context, const Metadata &metadata) {
  if (context.device().kind() == wantedBy(metadata))
    return Status::success();
  if (wantedBy(metadata) == DeviceKind::Host)
    return error(StatusCode::FailedPrecondition, "kernel '", metadata.kernel,
                 "' is compiled for ", metadata.target,
                 ", and the context was made for a GPU "
                 "(ContextOptions::device): compile it for one, or make a context for the "
                 "host");
  if (context.world() > 1)
    return error(StatusCode::FailedPrecondition, "kernel '", metadata.kernel,
                 "' for ", metadata.target, " on a mesh of ", context.world(),
                 " ranks needs symmetric memory of GPUs: make the context with "
                 "ContextOptions::device = DeviceKind::Gpu");
  return Status::success();
}

Result<std::shared_ptr<DeviceCode>>
mk::rt::loadDeviceCode(Context &context, const Metadata &metadata,
                       std::shared_ptr<const Payload> payload) {
  MK_TRY(checkDevice(context, metadata));
  if (context.device().kind() == wantedBy(metadata))
    return context.device().load(context, metadata, std::move(payload));
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

std::string mk::rt::placesText(std::span<const Metadata::Wait> waits, uint32_t role) {
  std::string text;
  for (const Metadata::Wait &wait : waits)
    if (wait.role == role)
      text += str(text.empty() ? ", at " : " or ", wait.at);
  return text;
}

std::string mk::rt::siteText(const Metadata &metadata, int64_t site) {
  if (site < 0 || size_t(site) >= metadata.sites.size())
    return "an op";
  return str(metadata.sites[site].op, " (", metadata.sites[site].at, ")");
}

std::string mk::rt::outsideText(const Metadata &metadata, const Outside &o) {
  std::string text = siteText(metadata, o.site);
  auto nameOf = [&](const auto &list, const char *what) {
    return o.number >= 0 && size_t(o.number) < list.size()
               ? str(what, " '", list[o.number].name, "'")
               : str(what, " ", o.number);
  };
  auto array = [&](const std::string &name) {
    return str(text, " uses index ", o.index, " in dimension ", o.dim, " of ", name,
               ", whose extent there is ", o.extent,
               ": correct the index or the extents");
  };
  switch (o.named) {
  case MK_USED_SIGNAL:
    return array(nameOf(metadata.signals, "signal"));
  case MK_USED_COUNTER:
    return array(nameOf(metadata.counters, "counter"));
  case MK_FULL_QUEUE:
    return str(text, " appends record ", o.index, " (from 0) to ",
               nameOf(metadata.queues, "queue"), ", which has room for ", o.extent,
               " in a launch: declare it larger");
  case MK_READ_QUEUE:
    return str(text, " takes record ", o.index, " (from 0) of ",
               nameOf(metadata.queues, "queue"), ", which has room for ", o.extent,
               " in a launch: correct the count, or declare it larger");
  default:
    break;
  }
  uint64_t sum = uint64_t(o.index) + uint64_t(o.size);
  std::string end = o.index < 0 ? str(static_cast<int64_t>(sum)) : str(sum);
  return str(text, o.named == MK_WRITTEN_ARGUMENT ? " writes " : " reads ",
             o.size == 1 ? str("element ", o.index)
                         : str("[", o.index, ":", end, "]"),
             " of dimension ", o.dim, " of ", nameOf(metadata.args, "argument"),
             ", which has ", o.extent, o.extent == 1 ? " element" : " elements",
             " there on rank ", o.rank, ": correct the index",
             o.size == 1 ? "" : " or the size");
}

std::vector<int64_t> mk::rt::tightStrides(std::span<const int64_t> sizes) {
  std::vector<int64_t> strides(sizes.size());
  int64_t stride = 1;
  for (size_t d = sizes.size(); d-- > 0;) {
    strides[d] = stride;
    // No buffer has as many elements; whoever binds it refuses the sizes.
    if (__builtin_mul_overflow(stride, sizes[d], &stride))
      stride = INT64_MAX;
  }
  return strides;
}
