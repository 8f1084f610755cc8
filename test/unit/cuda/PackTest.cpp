//===- PackTest.cpp - Copies of arguments whose rows are not aligned ------===//
//
// The text of the kernel, executed thread by thread, against loops over elements.
//
//===----------------------------------------------------------------------===//

#include "FakePtx.h"
#include "Support.h"
#include "device/Device.h"
#include "device/cuda/Packing.h"

#include <numeric>
#include <random>

namespace mk::rt::test {
namespace {

using cuda::Tensor;

constexpr std::byte kUntouched{0xcd};

/// Bytes of memory from the first element to behind the last one.
uint64_t spanOf(const Tensor &tensor) {
  uint64_t elements = 1;
  for (size_t d = 0; d < tensor.sizes.size(); ++d)
    elements += uint64_t(tensor.sizes[d] - 1) * uint64_t(tensor.strides[d]);
  return elements * byteSize(tensor.type);
}

/// A tensor in memory, `shift` elements behind an address that is aligned to 16.
struct Memory {
  Memory(Tensor what, uint64_t shift, uint64_t seed) : tensor(std::move(what)) {
    bytes.resize(spanOf(tensor) + 64);
    std::mt19937_64 random(seed);
    for (std::byte &byte : bytes)
      byte = std::byte(random());
    auto base = (reinterpret_cast<uint64_t>(bytes.data()) + 15) / 16 * 16;
    tensor.address = base + shift * byteSize(tensor.type);
  }
  std::vector<std::byte> bytes;
  Tensor tensor;
};

/// Runs over all elements: of each the offset in `a` and in `b`, in bytes.
template <typename Fn> void forEach(const Tensor &a, const Tensor &b, Fn fn) {
  std::vector<int64_t> at(a.sizes.size());
  uint64_t size = byteSize(a.type);
  for (;;) {
    uint64_t inA = 0, inB = 0;
    for (size_t d = 0; d < at.size(); ++d) {
      inA += uint64_t(at[d] * a.strides[d]) * size;
      inB += uint64_t(at[d] * b.strides[d]) * size;
    }
    fn(inA, inB);
    size_t d = at.size();
    while (d > 0 && ++at[d - 1] == a.sizes[d - 1])
      at[--d] = 0;
    if (d == 0)
      return;
  }
}

struct Copied {
  Memory from;
  Tensor to;
  std::vector<std::byte> memory;

