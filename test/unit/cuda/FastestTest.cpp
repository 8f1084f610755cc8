//===- FastestTest.cpp - Candidates that are measured on the fake GPU -----===//

#include "../Container.h"
#include "FakeGpu.h"
#include "device/cuda/SweepKernel.h"

namespace mk::rt::test {
namespace {

struct CudaFastest : FakeGpu {
  /// `count` candidates for all sizes.
  Package candidates(size_t count) {
    Container c(std::vector<Package>(count, package()));
    for (size_t i = 0; i < count; ++i) {
      c.metadata["versions"][i]["serves"] = Json::object();
      if (i)
        c.metadata["versions"][i]["candidate"] = i;
    }
    auto made = c.parse();
    EXPECT_OK(made);
    return std::move(*made);
  }
};

TEST_F(CudaFastest, ASweepReadsTwiceTheCache) {
  auto gpu = cuda::Gpu::open(0);
  ASSERT_OK(gpu);
  auto before = fake->blocks;
  auto sweep = cuda::SweepKernel::load(*gpu);
  ASSERT_OK(sweep);
  uint64_t from = 0;
  size_t bytes = 2 * (5000 / 16 * 16);
  for (auto [address, size] : fake->blocks)
    if (!before.count(address)) {
      from = address;
      EXPECT_EQ(size, bytes);
    }
  ASSERT_NE(from, 0u);
  // What is no zero is stored in front: so each word is read, and zeros change nothing.
  auto *words = reinterpret_cast<uint32_t *>(from);
  ASSERT_EQ(sweep->launch(nullptr), 0);
  for (size_t i = 0; i < bytes / 4; ++i)
    ASSERT_EQ(words[i], 0u);
  for (size_t i = 4; i < bytes / 4; i += 37) {
    words[i] = uint32_t(i);
    ASSERT_EQ(sweep->launch(nullptr), 0);
    ASSERT_EQ(words[0], uint32_t(i));
    words[0] = words[i] = 0;
  }
}

TEST_F(CudaFastest, CandidatesAreMeasuredByEvents) {
  auto job = context();
  auto kernel = Kernel::load(*job, candidates(2));
  ASSERT_OK(kernel);
  MeasureOptions options;
  options.cache = DiskCache("");
  std::vector<CandidateTime> times;
  auto bound =
      (*kernel)->bindFastest(std::vector<DimValue>{{"M", {6}}, {"N", {4}}}, options, &times);
  ASSERT_OK(bound);
  // Launch k of the fake GPU takes k / 4 ms, and its sweeps no time. So the second one is ahead,
  // which is not the last to be measured.
  ASSERT_EQ(times.size(), 2u);
  EXPECT_EQ((*bound)->version(), 1u);
  EXPECT_GT(times[0].ms, times[1].ms);
  EXPECT_GT(times[1].ms, 1);
  int launched = fake->launched;
  ASSERT_OK((*bound)->launch({}));
  ASSERT_OK((*bound)->synchronize());
  EXPECT_EQ(fake->launched, launched + 1);
  EXPECT_EQ((*bound)->epoch(), 1u);
}

TEST_F(CudaFastest, WhatThereIsNoMemoryForIsAnError) {
  auto job = context();
  auto kernel = Kernel::load(*job, candidates(2));
  ASSERT_OK(kernel);
  MeasureOptions options;
  options.cache = DiskCache("");
  // The sweep's memory comes last; what is left does not hold it.
  uint64_t used = 0;
  {
    auto bound = (*kernel)->bind({{"M", {6}}, {"N", {4}}});
    ASSERT_OK(bound);
    for (auto [address, bytes] : fake->blocks)
      used += bytes;
  }
  fake->memoryBytes = used + 1000;
  EXPECT_ERROR(
      (*kernel)->findFastest(std::vector<DimValue>{{"M", {6}}, {"N", {4}}}, options).status(),
      ResourceExhausted,
      "measuring candidate 1 of 2: what clears the cache between measured launches needs");
}

} // namespace
} // namespace mk::rt::test
