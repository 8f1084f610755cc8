//===- Packing.cpp - Arguments that are copied for tensor maps ------------===//

#include "device/cuda/Packing.h"

#include "mkernel/Runtime/Env.h"
#include "mkernel/Runtime/Log.h"

#include <algorithm>
#include <set>

using namespace mk::rt;
using namespace mk::rt::cuda;

namespace {

constexpr uint64_t kRowAlignment = 128; // bytes: what the L2 cache fetches
constexpr uint64_t kPiece = 16;         // bytes that a thread copies
constexpr uint32_t kMostLogLanes = 5;
constexpr uint64_t kMostUnits = uint64_t(1) << 31;

} // namespace

PackCopy mk::rt::cuda::describeCopy(const Tensor &from, const Tensor &to) {
  size_t rank = from.sizes.size();
  uint64_t size = byteSize(from.type);
  PackCopy p;
  p.to = to.address;
  p.from = p.begin = from.address;
  p.rowBytes = uint64_t(from.sizes.back()) * size;
  p.pitch = uint64_t(to.strides[rank - 2]) * size;
  p.end = from.address + p.rowBytes;
  uint64_t pieces = (p.rowBytes + kPiece - 1) / kPiece, rows = 1;
  while (p.logLanes < kMostLogLanes && uint64_t(1) << p.logLanes < pieces)
    ++p.logLanes;
  uint64_t segments = ((pieces - 1) >> p.logLanes) + 1;
  p.numDims = uint32_t(rank - 1);
  for (size_t i = 0; i + 1 < rank; ++i) {
    size_t d = rank - 2 - i;
    p.dims[i] = {uint64_t(from.sizes[d]), uint64_t(from.strides[d]) * size};
    p.end += (p.dims[i].size - 1) * p.dims[i].stride;
    rows *= p.dims[i].size;
  }
  p.segments = uint32_t(segments);
  p.units = uint32_t(std::min(rows * segments, kMostUnits));
  return p;
}

std::optional<Tensor> mk::rt::cuda::packedLayout(const Tensor &tensor) {
  size_t rank = tensor.sizes.size();
  uint64_t size = byteSize(tensor.type);
  if (rank < 2 || rank - 1 > PackCopy::kMaxDims || (tensor.sizes.back() > 1 && tensor.strides.back() != 1))
    return {};
  uint64_t rowBytes = uint64_t(tensor.sizes.back()) * size;
  Tensor packed = tensor;
  packed.address = 0;
  packed.strides.back() = 1;
  uint64_t stride = (rowBytes + kRowAlignment - 1) / kRowAlignment * kRowAlignment / size;
  uint64_t units = rowBytes / kPiece / (1 << kMostLogLanes) + 1;
  for (size_t d = rank - 1; d-- > 0;) {
    packed.strides[d] = int64_t(stride);
    // No product overflows: it is at most 2^31 times a size.
    units *= uint64_t(tensor.sizes[d]);
    if (units == 0 || units >= kMostUnits)
      return {};
    stride *= uint64_t(tensor.sizes[d]);
  }
  return tensor.sizes.back() ? std::optional(packed) : std::nullopt;
}

bool Packing::prepare(const std::shared_ptr<Gpu> &gpu, const Metadata &metadata,
                      const Metadata::Variant &about, std::span<const Tensor> args) {
  args_.assign(args.begin(), args.end());
  copies_.clear();
  if (env::get("MK_PACK") == "off")
    return true;
  std::set<size_t> done;
  for (const Metadata::TensorMap &map : about.tensorMaps) {
    const Tensor &tensor = args[map.arg];
    if (!map.packs || done.count(map.arg) || tensorMapObstacle(tensor).empty())
      continue;
    std::optional<Tensor> packed = packedLayout(tensor);
    if (!packed)
      continue;
    std::string what = str("argument '", metadata.args[map.arg].name, "'");
    if (!kernel_) {
      auto loaded = PackKernel::load(gpu);
      if (!loaded) {
        log::info(what, " is copied tile by tile: ", loaded.status().message());
        return false;
      }
      kernel_ = std::move(*loaded);
    }
    DeviceMemory &memory = memory_[map.arg];
    if (!memory.address()) {
      auto allocated = DeviceMemory::allocate(
          gpu, uint64_t(packed->strides[0] * packed->sizes[0]) * byteSize(packed->type),
          str("a copy of ", what, " whose rows are aligned"));
      if (!allocated) {
        log::info(what, " is copied tile by tile: ", allocated.status().message());
        return false;
      }
      memory = std::move(*allocated);
    }
    packed->address = memory.address();
    log::debug(what, " is copied in front of each launch: ", tensorMapObstacle(tensor));
    copies_.push_back(describeCopy(tensor, *packed));
    args_[map.arg] = *packed;
    done.insert(map.arg);
  }
  return true;
}

int Packing::launch(StreamHandle stream) const {
  return copies_.empty() ? kSuccess : kernel_->launch(copies_, stream);
}
