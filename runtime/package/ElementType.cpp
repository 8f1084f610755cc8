//===- ElementType.cpp - Element types of tensors -------------------------===//

#include "mkernel/Runtime/ElementType.h"

#include <atomic>
#include <bit>
#include <cmath>
#include <cstring>
#include <limits>

using namespace mk::rt;

namespace {

struct Info {
  std::string_view name, alias;
  ElementType type;
  uint8_t bytes;
  bool isFloat;
  double epsilon;
};

constexpr Info infos[] = {
    {"f64", "f64", ElementType::f64, 8, true, 0x1p-52},
    {"f32", "f32", ElementType::f32, 4, true, 0x1p-23},
    {"f16", "f16", ElementType::f16, 2, true, 0x1p-10},
    {"bf16", "bf16", ElementType::bf16, 2, true, 0x1p-7},
    {"f8e4m3", "f8E4M3FN", ElementType::f8e4m3, 1, true, 0x1p-3},
    {"f8e5m2", "f8E5M2", ElementType::f8e5m2, 1, true, 0x1p-2},
    {"i64", "i64", ElementType::i64, 8, false, 0},
    {"i32", "i32", ElementType::i32, 4, false, 0},
    {"i16", "i16", ElementType::i16, 2, false, 0},
    {"i8", "i8", ElementType::i8, 1, false, 0},
    {"i1", "i1", ElementType::i1, 1, false, 0},
};

const Info &info(ElementType type) { return infos[static_cast<int>(type) - 1]; }

/// A small binary float: sign, `exponentBits`, `mantissaBits`.
struct Format {
  int exponentBits, mantissaBits;
  bool hasInfinity; // without: the largest exponent holds numbers, and NaN is
                    // all ones
};

constexpr Format half{5, 10, true}, e4m3{4, 3, false}, e5m2{5, 2, true};

double decode(Format f, uint32_t bits) {
  int bias = (1 << (f.exponentBits - 1)) - 1;
  uint32_t mantissa = bits & ((1u << f.mantissaBits) - 1);
  int exponent = (bits >> f.mantissaBits) & ((1 << f.exponentBits) - 1);
  double sign = bits >> (f.exponentBits + f.mantissaBits) & 1 ? -1.0 : 1.0;
  bool top = exponent == (1 << f.exponentBits) - 1;
  if (top && f.hasInfinity)
    return mantissa ? std::numeric_limits<double>::quiet_NaN()
                    : sign * std::numeric_limits<double>::infinity();
  if (top && mantissa == (1u << f.mantissaBits) - 1)
    return std::numeric_limits<double>::quiet_NaN();
  if (exponent == 0)
    return sign * std::ldexp(mantissa, 1 - bias - f.mantissaBits);
  return sign * std::ldexp((1u << f.mantissaBits) + mantissa,
                           exponent - bias - f.mantissaBits);
}

/// Round to nearest even. Overflow gives infinity, or NaN where there is none.
uint32_t encode(Format f, double value) {
  uint32_t sign =
      std::signbit(value) ? 1u << (f.exponentBits + f.mantissaBits) : 0;
  uint32_t top = ((1u << f.exponentBits) - 1) << f.mantissaBits;
  uint32_t nan = f.hasInfinity ? top | 1u << (f.mantissaBits - 1)
                               : top | ((1u << f.mantissaBits) - 1);
  if (std::isnan(value))
    return sign | nan;
  uint32_t overflow = f.hasInfinity ? top : nan;
  if (std::isinf(value))
    return sign | overflow;
  int bias = (1 << (f.exponentBits - 1)) - 1;
  double magnitude = std::fabs(value);
  if (magnitude == 0)
    return sign;
  int exponent = std::max(std::ilogb(magnitude), 1 - bias);
  // In units of the last place; a carry into the next binade comes out right
  // because the encoding is monotone.
  double units =
      std::nearbyint(std::ldexp(magnitude, f.mantissaBits - exponent));
  uint64_t bits =
      static_cast<uint64_t>(units) +
      (static_cast<uint64_t>(exponent + bias - 1) << f.mantissaBits);
  return sign | (bits >= overflow ? overflow : static_cast<uint32_t>(bits));
}

float bf16ToFloat(uint16_t bits) {
  return std::bit_cast<float>(static_cast<uint32_t>(bits) << 16);
}

uint16_t floatToBf16(double value) {
  // By way of float would round twice; ties are decided on the double.
  if (std::isnan(value))
    return std::signbit(value) ? 0xffc0 : 0x7fc0;
  return static_cast<uint16_t>(encode({8, 7, true}, value));
}

template <typename T> T load(const void *array, size_t index) {
  T value;
  std::memcpy(&value, static_cast<const char *>(array) + index * sizeof(T),
              sizeof(T));
  return value;
}

template <typename T> void store(void *array, size_t index, T value) {
  std::memcpy(static_cast<char *>(array) + index * sizeof(T), &value,
              sizeof(T));
}

template <typename T> void storeInt(void *array, size_t index, double value) {
  if (std::isnan(value))
    value = 0;
  constexpr double low = static_cast<double>(std::numeric_limits<T>::min());
  constexpr double high = static_cast<double>(std::numeric_limits<T>::max());
  T result = value <= low    ? std::numeric_limits<T>::min()
             : value >= high ? std::numeric_limits<T>::max()
                             : static_cast<T>(value);
  store(array, index, result);
}

template <typename Bits, typename Add>
void atomicUpdate(void *dst, const void *src, size_t count, Add add) {
  auto *to = static_cast<Bits *>(dst);
  for (size_t i = 0; i < count; ++i) {
    Bits delta = load<Bits>(src, i);
    std::atomic_ref<Bits> word(to[i]);
    Bits old = word.load(std::memory_order_relaxed);
    while (!word.compare_exchange_weak(old, add(old, delta),
                                       std::memory_order_relaxed)) {
    }
  }
}

} // namespace

