//===- LaunchTest.cpp - Bound kernels on the fake GPU ---------------------===//

#include "FakeGpu.h"

#include <cmath>
#include <cstring>

namespace mk::rt::test {
namespace {

struct CudaLaunch : FakeGpu {
  void bind(const Package &package, int64_t m = 6, int64_t n = 4) {
    job = context();
    auto loaded = Kernel::load(*job, package);
    ASSERT_OK(loaded);
    kernel = std::move(*loaded);
    auto made = kernel->bind({{"M", {m}}, {"N", {n}}});
    ASSERT_OK(made);
    bound = std::move(*made);
  }
  void TearDown() override {
    bound.reset();
    kernel.reset();
    job.reset();
  }
  std::vector<float> values(int64_t count, float from) {
    std::vector<float> v(static_cast<size_t>(count));
    for (size_t i = 0; i < v.size(); ++i)
      v[i] = from + float(i);
    return v;
  }
  void expectAffine(const std::vector<float> &a) {
    std::vector<float> c(a.size(), -1);
    ASSERT_OK(bound->download("c", c.data()));
    for (size_t i = 0; i < a.size(); ++i)
      ASSERT_EQ(c[i], 2 * a[i] + 1) << i;
  }
  mk_gpu_launch lastLaunch() {
    mk_gpu_launch launch;
    std::memcpy(&launch, fake->last.params.data() + 256, sizeof(launch));
    return launch;
  }
  std::unique_ptr<Context> job;
  std::unique_ptr<Kernel> kernel;
  std::unique_ptr<BoundKernel> bound;
};

TEST_F(CudaLaunch, ManyLaunchesWithChangingData) {
  bind(package());
  EXPECT_EQ(bound->hostData(0), nullptr);
  EXPECT_EQ(reinterpret_cast<uintptr_t>(bound->data("a")) % 256, 0u);
  for (int i = 0; i < 20; ++i) {
    auto a = values(24, float(i));
    ASSERT_OK(bound->upload("a", a.data()));
    ASSERT_OK(bound->launch({}));
    ASSERT_OK(bound->synchronize());
    expectAffine(a);
  }
  EXPECT_EQ(bound->epoch(), 20u);
  EXPECT_EQ(fake->launched, 20);
  EXPECT_GT(bound->stats().wallMs, 0);
}

TEST_F(CudaLaunch, WhatTheDriverIsAskedFor) {
  bind(package());
  fake->calls.clear();
  ASSERT_OK(bound->launch({.deadline = 1500ms}));
  // Nothing but the launch: no allocation, no waiting.
  EXPECT_EQ(fake->calls, (std::vector<std::string>{"cuLaunchKernelEx"}));
  EXPECT_EQ(fake->last.config.grid[0], 132u);
  EXPECT_EQ(fake->last.config.grid[1], 1u);
  EXPECT_EQ(fake->last.config.block[0], 384u);
  EXPECT_EQ(fake->last.config.sharedBytes, 200000u);
  EXPECT_TRUE(fake->last.cooperative);
  EXPECT_FALSE(fake->last.overlaps);
  mk_gpu_launch launch = lastLaunch();
  EXPECT_EQ(launch.deadline_ns, 1500000000u);
  EXPECT_EQ(launch.rank, 0u);
  EXPECT_EQ(launch.world, 1u);
  EXPECT_NE(launch.workspace, 0u);
  EXPECT_EQ(launch.workspace % 256, 0u);
  EXPECT_NE(launch.report, 0u);
  EXPECT_NE(launch.job_abort, 0u);
  EXPECT_EQ(launch.maps_valid, 0b11u);
  uint64_t first;
  std::memcpy(&first, fake->last.params.data() + 256 + sizeof(mk_gpu_launch) + 2 * 8, 8);
  EXPECT_EQ(first, reinterpret_cast<uint64_t>(bound->data("a")));
}

TEST_F(CudaLaunch, TimesByEvents) {
  bind(package());
  EXPECT_TRUE(bound->stats().roles.empty() && bound->stats().peers.empty())
      << "nobody measures them";
  for (double want : {0.25, 0.5, 0.75}) {
    ASSERT_OK(bound->launch({.timed = true}));
    ASSERT_OK(bound->synchronize());
    EXPECT_EQ(bound->stats().deviceMs, want);
  }
  auto graph = bound->capture({.timed = true});
  ASSERT_OK(graph);
  ASSERT_OK((*graph)->launch());
  ASSERT_OK(bound->synchronize());
  EXPECT_EQ(bound->stats().deviceMs, 1);
  graph->reset();
  // Only on demand: an event costs a microsecond.
  fake->calls.clear();
  ASSERT_OK(bound->launch({}));
  ASSERT_OK(bound->synchronize());
  EXPECT_EQ(fake->count("cuEventRecord") + fake->count("cuEventElapsedTime"), 0u);
  EXPECT_EQ(bound->stats().deviceMs, 1);
}

TEST_F(CudaLaunch, ArgumentsAreFilledByTheGpu) {
  bind(package());
  ASSERT_OK(bound->launch({}));
  fake->calls.clear();
  RandomValues values(ElementType::f32, 77, 0, 8);
  for (int turn = 0; turn < 2; ++turn)
    ASSERT_OK(bound->fillRandom(bound->index("a"), values));
  ASSERT_OK(bound->fill(bound->index("c"), std::byte(0xff)));
  EXPECT_EQ(fake->calls,
            (std::vector<std::string>{"cuModuleLoadDataEx", "cuLaunchKernelEx",
                                      "cuLaunchKernelEx", "cuMemsetD8Async"}));
  EXPECT_EQ(fake->launched, 1) << "of the kernel itself";
  std::vector<float> a(24), c(24), want(24);
  values.fill(ShardLayout::of(bound->shard("a")),
              reinterpret_cast<std::byte *>(want.data()));
  ASSERT_OK(bound->download("a", a.data()));
  ASSERT_OK(bound->download("c", c.data()));
  EXPECT_EQ(a, want);
  for (float element : c)
    EXPECT_TRUE(std::isnan(element));
  int64_t strides[] = {8, 1};
  auto device = cuda::Driver::get();
  ASSERT_OK(device);
  uint64_t memory = 0;
  ASSERT_EQ((*device)->memAlloc(&memory, 4096), 0);
  ASSERT_OK(bound->attach("a", reinterpret_cast<void *>(memory), strides));
  EXPECT_ERROR(bound->fillRandom(bound->index("a"), values), FailedPrecondition,
               "was attached with strides: fillRandom() writes tight memory only");
  EXPECT_ERROR(bound->fill(bound->index("a"), std::byte(0)), FailedPrecondition,
               "fill() writes tight memory only");
  bound.reset();
  ASSERT_EQ((*device)->memFree(memory), 0);
}

TEST_F(CudaLaunch, CtasThatDoNotWaitNeedNotRunAtATime) {
  bind(package("affine", {{"\"cooperative\": true", "\"cooperative\": false"}}));
  ASSERT_OK(bound->launch({}));
  EXPECT_FALSE(fake->last.cooperative);
  EXPECT_TRUE(fake->last.overlaps);
}

TEST_F(CudaLaunch, AttachedMemoryWithStrides) {
  bind(package(), 3, 2);
  float host[2];
  EXPECT_ERROR(bound->attach("a", host), InvalidArgument,
               "argument 'a': GPU 0 (Fake H200) does not reach the memory: "
               "attach memory of the GPU, or copy the values to the argument's "
               "own with upload()");
  int64_t one[] = {8}, negative[] = {-8, 1};
  EXPECT_ERROR(bound->attach("a", host, one), InvalidArgument,
               "has 2 dimensions and was given 1 strides");
  EXPECT_ERROR(bound->attach("a", host, negative), InvalidArgument,
               "was given the stride -8");
  auto device = cuda::Driver::get();
  ASSERT_OK(device);
  uint64_t memory = 0;
  ASSERT_EQ((*device)->memAlloc(&memory, 4096), 0);
  auto *a = reinterpret_cast<float *>(memory);
  for (int64_t i = 0; i < 3; ++i)
    for (int64_t j = 0; j < 2; ++j)
      a[8 * i + j] = float(10 * i + j);

  int64_t strides[] = {8, 1};
  ASSERT_OK(bound->attach("a", a, strides));
  EXPECT_EQ(bound->data("a"), reinterpret_cast<std::byte *>(a));
  ASSERT_OK(bound->launch({}));
  EXPECT_EQ(lastLaunch().maps_valid, 0b01u); // c has rows of 8 bytes
  std::vector<float> c(6);
  ASSERT_OK(bound->download("c", c.data()));
  EXPECT_EQ(c, (std::vector<float>{1, 3, 21, 23, 41, 43}));
  EXPECT_ERROR(bound->upload("a", c.data()), FailedPrecondition,
               "was attached with strides: upload() writes tight memory only");

  // The base of the second row is not aligned to 16: no map, still right.
  ASSERT_OK(bound->attach("a", a + 2, strides));
  ASSERT_OK(bound->launch({}));
  EXPECT_EQ(lastLaunch().maps_valid, 0u);
  bound.reset(); // frees what is its own only
  EXPECT_EQ(fake->blocks.count(memory), 1u);
  ASSERT_EQ((*device)->memFree(memory), 0);
}

TEST_F(CudaLaunch, StridesStayWithinTheMemory) {
  bind(package(), 3, 2);
  auto device = cuda::Driver::get();
  ASSERT_OK(device);
  uint64_t memory = 0;
  ASSERT_EQ((*device)->memAlloc(&memory, 4096), 0);
  auto *at = reinterpret_cast<float *>(memory);
  auto attach = [&](const char *arg, float *to, int64_t s0, int64_t s1) {
    int64_t strides[] = {s0, s1};
    return bound->attach(arg, to, strides);
  };
  for (int64_t huge : {int64_t(1) << 60, int64_t(1) << 62, INT64_MAX})
    for (auto [s0, s1] : {std::pair(huge, int64_t(1)), std::pair(int64_t(2), huge)}) {
      Status status = attach("a", at, s0, s1);
      EXPECT_EQ(status.code(), StatusCode::InvalidArgument) << s0 << " " << s1;
      EXPECT_THAT(status.message(), HasSubstr("argument 'a' of 3 x 2 elements with strides "));
      EXPECT_THAT(status.message(), HasSubstr("give smaller strides"));
    }
  EXPECT_ERROR(attach("a", at, int64_t(1) << 61, 1), InvalidArgument,
               "its last element would lie behind all addresses: give smaller strides");
  // Of 1024 elements: the last one is the argument's.
  EXPECT_OK(attach("a", at, 511, 1));
  EXPECT_OK(attach("a", at, 510, 3));
  EXPECT_ERROR(attach("a", at, 512, 1), InvalidArgument,
               "it takes 4104 bytes, and the memory has 4096 from there on: attach as much as it "
               "takes, or give smaller strides");
  EXPECT_ERROR(attach("a", at + 1023, 2, 1), InvalidArgument,
               "it takes 24 bytes, and the memory has 4 from there on");
  EXPECT_ERROR(bound->attach("a", at + 1020), InvalidArgument,
               "it takes 24 bytes, and the memory has 16 from there on");
  // What is refused changes nothing.
  EXPECT_EQ(bound->data("a"), reinterpret_cast<std::byte *>(at));
  // Elements of an input may share addresses, those of an output must not.
  EXPECT_OK(attach("a", at, 0, 1));
  EXPECT_OK(attach("a", at, 1, 1));
  EXPECT_ERROR(attach("c", at, 0, 1), InvalidArgument,
               "argument 'c' of 3 x 2 elements with strides 0 x 1: the kernel writes it, and all "
               "elements along dimension 0 would have one address: give a stride of at least 1");
  EXPECT_ERROR(attach("c", at, 2, 0), InvalidArgument, "all elements along dimension 1");
  EXPECT_ERROR(attach("c", at, 1, 1), InvalidArgument,
               "elements of dimensions 0 and 1 would have one address: give strides that keep them "
               "apart");
  EXPECT_ERROR(attach("c", at, 1, 2), InvalidArgument, "elements of dimensions 0 and 1");
  EXPECT_OK(attach("c", at, 1, 3)); // by columns
  EXPECT_OK(attach("c", at, 2, 3)); // 0, 3, 2, 5, 4, 7
  bound.reset();
  ASSERT_EQ((*device)->memFree(memory), 0);
}

TEST_F(CudaLaunch, AnArgumentsOwnMemoryMayBeAttached) {
  bind(package());
  size_t blocks = fake->blocks.size();
  ASSERT_OK(bound->attach("a", bound->data("a")));
  EXPECT_EQ(fake->blocks.size(), blocks);
  auto a = values(24, 3);
  ASSERT_OK(bound->upload("a", a.data()));
  ASSERT_OK(bound->launch({}));
  expectAffine(a);
}

TEST_F(CudaLaunch, ArgumentsChooseAVariant) {
  bind(package("affine", {withTensorMaps()}), 3, 4);
  EXPECT_EQ(fake->count("cuFuncLoad"), 1u) << "of the variant that is taken";
  auto launch = [&](unsigned threads) {
    fake->calls.clear();
    ASSERT_OK(bound->launch({}));
    ASSERT_OK(bound->synchronize());
    EXPECT_EQ(fake->last.config.block[0], threads);
    uint32_t ctas = threads == 256 ? 4 : 132;
    EXPECT_EQ(fake->last.config.grid[0], ctas);
    EXPECT_EQ(lastLaunch().num_ctas, ctas);
    EXPECT_EQ(fake->count("cuMemAlloc") + fake->count("cuModuleLoadDataEx"), 0u);
  };
  launch(256);
  uint64_t control = lastLaunch().control;

  auto driver = cuda::Driver::get();
  ASSERT_OK(driver);
  uint64_t memory = 0;
  ASSERT_EQ((*driver)->memAlloc(&memory, 4096), 0);
  auto *a = reinterpret_cast<float *>(memory);
  for (int i = 0; i < 40; ++i)
    a[i] = float(i);
  ASSERT_OK(bound->attach("a", a + 1)); // no multiple of 16
  EXPECT_EQ(fake->count("cuFuncLoad"), 1u) << "by attach";
  launch(384);
  EXPECT_NE(lastLaunch().control, control) << "state of its own";
  expectAffine(std::vector<float>(a + 1, a + 13));
  // What was loaded once stays, and so does its state.
  fake->calls.clear();
  ASSERT_OK(bound->attach("a", a));
  EXPECT_EQ(fake->count("cuFuncLoad"), 0u);
  launch(256);
  EXPECT_EQ(lastLaunch().control, control);
  expectAffine(std::vector<float>(a, a + 12));
  bound.reset();
  ASSERT_EQ((*driver)->memFree(memory), 0);
}

// A kernel that only reads an argument is given a copy whose rows are aligned.
TEST_F(CudaLaunch, AnArgumentIsCopiedForItsTensorMap) {
  for (bool off : {false, true}) {
    std::optional<SetEnv> variable;
    if (off)
      variable.emplace("MK_PACK", "off");
    bind(package("affine", {withTensorMaps(568, /*packs=*/true)}), 3, 4);
    auto driver = cuda::Driver::get();
    ASSERT_OK(driver);
    uint64_t memory = 0;
    ASSERT_EQ((*driver)->memAlloc(&memory, 4096), 0);
    auto *a = reinterpret_cast<float *>(memory);
    for (int i = 0; i < 40; ++i)
      a[i] = float(i);
    ASSERT_OK(bound->attach("a", a + 1));
    EXPECT_EQ(bound->data("a"), reinterpret_cast<std::byte *>(a + 1));
    for (int i = 0; i < 2; ++i) {
      a[5] = float(100 * i); // copied by each launch
      fake->calls.clear();
      ASSERT_OK(bound->launch({}));
      ASSERT_OK(bound->synchronize());
      EXPECT_EQ(fake->last.config.block[0], off ? 384u : 256u);
      EXPECT_EQ(fake->count("cuLaunchKernelEx"), off ? 1u : 2u);
      EXPECT_EQ(fake->count("cuMemAlloc") + fake->count("cuModuleLoadDataEx"), 0u);
      expectAffine(std::vector<float>(a + 1, a + 13));
    }
    // Attached again, and captured: the memory of the copy stays.
    ASSERT_OK(bound->attach("a", a + 3));
    auto graph = bound->capture({});
    ASSERT_OK(graph);
    fake->calls.clear();
    ASSERT_OK(bound->attach("a", a));
    ASSERT_OK(bound->attach("a", a + 2));
    EXPECT_EQ(fake->count("cuMemFree") + fake->count("cuMemAlloc"), 0u);
    a[7] = -3;
    ASSERT_OK((*graph)->launch());
    ASSERT_OK(bound->synchronize());
    expectAffine(std::vector<float>(a + 3, a + 15));
    graph->reset();
    // Aligned: nothing is copied.
    ASSERT_OK(bound->attach("a", a));
    fake->calls.clear();
    ASSERT_OK(bound->launch({}));
    EXPECT_EQ(fake->count("cuLaunchKernelEx"), 1u);
    EXPECT_EQ(fake->last.config.block[0], 256u);
    bound.reset();
    ASSERT_EQ((*driver)->memFree(memory), 0);
  }
}

// Then tiles are copied one by one.
TEST_F(CudaLaunch, ACopyThatHasNoMemory) {
  bind(package("affine", {withTensorMaps(568, /*packs=*/true)}), 3, 4);
  auto driver = cuda::Driver::get();
  ASSERT_OK(driver);
  uint64_t memory = 0;
  ASSERT_EQ((*driver)->memAlloc(&memory, 4096), 0);
  auto *a = reinterpret_cast<float *>(memory);
  std::fill_n(a, 40, 2.0f);
  {
    SetEnv off("MK_PACK", "off");
    ASSERT_OK(bound->attach("a", a + 1)); // loads what does without
  }
  ASSERT_OK(bound->attach("a", a));
  fake->memoryBytes = 1;
  ASSERT_OK(bound->attach("a", a + 1));
  fake->memoryBytes = uint64_t(1) << 40;
  ASSERT_OK(bound->launch({}));
  ASSERT_OK(bound->synchronize());
  EXPECT_EQ(fake->last.config.block[0], 384u);
  expectAffine(std::vector<float>(a + 1, a + 13));
  bound.reset();
  ASSERT_EQ((*driver)->memFree(memory), 0);
}

TEST_F(CudaLaunch, AnEmptyArgumentHasATensorMap) {
  bind(package("affine", {withTensorMaps()}), 0, 4);
  ASSERT_OK(bound->launch({}));
  EXPECT_EQ(fake->last.config.block[0], 256u);
  // One element, which is zero, that nothing may be stored to.
  EXPECT_EQ(lastLaunch().maps_valid, 0u);
  ASSERT_FALSE(fake->maps.empty());
  const FakeCuda::Map &map = fake->maps.back();
  EXPECT_EQ(map.extents, (std::vector<uint64_t>{1, 1}));
  EXPECT_EQ(*reinterpret_cast<const float *>(map.address), 0);
}

TEST_F(CudaLaunch, ACapturedLaunchIsReplayed) {
  bind(package());
  fake->calls.clear();
  auto graph = bound->capture({});
  ASSERT_OK(graph);
  EXPECT_TRUE(fake->unsafe.empty());
  EXPECT_EQ(fake->calls,
            (std::vector<std::string>{"cuStreamCreate", "cuStreamBeginCapture",
                                      "cuLaunchKernelEx", "cuStreamEndCapture",
                                      "cuGraphInstantiate"}));
  EXPECT_EQ(fake->launched, 0);
  EXPECT_EQ(bound->epoch(), 0u);
  for (int i = 0; i < 50; ++i) {
    auto a = values(24, float(3 * i));
    ASSERT_OK(bound->upload("a", a.data()));
    ASSERT_OK((*graph)->launch());
    ASSERT_OK(bound->synchronize());
    expectAffine(a);
  }
  EXPECT_EQ(fake->launched, 50);
  EXPECT_EQ(bound->epoch(), 50u);
  graph->reset();
}

TEST_F(CudaLaunch, AFailedWaitIsReportedAndLatches) {
  bind(package("hang  "));
  fake->report = {0, MK_WAIT_SIGNAL, 40, 1, 0, 0, 16, 2, 1, 0};
  ASSERT_OK(bound->launch({.deadline = 2s})); // enqueued, no more
  Status status = bound->synchronize();
  EXPECT_ERROR(status, Aborted,
               "kernel 'affine', role 'work', CTA 40: waited 2 s for signal "
               "'ready'[5, 1] to count 2 arrivals of this launch, saw 1 (of 2 "
               "declared)");
  EXPECT_THAT(status.message(), HasSubstr("rank 0, wait, at "));
  // The GPU serves the process as before.
  EXPECT_THAT(status.message(), Not(HasSubstr("no longer")));
  EXPECT_EQ(fake->sticky, 0);
  // The first cause stays, whatever is called.
  float c[24];
  EXPECT_EQ(bound->launch({}).message(), status.message());
  EXPECT_EQ(bound->synchronize().message(), status.message());
  EXPECT_EQ(bound->download("c", c).message(), status.message());
  EXPECT_EQ(bound->upload("a", c).message(), status.message());
  EXPECT_EQ(bound->capture({}).status().message(), status.message());
  EXPECT_TRUE(job->abort().raised());
}

TEST_F(CudaLaunch, WhatDoesNotExistIsReported) {
  bind(package("hang  "));
  fake->report = {0,  MK_FAIL_BOUNDS, 40, 1, 0, MK_GPU_NAMED(MK_WRITTEN_ARGUMENT, 1, 1),
                  -4, 8,              8,  0};
  ASSERT_OK(bound->launch({}));
  Status status = bound->synchronize();
  EXPECT_ERROR(status, Aborted,
               "kernel 'affine', role 'work', CTA 40: mk.put (affine.mlir:3:5) writes "
               "[-4:4] of dimension 1 of argument 'c', which has 8 elements there on "
               "rank 0: correct the index or the size");
  EXPECT_THAT(status.message(), HasSubstr("rank 0, bounds, at "));
}

TEST_F(CudaLaunch, AReportIsSeenByWhateverIsCalledNext) {
  bind(package("hang  "));
  fake->report = {0, MK_FAIL_LOOP, 0, 1, 0, 0, 0, 0, 0, 0};
  ASSERT_OK(bound->launch({}));
  // Enqueued behind it or not at all: nobody has waited.
  EXPECT_ERROR(bound->launch({}), Aborted, "a loop begins or ends beyond 2^30");
  EXPECT_EQ(fake->launched, 1);
  EXPECT_EQ(bound->epoch(), 1u);
}

TEST_F(CudaLaunch, AReportOfOneKernelFailsTheOthers) {
  bind(package("hang  "));
  auto other = kernel->bind({{"M", {2}}, {"N", {4}}});
  ASSERT_OK(other);
  fake->report = {0, MK_WAIT_GRID, 3, MK_NO_ROLE, 0, 0, 0, 132, 131, 0};
  ASSERT_OK(bound->launch({.deadline = 1s}));
  EXPECT_ERROR((*other)->synchronize(), Aborted,
               "CTA 3: waited 1 s for all 132 CTAs to end mk.prepare, saw 131");
}

TEST_F(CudaLaunch, AContextIsMadeAnewAfterAFailedLaunch) {
  for (bool close : {true, false}) {
    bind(package("hang  "));
    fake->report = {0, MK_WAIT_SIGNAL, 40, 1, 0, 0, 16, 2, 1, 0};
    ASSERT_OK(bound->launch({}));
    if (close) {
      // What nobody has asked for is said at the end.
      EXPECT_ERROR(job->close(), Aborted, "CTA 40: waited");
    }
    bound.reset();
    kernel.reset();
    job.reset();
    EXPECT_TRUE(fake->blocks.empty());

    bind(package());
    auto a = values(24, 5);
    ASSERT_OK(bound->upload("a", a.data()));
    for (int i = 0; i < 3; ++i)
      ASSERT_OK(bound->launch({}));
    ASSERT_OK(bound->synchronize());
    expectAffine(a);
    mk_gpu_control control;
    std::memcpy(&control, reinterpret_cast<void *>(lastLaunch().control), sizeof(control));
    EXPECT_EQ(control.epoch, 3u) << "counted from the new context on";
    EXPECT_EQ(control.abort, 0u);
    EXPECT_EQ(control.claimed, 0u);
    EXPECT_OK(job->close());
    TearDown();
  }
}

TEST_F(CudaLaunch, MemoryIsFreedWhenItsKernelHasEnded) {
  bind(package());
  ASSERT_OK(bound->launch({}));
  fake->calls.clear();
  bound.reset();
  ASSERT_FALSE(fake->calls.empty());
  EXPECT_EQ(fake->calls.front(), "cuCtxSynchronize");
}

TEST_F(CudaLaunch, AFaultWithoutAReport) {
  bind(package("fault "));
  ASSERT_OK(bound->launch({}));
  // The next launch is what runs into it.
  EXPECT_ERROR(bound->launch({}), Aborted,
               "launching kernel 'affine': CUDA_ERROR_ILLEGAL_ADDRESS (as the "
               "fake says); GPU 0 (Fake H200) serves this process no longer; "
               "compute-sanitizer shows where it happened");
  EXPECT_EQ(bound->epoch(), 1u);
}

TEST_F(CudaLaunch, TheAbortWordReachesTheGpu) {
  bind(package());
  ASSERT_OK(bound->launch({}));
  auto *word = reinterpret_cast<const uint32_t *>(lastLaunch().job_abort);
  EXPECT_EQ(*word, 0u);
  job->abort().raise(AbortRecord::now(0, "test", "enough"));
  EXPECT_EQ(*word, 1u);
  EXPECT_ERROR(bound->launch({}), Aborted, "enough");
  EXPECT_ERROR(bound->synchronize(), Aborted, "enough");
}

TEST_F(CudaLaunch, TwoKernelsAreApart) {
  bind(package());
  auto other = kernel->bind({{"M", {2}}, {"N", {4}}});
  ASSERT_OK(other);
  auto a = values(24, 1), b = values(8, 100);
  ASSERT_OK(bound->upload("a", a.data()));
  ASSERT_OK((*other)->upload("a", b.data()));
  ASSERT_OK(bound->launch({}));
  ASSERT_OK((*other)->launch({}));
  expectAffine(a);
}

TEST_F(CudaLaunch, EmptyArguments) {
  bind(package(), 0, 4);
  ASSERT_OK(bound->upload("a", nullptr));
  ASSERT_OK(bound->launch({}));
  EXPECT_EQ(lastLaunch().maps_valid, 0u);
  ASSERT_OK(bound->download("c", nullptr));
}

TEST_F(CudaLaunch, PlacesOfTilesAre32BitNumbers) {
  job = context();
  auto loaded = Kernel::load(*job, package());
  ASSERT_OK(loaded);
  constexpr int64_t large = (int64_t(1) << 31) + 1;
  auto refused = (*loaded)->bind({{"M", {large}}, {"N", {1}}});
  EXPECT_ERROR(refused.status(), InvalidArgument,
               "argument 'a': dimension 0 has 2147483649 elements; on a GPU a "
               "kernel fetches and stores tiles of arguments of at most 2^31");
  fake->memoryBytes = 10000;
  EXPECT_ERROR((*loaded)->bind({{"M", {large - 1}}, {"N", {1}}}).status(),
               ResourceExhausted, "argument 'a' needs 8589934592 bytes");
}

TEST_F(CudaLaunch, WhatCannotRunHereIsRefused) {
  Package affine = package();
  fake->major = 8;
  auto one = context();
  EXPECT_ERROR(Kernel::load(*one, affine).status(), FailedPrecondition,
               "kernel 'affine' is compiled for sm_90a, compute capability 9.0 "
               "(H100, H200 or GH200); GPU 0 (Fake H200) has 8.0: choose another "
               "with CUDA_VISIBLE_DEVICES");
  fake->major = 10;
  EXPECT_ERROR(Kernel::load(*one, affine).status(), FailedPrecondition,
               "has 10.0");
  fake->major = 9;
  fake->memoryBytes = 10000;
  auto kernel = Kernel::load(*one, affine);
  ASSERT_OK(kernel);
  EXPECT_ERROR((*kernel)->bind({{"M", {1000}}, {"N", {1000}}}).status(),
               ResourceExhausted, "argument 'a' needs 4000000 bytes");
}

} // namespace
} // namespace mk::rt::test
