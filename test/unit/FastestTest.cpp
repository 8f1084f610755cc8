//===- FastestTest.cpp - Which of several candidates is the fastest -------===//

#include "mkernel/Runtime/Fastest.h"

#include "Container.h"

#include <atomic>
#include <filesystem>

namespace mk::rt::test {
namespace {

/// Three candidates for all sizes, or for the sizes of each of some versions.
Package candidates(std::vector<int64_t> most = {}) {
  std::vector<std::string> names(most.empty() ? 3 : 3 * most.size(), "allgather");
  Container c(names);
  for (size_t i = 0; i < names.size(); ++i) {
    Json &version = c.metadata["versions"][i];
    version["serves"] = Json::object();
    if (!most.empty())
      version["serves"]["M"] = most[i / 3];
    if (i % 3)
      version["candidate"] = i % 3;
  }
  auto package = c.parse();
  EXPECT_OK(package);
  return std::move(*package);
}

/// A folder that is empty at first.
DiskCache emptyCache(const char *name) {
  std::string path = ::testing::TempDir() + "/mk-fastest-" + name;
  std::filesystem::remove_all(path);
  return DiskCache(path);
}

size_t leastOf(const std::vector<CandidateTime> &times) {
  return std::min_element(times.begin(), times.end(), [](auto &a, auto &b) { return a.ms < b.ms; })
      ->version;
}

/// Of one rank.
struct Measured {
  explicit Measured(const Package &package, DiskCache cache) : ranks(1, 1) {
    auto loaded = Kernel::load(*ranks.contexts[0], package);
    EXPECT_OK(loaded);
    kernel = std::move(*loaded);
    options.cache = std::move(cache);
    options.prepare = [this](BoundKernel &bound) {
      prepared.push_back(bound.version());
      return Status::success();
    };
  }
  size_t find(int64_t m = 8) {
    auto found =
        kernel->findFastest(std::vector<DimValue>{{"M", {m}}, {"N", {4}}}, options, &times);
    EXPECT_OK(found);
    return found ? *found : size_t(-1);
  }

