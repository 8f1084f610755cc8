//===- TensorMap.h - What this driver writes into a tensor map --*- C++ -*-===//
//
// The real one's content is a secret; this holds what cuTensorMapEncodeTiled is
// told.
//
//===----------------------------------------------------------------------===//
#ifndef MKERNEL_TEST_PTX_TENSORMAP_H
#define MKERNEL_TEST_PTX_TENSORMAP_H

#include <cstdint>

namespace mk::ptx {

struct TensorMap {
  static constexpr uint32_t kMagic = 0x6d6b746d;
  uint32_t magic = 0;
  uint8_t type = 0;  // CUtensorMapDataType
  uint8_t bytes = 0; // of an element
  uint8_t rank = 0;
  uint8_t swizzle = 0; // 0, or log2(bytes of a row / 16): 1, 2, 3
  uint64_t address = 0;
  uint64_t extents[5] = {};
  uint64_t strides[4] = {}; // bytes, from dimension 1 on
  uint16_t box[5] = {};
};
static_assert(sizeof(TensorMap) <= 128);

/// Where the tensor memory unit puts what would lie at `address`.
inline uint32_t swizzled(uint32_t address, uint32_t swizzle) {
  uint32_t mask = (1u << swizzle) - 1;
  return address ^ ((address >> 7 & mask) << 4);
}

} // namespace mk::ptx

#endif // MKERNEL_TEST_PTX_TENSORMAP_H
