//===- Numbers.h - Small floating-point formats -----------------*- C++ -*-===//
#ifndef MKERNEL_TEST_PTX_NUMBERS_H
#define MKERNEL_TEST_PTX_NUMBERS_H

#include <cmath>
#include <cstdint>
#include <cstring>

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
inline float fromF16(uint16_t bits) {
  _Float16 half;
  std::memcpy(&half, &bits, 2);
  return float(half);
}
inline uint16_t toF16(float value) {
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
inline float fromTf32(uint32_t bits) { return bitsToFloat(bits & ~0x1fffu); }

} // namespace mk::ptx

#endif // MKERNEL_TEST_PTX_NUMBERS_H
