//===- Checked.h - Arithmetic on sizes that says when it wraps --*- C++ -*-===//
//
// Sizes come from users. What computes extents, elements, bytes, items or
// CTAs from them uses these: no value where the result does not fit in 64 bits.
// Shared by the compiler, the checker and the runtime.
//
//===----------------------------------------------------------------------===//
#ifndef MKERNEL_SUPPORT_CHECKED_H
#define MKERNEL_SUPPORT_CHECKED_H

#include <cstdint>
#include <optional>

namespace mkernel::checked {

using Number = std::optional<int64_t>;

/// Elements of an argument, or of a tensor of a reference: more than any machine has memory
/// for, and few enough for their bytes to be counted.
constexpr int64_t kMostElements = int64_t(1) << 46;

constexpr Number add(int64_t a, int64_t b) {
  int64_t result = 0;
  return __builtin_add_overflow(a, b, &result) ? Number() : Number(result);
}

constexpr Number sub(int64_t a, int64_t b) {
  int64_t result = 0;
  return __builtin_sub_overflow(a, b, &result) ? Number() : Number(result);
}

constexpr Number mul(int64_t a, int64_t b) {
  int64_t result = 0;
  return __builtin_mul_overflow(a, b, &result) ? Number() : Number(result);
}

/// Rounded towards zero; none for a divisor of 0 too.
constexpr Number div(int64_t a, int64_t b) {
  if (b == 0 || (a == INT64_MIN && b == -1))
    return {};
  return a / b;
}

constexpr Number rem(int64_t a, int64_t b) {
  if (b == 0 || (a == INT64_MIN && b == -1))
    return {};
  return a % b;
}

/// Rounded up; none for a divisor of 0 too. No sum that could wrap.
constexpr Number ceilDiv(int64_t a, int64_t b) {
  Number quotient = div(a, b);
  if (!quotient || a % b == 0 || (a < 0) != (b < 0))
    return quotient;
  return *quotient + 1;
}

/// Of extents: none if one of them is negative. 0 if one of them is 0, however
/// large the others are.
template <typename Range> constexpr Number product(const Range &extents) {
  bool empty = false;
  for (int64_t extent : extents) {
    if (extent < 0)
      return {};
    empty |= extent == 0;
  }
  Number result = empty ? 0 : 1;
  if (!empty)
    for (int64_t extent : extents)
      if (!(result = mul(*result, extent)))
        return {};
  return result;
}

} // namespace mkernel::checked

#endif // MKERNEL_SUPPORT_CHECKED_H
