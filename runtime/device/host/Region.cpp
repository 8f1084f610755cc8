//===- Region.cpp - Strided pieces of memory ------------------------------===//

#include "device/host/Region.h"

#include <algorithm>
#include <cstring>

using namespace mk::rt;
using namespace mk::rt::host;

int64_t Region::elements() const {
  int64_t n = 1;
  for (int d = 0; d < ndims; ++d)
    n *= sizes[d];
  return n;
}

int64_t Region::copied() const {
  if (!listed)
    return elements();
  int64_t n = std::count_if(rows.begin(), rows.end(),
                            [](int32_t row) { return row >= 0; });
  return n * sizes[1];
}

namespace {

Region::Span spanOf(const Region &r,
                    const std::array<int64_t, MK_MAX_TILE_RANK> &strides) {
  Region::Span span;
  if (r.elements() == 0)
    return span;
  for (int d = 0; d < r.ndims; ++d) {
    int64_t reach = (r.sizes[d] - 1) * strides[d];
    (reach < 0 ? span.begin : span.end) += reach;
  }
  int64_t size = static_cast<int64_t>(byteSize(r.type));
  span.begin *= size;
  span.end = (span.end + 1) * size;
  return span;
}

} // namespace

Region::Span Region::dstSpan() const { return spanOf(*this, dstStrides); }

Region::Span Region::srcSpan() const {
  if (!listed)
    return spanOf(*this, srcStrides);
  Span span;
  int64_t size = static_cast<int64_t>(byteSize(type));
  int32_t last =
      rows.empty() ? -1 : *std::max_element(rows.begin(), rows.end());
  if (last >= 0 && sizes[1] > 0)
    span.end = (last * srcStrides[0] + sizes[1]) * size;
  return span;
}

void Region::simplify() {
  if (listed)
    return;
  int out = 0;
  for (int d = 0; d < ndims; ++d) {
    if (sizes[d] == 1)
      continue;
    if (out > 0 && dstStrides[out - 1] == sizes[d] * dstStrides[d] &&
        srcStrides[out - 1] == sizes[d] * srcStrides[d]) {
      sizes[out - 1] *= sizes[d];
      dstStrides[out - 1] = dstStrides[d];
      srcStrides[out - 1] = srcStrides[d];
      continue;
    }
    sizes[out] = sizes[d];
    dstStrides[out] = dstStrides[d];
    srcStrides[out] = srcStrides[d];
    ++out;
  }
  if (out == 0) { // one element
    sizes[0] = dstStrides[0] = srcStrides[0] = 1;
    out = 1;
  }
  ndims = out;
}

void mk::rt::host::copyRegion(const Region &region, std::byte *dst, bool add) {
  forEachRun(region, [&](const Run &run) {
    if (add)
      atomicAdd(region.type, dst + run.dst, region.src + run.src,
                run.bytes / byteSize(region.type));
    else
      std::memcpy(dst + run.dst, region.src + run.src, run.bytes);
  });
}
