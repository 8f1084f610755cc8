//===- PlanTest.cpp -------------------------------------------------------===//

#include "mkernel/Runtime/Plan.h"

#include "Support.h"
#include "Tensors.h"

namespace mk::rt::test {
namespace {

struct Loaded {
  explicit Loaded(const std::string &name, int64_t nodes, int64_t gpus)
      : package(Package::read(MK_TEST_PACKAGES "/" + name + ".mkpkg")) {
    EXPECT_OK(package);
    auto loaded = Payload::load(*package);
    EXPECT_OK(loaded);
    payload = std::move(*loaded);
    auto made = resolveMesh(package->metadata(), {}, nodes, gpus);
    EXPECT_OK(made);
    mesh = *made;
  }
  Result<JobPlan> plan(std::vector<DimValue> dims) {
    return JobPlan::create(package->metadata(), *payload, mesh, dims);
  }
  Result<Package> package;
  std::unique_ptr<Payload> payload;
  Mesh mesh;
};

TEST(Plan, ShardsOfUniformExtents) {
  Loaded ag("allgather", 2, 2);
  auto plan = ag.plan({{"M", {10}}, {"N", {3}}});
  ASSERT_OK(plan);
  // ceil(10 / 4) = 3 rows each, the last rank has one.
  EXPECT_EQ(plan->shard(0, 1).sizes, (std::vector<int64_t>{3, 3}));
  EXPECT_EQ(plan->shard(0, 3).sizes, (std::vector<int64_t>{1, 3}));
  EXPECT_EQ(plan->shard(0, 3).begin, (std::vector<int64_t>{9, 0}));
  EXPECT_EQ(plan->symmetricBytes(0), 3u * 3 * 4);
  EXPECT_EQ(plan->copies(0), 1u);
  EXPECT_EQ(plan->copies(2), 4u);
  EXPECT_EQ(plan->copy(2, 3), 3u);
  EXPECT_EQ(plan->plan(0).signals[0].extents, (std::vector<int64_t>{4, 1}));
  EXPECT_EQ(plan->slots(), 8u + 4);
}

TEST(Plan, NumbersAreThoseOfTheMetadata) {
  Loaded ag("allgather", 2, 2);
  std::vector<int64_t> dims = {10, 3};
  Metadata metadata = ag.package->metadata();
  metadata.signals.clear();
  EXPECT_ERROR(evaluatePlan(metadata, *ag.payload, ag.mesh, 0, dims).status(),
               Internal, "its plan has 10 numbers, and its metadata promises 7");
  metadata = ag.package->metadata();
  metadata.queues.push_back({"more", 1});
  EXPECT_ERROR(evaluatePlan(metadata, *ag.payload, ag.mesh, 0, dims).status(),
               Internal, "its plan has 10 numbers, and its metadata promises 11");
}

TEST(Plan, ShardsOfPerRankExtents) {
  Loaded mix("mix", 2, 2);
  auto plan = mix.plan({{"T", {13, 0, 64, 5}}});
  ASSERT_OK(plan);
  EXPECT_EQ(plan->shard(0, 0).global, (std::vector<int64_t>{82, 2}));
  EXPECT_EQ(plan->shard(0, 1).sizes, (std::vector<int64_t>{0, 2}));
  EXPECT_EQ(plan->shard(0, 2).begin, (std::vector<int64_t>{13, 0}));
  EXPECT_EQ(plan->shard(0, 3).begin, (std::vector<int64_t>{77, 0}));
  EXPECT_EQ(plan->symmetricBytes(0), 64u * 2 * 4);
}

TEST(Plan, RequirementsThatBoundADimensionDoNotHideItsRank) {
  Loaded mix("mix", 1, 4);
  // One more than 64 is refused: that T is per rank must show elsewhere.
  auto plan = mix.plan({{"T", {64}}});
  ASSERT_OK(plan);
  EXPECT_EQ(plan->shard(0, 0).sizes, (std::vector<int64_t>{64, 2}));
  EXPECT_EQ(plan->shard(0, 0).global, (std::vector<int64_t>{256, 2}));
}

TEST(Plan, Refusals) {
  Loaded mix("mix", 1, 2);
  EXPECT_ERROR(
      mix.plan({}).status(), InvalidArgument,
      "dimension 'T' has no value; bind it (with mk-run, --bind T=100:80:..., one for each rank)");
  EXPECT_ERROR(mix.plan({{"T", {1}}, {"T", {2}}}).status(), InvalidArgument,
               "kernel 'mix': 'T' is bound twice");
  EXPECT_ERROR(mix.plan({{"T", {1, 2, 3}}}).status(), InvalidArgument,
               "got 3 values for 2 ranks");
  EXPECT_ERROR(mix.plan({{"T", {1, 65}}}).status(), FailedPrecondition,
               "cannot run with these sizes (rank 1): T must be at most 64");
}

TEST(Tensors, ShardsComeFromTheGlobalTensor) {
  Loaded ag("allgather", 2, 2);
  auto plan = ag.plan({{"M", {10}}, {"N", {3}}});
  ASSERT_OK(plan);
  run::RandomTensor random(ElementType::f32, 1, 2, 3);
  std::vector<float> global(30, -1), whole(30);
  for (size_t i = 0; i < whole.size(); ++i)
    whole[i] = static_cast<float>(random(i));
  for (uint32_t r = 0; r < 4; ++r) {
    const Shard &shard = plan->shard(0, r);
    std::vector<float> local(9), copied(9);
    auto *bytes = reinterpret_cast<std::byte *>(local.data());
    random.fill(ShardLayout::of(shard), bytes);
    run::copyToGlobal(shard, 4, bytes,
                      reinterpret_cast<std::byte *>(global.data()));
    run::copyFromGlobal(shard, 4, reinterpret_cast<std::byte *>(whole.data()),
                        reinterpret_cast<std::byte *>(copied.data()));
    EXPECT_EQ(local, copied);
  }
  EXPECT_EQ(global, whole);
}

TEST(Tensors, RandomNumbersHaveTheStatedMoments) {
  run::RandomTensor random(ElementType::f32, 1, 0, 0);
  run::RandomTensor other(ElementType::f32, 1, 1, 0);
  run::RandomTensor small(ElementType::i32, 1, 0, 0);
  double sum = 0, squares = 0, product = 0, n = 20000;
  for (int i = 0; i < n; ++i) {
    sum += random(i);
    squares += random(i) * random(i);
    product += random(i) * other(i);
    EXPECT_GE(small(i), 0);
    EXPECT_LE(small(i), 7);
  }
  EXPECT_NEAR(sum / n, 0, 0.02);
  EXPECT_NEAR(squares / n, 1.0 / 3, 0.02);
  EXPECT_NEAR(product / n, 0, 0.02);
}

TEST(Tensors, RandomIntegersFillTheirRange) {
  run::IntegerRange wide{"a", -3, 5}, one{"a", -1, -1};
  run::RandomTensor random(ElementType::i32, 1, 0, 0, &wide);
  run::RandomTensor constant(ElementType::i8, 1, 0, 0, &one);
  std::vector<int> seen(9);
  for (int i = 0; i < 9000; ++i) {
    int value = static_cast<int>(random(i));
    ASSERT_GE(value, -3);
    ASSERT_LE(value, 5);
    ++seen[value + 3];
    EXPECT_EQ(constant(i), -1);
  }
  for (int count : seen)
    EXPECT_NEAR(count, 1000, 150);
}

} // namespace
} // namespace mk::rt::test
