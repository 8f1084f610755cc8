//===- RandomTest.cpp - Random values of tensors --------------------------===//

#include "Support.h"
#include "core/Parallel.h"
#include "mkernel/Runtime/Plan.h"
#include "mkernel/Runtime/Random.h"

#include <atomic>
#include <cstring>

namespace mk::rt::test {
namespace {

constexpr ElementType types[] = {
    ElementType::f64,    ElementType::f32,    ElementType::f16, ElementType::bf16,
    ElementType::f8e4m3, ElementType::f8e5m2, ElementType::i64, ElementType::i32,
    ElementType::i16,    ElementType::i8,     ElementType::i1};

RandomValues valuesOf(ElementType type) {
  bool narrow = type == ElementType::i1;
  return RandomValues(type, RandomValues::keyOf({1, 2, 3}), narrow ? 0 : -7,
                      narrow ? 2 : 20);
}

/// The elements of a shard, one by one, by the definition.
std::vector<std::byte> slowly(const RandomValues &values, const Shard &shard) {
  size_t size = byteSize(values.type());
  std::vector<std::byte> bytes(size_t(shard.elements()) * size);
  for (int64_t i = 0; i < shard.elements(); ++i) {
    int64_t global = 0, rest = i, stride = 1;
    for (size_t d = shard.sizes.size(); d-- > 0;) {
      global += (shard.begin[d] + rest % shard.sizes[d]) * stride;
      rest /= shard.sizes[d];
      stride *= shard.global[d];
    }
    storeElement(values.type(), bytes.data(), size_t(i), values(uint64_t(global)));
  }
  return bytes;
}

TEST(Random, TheFirstValuesAreTheseForEver) {
  // Whoever compares runs of two versions counts on it.
  RandomValues floats(ElementType::f32, RandomValues::keyOf({0, 0, 0}), 0, 8);
  EXPECT_EQ(floats.key(), 0x33fe8bd4f9c57863u);
  EXPECT_EQ(floats(0), -0.623748779296875);
  EXPECT_EQ(floats(1), -1.0616302490234375);
  RandomValues integers(ElementType::i32, floats.key(), 0, 8);
  EXPECT_EQ(integers(0), 0);
  EXPECT_EQ(integers(1), 1);
}

TEST(Random, ShardsOfEveryType) {
  Shard shards[] = {
      {{}, {}, {}},
      {{5}, {5}, {0}},
      {{3, 4}, {9, 4}, {6, 0}},
      {{3, 4}, {3, 12}, {0, 4}},
      {{3, 1}, {7, 1}, {4, 0}},
      {{4, 1}, {4, 6}, {0, 2}},
      {{2, 3, 4, 5}, {4, 3, 8, 5}, {2, 0, 4, 0}},
      {{0, 4}, {8, 4}, {8, 0}},
      {{260, 300}, {260, 600}, {0, 300}}, // by table
  };
  for (ElementType type : types)
    for (const Shard &shard : shards) {
      RandomValues values = valuesOf(type);
      std::vector<std::byte> want = slowly(values, shard), got(want.size());
      values.fill(ShardLayout::of(shard), got.data());
      EXPECT_TRUE(got == want) << name(type) << " " << shapeText(shard.sizes);
    }
}

TEST(Random, FewDimensionsSayIt) {
  auto dims = [](const Shard &shard) { return ShardLayout::of(shard).dims.size(); };
  EXPECT_EQ(dims({{}, {}, {}}), 0u);
  EXPECT_EQ(dims({{1, 1}, {9, 9}, {3, 4}}), 0u);
  EXPECT_EQ(ShardLayout::of({{1, 1}, {9, 9}, {3, 4}}).first, 31u);
  EXPECT_EQ(dims({{2, 3, 4}, {8, 3, 4}, {2, 0, 0}}), 1u); // rows
  EXPECT_EQ(dims({{2, 3, 4}, {2, 6, 4}, {0, 3, 0}}), 2u);
  EXPECT_EQ(dims({{2, 3, 4}, {4, 6, 8}, {2, 3, 4}}), 3u);
}

TEST(Random, AsAnotherType) {
  for (ElementType type : types)
    for (uint64_t n : {uint64_t(50), uint64_t(70000)}) { // one by one, by table
      RandomValues values = valuesOf(type);
      ElementType as = isFloat(type) ? ElementType::f64 : type;
      std::vector<std::byte> got(n * byteSize(as)), want(n * byteSize(as));
      for (uint64_t i = 0; i < n; ++i)
        storeElement(as, want.data(), i, roundTo(type, values(i)));
      values.fillAs(as, n, got.data());
      EXPECT_TRUE(got == want) << name(type) << " " << n;
    }
}

TEST(Random, EveryPartOfALoopOnce) {
  for (uint64_t n : {uint64_t(0), uint64_t(1), uint64_t(10), uint64_t(1001)}) {
    std::vector<std::atomic<int>> seen(n);
    parallelFor(n, 10, [&](uint64_t begin, uint64_t end) {
      EXPECT_LE(end - begin, 10u);
      for (uint64_t i = begin; i < end; ++i)
        ++seen[i];
    });
    for (auto &count : seen)
      EXPECT_EQ(count, 1);
  }
}

} // namespace
} // namespace mk::rt::test