  Copied(const Tensor &tensor, uint64_t shift, uint64_t seed) : from(tensor, shift, seed) {
    auto packed = cuda::packedLayout(from.tensor);
    EXPECT_TRUE(packed);
    to = *packed;
    memory.assign(uint64_t(to.strides[0] * to.sizes[0]) * byteSize(to.type) + 256, kUntouched);
    to.address = (reinterpret_cast<uint64_t>(memory.data()) + 127) / 128 * 128;
    EXPECT_EQ(cuda::tensorMapObstacle(to), "");
  }
  cuda::PackCopy describe() const { return cuda::describeCopy(from.tensor, to); }
  void expectCopied() const {
    uint64_t size = byteSize(to.type);
    int wrong = 0;
    forEach(from.tensor, to, [&](uint64_t inFrom, uint64_t inTo) {
      wrong += std::memcmp(reinterpret_cast<const void *>(from.tensor.address + inFrom),
                           reinterpret_cast<const void *>(to.address + inTo), size) != 0;
    });
    EXPECT_EQ(wrong, 0) << shapeText(to.sizes) << " by " << shapeText(from.tensor.strides) << ", "
                        << name(to.type);
    for (const std::byte *b = memory.data(); b != memory.data() + memory.size(); ++b) {
      auto address = reinterpret_cast<uint64_t>(b);
      uint64_t end = to.address + uint64_t(to.strides[0] * to.sizes[0]) * size;
      if (address < to.address || address >= end) {
        ASSERT_EQ(*b, kUntouched) << "written outside of the copy";
      }
    }
  }
};

void run(std::vector<cuda::PackCopy> copies, uint32_t ctasOfEach) {
  auto kernel = FakePtx::parse(cuda::PackKernel::ptx());
  ASSERT_TRUE(kernel);
  ASSERT_EQ(kernel->params, sizeof(cuda::PackParams));
  cuda::PackParams params;
  uint32_t ctas = 0;
  for (size_t i = 0; i < copies.size(); ++i) {
    params.copies[i] = copies[i];
    params.copies[i].firstCta = ctas;
    params.copies[i].ctas = ctasOfEach;
    ctas += ctasOfEach;
  }
  FakePtx::strayReads = 0;
  FakePtx::readable = {copies[0].begin, copies[0].end};
  if (copies.size() > 1)
    FakePtx::readable = {0, ~uint64_t(0)};
  kernel->run(&params, ctas, cuda::OwnKernel::kThreads);
  EXPECT_EQ(FakePtx::strayReads, 0) << "reads in front of the argument or behind it";
}

Tensor tight(ElementType type, std::vector<int64_t> sizes) {
  return {0, type, sizes, tightStrides(sizes)};
}

TEST(Pack, RowsOfAllLengthsAndAlignments) {
  uint64_t seed = 0;
  for (ElementType type : {ElementType::f8e4m3, ElementType::bf16, ElementType::f32, ElementType::f64})
    for (int64_t columns : {1, 2, 3, 7, 8, 9, 15, 16, 17, 31, 33, 91, 130, 515, 1100})
      for (uint64_t shift : {0, 1, 3, 5}) {
        Copied one(tight(type, {5, columns}), shift, ++seed);
        run({one.describe()}, 1 + seed % 3);
        one.expectCopied();
      }
}

TEST(Pack, StridesOfViews) {
  std::mt19937_64 random(7);
  for (int i = 0; i < 200; ++i) {
    size_t rank = 2 + random() % 4;
    Tensor tensor{0, i % 2 ? ElementType::bf16 : ElementType::i8, {}, {}};
    int64_t stride = 1;
    for (size_t d = 0; d < rank; ++d) {
      int64_t size = 1 + int64_t(random() % (d == 0 ? 70 : 4));
      tensor.sizes.insert(tensor.sizes.begin(), size);
      tensor.strides.insert(tensor.strides.begin(), d > 0 && random() % 8 == 0 ? 0 : stride);
      stride = stride * size + int64_t(random() % 5);
    }
    Copied one(tensor, random() % 9, random());
    run({one.describe()}, 2);
    one.expectCopied();
  }
}

TEST(Pack, SeveralArgumentsAtATime) {
  Copied a(tight(ElementType::bf16, {33, 37}), 0, 1), b(tight(ElementType::f32, {3, 4, 5}), 1, 2),
      c(tight(ElementType::f8e5m2, {200, 3}), 2, 3);
  run({a.describe(), b.describe(), c.describe()}, 2);
  for (const Copied *one : {&a, &b, &c})
    one->expectCopied();
}

TEST(Pack, WhatCannotBeCopied) {
  EXPECT_FALSE(cuda::packedLayout(tight(ElementType::f32, {30}))) << "no rows";
  EXPECT_FALSE(cuda::packedLayout(tight(ElementType::f32, {2, 2, 2, 2, 2, 2})));
  EXPECT_FALSE(cuda::packedLayout(tight(ElementType::f32, {0, 3})));
  EXPECT_FALSE(cuda::packedLayout(tight(ElementType::f32, {3, 0})));
  EXPECT_FALSE(cuda::packedLayout({0, ElementType::f32, {3, 5}, {1, 3}})) << "columns side by side";
  EXPECT_FALSE(cuda::packedLayout(tight(ElementType::bf16, {int64_t(1) << 31, 3})));
  EXPECT_FALSE(cuda::packedLayout(
      tight(ElementType::bf16, {int64_t(1) << 31, int64_t(1) << 31, 3})));
  auto last = cuda::packedLayout(tight(ElementType::bf16, {3, 65}));
  ASSERT_TRUE(last);
  EXPECT_EQ(last->strides, (std::vector<int64_t>{128, 1}));
}

} // namespace
} // namespace mk::rt::test
