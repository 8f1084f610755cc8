//===- ElementType.h - Element types of tensors -----------------*- C++ -*-===//
//
// Names, sizes and conversions of the element types that tensors in memory
// can have. Conversions go through double, which holds every value of every
// type but the largest 64-bit integers.
//
//===----------------------------------------------------------------------===//
#ifndef MKERNEL_RUNTIME_ELEMENTTYPE_H
#define MKERNEL_RUNTIME_ELEMENTTYPE_H

#include "mkernel/ABI/HostCalls.h"
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>

namespace mk::rt {

enum class ElementType : int32_t {
  f64 = MK_F64,
  f32 = MK_F32,
  f16 = MK_F16,
  bf16 = MK_BF16,
  f8e4m3 = MK_F8E4M3,
  f8e5m2 = MK_F8E5M2,
  i64 = MK_I64,
  i32 = MK_I32,
  i16 = MK_I16,
  i8 = MK_I8,
  i1 = MK_I1,
};

/// The type called `name` in package metadata: "bf16", "i32", also MLIR's own
/// spelling of the 8-bit floats ("f8E4M3FN"). Empty when there is none.
std::optional<ElementType> parseElementType(std::string_view name);
/// True when `value` is an mk_type that memory can hold.
bool isElementType(int32_t value);

std::string_view name(ElementType type);
/// Bytes of one element in memory; i1 takes one byte.
size_t byteSize(ElementType type);
bool isFloat(ElementType type);
/// Distance from 1 to the next larger number; 0 for integers.
double epsilon(ElementType type);

/// Element `index` of an array of `type`, as a double.
double loadElement(ElementType type, const void *array, size_t index);
/// Stores `value` rounded to nearest even (integers: truncated towards zero,
/// saturated) as element `index`.
void storeElement(ElementType type, void *array, size_t index, double value);
/// `value` as it reads back after a store.
double roundTo(ElementType type, double value);

/// array[index] += delta as one atomic operation, relaxed. False when the type
/// has no atomic addition (only f64, f32, f16, bf16, i32 and i64 have).
bool hasAtomicAdd(ElementType type);
/// dst[i] += src[i] for `count` elements, each atomically. Neither array needs
/// more than the natural alignment of the type.
void atomicAdd(ElementType type, void *dst, const void *src, size_t count);

} // namespace mk::rt

#endif // MKERNEL_RUNTIME_ELEMENTTYPE_H
