//===- Random.cpp - Random values of tensors ------------------------------===//

#include "mkernel/Runtime/Random.h"

#include "core/Parallel.h"
#include "mkernel/Runtime/Plan.h"

#include <algorithm>
#include <cstring>
#include <map>
#include <mutex>

using namespace mk::rt;

namespace {

constexpr uint64_t kStep = 0x9e3779b97f4a7c15u;
constexpr uint64_t kGrain = uint64_t(1) << 20; // elements of a thread's turn
constexpr uint32_t kSums = 4 * 65535 + 1;      // different floats
/// Fewer elements are rounded one by one.
constexpr uint64_t kTablePays = uint64_t(1) << 15;

/// The finaliser of splitmix64: every input bit changes every output bit.
inline uint64_t mix(uint64_t x) {
  x ^= x >> 30;
  x *= 0xbf58476d1ce4e5b9u;
  x ^= x >> 27;
  x *= 0x94d049bb133111ebu;
  return x ^ (x >> 31);
}

inline uint32_t sumOf(uint64_t bits) {
  // Two parts at a time; no sum has more than 18 bits.
  uint64_t pairs = (bits & 0x0000ffff0000ffffu) + (bits >> 16 & 0x0000ffff0000ffffu);
  return static_cast<uint32_t>(pairs) + static_cast<uint32_t>(pairs >> 32);
}

inline double valueOf(uint32_t sum) {
  return (static_cast<double>(sum) - 2 * 65535.0) * 0x1p-16;
}

inline int64_t integerOf(uint64_t bits, int64_t low, uint64_t count) {
  return int64_t(uint64_t(low) +
                 uint64_t(static_cast<unsigned __int128>(bits) * count >> 64));
}

/// What every sum is, rounded to `type` and stored as `as`: rounding is slow, and there
/// are few sums. Lives as long as the process.
const std::byte *tableOf(ElementType type, ElementType as) {
  static std::mutex mutex;
  static std::map<std::pair<ElementType, ElementType>, std::vector<std::byte>> tables;
  std::lock_guard lock(mutex);
  std::vector<std::byte> &table = tables[{type, as}];
  if (table.empty()) {
    table.resize(kSums * byteSize(as));
    for (uint32_t sum = 0; sum < kSums; ++sum)
      storeElement(as, table.data(), sum, roundTo(type, valueOf(sum)));
  }
  return table.data();
}

/// Makes elements that follow one another in the whole.
class Maker {
public:
  /// `elements`: how many it will make in all.
  Maker(const RandomValues &values, ElementType as, uint64_t elements)
      : values_(values), as_(as) {
    bool narrow = isFloat(values.type()) && byteSize(values.type()) <= 2;
    if (narrow && isFloat(as) && elements >= kTablePays)
      table_ = tableOf(values.type(), as);
  }

  /// Elements from `first` on as elements of `to` from `at` on.
  void operator()(std::byte *to, uint64_t at, uint64_t first, uint64_t n) const {
    to += at * byteSize(as_);
    ElementType type = values_.type();
    if (table_)
      switch (byteSize(as_)) {
      case 1: return look<uint8_t>(to, first, n);
      case 2: return look<uint16_t>(to, first, n);
      case 4: return look<uint32_t>(to, first, n);
      default: return look<uint64_t>(to, first, n);
      }
    auto exact = [](uint64_t bits) { return valueOf(sumOf(bits)); };
    bool wide = type == ElementType::f32 || type == ElementType::f64;
    if (wide && as_ == ElementType::f32)
      return each<float>(to, first, n, exact);
    if (wide && as_ == ElementType::f64)
      return each<double>(to, first, n, exact);
    auto integer = [low = values_.low(), count = values_.count()](uint64_t bits) {
      return integerOf(bits, low, count);
    };
    if (!isFloat(type) && type == as_)
      switch (type) {
      case ElementType::i64: return each<int64_t>(to, first, n, integer);
      case ElementType::i32: return each<int32_t>(to, first, n, integer);
      case ElementType::i16: return each<int16_t>(to, first, n, integer);
      case ElementType::i8: return each<int8_t>(to, first, n, integer);
      default: break;
      }
    for (uint64_t i = 0; i < n; ++i)
      storeElement(as_, to, i, roundTo(type, values_(first + i)));
  }

private:
  template <typename T, typename Fn>
  void each(std::byte *to, uint64_t first, uint64_t n, Fn value) const {
    uint64_t counter = values_.key() + first * kStep;
    for (uint64_t i = 0; i < n; ++i, counter += kStep) {
      T element = static_cast<T>(value(mix(counter)));
      std::memcpy(to + i * sizeof(T), &element, sizeof(T));
    }
  }
  template <typename T> void look(std::byte *to, uint64_t first, uint64_t n) const {
    each<T>(to, first, n, [table = table_](uint64_t bits) {
      T element;
      std::memcpy(&element, table + sumOf(bits) * sizeof(T), sizeof(T));
      return element;
    });
  }

  const RandomValues &values_;
  ElementType as_;
  const std::byte *table_ = nullptr;
};

} // namespace

ShardLayout ShardLayout::of(const Shard &shard) {
  ShardLayout layout;
  layout.elements = uint64_t(std::max<int64_t>(shard.elements(), 0));
  if (layout.elements == 0)
    return layout;
  uint64_t stride = 1;
  for (size_t d = shard.sizes.size(); d-- > 0;) {
    auto size = uint64_t(shard.sizes[d]);
    layout.first += uint64_t(shard.begin[d]) * stride;
    // The step from the last element inside of this dimension to the next in it may
    // be like all others.
    if (!layout.dims.empty() &&
        layout.dims.back().size * layout.dims.back().stride == stride)
      layout.dims.back().size *= size;
    else if (size > 1)
      layout.dims.push_back({size, stride});
    stride *= uint64_t(shard.global[d]);
  }
  return layout;
}

uint64_t RandomValues::keyOf(std::initializer_list<uint64_t> numbers) {
  uint64_t key = kStep;
  for (uint64_t number : numbers)
    key = mix(key + number);
  return key;
}

double RandomValues::operator()(uint64_t index) const {
  uint64_t bits = mix(key_ + index * kStep);
  return isFloat(type_) ? valueOf(sumOf(bits))
                        : static_cast<double>(integerOf(bits, low_, count_));
}

void RandomValues::fill(const ShardLayout &layout, std::byte *to) const {
  Maker make(*this, type_, layout.elements);
  // What is contiguous in the whole.
  bool runs = !layout.dims.empty() && layout.dims[0].stride == 1;
  uint64_t width = runs ? layout.dims[0].size : 1;
  parallelFor(layout.elements, kGrain, [&](uint64_t begin, uint64_t end) {
    for (uint64_t at = begin; at < end;) {
      uint64_t rest = at, global = layout.first;
      for (const ShardLayout::Dim &dim : layout.dims) {
        global += rest % dim.size * dim.stride;
        rest /= dim.size;
      }
      uint64_t n = std::min(width - at % width, end - at);
      make(to, at, global, n);
      at += n;
    }
  });
}

void RandomValues::fillAs(ElementType as, uint64_t elements, std::byte *to) const {
  Maker make(*this, as, elements);
  parallelFor(elements, kGrain, [&](uint64_t begin, uint64_t end) {
    make(to, begin, begin, end - begin);
  });
}
