//===- Mesh.h - Ranks, axes and shards --------------------------*- C++ -*-===//
#ifndef MKERNEL_RUNTIME_MESH_H
#define MKERNEL_RUNTIME_MESH_H

#include "mkernel/Runtime/Status.h"

#include <cstdint>
#include <span>
#include <vector>

namespace mk::rt {

/// How peers along an axis are reached: `Link` peers load and store each
/// other's memory, `Net` peers have only the transport.
enum class LinkKind { Link, Net };

std::string_view toString(LinkKind kind);

struct Axis {
  std::string name;
  int64_t size = 1;
  LinkKind kind = LinkKind::Link;
};

/// Half-open range of indices.
struct Range {
  int64_t begin = 0, end = 0;
  int64_t size() const { return end - begin; }
  bool operator==(const Range &) const = default;
};

/// Shard `s` of `n` of an extent `e`: [min(s*c, e), min((s+1)*c, e)) with
/// c = ceil(e / n). Trailing shards may be short or empty.
Range splitRange(int64_t e, int64_t n, int64_t s);
/// The widest shard: ceil(e / n).
int64_t splitWidth(int64_t e, int64_t n);

/// Any number of axes; linear ranks vary slowest along the first.
class Mesh {
public:
  Mesh() = default; // no axis, one rank

  /// InvalidArgument: an empty or repeated name, a size below 1, or more ranks
  /// than a command's 16-bit peer field can name (65536).
  static Result<Mesh> create(std::vector<Axis> axes);

  std::span<const Axis> axes() const { return axes_; }
  /// Sizes alone, in order (mk_launch::axis_sizes).
  std::span<const int64_t> sizes() const { return sizes_; }
  uint32_t size() const { return size_; }
  /// -1 when there is no such axis.
  int axisIndex(std::string_view name) const;

  std::vector<int64_t> coords(uint32_t rank) const;
  /// `coords` must lie within the sizes.
  uint32_t rank(std::span<const int64_t> coords) const;

  /// Same coordinate on every net axis: loads and stores reach.
  bool reachable(uint32_t a, uint32_t b) const;
  /// Other ranks that are reachable, respectively not, in rank order.
  std::vector<uint32_t> linkPeers(uint32_t rank) const;
  std::vector<uint32_t> netPeers(uint32_t rank) const;

  /// Linear index of `rank` along the listed axes (first slowest) and their
  /// number of shards; {0, 1} for no axes.
  struct Shard {
    int64_t index = 0, count = 1;
  };
  Result<Shard> shard(uint32_t rank, std::span<const std::string> axes) const;

private:
  std::vector<Axis> axes_;
  std::vector<int64_t> sizes_;
  std::vector<int64_t> strides_; // of linear rank
  uint32_t size_ = 1;
};

} // namespace mk::rt

#endif // MKERNEL_RUNTIME_MESH_H
