//===- Numbers.h - Small floating-point formats -----------------*- C++ -*-===//
#ifndef MKERNEL_TEST_PTX_NUMBERS_H
#define MKERNEL_TEST_PTX_NUMBERS_H

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <functional>
#include <type_traits>

namespace mk::ptx {

inline float bitsToFloat(uint32_t bits) {
  float value;
  std::memcpy(&value, &bits, 4);
  return value;
}
inline uint32_t floatToBits(float value) {
  uint32_t bits;
  std::memcpy(&bits, &value, 4);
  return bits;
}
inline float fromBf16(uint16_t bits) {
  return bitsToFloat(uint32_t(bits) << 16);
}
inline uint16_t toBf16(float value) { // to the nearest, ties to even
  uint32_t bits = floatToBits(value);
  if (std::isnan(value))
    return 0x7fff;
  return uint16_t((bits + 0x7fff + (bits >> 16 & 1)) >> 16);
}
/// The neighbour of `value` with an odd last bit that lies towards what it was rounded from, by the
/// sign of what is missing: rounded again, to half of the bits or fewer, it is rounded once.
template <typename T> T towardsOdd(T value, T missing) {
  using Bits = std::conditional_t<sizeof(T) == 4, uint32_t, uint64_t>;
  Bits bits;
  std::memcpy(&bits, &value, sizeof(T));
  if (missing == 0 || std::isnan(missing) || !std::isfinite(value) || bits & 1)
    return value;
  bits += (missing > 0) == (value > 0) ? 1 : Bits(-1);
  std::memcpy(&value, &bits, sizeof(T));
  return value;
}
/// A number of more bits than T has.
template <typename T, typename V> T toOdd(V wide) {
  auto value = T(wide);
  // Both have all bits of f64 and of integers of 64 bits.
  auto missing = static_cast<long double>(wide) - static_cast<long double>(value);
  return towardsOdd(value, T(missing));
}
inline double addToOdd(double a, double b) {
  double sum = a + b, of = sum - a;
  return towardsOdd(sum, (a - (sum - of)) + (b - of));
}
inline float fromF16(uint16_t bits) {
  _Float16 half;
  std::memcpy(&half, &bits, 2);
  return float(half);
}
/// To the nearest, ties to even; for f64, too, rounded once.
template <typename T> uint16_t toF16(T value) {
  if (std::isnan(value))
    return 0x7fff;
  _Float16 half = _Float16(value);
  uint16_t bits;
  std::memcpy(&bits, &half, 2);
  return bits;
}
/// 8 bits: e4m3 without infinities, or e5m2.
inline float fromF8(uint8_t bits, bool e5m2) {
  if (e5m2)
    return fromF16(uint16_t(bits << 8));
  int exponent = bits >> 3 & 15, mantissa = bits & 7;
  float sign = bits & 0x80 ? -1.0f : 1.0f;
  if (exponent == 15 && mantissa == 7)
    return std::nanf("");
  return sign * (exponent ? std::ldexp(8.0f + float(mantissa), exponent - 10)
                          : std::ldexp(float(mantissa), -9));
}
/// To the nearest, ties to even; what is too large becomes the largest.
inline uint8_t toF8(float value, bool e5m2) {
  int mantissa = e5m2 ? 2 : 3, bias = e5m2 ? 15 : 7;
  uint8_t most = e5m2 ? 0x7b : 0x7e, sign = std::signbit(value) ? 0x80 : 0;
  if (std::isnan(value))
    return 0x7f;
  float size = std::fabs(value);
  if (size >= fromF8(most, e5m2))
    return sign | most;
  // Codes follow one another as their numbers do: so many steps from the power of two on.
  int exponent = size == 0 ? 1 - bias : std::max(std::ilogb(size), 1 - bias);
  auto steps = int(std::nearbyint(std::ldexp(size, mantissa - exponent)));
  return uint8_t(sign | (((exponent + bias - 1) << mantissa) + steps));
}
/// Types of elements, as tensor maps number them.
enum class Element : uint8_t { U32 = 2, S32, U64, S64, F16, F32, F64, Bf16 };

template <typename T, typename Sum> uint32_t addAs(uint8_t *to, const uint8_t *from, Sum sum) {
  T a, b;
  std::memcpy(&a, to, sizeof(T));
  std::memcpy(&b, from, sizeof(T));
  a = sum(a, b);
  std::memcpy(to, &a, sizeof(T));
  return sizeof(T);
}
/// Adds one element to another; its bytes, 0 of types that memory does not add.
inline uint32_t addElement(uint8_t *to, const uint8_t *from, Element type) {
  switch (type) {
  case Element::U32:
  case Element::S32:
    return addAs<uint32_t>(to, from, std::plus<>());
  case Element::U64:
  case Element::S64:
    return addAs<uint64_t>(to, from, std::plus<>());
  case Element::F32:
    return addAs<float>(to, from, std::plus<>());
  case Element::F64:
    return addAs<double>(to, from, std::plus<>());
  case Element::F16:
    return addAs<uint16_t>(to, from, [](auto a, auto b) { return toF16(fromF16(a) + fromF16(b)); });
  case Element::Bf16:
    return addAs<uint16_t>(to, from,
                           [](auto a, auto b) { return toBf16(fromBf16(a) + fromBf16(b)); });
  }
  return 0;
}
inline float fromTf32(uint32_t bits) { return bitsToFloat(bits & ~0x1fffu); }

} // namespace mk::ptx

#endif // MKERNEL_TEST_PTX_NUMBERS_H