  Ranks ranks;
  std::unique_ptr<Kernel> kernel;
  MeasureOptions options;
  std::vector<size_t> prepared;
  std::vector<CandidateTime> times;
};

TEST(Fastest, AllCandidatesAreMeasuredOnce) {
  Package package = candidates();
  DiskCache cache = emptyCache("once");
  std::vector<CandidateTime> first;
  {
    Measured one(package, cache);
    size_t found = one.find();
    EXPECT_EQ(one.prepared, (std::vector<size_t>{0, 1, 2, 2, 1, 0}));
    ASSERT_EQ(one.times.size(), 3u);
    for (size_t i = 0; i < 3; ++i) {
      EXPECT_EQ(one.times[i].version, i);
      EXPECT_GT(one.times[i].ms, 0);
    }
    EXPECT_EQ(found, leastOf(one.times));
    first = one.times;
    // Known to the kernel.
    EXPECT_EQ(one.find(), found);
    EXPECT_EQ(one.times.size(), 3u);
    EXPECT_EQ(one.prepared.size(), 6u);
    // Other sizes are another question.
    one.find(9);
    EXPECT_EQ(one.prepared.size(), 12u);
    auto bound =
        one.kernel->bindFastest(std::vector<DimValue>{{"M", {8}}, {"N", {4}}}, one.options);
    ASSERT_OK(bound);
    EXPECT_EQ((*bound)->version(), found);
    EXPECT_EQ((*bound)->epoch(), 0u);
    std::vector<float> c(8 * 4);
    ASSERT_OK((*bound)->attach("c", c.data()));
    for (int round = 0; round < 3; ++round)
      EXPECT_OK(gatherOnce(**bound, 8, 4, round, {}, c));
  }
  // Known to the disk.
  Measured two(package, cache);
  EXPECT_EQ(two.find(), leastOf(first));
  ASSERT_EQ(two.times.size(), 3u);
  for (size_t i = 0; i < 3; ++i)
    EXPECT_EQ(two.times[i].ms, first[i].ms);
  EXPECT_TRUE(two.prepared.empty());
  // Not to others.
  Measured three(package, DiskCache(""));
  three.find();
  EXPECT_EQ(three.prepared.size(), 6u);
}

TEST(Fastest, WhatIsKeptAndDamagedIsMeasuredAgain) {
  Package package = candidates();
  DiskCache cache = emptyCache("damaged");
  Measured(package, cache).find();
  for (const auto &file : std::filesystem::directory_iterator(cache.directory()))
    std::ofstream(file.path(), std::ios::trunc) << "1 2 3";
  Measured again(package, cache);
  again.find();
  EXPECT_EQ(again.prepared.size(), 6u);
}

TEST(Fastest, OnlyCandidatesOfTheSizesAreMeasured) {
  // What the test's mk_select takes: version 0 up to 16.
  Package package = candidates({16, 64});
  Measured one(package, DiskCache(""));
  EXPECT_LT(one.find(16), 3u);
  EXPECT_EQ(one.prepared.size(), 6u);
  std::vector<DimValue> dims = {{"M", {16}}, {"N", {4}}};
  for (size_t version : {0, 1, 2}) {
    auto bound = one.kernel->bindVersion(dims, version);
    ASSERT_OK(bound);
    EXPECT_EQ((*bound)->version(), version);
  }
  EXPECT_ERROR(one.kernel->bindVersion(dims, 3).status(), InvalidArgument,
               "version 3 (from 0) is not for these dimensions, but 0 to 2");
  // It names a candidate then, which a compiler's does not.
  EXPECT_ERROR(one.kernel->bind({{"M", {17}}, {"N", {4}}}).status(), Internal,
               "chooses version 1 (from 0) of 6: it is damaged");
  auto first = one.kernel->bind(dims);
  ASSERT_OK(first);
  EXPECT_EQ((*first)->version(), 0u);
}

TEST(Fastest, OneVersionIsNotMeasured) {
  for (const Package &package : {test::package("allgather"), *Container().parse()}) {
    Measured one(package, DiskCache(""));
    EXPECT_EQ(one.find(), 0u);
    EXPECT_TRUE(one.times.empty());
    EXPECT_TRUE(one.prepared.empty());
    EXPECT_ERROR(one.kernel->bindVersion(std::vector<DimValue>{{"M", {8}}, {"N", {4}}}, 1).status(),
                 InvalidArgument, "version 1 (from 0) is not for these dimensions, but 0:");
  }
}

TEST(Fastest, RanksAgree) {
  Package package = candidates();
  DiskCache cache = emptyCache("ranks");
  std::atomic<int> prepared = 0;
  auto measure = [&] {
    Ranks ranks(2, 2);
    std::vector<size_t> found(4, size_t(-1));
    std::vector<std::vector<CandidateTime>> times(4);
    ranks.each([&](uint32_t r) {
      auto kernel = Kernel::load(*ranks.contexts[r], package);
      ASSERT_OK(kernel);
      MeasureOptions options;
      // What other ranks have on their disks does not matter.
      options.cache = r ? DiskCache("") : cache;
      options.prepare = [&](BoundKernel &) {
        ++prepared;
        return Status::success();
      };
      std::vector<DimValue> dims = {{"M", {13}}, {"N", {5}}};
      auto bound = (*kernel)->bindFastest(dims, options, &times[r]);
      ASSERT_OK(bound);
      found[r] = (*bound)->version();
      std::vector<float> c(13 * 5);
      ASSERT_OK((*bound)->attach("c", c.data()));
      for (int round = 0; round < 3; ++round)
        ASSERT_OK(gatherOnce(**bound, 13, 5, round, {}, c));
    });
    ranks.close();
    for (uint32_t r = 0; r < 4; ++r) {
      EXPECT_EQ(found[r], found[0]);
      ASSERT_EQ(times[r].size(), 3u);
      for (size_t i = 0; i < 3; ++i)
        EXPECT_EQ(times[r][i].ms, times[0][i].ms);
    }
    EXPECT_EQ(found[0], leastOf(times[0]));
  };
  measure();
  EXPECT_EQ(prepared, 6 * 4);
  measure();
  EXPECT_EQ(prepared, 6 * 4);
}

/// Runs `body` on each of two ranks, with the kernel and with options that keep nothing on disk.
static void onTwoRanks(const Package &package,
                       const std::function<void(uint32_t, Kernel &, MeasureOptions)> &body) {
  Ranks ranks(1, 2);
  ranks.each([&](uint32_t r) {
    auto kernel = Kernel::load(*ranks.contexts[r], package);
    ASSERT_OK(kernel);
    MeasureOptions options;
    options.cache = DiskCache("");
    body(r, **kernel, options);
  });
  ranks.close();
}

TEST(Fastest, RanksThatDisagreeAreNamed) {
  Package package = candidates();
  onTwoRanks(package, [&](uint32_t r, Kernel &kernel, MeasureOptions options) {
    EXPECT_ERROR(
        kernel.findFastest(std::vector<DimValue>{{"M", {8 + r}}, {"N", {4}}}, options).status(),
        InvalidArgument,
        "ranks disagree: dimension 'M' is 8 on rank 0 and 9 on rank 1: measure the "
        "same package and dimensions on every rank");
  });
}

TEST(Fastest, RanksWithAndWithoutCandidatesDisagreeAtOnce) {
  Container c({"allgather", "allgather", "allgather"});
  c.metadata["versions"][1]["serves"]["M"] = 16;
  c.metadata["versions"][1]["candidate"] = 1;
  auto package = c.parse();
  ASSERT_OK(package);
  auto begin = std::chrono::steady_clock::now();
  onTwoRanks(*package, [&](uint32_t r, Kernel &kernel, MeasureOptions options) {
    // The test's mk_select takes version 0, which has two candidates, up to 16, and 2 above 64.
    std::vector<DimValue> dims = {{"M", {r ? 100 : 8}}, {"N", {4}}};
    EXPECT_ERROR(kernel.bindFastest(dims, options).status(), InvalidArgument,
                 "ranks disagree: dimension 'M' is 8 on rank 0 and 100 on rank 1");
  });
  EXPECT_LT(std::chrono::steady_clock::now() - begin, std::chrono::seconds(20));
}

TEST(Fastest, WhatFailsOnOneRankFailsOnAll) {
  Package package = candidates();
  onTwoRanks(package, [&](uint32_t r, Kernel &kernel, MeasureOptions options) {
    options.prepare = [&](BoundKernel &bound) {
      return r && bound.version() == 2 ? error(StatusCode::NotFound, "no weights")
                                       : Status::success();
    };
    std::vector<DimValue> dims = {{"M", {8}}, {"N", {4}}};
    auto begin = std::chrono::steady_clock::now();
    EXPECT_ERROR(kernel.findFastest(dims, options).status(), NotFound,
                 r ? "measuring candidate 3 of 3: no weights"
                   : "measuring candidate 3 of 3: rank 1: no weights");
    EXPECT_LT(std::chrono::steady_clock::now() - begin, std::chrono::seconds(20));
    // Nobody has waited for a launch, and the job goes on.
    options.prepare = nullptr;
    EXPECT_OK(kernel.findFastest(dims, options));
  });
}

TEST(Fastest, WhatPrepareSaysComesBack) {
  Package package = candidates();
  Measured one(package, DiskCache(""));
  one.options.prepare = [](BoundKernel &bound) {
    return bound.version() == 1 ? error(StatusCode::NotFound, "no weights") : Status::success();
  };
  auto found = one.kernel->findFastest(std::vector<DimValue>{{"M", {8}}, {"N", {4}}}, one.options);
  EXPECT_ERROR(found.status(), NotFound, "measuring candidate 2 of 3");
  EXPECT_ERROR(found.status(), NotFound, "no weights");
  // The context lives on.
  EXPECT_OK(one.kernel->bind({{"M", {8}}, {"N", {4}}}));
}

} // namespace
} // namespace mk::rt::test
