//===- Calls.cpp - What compiled code calls -------------------------------===//
//
// Each call is a member of RoleCalls, and an unwind when that fails. Objects with
// destructors live in helpers that have returned by then.
//
//===----------------------------------------------------------------------===//

#include "mkernel/ABI/HostCalls.h"

#include "device/host/RoleCalls.h"

#include <algorithm>

using namespace mk::rt;
using namespace mk::rt::host;

namespace {

RoleCalls &self(const mk_cta *cta) {
  RoleCalls &self = *static_cast<RoleCalls *>(cta->state);
  self.beat();
  return self;
}

bool makeRegion(RoleCalls &cta, Region &region, void *dst, const void *src,
                int32_t type, int32_t ndims, const int64_t *sizes,
                const int64_t *dstStrides, const int64_t *srcStrides) {
  if (!isElementType(type))
    return cta.fail("put", str("there is no element type ", type));
  if (ndims < 0 || ndims > MK_MAX_TILE_RANK)
    return cta.fail("put", str("a region has ", ndims, " dimensions; at most ",
                               MK_MAX_TILE_RANK, " are possible"));
  region.dst = static_cast<std::byte *>(dst);
  region.src = static_cast<const std::byte *>(src);
  region.type = static_cast<ElementType>(type);
  region.ndims = ndims;
  for (int d = 0; d < ndims; ++d) {
    // A clipped tile may be wholly beyond the edge.
    region.sizes[d] = std::max<int64_t>(sizes[d], 0);
    region.dstStrides[d] = dstStrides[d];
    region.srcStrides[d] = srcStrides[d];
  }
  if (ndims == 0) {
    region.ndims = 1;
    region.sizes[0] = region.dstStrides[0] = region.srcStrides[0] = 1;
  }
  return true;
}

bool doPut(RoleCalls &cta, bool isStore, void *dst, const void *src, int32_t type,
           int32_t ndims, const int64_t *sizes, const int64_t *dstStrides,
           const int64_t *srcStrides, int64_t peer, int32_t signal,
           int64_t index, int32_t flags) {
  Region region;
  if (!makeRegion(cta, region, dst, src, type, ndims, sizes, dstStrides,
                  srcStrides))
    return false;
  return isStore ? cta.store(std::move(region), peer, signal, index, flags)
                 : cta.put(std::move(region), peer, signal, index, flags);
}

bool doPutRows(RoleCalls &cta, void *dst, const void *src, int32_t type,
               int64_t count, const int32_t *rows, int64_t width,
               int64_t dstStride, int64_t srcStride, int64_t peer,
               int32_t signal, int64_t index, int32_t flags) {
  Region region;
  int64_t sizes[] = {count, width};
  int64_t dstStrides[] = {dstStride, 1}, srcStrides[] = {srcStride, 1};
  if (!makeRegion(cta, region, dst, src, type, 2, sizes, dstStrides,
                  srcStrides))
    return false;
  region.listed = true;
  region.rows.assign(rows, rows + region.sizes[0]);
  return cta.put(std::move(region), peer, signal, index, flags);
}

} // namespace

