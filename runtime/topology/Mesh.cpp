//===- Mesh.cpp - Ranks, axes and shards ----------------------------------===//

#include "mkernel/Runtime/Mesh.h"
#include "mkernel/Support/RowMajor.h"

#include <algorithm>

namespace mk::rt {

using mkernel::PlainNumbers;

std::string_view toString(LinkKind kind) {
  return kind == LinkKind::Link ? "link" : "net";
}

int64_t splitWidth(int64_t e, int64_t n) {
  assert(e >= 0 && n > 0);
  return e / n + (e % n != 0); // (e + n - 1) / n may overflow
}

Range splitRange(int64_t e, int64_t n, int64_t s) {
  assert(s >= 0 && s < n);
  int64_t c = splitWidth(e, n);
  auto bound = [&](int64_t i) {
    return c != 0 && i > e / c ? e : std::min(i * c, e);
  };
  return {bound(s), bound(s + 1)};
}

Result<Mesh> Mesh::create(std::vector<Axis> axes) {
  Mesh mesh;
  int64_t total = 1;
  for (size_t i = 0; i < axes.size(); ++i) {
    const Axis &axis = axes[i];
    if (axis.name.empty())
      return error(StatusCode::InvalidArgument, "mesh axis ", i,
                   " has no name");
    for (size_t j = 0; j < i; ++j)
      if (axes[j].name == axis.name)
        return error(StatusCode::InvalidArgument, "mesh axis '", axis.name,
                     "' is there twice: rename one");
    if (axis.size < 1)
      return error(StatusCode::InvalidArgument, "mesh axis '", axis.name,
                   "' has size ", axis.size, ": it needs at least 1");
    if (axis.size > 65536 / total)
      return error(StatusCode::InvalidArgument, "the mesh has more than ",
                   65536, " ranks at axis '", axis.name, "' of size ",
                   axis.size, ": a rank is 16 bits of a command");
    total *= axis.size;
  }
  mesh.axes_ = std::move(axes);
  mesh.size_ = static_cast<uint32_t>(total);
  mesh.sizes_.resize(mesh.axes_.size());
  mesh.strides_.resize(mesh.axes_.size());
  int64_t stride = 1;
  for (size_t i = mesh.axes_.size(); i-- > 0;) {
    mesh.sizes_[i] = mesh.axes_[i].size;
    mesh.strides_[i] = stride;
    stride *= mesh.axes_[i].size;
  }
  return mesh;
}

int Mesh::axisIndex(std::string_view name) const {
  for (size_t i = 0; i < axes_.size(); ++i)
    if (axes_[i].name == name)
      return static_cast<int>(i);
  return -1;
}

std::vector<int64_t> Mesh::coords(uint32_t rank) const {
  assert(rank < size_);
  std::vector<int64_t> c(axes_.size());
  for (size_t i = 0; i < axes_.size(); ++i)
    c[i] = mkernel::findCoordinate(PlainNumbers(), int64_t(rank), strides_[i], sizes_[i]);
  return c;
}

uint32_t Mesh::rank(std::span<const int64_t> coords) const {
  assert(coords.size() == axes_.size());
  int64_t r = 0;
  for (size_t i = 0; i < axes_.size(); ++i) {
    assert(coords[i] >= 0 && coords[i] < sizes_[i]);
    r += coords[i] * strides_[i];
  }
  return static_cast<uint32_t>(r);
}

bool Mesh::reachable(uint32_t a, uint32_t b) const {
  auto at = [&](uint32_t rank, size_t i) {
    return mkernel::findCoordinate(PlainNumbers(), int64_t(rank), strides_[i], sizes_[i]);
  };
  for (size_t i = 0; i < axes_.size(); ++i)
    if (axes_[i].kind == LinkKind::Net && at(a, i) != at(b, i))
      return false;
  return true;
}

std::vector<uint32_t> Mesh::linkPeers(uint32_t rank) const {
  std::vector<uint32_t> peers;
  for (uint32_t r = 0; r < size_; ++r)
    if (r != rank && reachable(rank, r))
      peers.push_back(r);
  return peers;
}

std::vector<uint32_t> Mesh::netPeers(uint32_t rank) const {
  std::vector<uint32_t> peers;
  for (uint32_t r = 0; r < size_; ++r)
    if (!reachable(rank, r))
      peers.push_back(r);
  return peers;
}

Result<Mesh::Shard> Mesh::shard(uint32_t rank,
                                std::span<const std::string> axes) const {
  if (rank >= size_)
    return error(StatusCode::OutOfRange, "rank ", rank, " of a mesh of ",
                 size_);
  Shard s;
  for (const std::string &name : axes) {
    int i = axisIndex(name);
    if (i < 0) {
      std::string known;
      for (const Axis &axis : axes_)
        known += str(known.empty() ? "" : ", ", axis.name);
      return error(StatusCode::InvalidArgument, "the mesh has no axis '", name,
                   "'; it has: ", known);
    }
    s.index = s.index * sizes_[i] +
              mkernel::findCoordinate(PlainNumbers(), int64_t(rank), strides_[i], sizes_[i]);
    s.count *= sizes_[i];
  }
  return s;
}

} // namespace mk::rt
