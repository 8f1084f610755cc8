//===- MeshTest.cpp - Ranks, axes and shards ------------------------------===//

#include "Support.h"

#include "mkernel/Runtime/Mesh.h"

namespace mk::rt::test {
namespace {

Mesh make(std::vector<Axis> axes) {
  auto mesh = Mesh::create(std::move(axes));
  EXPECT_OK(mesh);
  return *mesh;
}

TEST(Mesh, FirstAxisIsSlowest) {
  Mesh mesh = make({{"node", 2, LinkKind::Net}, {"gpu", 4, LinkKind::Link}});
  EXPECT_EQ(mesh.size(), 8u);
  EXPECT_EQ(mesh.coords(5), (std::vector<int64_t>{1, 1}));
  EXPECT_EQ(mesh.axisIndex("gpu"), 1);
  EXPECT_EQ(mesh.axisIndex("cpu"), -1);
  for (uint32_t r = 0; r < 8; ++r)
    EXPECT_EQ(mesh.rank(mesh.coords(r)), r);
}

TEST(Mesh, ReachableMeansEqualOnNetAxes) {
  Mesh mesh = make({{"gpu", 2, LinkKind::Link},
                    {"node", 3, LinkKind::Net},
                    {"die", 2, LinkKind::Link}});
  for (uint32_t a = 0; a < mesh.size(); ++a) {
    for (uint32_t b = 0; b < mesh.size(); ++b)
      EXPECT_EQ(mesh.reachable(a, b), mesh.coords(a)[1] == mesh.coords(b)[1]);
    EXPECT_EQ(mesh.linkPeers(a).size(), 3u);
    EXPECT_EQ(mesh.netPeers(a).size(), 8u);
  }
  EXPECT_EQ(mesh.linkPeers(0), (std::vector<uint32_t>{1, 6, 7}));
}

TEST(Mesh, OneRankWithoutAxes) {
  Mesh mesh;
  EXPECT_EQ(mesh.size(), 1u);
  EXPECT_TRUE(mesh.coords(0).empty());
  EXPECT_TRUE(mesh.reachable(0, 0));
  EXPECT_EQ(mesh.shard(0, {})->count, 1);
}

TEST(Mesh, Refuses) {
  EXPECT_ERROR(Mesh::create({{"", 2}}).status(), InvalidArgument, "no name");
  EXPECT_ERROR(Mesh::create({{"a", 2}, {"a", 2}}).status(), InvalidArgument,
               "there twice");
  EXPECT_ERROR(Mesh::create({{"a", 0}}).status(), InvalidArgument, "size 0");
  EXPECT_ERROR(Mesh::create({{"a", 256}, {"b", 257}}).status(), InvalidArgument,
               "more than 65536");
  EXPECT_ERROR(Mesh::create({{"a", INT64_MAX}, {"b", INT64_MAX}}).status(),
               InvalidArgument, "more than 65536");
  EXPECT_OK(Mesh::create({{"a", 256}, {"b", 256}}));
}

TEST(Mesh, ShardLinearisesTheListedAxes) {
  Mesh mesh = make({{"a", 2}, {"b", 3}, {"c", 5}});
  std::vector<std::string> ca = {"c", "a"}, none, bad = {"d"};
  for (uint32_t r = 0; r < mesh.size(); ++r) {
    auto c = mesh.coords(r);
    EXPECT_EQ(mesh.shard(r, ca)->index, c[2] * 2 + c[0]);
    EXPECT_EQ(mesh.shard(r, ca)->count, 10);
    EXPECT_EQ(mesh.shard(r, none)->index, 0);
  }
  EXPECT_ERROR(mesh.shard(0, bad).status(), InvalidArgument,
               "no axis 'd'; it has: a, b, c");
  EXPECT_ERROR(mesh.shard(30, ca).status(), OutOfRange, "rank 30");
}

TEST(Split, CoversTheExtentOnce) {
  for (int64_t e = 0; e <= 40; ++e)
    for (int64_t n = 1; n <= 12; ++n) {
      int64_t at = 0, c = splitWidth(e, n);
      for (int64_t s = 0; s < n; ++s) {
        Range r = splitRange(e, n, s);
        EXPECT_EQ(r.begin, at);
        EXPECT_EQ(r, (Range{std::min(s * c, e), std::min((s + 1) * c, e)}));
        at = r.end;
      }
      EXPECT_EQ(at, e);
    }
}

TEST(Split, DoesNotOverflow) {
  EXPECT_EQ(splitRange(INT64_MAX, 3, 2).end, INT64_MAX);
  EXPECT_EQ(splitRange(5, INT64_MAX, INT64_MAX - 1), (Range{5, 5}));
  EXPECT_EQ(splitWidth(INT64_MAX, INT64_MAX), 1);
}

} // namespace
} // namespace mk::rt::test
