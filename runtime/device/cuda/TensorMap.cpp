//===- TensorMap.cpp - Descriptors for the tensor memory unit -------------===//

#include "device/cuda/TensorMap.h"

#include "mkernel/Runtime/Log.h"

#include <algorithm>
#include <iterator>

using namespace mk::rt;
using namespace mk::rt::cuda;

namespace {

constexpr size_t kMaxRank = 5;
constexpr uint64_t kAlignment = 16;                // bytes
constexpr uint64_t kMaxStride = uint64_t(1) << 40; // bytes, exclusive
// How much the L2 cache fetches at once: two lines, where all rows begin at such.
// Others would have it fetch up to four lines for one; 8784 x 1120 x 14576 in fp8
// takes .258 ms of .302 with single lines then (H100).
constexpr uint64_t kTwoLines = 256; // bytes
// Elements; the driver takes 2^32, but coordinates are signed 32-bit numbers.
constexpr int64_t kMaxExtent = int64_t(1) << 31;

TensorMapType typeOf(ElementType type) {
  switch (type) {
  case ElementType::f64:
    return TensorMapType::F64;
  case ElementType::f32:
    return TensorMapType::F32;
  case ElementType::f16:
    return TensorMapType::F16;
  case ElementType::bf16:
    return TensorMapType::BF16;
  case ElementType::i64:
    return TensorMapType::I64;
  case ElementType::i32:
    return TensorMapType::I32;
  case ElementType::i16:
    return TensorMapType::U16;
  case ElementType::f8e4m3:
  case ElementType::f8e5m2:
  case ElementType::i8:
  case ElementType::i1:
    return TensorMapType::U8;
  }
  return TensorMapType::U8;
}

TensorMapSwizzle swizzleOf(uint32_t bytes) {
  switch (bytes) {
  case 32:
    return TensorMapSwizzle::B32;
  case 64:
    return TensorMapSwizzle::B64;
  case 128:
    return TensorMapSwizzle::B128;
  default:
    return TensorMapSwizzle::None;
  }
}

} // namespace

std::string mk::rt::cuda::tensorMapObstacle(const Tensor &tensor) {
  size_t rank = tensor.sizes.size();
  uint64_t size = byteSize(tensor.type);
  if (rank == 0 || rank > kMaxRank)
    return str("it has ", rank, " dimensions");
  if (tensor.address % kAlignment)
    return "its base is not aligned to 16 bytes";
  for (size_t d = 0; d < rank; ++d) {
    if (tensor.sizes[d] == 0)
      return "it is empty";
    if (tensor.sizes[d] > kMaxExtent)
      return str("dimension ", d, " has ", tensor.sizes[d], " elements");
    if (tensor.sizes[d] == 1)
      continue;
    uint64_t stride = uint64_t(tensor.strides[d]) * size;
    if (d + 1 == rank) {
      if (tensor.strides[d] != 1)
        return str("its innermost stride is ", tensor.strides[d], " elements");
    } else if (stride % kAlignment || stride >= kMaxStride) {
      return str("the stride of dimension ", d, ", ", stride,
                 " bytes, is no multiple of 16 below 2^40");
    }
  }
  return {};
}

Status mk::rt::cuda::checkExtents(const Tensor &tensor,
                                  std::string_view argument) {
  for (size_t d = 0; d < tensor.sizes.size(); ++d)
    if (tensor.sizes[d] > kMaxExtent)
      return error(StatusCode::InvalidArgument, "argument '",
                   std::string(argument), "': dimension ", d, " has ",
                   tensor.sizes[d], " elements; on a GPU a kernel fetches and "
                   "stores tiles of arguments of at most 2^31 along each: "
                   "launch it on parts");
  return Status::success();
}

bool mk::rt::cuda::encodeTensorMap(const Driver &driver,
                                   const Metadata::TensorMap &map,
                                   const Tensor &tensor,
                                   std::string_view argument,
                                   TensorMapBytes &out) {
  out = {};
  std::string obstacle = tensorMapObstacle(tensor);
  if (!obstacle.empty()) {
    log::debug("argument '", argument, "' takes the slower path: ", obstacle);
    return false;
  }
  // The driver's order: innermost first, and no stride for that.
  size_t rank = tensor.sizes.size();
  uint64_t size = byteSize(tensor.type);
  uint64_t extents[kMaxRank] = {}, strides[kMaxRank] = {};
  uint32_t box[kMaxRank] = {}, steps[kMaxRank] = {1, 1, 1, 1, 1};
  bool isByTwoLines = tensor.address % kTwoLines == 0;
  uint64_t span = (uint64_t(tensor.sizes[rank - 1]) * size + kAlignment - 1) /
                  kAlignment * kAlignment;
  for (size_t i = 0; i < rank; ++i) {
    size_t d = rank - 1 - i;
    extents[i] = uint64_t(tensor.sizes[d]);
    box[i] = map.box[d];
    if (i == 0)
      continue;
    // With one element any stride does: one that the driver takes.
    uint64_t stride = tensor.sizes[d] == 1
                          ? std::min(span, kMaxStride - kAlignment)
                          : uint64_t(tensor.strides[d]) * size;
    strides[i - 1] = stride;
    isByTwoLines &= tensor.sizes[d] == 1 || stride % kTwoLines == 0;
    span = std::max(span, stride * extents[i]);
  }
  int code = driver.tensorMapEncodeTiled(
      &out, typeOf(tensor.type), uint32_t(rank),
      reinterpret_cast<void *>(tensor.address), extents, strides, box, steps,
      /*no interleaving*/ 0, swizzleOf(map.swizzle),
      isByTwoLines ? TensorMapL2::B256 : TensorMapL2::B128, /*zeroes outside*/ 0);
  if (code == kSuccess)
    return true;
  out = {};
  std::string given;
  for (size_t d = 0; d < rank; ++d)
    given += str(d ? ", " : "", tensor.sizes[d], " by ", tensor.strides[d],
                 " in boxes of ", map.box[d]);
  log::warn("argument '", argument, "' (", name(tensor.type), ", ", given,
            ", swizzle ", map.swizzle,
            ") takes the slower path: the driver makes no tensor map of it: ",
            driver.describe(code));
  return false;
}
