//===- Random.h - Random values of tensors ----------------------*- C++ -*-===//
//
// A value is a function of a key and of the element's place in the whole tensor,
// in integer arithmetic that is exact everywhere: each rank makes its own shard,
// on the host or on its GPU, and whoever checks makes the whole, to the same bits.
//
//   bits   = mix(key + element * 0x9e3779b97f4a7c15)        (mod 2^64)
//   mix(x):  x ^= x >> 30;  x *= 0xbf58476d1ce4e5b9;
//            x ^= x >> 27;  x *= 0x94d049bb133111eb;  x ^= x >> 31   (splitmix64)
//   float    (sum of the four 16-bit parts of `bits` - 131070) * 2^-16, which is
//            an integer of 18 bits and a power of two, rounded once, to the type
//   integer  low + (bits * count >> 64), the product having 128 bits
//
//===----------------------------------------------------------------------===//
#ifndef MKERNEL_RUNTIME_RANDOM_H
#define MKERNEL_RUNTIME_RANDOM_H

#include "mkernel/Runtime/ElementType.h"

#include <cstddef>
#include <initializer_list>
#include <vector>

namespace mk::rt {

struct Shard;

/// Where the elements of a shard lie in the whole tensor, with as few dimensions
/// as can say it: element number sum of digit_d * size of those inside of d, of the
/// shard, is first + sum of digit_d * stride_d of the whole.
struct ShardLayout {
  struct Dim {
    uint64_t size, stride; // elements
  };
  uint64_t first = 0, elements = 0;
  std::vector<Dim> dims; // innermost first; none: one element, or none

  static ShardLayout of(const Shard &shard);
};

/// Floats are nearly normal (a sum of four uniform numbers) with mean 0, deviation
/// 0.58 and magnitude below 2. Integers are uniform in a range.
class RandomValues {
public:
  /// Integers from `low` on, `count` different ones.
  RandomValues(ElementType type, uint64_t key, int64_t low, uint64_t count)
      : type_(type), key_(key), low_(low), count_(count) {}
  /// A key that differs when one of the numbers does.
  static uint64_t keyOf(std::initializer_list<uint64_t> numbers);

  ElementType type() const { return type_; }
  uint64_t key() const { return key_; }
  int64_t low() const { return low_; }
  uint64_t count() const { return count_; }

  /// Element `index` of the whole tensor, row-major, before it is rounded to the type.
  double operator()(uint64_t index) const;

  /// The elements of a shard, tight, by as many threads as the machine has processors.
  void fill(const ShardLayout &layout, std::byte *to) const;
  /// Elements 0 to `elements` of the whole, rounded to the own type and stored as `as`.
  void fillAs(ElementType as, uint64_t elements, std::byte *to) const;

private:
  ElementType type_;
  uint64_t key_;
  int64_t low_;
  uint64_t count_;
};

} // namespace mk::rt

#endif // MKERNEL_RUNTIME_RANDOM_H
