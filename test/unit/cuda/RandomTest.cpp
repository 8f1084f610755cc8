//===- RandomTest.cpp - The kernel that makes random values ---------------===//
//
// Its text, executed by the fake driver, against the host's own function.
//
//===----------------------------------------------------------------------===//

#include "FakeGpu.h"
#include "device/cuda/RandomKernel.h"

#include <algorithm>

namespace mk::rt::test {
namespace {

struct CudaRandom : FakeGpu {
  void expectSame(cuda::RandomKernel &kernel, const cuda::Gpu &gpu,
                  const RandomValues &values, const Shard &shard) {
    ShardLayout layout = ShardLayout::of(shard);
    ASSERT_TRUE(cuda::RandomKernel::takes(layout));
    size_t bytes = size_t(layout.elements) * byteSize(values.type());
    std::vector<std::byte> want(bytes);
    values.fill(layout, want.data());
    uint64_t memory = 0;
    ASSERT_EQ(gpu.driver().memAlloc(&memory, bytes + 8), 0);
    ASSERT_EQ(kernel.launch(values, layout, memory, nullptr), 0);
    auto *got = reinterpret_cast<const std::byte *>(memory);
    EXPECT_TRUE(std::equal(want.begin(), want.end(), got))
        << name(values.type()) << " " << shapeText(shard.sizes);
    for (size_t i = bytes; i < bytes + 8; ++i)
      EXPECT_EQ(got[i], std::byte(0xcd)) << "written past the end";
    ASSERT_EQ(gpu.driver().memFree(memory), 0);
  }
};

TEST_F(CudaRandom, TheSameBitsAsOnTheHost) {
  auto gpu = cuda::Gpu::open(0);
  ASSERT_OK(gpu);
  auto kernel = cuda::RandomKernel::load(*gpu);
  ASSERT_OK(kernel);
  Shard shards[] = {
      {{}, {}, {}},
      {{4000}, {4000}, {0}},
      {{30, 40}, {90, 40}, {60, 0}},
      {{30, 40}, {30, 120}, {0, 40}},
      {{4, 1}, {4, 6}, {0, 2}},
      {{2, 3, 4, 5}, {4, 3, 8, 5}, {2, 0, 4, 0}},
      {{0, 4}, {8, 4}, {8, 0}},
      {{2, 2, 2, 2, 2, 2, 2, 2}, {4, 4, 4, 4, 4, 4, 4, 4}, {0, 1, 2, 0, 1, 2, 0, 1}},
  };
  for (int32_t type = MK_F64; type <= MK_I1; ++type)
    for (const Shard &shard : shards)
      expectSame(**kernel, **gpu,
                 RandomValues(ElementType(type), RandomValues::keyOf({5, uint64_t(type)}),
                              type == MK_I1 ? 0 : -100, type == MK_I1 ? 2 : 201),
                 shard);
  // The widest range that mk-run takes.
  expectSame(**kernel, **gpu,
             RandomValues(ElementType::i64, 9, -(int64_t(1) << 53), uint64_t(1) << 54),
             shards[1]);
}

TEST_F(CudaRandom, TheGridFitsTheGpu) {
  auto gpu = cuda::Gpu::open(0);
  ASSERT_OK(gpu);
  auto kernel = cuda::RandomKernel::load(*gpu);
  ASSERT_OK(kernel);
  // More elements than threads: each makes several.
  fake->sms = 1;
  auto small = cuda::Gpu::open(0);
  ASSERT_OK(small);
  auto few = cuda::RandomKernel::load(*small);
  ASSERT_OK(few);
  expectSame(**few, **small, RandomValues(ElementType::bf16, 3, 0, 8),
             {{9000}, {9000}, {0}});
}

TEST_F(CudaRandom, NineDimensionsAreTooMany) {
  Shard shard{std::vector<int64_t>(9, 2), std::vector<int64_t>(9, 4),
              std::vector<int64_t>(9, 1)};
  EXPECT_FALSE(cuda::RandomKernel::takes(ShardLayout::of(shard)));
}

} // namespace
} // namespace mk::rt::test
