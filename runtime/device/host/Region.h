//===- Region.h - Strided pieces of memory ----------------------*- C++ -*-===//
#ifndef MKERNEL_RUNTIME_DEVICE_HOST_REGION_H
#define MKERNEL_RUNTIME_DEVICE_HOST_REGION_H

#include "mkernel/Runtime/ElementType.h"

#include <array>
#include <vector>

namespace mk::rt::host {

/// What a put copies. Sizes and strides are in elements, innermost last.
struct Region {
  std::byte *dst = nullptr; // in this rank's heap
  const std::byte *src = nullptr;
  ElementType type = ElementType::f32;
  int ndims = 0;
  std::array<int64_t, MK_MAX_TILE_RANK> sizes{}, dstStrides{}, srcStrides{};
  /// Of a put of listed rows (then ndims is 2, and dimension 0 counts them):
  /// entry i >= 0 copies source row rows[i] to destination row i.
  std::vector<int32_t> rows;
  bool listed = false;

  int64_t elements() const;
  /// Elements that are copied: of the rows not skipped.
  int64_t copied() const;
  /// First byte and byte behind the last that the destination, respectively
  /// the source, touches, relative to dst and src. {0, 0} when empty.
  struct Span {
    int64_t begin = 0, end = 0;
  };
  Span dstSpan() const;
  Span srcSpan() const;

  /// Drops dimensions of size 1 and merges those that are contiguous at both
  /// ends.
  void simplify();
};

/// A run of bytes, offsets relative to Region::dst and Region::src.
struct Run {
  int64_t dst = 0, src = 0, bytes = 0;
};

/// Calls fn(Run) for each longest contiguous run of a simplified region.
template <typename Fn> void forEachRun(const Region &r, Fn fn);

/// Copies (or adds, element by element, atomically) to `dst`, where
/// Region::dst lies in the destination's own mapping.
void copyRegion(const Region &region, std::byte *dst, bool add);

//===----------------------------------------------------------------------===//

template <typename Fn> void forEachRun(const Region &r, Fn fn) {
  int64_t size = static_cast<int64_t>(byteSize(r.type));
  if (r.listed) {
    // Neighbours in the list that are neighbours at both ends travel as one.
    Run run;
    int64_t width = r.sizes[1] * size;
    for (int64_t i = 0; i < r.sizes[0]; ++i) {
      if (r.rows[i] < 0)
        continue;
      Run next{i * r.dstStrides[0] * size, r.rows[i] * r.srcStrides[0] * size,
               width};
      if (run.bytes && run.dst + run.bytes == next.dst &&
          run.src + run.bytes == next.src) {
        run.bytes += width;
        continue;
      }
      if (run.bytes)
        fn(run);
      run = next;
    }
    if (run.bytes)
      fn(run);
    return;
  }
  if (r.elements() == 0)
    return;
  bool tight = r.ndims > 0 && r.dstStrides[r.ndims - 1] == 1 &&
               r.srcStrides[r.ndims - 1] == 1;
  int outer = tight ? r.ndims - 1 : r.ndims;
  int64_t width = (tight ? r.sizes[r.ndims - 1] : 1) * size;
  std::array<int64_t, MK_MAX_TILE_RANK> at{};
  int64_t dst = 0, src = 0;
  while (true) {
    fn(Run{dst * size, src * size, width});
    int d = outer - 1;
    for (; d >= 0; --d) {
      dst += r.dstStrides[d];
      src += r.srcStrides[d];
      if (++at[d] < r.sizes[d])
        break;
      dst -= at[d] * r.dstStrides[d];
      src -= at[d] * r.srcStrides[d];
      at[d] = 0;
    }
    if (d < 0)
      return;
  }
}

} // namespace mk::rt::host

#endif // MKERNEL_RUNTIME_DEVICE_HOST_REGION_H
