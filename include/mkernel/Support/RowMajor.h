//===- RowMajor.h - Elements of arrays, and ranks of a mesh -----*- C++ -*-===//
//
// An element of an array and a rank of a mesh have a number: the first dimension, or
// axis, varies slowest. Formulas over a `Math`, which says how to compute with a number:
// checks compute with numbers, passes and targets with values of their IR.
//
// Math: Number add(Number, Number), mul, div, rem, constant(int64_t); none is negative.
//
//===----------------------------------------------------------------------===//
#ifndef MKERNEL_SUPPORT_ROWMAJOR_H
#define MKERNEL_SUPPORT_ROWMAJOR_H

#include <cstdint>

namespace mkernel {

/// The number of what stands at `at(d)` along each of `dims` dimensions of `size(d)`. Each is asked
/// for where it is needed, since asking may emit code.
template <typename Number, typename Math, typename SizeFn, typename AtFn>
Number numberRowMajor(Math &&math, unsigned dims, SizeFn size, AtFn at) {
  Number number = math.constant(0);
  for (unsigned d = 0; d != dims; ++d) {
    Number before = math.mul(number, size(d));
    number = math.add(before, at(d));
  }
  return number;
}

/// Where that is along a dimension of `size`, of which two neighbours are `stride` numbers apart.
template <typename Number, typename Math>
Number findCoordinate(Math &&math, Number number, int64_t stride, int64_t size) {
  Number place = math.div(number, math.constant(stride));
  return math.rem(place, math.constant(size));
}

/// For plain numbers.
struct PlainNumbers {
  int64_t add(int64_t a, int64_t b) const { return a + b; }
  int64_t mul(int64_t a, int64_t b) const { return a * b; }
  int64_t div(int64_t a, int64_t b) const { return a / b; }
  int64_t rem(int64_t a, int64_t b) const { return a % b; }
  int64_t constant(int64_t number) const { return number; }
};

} // namespace mkernel

#endif // MKERNEL_SUPPORT_ROWMAJOR_H
