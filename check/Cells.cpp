//===- Cells.cpp - Which boxes of a buffer overlap ------------------------===//

#include "mkernel/Check/Races.h"

using namespace mk::check;

Races::Buffer &Races::bufferOf(uint32_t rank, int32_t buffer) {
  return buffers_[{rank, buffer}];
}

static size_t mixHash(size_t hash, int64_t value) {
  return (hash ^ static_cast<size_t>(value)) * 0x9e3779b97f4a7c15u +
         (hash >> 29);
}

uint32_t Races::cellOf(Buffer &buffer, const Box &box) {
  size_t hash = 0;
  for (int d = 0; d < box.rank; ++d)
    hash = mixHash(mixHash(hash, box.begin[d]), box.size[d]);
  std::vector<uint32_t> &same = buffer.byHash[hash];
  for (uint32_t c : same)
    if (buffer.cells[c].box == box)
      return c;
  auto id = static_cast<uint32_t>(buffer.cells.size());
  same.push_back(id);
  buffer.cells.emplace_back().box = box;
  connect(buffer, id);
  return id;
}

/// Finds the cells that overlap a new one. Squares are as large as the first.
void Races::connect(Buffer &buffer, uint32_t id) {
  const Box box = buffer.cells[id].box;
  if (id == 0)
    for (int d = 0; d < box.rank; ++d)
      buffer.grid[d] = box.size[d];
  std::array<int64_t, Box::kMaxRank> first{}, at{}, last{};
  constexpr int64_t kMany = 32;
  int64_t squares = 1;
  for (int d = 0; d < box.rank; ++d) {
    at[d] = first[d] = box.begin[d] / buffer.grid[d];
    last[d] = (box.end(d) - 1) / buffer.grid[d];
    int64_t more;
    if (__builtin_sub_overflow(last[d], first[d], &more) || more > kMany)
      more = kMany;
    squares *= more + 1;
  }
  std::set<uint32_t> near(buffer.large.begin(), buffer.large.end());
  if (squares > kMany) {
    for (uint32_t c = 0; c < id; ++c)
      near.insert(c);
    buffer.large.push_back(id);
  } else {
    for (int d = 0; d >= 0;) {
      size_t hash = 0;
      for (int k = 0; k < box.rank; ++k)
        hash = mixHash(hash, at[k]);
      std::vector<uint32_t> &square = buffer.squares[hash];
      near.insert(square.begin(), square.end());
      square.push_back(id);
      for (d = box.rank - 1; d >= 0 && ++at[d] > last[d]; --d)
        at[d] = first[d];
    }
  }
  buffer.cells[id].overlaps.push_back(id);
  compared_ += near.size();
  for (uint32_t c : near)
    if (c != id && buffer.cells[c].box.overlaps(box)) {
      buffer.cells[id].overlaps.push_back(c);
      buffer.cells[c].overlaps.push_back(id);
    }
}
