//===- RegionTest.cpp -----------------------------------------------------===//

#include "device/host/Region.h"

#include "Support.h"

#include <numeric>

namespace mk::rt::host {
namespace {

Region region(std::vector<int64_t> sizes, std::vector<int64_t> dst,
              std::vector<int64_t> src) {
  Region r;
  r.ndims = static_cast<int>(sizes.size());
  std::copy(sizes.begin(), sizes.end(), r.sizes.begin());
  std::copy(dst.begin(), dst.end(), r.dstStrides.begin());
  std::copy(src.begin(), src.end(), r.srcStrides.begin());
  return r;
}

std::vector<int64_t> runs(const Region &r) {
  std::vector<int64_t> all;
  forEachRun(r, [&](const Run &run) {
    all.insert(all.end(), {run.dst, run.src, run.bytes});
  });
  return all;
}

TEST(Region, ContiguousRegionsAreOneRun) {
  Region r = region({2, 1, 3, 4}, {12, 99, 4, 1}, {12, 7, 4, 1});
  r.simplify();
  EXPECT_EQ(r.ndims, 1);
  EXPECT_EQ(runs(r), (std::vector<int64_t>{0, 0, 96}));
}

TEST(Region, StridedRegionsAreARunARow) {
  Region r = region({2, 3}, {8, 1}, {3, 1});
  r.simplify();
  EXPECT_EQ(r.ndims, 2);
  EXPECT_EQ(runs(r), (std::vector<int64_t>{0, 0, 12, 32, 12, 12}));
  EXPECT_EQ(r.dstSpan().end, 44);
  EXPECT_EQ(r.srcSpan().end, 24);
}

TEST(Region, TransposedRegionsAreCopiedByElement) {
  float src[6], dst[6] = {};
  std::iota(src, src + 6, 0.f);
  Region r = region({2, 3}, {1, 2}, {3, 1});
  r.src = reinterpret_cast<std::byte *>(src);
  r.simplify();
  copyRegion(r, reinterpret_cast<std::byte *>(dst), false);
  EXPECT_THAT(dst, ::testing::ElementsAre(0, 3, 1, 4, 2, 5));
  copyRegion(r, reinterpret_cast<std::byte *>(dst), true);
  EXPECT_THAT(dst, ::testing::ElementsAre(0, 6, 2, 8, 4, 10));
}

TEST(Region, NegativeStridesReachBack) {
  Region r = region({3}, {-2}, {1});
  EXPECT_EQ(r.dstSpan().begin, -16);
  EXPECT_EQ(r.dstSpan().end, 4);
}

TEST(Region, ListedRowsMergeWithNeighbours) {
  Region r = region({6, 2}, {2, 1}, {2, 1});
  r.listed = true;
  r.rows = {3, 4, -1, 5, 6, 0};
  r.simplify();
  EXPECT_EQ(runs(r), (std::vector<int64_t>{0, 24, 16, 24, 40, 16, 40, 0, 8}));
  EXPECT_EQ(r.copied(), 10);
  EXPECT_EQ(r.srcSpan().end, 56);
}

TEST(Region, EmptyRegionsHaveNoRuns) {
  Region r = region({2, 0}, {8, 1}, {8, 1});
  EXPECT_TRUE(runs(r).empty());
  EXPECT_EQ(r.dstSpan().end, 0);
  Region rows = region({2, 4}, {4, 1}, {4, 1});
  rows.listed = true;
  rows.rows = {-1, -1};
  EXPECT_TRUE(runs(rows).empty());
  EXPECT_EQ(rows.copied(), 0);
}

} // namespace
} // namespace mk::rt::host
