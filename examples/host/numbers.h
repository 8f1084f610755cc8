//===- numbers.h - Values that are summed exactly ---------------*- C++ -*-===//
//
// For the examples of this folder: operands that a check can compute in any order.
//
//===----------------------------------------------------------------------===//
#ifndef MKERNEL_EXAMPLES_HOST_NUMBERS_H
#define MKERNEL_EXAMPLES_HOST_NUMBERS_H

#include <bit>
#include <cstdint>

/// To the nearest, ties to even. All values here are finite.
inline uint16_t toBf16(float value) {
  uint32_t bits = std::bit_cast<uint32_t>(value);
  return static_cast<uint16_t>((bits + 0x7fff + (bits >> 16 & 1)) >> 16);
}

/// Element `i` of operand `which` in one launch: an integer from -4 to 4, so
/// that sums are exact in whatever order they are taken.
inline int valueOf(int launch, int which, int64_t i) {
  uint32_t x = static_cast<uint32_t>(launch * 2 + which) * 0x9e3779b9u +
               static_cast<uint32_t>(i) * 0x85ebca6bu;
  x = (x ^ x >> 15) * 0x2c1b3c6du;
  return static_cast<int>((x ^ x >> 13) % 9) - 4;
}

#endif // MKERNEL_EXAMPLES_HOST_NUMBERS_H
