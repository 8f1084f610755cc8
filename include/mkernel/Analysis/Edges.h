//===- Edges.h - What of a tile exists --------------------------*- C++ -*-===//
//
// A tile may begin in front of its buffer or end behind it, and `valid` may end it
// earlier. What is left of it stands here once, as formulas over a `Math`, which says
// what a number is and how to compute with it: the check that a kernel ends computes
// with numbers, targets with values of their IR.
//
// Formulas, and no pass that writes them as IR in front of each access: the copy engine of
// a GPU finds edges by itself, and its producer has no registers for what nobody reads; a tile
// that begins in front of its buffer has two ends, and `valid` names one; and what ends
// a store at a peer is the peer's extent, which no value of this rank's kernel is.
//
// Math: Number min(Number, Number), max, add, sub, constant(int64_t).
//
//===----------------------------------------------------------------------===//
#ifndef MKERNEL_ANALYSIS_EDGES_H
#define MKERNEL_ANALYSIS_EDGES_H

#include <cstdint>

namespace mlir::mk {

/// Along one dimension, in elements: where what exists of a tile begins in the buffer, how
/// much of the tile lies in front of that, and how much exists.
template <typename Number> struct TileEdge {
  Number begin, skipped, size;
};

/// Of a tile of `extent` elements at `offset`, which may be negative, of a buffer that
/// has `whole`. `valid`: elements that count from the offset on, null: all.
template <typename Number, typename Math>
TileEdge<Number> clipTile(Math &&math, Number offset, int64_t extent, Number whole,
                          const Number *valid) {
  Number zero = math.constant(0), limit = math.constant(extent);
  if (valid)
    limit = math.max(math.min(*valid, limit), zero);
  // No further away than the tile reaches, so that sums do not overflow.
  Number first = math.min(math.max(offset, math.constant(-extent)), whole);
  Number begin = math.max(first, zero);
  Number end = math.min(math.add(first, limit), whole);
  return {begin, math.sub(begin, first), math.max(math.sub(end, begin), zero)};
}

/// Elements from `offset` on that exist, of a tile of any extent. Negative: none does. Less
/// is in the buffer if the offset is negative; who uses this tests that by itself.
template <typename Number, typename Math>
Number leftBehind(Math &&math, Number offset, Number whole, const Number *valid) {
  Number left = math.sub(whole, offset);
  return valid ? math.min(left, *valid) : left;
}

/// What `valid` has to reach for the buffer's end and the tile's to be the only ones.
template <typename Number, typename Math>
Number whatEdgesLeave(Math &&math, Number offset, int64_t extent, Number whole) {
  Number left = leftBehind<Number>(math, offset, whole, nullptr);
  return math.min(left, math.constant(extent));
}

/// For plain numbers. A sum that no 64 bits hold is the largest number: an extent may be.
struct PlainMath {
  int64_t min(int64_t a, int64_t b) const { return a < b ? a : b; }
  int64_t max(int64_t a, int64_t b) const { return a > b ? a : b; }
  int64_t add(int64_t a, int64_t b) const {
    return b > 0 && a > INT64_MAX - b ? INT64_MAX : a + b;
  }
  int64_t sub(int64_t a, int64_t b) const { return a - b; }
  int64_t constant(int64_t number) const { return number; }
};

} // namespace mlir::mk

#endif // MKERNEL_ANALYSIS_EDGES_H