std::optional<ElementType> mk::rt::parseElementType(std::string_view text) {
  for (const Info &i : infos)
    if (text == i.name || text == i.alias)
      return i.type;
  return std::nullopt;
}

bool mk::rt::isElementType(int32_t value) {
  return value >= MK_F64 && value <= MK_I1;
}

std::string_view mk::rt::name(ElementType type) { return info(type).name; }
size_t mk::rt::byteSize(ElementType type) { return info(type).bytes; }
bool mk::rt::isFloat(ElementType type) { return info(type).isFloat; }
double mk::rt::epsilon(ElementType type) { return info(type).epsilon; }

double mk::rt::loadElement(ElementType type, const void *array, size_t index) {
  switch (type) {
  case ElementType::f64:
    return load<double>(array, index);
  case ElementType::f32:
    return load<float>(array, index);
  case ElementType::f16:
    return decode(half, load<uint16_t>(array, index));
  case ElementType::bf16:
    return bf16ToFloat(load<uint16_t>(array, index));
  case ElementType::f8e4m3:
    return decode(e4m3, load<uint8_t>(array, index));
  case ElementType::f8e5m2:
    return decode(e5m2, load<uint8_t>(array, index));
  case ElementType::i64:
    return static_cast<double>(load<int64_t>(array, index));
  case ElementType::i32:
    return load<int32_t>(array, index);
  case ElementType::i16:
    return load<int16_t>(array, index);
  case ElementType::i8:
    return load<int8_t>(array, index);
  case ElementType::i1:
    return load<uint8_t>(array, index) & 1;
  }
  return 0;
}

void mk::rt::storeElement(ElementType type, void *array, size_t index,
                          double value) {
  switch (type) {
  case ElementType::f64:
    return store(array, index, value);
  case ElementType::f32:
    return store(array, index, static_cast<float>(value));
  case ElementType::f16:
    return store(array, index, static_cast<uint16_t>(encode(half, value)));
  case ElementType::bf16:
    return store(array, index, floatToBf16(value));
  case ElementType::f8e4m3:
    return store(array, index, static_cast<uint8_t>(encode(e4m3, value)));
  case ElementType::f8e5m2:
    return store(array, index, static_cast<uint8_t>(encode(e5m2, value)));
  case ElementType::i64:
    return storeInt<int64_t>(array, index, value);
  case ElementType::i32:
    return storeInt<int32_t>(array, index, value);
  case ElementType::i16:
    return storeInt<int16_t>(array, index, value);
  case ElementType::i8:
    return storeInt<int8_t>(array, index, value);
  case ElementType::i1:
    return store(array, index, static_cast<uint8_t>(value != 0));
  }
}

double mk::rt::roundTo(ElementType type, double value) {
  char bytes[8];
  storeElement(type, bytes, 0, value);
  return loadElement(type, bytes, 0);
}

bool mk::rt::hasAtomicAdd(ElementType type) {
  switch (type) {
  case ElementType::f64:
  case ElementType::f32:
  case ElementType::f16:
  case ElementType::bf16:
  case ElementType::i64:
  case ElementType::i32:
    return true;
  default:
    return false;
  }
}

void mk::rt::atomicAdd(ElementType type, void *dst, const void *src,
                       size_t count) {
  auto addAs = [type](auto old, auto delta) {
    double sum = loadElement(type, &old, 0) + loadElement(type, &delta, 0);
    storeElement(type, &old, 0, sum);
    return old;
  };
  switch (type) {
  case ElementType::f64:
    return atomicUpdate<uint64_t>(dst, src, count, addAs);
  case ElementType::f32:
    return atomicUpdate<uint32_t>(dst, src, count, [](uint32_t a, uint32_t b) {
      return std::bit_cast<uint32_t>(std::bit_cast<float>(a) +
                                     std::bit_cast<float>(b));
    });
  case ElementType::f16:
  case ElementType::bf16:
    return atomicUpdate<uint16_t>(dst, src, count, addAs);
  case ElementType::i64:
    return atomicUpdate<uint64_t>(dst, src, count, std::plus<>());
  case ElementType::i32:
    return atomicUpdate<uint32_t>(dst, src, count, std::plus<>());
  default:
    return;
  }
}
