//===- EnginesTest.cpp - What is enqueued for roles of copy engines -------===//

#include "device/cuda/Engines.h"
#include "FakeGpu.h"

namespace mk::rt::test {
namespace {

/// A launch whose engines put two rows of a matrix to the own rank, then a run without a signal to
/// another one, then nothing.
struct CudaEngines : FakeGpu {
  static constexpr uint32_t kEpoch = 3, kArrivals = 2, kElement = 1;

  static uint64_t addressOf(const auto &object) { return reinterpret_cast<uint64_t>(&object); }

  std::vector<cuda::EnginePut> puts() const {
    cuda::EnginePut rows{{{addressOf(middle), addressOf(from), 4, 2, 4, 8}}, 0, 0, kElement, 1};
    // The fake does them one after the other: this one finds what the first has brought.
    cuda::EnginePut run{{{addressOf(to), addressOf(middle), 8}}, /*peer=*/1};
    cuda::EnginePut nothing{{}, 0, 0, kElement, 2};
    return {rows, run, nothing};
  }

  void prepare(std::span<const cuda::EnginePut> puts) {
    context_ = context();
    auto opened = cuda::Gpu::open(0);
    ASSERT_OK(opened);
    gpu = *std::move(opened);
    auto created = cuda::Engines::create(gpu);
    ASSERT_OK(created);
    engines = *std::move(created);
    Plan plan;
    plan.signals.push_back({{4}, 4, kArrivals});
    mk_gpu_launch launch = {};
    launch.control = addressOf(control);
    launch.world = 1;
    uint64_t values[] = {addressOf(signal)};
    ASSERT_OK(engines->prepare(*context_, Metadata(), plan, puts, values, /*ready=*/0, launch));
  }

  std::vector<std::string> callsOf(const std::function<int()> &enqueue) const {
    fake->calls.clear();
    EXPECT_EQ(enqueue(), cuda::kSuccess);
    return fake->calls;
  }

  std::unique_ptr<Context> context_;
  std::shared_ptr<cuda::Gpu> gpu;
  std::unique_ptr<cuda::Engines> engines;
  mk_gpu_control control = {kEpoch, 0, 0, 0, 0, 0, 0, 0};
  uint32_t from[4] = {10, 11, 12, 13}, middle[2] = {}, to[2] = {}, signal[4] = {};
};

TEST_F(CudaEngines, CopiesHaveTheOrderOfThePuts) {
  ASSERT_NO_FATAL_FAILURE(prepare(puts()));
  EXPECT_TRUE(engines->copies());
  cuda::Current current(*gpu);
  EXPECT_THAT(callsOf([&] { return engines->enqueueFront(nullptr, 1); }),
              ::testing::ElementsAre("cuLaunchKernelEx", "cuEventRecord", // the launch is opened
                                     "cuStreamWaitEvent", // and the engines' stream begins
                                     "cuMemcpy2DAsync",
                                     "cuMemcpy2DAsync",   // a call for each row, of the fake
                                     "cuMemcpyDtoDAsync", // their arrival
                                     "cuMemcpyDtoDAsync", // a run
                                     "cuMemcpyDtoDAsync", // an arrival alone
                                     "cuMemcpyDtoDAsync", "cuEventRecord")); // copies are complete
  EXPECT_THAT(to, ::testing::ElementsAre(10, 12));
  // What all of them have brought when the last one is there.
  EXPECT_THAT(signal, ::testing::ElementsAre(0, kEpoch * kArrivals + 2, 0, 0));
  EXPECT_EQ(control.opened, kEpoch + 1);
  EXPECT_EQ(control.copied, kEpoch + 1);
  EXPECT_THAT(callsOf([&] { return engines->enqueueBehind(nullptr); }),
              ::testing::ElementsAre("cuStreamWaitEvent"));
}

TEST_F(CudaEngines, WhatIsPutToTheOwnRankIsInFrontOfTheKernel) {
  ASSERT_NO_FATAL_FAILURE(prepare(puts()));
  cuda::Current current(*gpu);
  fake->copiedIn.clear();
  EXPECT_EQ(engines->enqueueFront(nullptr, 1), cuda::kSuccess);
  using ::testing::IsNull, ::testing::NotNull;
  EXPECT_THAT(fake->copiedIn,
              ::testing::ElementsAre(IsNull(), IsNull(), IsNull(), // rows and their arrival
                                     NotNull(),                    // the run
                                     IsNull(), NotNull()));        // an arrival; all are complete
}

TEST_F(CudaEngines, NothingToCopy) {
  ASSERT_NO_FATAL_FAILURE(prepare({}));
  EXPECT_FALSE(engines->copies());
}

TEST_F(CudaEngines, ACallThatFailsIsTheLast) {
  ASSERT_NO_FATAL_FAILURE(prepare(puts()));
  cuda::Current current(*gpu);
  fake->sticky = 700;
  fake->calls.clear();
  EXPECT_EQ(engines->enqueueFront(nullptr, 1), 700);
  EXPECT_EQ(fake->count("cuMemcpyDtoDAsync"), 0u);
  fake->sticky = 0;
}

} // namespace
} // namespace mk::rt::test