extern "C" {

void mkrt_put(const mk_cta *cta, void *dst, const void *src, int32_t type,
              int32_t ndims, const int64_t *sizes, const int64_t *dst_strides,
              const int64_t *src_strides, int64_t peer, int32_t signal,
              int64_t index, int32_t flags) {
  if (!doPut(self(cta), false, dst, src, type, ndims, sizes, dst_strides,
             src_strides, peer, signal, index, flags))
    self(cta).unwind();
}

void mkrt_put_rows(const mk_cta *cta, void *dst, const void *src, int32_t type,
                   int64_t count, const int32_t *rows, int64_t row_elements,
                   int64_t dst_row_stride, int64_t src_row_stride, int64_t peer,
                   int32_t signal, int64_t index, int32_t flags) {
  if (!doPutRows(self(cta), dst, src, type, count, rows, row_elements,
                 dst_row_stride, src_row_stride, peer, signal, index, flags))
    self(cta).unwind();
}

void mkrt_store(const mk_cta *cta, void *dst, const void *tile, int32_t type,
                int32_t ndims, const int64_t *sizes, const int64_t *dst_strides,
                const int64_t *tile_strides, int64_t peer, int32_t signal,
                int64_t index, int32_t flags) {
  if (!doPut(self(cta), true, dst, tile, type, ndims, sizes, dst_strides,
             tile_strides, peer, signal, index, flags))
    self(cta).unwind();
}

void mkrt_signal(const mk_cta *cta, int32_t signal, int64_t index, int64_t peer,
                 int64_t amount, int32_t flags) {
  if (!self(cta).raiseSignal(signal, index, peer, amount, flags))
    self(cta).unwind();
}

void mkrt_wait(const mk_cta *cta, int32_t signal, int64_t index,
               int64_t count) {
  if (!self(cta).wait(signal, index, count))
    self(cta).unwind();
}

void mkrt_fence(const mk_cta *cta) {
  if (!self(cta).fence())
    self(cta).unwind();
}

void mkrt_settle(const mk_cta *cta) {
  if (!self(cta).settle())
    self(cta).unwind();
}

int64_t mkrt_count(const mk_cta *cta, int32_t counter, int64_t index,
                   int64_t amount) {
  int64_t before;
  if (!self(cta).count(counter, index, amount, before))
    self(cta).unwind();
  return before;
}

void mkrt_push(const mk_cta *cta, int32_t queue, const int64_t *record, int32_t site) {
  if (!self(cta).push(queue, record, site))
    self(cta).unwind();
}

void mkrt_pop(const mk_cta *cta, int32_t queue, int64_t entry,
              int64_t *record) {
  if (!self(cta).pop(queue, entry, record))
    self(cta).unwind();
}

int64_t mkrt_ticket(const mk_cta *cta, int32_t loop) {
  int64_t value = 0;
  if (!self(cta).ticket(loop, value))
    self(cta).unwind();
  return value;
}

void mkrt_item(const mk_cta *cta, int32_t loop, int64_t i0, int64_t i1,
               int64_t i2, int64_t i3) {
  self(cta).setItem(loop, i0, i1, i2, i3);
}

void mkrt_fault(const mk_cta *cta, int32_t fault, int32_t line) {
  self(cta).failFault(fault, line);
  self(cta).unwind();
}

void mkrt_region(const mk_cta *cta, int32_t site, int32_t named, int32_t argument,
                 int64_t rank, int32_t ndims, const int64_t *offsets,
                 const int64_t *sizes) {
  if (!self(cta).regionExists({site, named, argument, rank}, ndims, offsets, sizes))
    self(cta).unwind();
}

void mkrt_region_rows(const mk_cta *cta, int32_t site, int32_t named,
                      int32_t argument, int64_t rank, int32_t ndims,
                      const int64_t *offsets, const int64_t *sizes,
                      const int32_t *rows) {
  if (!self(cta).regionExists({site, named, argument, rank}, ndims, offsets, sizes,
                              rows))
    self(cta).unwind();
}

void mkrt_outside(const mk_cta *cta, int32_t site, int32_t named, int32_t number,
                  int32_t dim, int64_t index, int64_t extent) {
  self(cta).outside(
      {site, named, number, dim, index, 1, extent, cta->launch->rank});
  self(cta).unwind();
}

int64_t mkrt_rows(const mk_cta *cta, int32_t argument, int64_t rank) {
  int64_t extent = 0;
  if (!self(cta).extentOf(argument, 0, rank, extent))
    self(cta).unwind();
  return extent;
}

void mkrt_line(const mk_cta *cta, int32_t line) { self(cta).setLine(line); }

void mkrt_access(const mk_cta *cta, const void *at, int32_t ndims,
                 const int64_t *sizes, int32_t write) {
  self(cta).noteAccess(at, ndims, sizes, write);
}

} // extern "C"
