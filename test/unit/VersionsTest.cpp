//===- VersionsTest.cpp - Several versions of a kernel in a package -------===//

#include "mkernel/Runtime/Versions.h"

#include "mkernel/ABI/Package.h"

#include "Container.h"

namespace mk::rt::test {
namespace {

Mesh meshOf(int64_t nodes, int64_t gpus) {
  auto mesh = Mesh::create({{"node", nodes, LinkKind::Net}, {"gpu", gpus, LinkKind::Link}});
  EXPECT_OK(mesh);
  return *mesh;
}

TEST(Versions, WhatIsWrittenIsRead) {
  auto parsed = Container().parse();
  ASSERT_OK(parsed);
  Package package = *parsed; // a copy lives alone
  parsed = Status(StatusCode::Internal, "gone");
  const Metadata &m = package.metadata();
  EXPECT_EQ(m.kernel, "allgather");
  EXPECT_FALSE(m.gpu);
  EXPECT_TRUE(m.roles.empty());
  ASSERT_EQ(m.versions.size(), 3u);
  EXPECT_EQ(m.versions[1].serves[0].name, "M");
  EXPECT_EQ(m.versions[1].serves[0].size, 64);
  ASSERT_EQ(package.numVersions(), 3u);
  Package alone = test::package("allgather");
  EXPECT_EQ(textOf(package.version(2).bytes()), textOf(alone.bytes()));
  EXPECT_EQ(package.version(2).metadata().roles.size(), 2u);
  EXPECT_EQ(textOf(package.payload()).substr(0, 4), "\x7f" "ELF");
  EXPECT_EQ(alone.numVersions(), 1u);
  EXPECT_EQ(&alone.version(0), &alone);
}

TEST(Versions, ThoseThatAreNotThereHaveNoNeeds) {
  std::vector<DimValue> dims = {{"M", {8}}, {"N", {4}}};
  EXPECT_ERROR(
      needsOf(package("allgather"), 1, meshOf(1, 1), dims).status(), InvalidArgument,
      "kernel 'allgather': there is no version 1 (from 0), its package has 1: give one that "
      "findFastest() or chooseVersion() names");
  auto three = Container().parse();
  ASSERT_OK(three);
  EXPECT_OK(needsOf(*three, 2, meshOf(1, 1), dims));
  EXPECT_ERROR(needsOf(*three, 99, meshOf(1, 1), dims).status(), InvalidArgument,
               "there is no version 99 (from 0), its package has 3");
}

TEST(Versions, DamageIsFound) {
  auto whole = Container().bytes();
  // Whole packages lie in there, so that what is cut off behind one must be noticed, too.
  for (size_t n = 0; n < whole.size(); n += n < 4096 ? 1 : 997)
    EXPECT_FALSE(Package::parse({whole.begin(), whole.begin() + ptrdiff_t(n)}, "c")) << n;
  for (size_t i = 0; i < whole.size(); i += i < 4096 ? 7 : 4999) {
    auto changed = whole;
    changed[i] ^= std::byte(0x40);
    EXPECT_FALSE(Package::parse(std::move(changed), "c")) << i;
  }
  // With a digest that is right.
  Container cut;
  cut.versions[1].resize(cut.versions[1].size() - 1);
  cut.metadata["versions"][1]["bytes"] = cut.versions[1].size();
  EXPECT_ERROR(cut.parse().status(), InvalidArgument,
               "package 'c', version 2 of 'allgather' is truncated");
  Container altered;
  altered.versions[2][2000] ^= 1;
  EXPECT_ERROR(altered.parse().status(), InvalidArgument,
               "version 3 of 'allgather' was altered: its SHA-256 digest");
  Container shifted;
  shifted.metadata["versions"][0]["bytes"] = shifted.versions[0].size() + 1;
  EXPECT_ERROR(shifted.parse().status(), InvalidArgument, "version 1 of 'allgather' is not a package");
  Container large;
  large.metadata["versions"][0]["bytes"] = int64_t(1) << 40;
  EXPECT_ERROR(large.parse().status(), InvalidArgument,
               "bytes in a payload of ");
}

TEST(Versions, PackagesOfOtherKernelsAreRefused) {
  EXPECT_ERROR(Container({"allgather", "mix", "allgather"}).parse().status(), InvalidArgument,
               "has a version 2 that is of kernel 'mix', unlike what it says of all versions");
  auto differs = [](const char *key, Json value, const char *message) {
    Container c;
    c.metadata[key] = std::move(value);
    SCOPED_TRACE(key);
    EXPECT_ERROR(c.parse().status(), InvalidArgument, message);
  };
  differs("cpu", "another", "that is for another CPU");
  differs("grid", 1, "CTAs, and 1 is the most");
  Json args = Container().metadata["args"];
  args[0]["type"] = "f64";
  differs("args", args, "has other arguments");
  args = Container().metadata["args"];
  args.erase(2); // `c`, which is no scratch, would be the version's own
  differs("args", args, "has other arguments");
  Json dims = Container().metadata["dims"];
  dims[1]["value"] = 4;
  differs("dims", dims, "has other dimensions");
  Json mesh = Container().metadata["mesh"];
  mesh[0]["link"] = "link";
  differs("mesh", mesh, "is for another mesh");
  Container nested;
  nested.versions[0] = textOf(Container().bytes());
  nested.metadata["versions"][0]["bytes"] = nested.versions[0].size();
  EXPECT_ERROR(nested.parse().status(), InvalidArgument, "version 1 of 'allgather' has versions itself");
}

TEST(Versions, MetadataIsRead) {
  auto refused = [](Json versions, const char *message) {
    Container c;
    c.metadata["versions"] = std::move(versions);
    EXPECT_ERROR(c.metadataStatus(), InvalidArgument, message);
  };
  EXPECT_OK(Container().metadataStatus());
  auto one = [](Json serves) { return Json::array({{{"serves", serves}, {"bytes", 9}}}); };
  refused(Json::array(), "has 0 versions and candidates; 1 to 64 are possible");
  refused(Json(9, one({{"M", 1}})[0]), "has 9 versions; 1 to 8 are possible");
  refused(Json(65, one({{"M", 1}})[0]), "has 65 versions and candidates; 1 to 64 are possible");
  refused(one({{"Q", 1}}), "versions[0].serves has the unknown key 'Q'");
  refused({one(Json::object())[0], one({{"M", 4}})[0]}, "among several that names no dimension");
  refused({one({{"M", 4}})[0], one(Json::object())[0]}, "among several that names no dimension");
  refused(one({{"M", 0}}), "dimension 'M' is 0, not within 1 to");
  refused(Json::array({{{"serves", {{"M", 4}}}}}), "lacks the key 'bytes'");
  refused(Json::array({{{"bytes", 4}}}), "lacks the key 'serves'");
  refused(7, "key 'versions' is not a list");
  auto candidate = [](int number, Json serves) {
    return Json{{"serves", serves}, {"candidate", number}, {"bytes", 9}};
  };
  Json first = one({{"M", 4}})[0];
  const char *alone = "and does not stand behind the one before it, with the same sizes";
  refused({candidate(1, {{"M", 4}})}, alone);
  refused({first, candidate(2, {{"M", 4}})}, alone);
  refused({first, candidate(1, {{"M", 5}})}, alone);
  refused({first, candidate(0, {{"M", 4}})}, "key 'candidate' is 0, not within 1 to 7");
  refused({first, candidate(8, {{"M", 4}})}, "key 'candidate' is 8, not within 1 to 7");
  Container bound;
  bound.metadata["dims"][0]["value"] = 8;
  EXPECT_ERROR(bound.metadataStatus(), InvalidArgument,
               "serves names dimension 'M', which has a value");
  bound.metadata["dims"][0] = {{"name", "M"}, {"kind", "rank"}, {"value", nullptr}};
  EXPECT_ERROR(bound.metadataStatus(), InvalidArgument,
               "serves names dimension 'M', which each rank has for itself");
  // What is every version's own has no place outside.
  Container roles;
  roles.metadata["roles"] = Json::array();
  EXPECT_ERROR(roles.metadataStatus(), InvalidArgument, "has the unknown key 'roles'");
}

TEST(Versions, RangesAreNamed) {
  auto textsOf = [](Json::array_t serves) {
    Container c;
    c.metadata["versions"] = Json::array();
    for (Json &sizes : serves)
      c.metadata["versions"].push_back({{"serves", sizes}, {"bytes", 1}});
    auto m = parseMetadata(c.metadata.dump());
    EXPECT_OK(m);
    std::vector<std::string> texts;
    for (size_t i = 0; i < m->versions.size(); ++i)
      texts.push_back(versionText(*m, i));
    return texts;
  };
  using Texts = std::vector<std::string>;
  EXPECT_EQ(textsOf({{{"M", 16}}, {{"M", 64}}, {{"M", 512}}}),
            (Texts{"M up to 16", "M from 17 to 64", "M from 65 on"}));
  EXPECT_EQ(textsOf({{{"N", 16}}}), (Texts{"all sizes"}));
  EXPECT_EQ(textsOf({{{"M", 16}, {"N", 4}}, {{"M", 64}}, {{"N", 8}}}),
            (Texts{"M up to 16 and N up to 4", "M up to 64", "all others"}));
  std::vector<NamedSize> sizes = {{"M", 4}, {"N", 2}};
  EXPECT_EQ(sizesText(sizes), "M = 4, N = 2");
}

TEST(Versions, CandidatesAreNamed) {
  auto metadataOf = [](std::vector<std::pair<Json, int>> versions) {
    Container c;
    c.metadata["versions"] = Json::array();
    for (auto &[serves, candidate] : versions) {
      Json version{{"serves", serves}, {"bytes", 1}};
      if (candidate)
        version["candidate"] = candidate;
      c.metadata["versions"].push_back(std::move(version));
    }
    auto m = parseMetadata(c.metadata.dump());
    EXPECT_OK(m);
    return *m;
  };
  auto namesOf = [](const Metadata &m) {
    std::vector<std::string> names;
    for (size_t i = 0; i < m.versions.size(); ++i)
      names.push_back(versionName(m, i));
    return names;
  };
  using Names = std::vector<std::string>;
  Json none = Json::object();
  Metadata one = metadataOf({{none, 0}, {none, 1}, {none, 2}});
  EXPECT_EQ(namesOf(one), (Names{"candidate 1 of 3", "candidate 2 of 3", "candidate 3 of 3"}));
  EXPECT_EQ(versionText(one, 1), "all sizes");
  Metadata three = metadataOf(
      {{{{"M", 16}}, 0}, {{{"M", 16}}, 1}, {{{"M", 64}}, 0}, {{{"M", 512}}, 0}, {{{"M", 512}}, 1}});
  EXPECT_EQ(namesOf(three), (Names{"version 1 of 3 for M up to 16, candidate 1 of 2",
                                   "version 1 of 3 for M up to 16, candidate 2 of 2",
                                   "version 2 of 3 for M from 17 to 64",
                                   "version 3 of 3 for M from 65 on, candidate 1 of 2",
                                   "version 3 of 3 for M from 65 on, candidate 2 of 2"}));
  VersionPlace place = placeOf(three, 4);
  EXPECT_EQ(place.version, 2u);
  EXPECT_EQ(place.versions, 3u);
  EXPECT_EQ(place.candidate, 1u);
  EXPECT_EQ(place.candidates, 2u);
}

TEST(Versions, TheFirstThatServesIsChosen) {
  auto package = Container().parse();
  ASSERT_OK(package);
  for (auto [m, version] : {std::pair<int64_t, size_t>{0, 0}, {1, 0}, {16, 0}, {17, 1}, {64, 1},
                            {65, 2}, {512, 2}, {513, 2}, {int64_t(1) << 40, 2}}) {
    auto chosen = chooseVersion(*package, meshOf(1, 2), std::vector<DimValue>{{"M", {m}}, {"N", {4}}});
    ASSERT_OK(chosen);
    EXPECT_EQ(*chosen, version) << m;
  }
  EXPECT_ERROR(chooseVersion(*package, meshOf(1, 2), std::vector<DimValue>{{"N", {4}}}).status(),
               InvalidArgument, "dimension 'M' has no value");
  auto alone = chooseVersion(test::package("allgather"), meshOf(1, 2), {});
  ASSERT_OK(alone);
  EXPECT_EQ(*alone, 0u);
}

TEST(Versions, AContainerHasNoPlan) {
  auto package = Container().parse();
  ASSERT_OK(package);
  auto payload = Payload::load(*package);
  ASSERT_OK(payload);
  std::vector<DimValue> dims = {{"M", {8}}, {"N", {4}}};
  EXPECT_ERROR(JobPlan::create(package->metadata(), **payload, meshOf(1, 1), dims).status(),
               FailedPrecondition, "has 3 versions, each with a plan of its own: take that of the "
                                   "one which chooseVersion");
}

TEST(Versions, CodeThatChoosesNoneIsRefused) {
  Container wrong;
  wrong.choice = Container::None;
  auto package = wrong.parse();
  ASSERT_OK(package);
  std::vector<DimValue> dims = {{"M", {8}}, {"N", {4}}};
  EXPECT_ERROR(chooseVersion(*package, meshOf(1, 1), dims).status(), Internal,
               "kernel 'allgather': its package chooses version 7 (from 0) of 3");
}

TEST(Versions, CodeOfOtherMetadataIsRefused) {
  Container c;
  auto bytes = c.bytes();
  auto text = textOf(bytes);
  size_t at = text.find("\"M\":16");
  ASSERT_NE(at, std::string::npos);
  // The same length, so that versions are found; the file's digest is made again.
  mk_package_header header;
  std::memcpy(&header, bytes.data(), sizeof(header));
  text[at + 5] = '5';
  Digest digest = sha256(std::as_bytes(std::span(text)).subspan(sizeof(header)));
  std::memcpy(header.digest, digest.data(), digest.size());
  std::memcpy(bytes.data(), text.data(), text.size());
  std::memcpy(bytes.data(), &header, sizeof(header));
  auto forged = Package::parse(bytes, "forged");
  ASSERT_OK(forged);
  EXPECT_ERROR(Payload::load(*forged).status(), InvalidArgument,
               "the metadata of kernel 'allgather' is not that of its code");
}

TEST(Versions, EachBindingHasItsOwn) {
  Ranks ranks(2, 2);
  auto package = Container().parse();
  ASSERT_OK(package);
  ranks.each([&](uint32_t r) {
    auto kernel = Kernel::load(*ranks.contexts[r], *package);
    ASSERT_OK(kernel);
    EXPECT_EQ((*kernel)->metadata().versions.size(), 3u);
    struct Case {
      int64_t m;
      size_t version;
      std::unique_ptr<BoundKernel> bound;
      std::unique_ptr<LaunchGraph> graph;
      std::vector<float> c;
    };
    std::vector<Case> cases;
    for (auto [m, version] :
         {std::pair<int64_t, size_t>{16, 0}, {17, 1}, {64, 1}, {65, 2}, {600, 2}, {3, 0}}) {
      auto bound = (*kernel)->bind({{"M", {m}}, {"N", {9}}});
      ASSERT_OK(bound);
      EXPECT_EQ((*bound)->version(), version) << m;
      EXPECT_TRUE((*bound)->metadata().versions.empty());
      EXPECT_NE((*bound)->payload().plan, nullptr);
      Case &added = cases.emplace_back(Case{m, version, std::move(*bound), {}, {}});
      added.c.resize(size_t(m) * 9);
      ASSERT_OK(added.bound->attach("c", added.c.data()));
      auto graph = added.bound->capture({});
      ASSERT_OK(graph);
      added.graph = std::move(*graph);
    }
    for (int round = 0; round < 12; ++round)
      for (Case &one : cases)
        ASSERT_OK(gatherOnce(*one.bound, one.m, 9, round, {.seed = uint64_t(round % 3)}, one.c));
    for (Case &one : cases) {
      std::fill(one.c.begin(), one.c.end(), NAN);
      ASSERT_OK(one.graph->launch());
      EXPECT_FALSE(std::isnan(one.c.front())) << one.m;
      EXPECT_FALSE(std::isnan(one.c.back())) << one.m;
      EXPECT_EQ(one.bound->epoch(), 12u + 1) << one.m;
    }
    // In an order that all ranks have.
    while (!cases.empty())
      cases.pop_back();
  });
  ranks.close();
}

TEST(Versions, RanksThatDisagreeAreNamed) {
  auto package = Container().parse();
  Container wrong;
  wrong.choice = Container::ByRank;
  auto byRank = wrong.parse();
  ASSERT_OK(package);
  ASSERT_OK(byRank);
  auto bindOn = [](const Package &package, std::function<int64_t(uint32_t)> m, const char *message) {
    Ranks ranks(1, 2);
    ranks.each([&](uint32_t r) {
      auto kernel = Kernel::load(*ranks.contexts[r], package);
      ASSERT_OK(kernel);
      EXPECT_ERROR((*kernel)->bind({{"M", {m(r)}}, {"N", {4}}}).status(), InvalidArgument, message);
    });
  };
  // Sizes that lead to different versions are what is wrong.
  bindOn(*package, [](uint32_t r) { return r ? 100 : 16; },
         "ranks disagree: dimension 'M' is 16 on rank 0 and 100 on rank 1");
  bindOn(*byRank, [](uint32_t) { return 100; },
         "ranks disagree: version of kernel 'allgather' is 1 (M up to 16) on rank 0 and 2 (M from "
         "17 to 64) on rank 1: bind the same package and dimensions on every rank");
}

TEST(Versions, AreShared) {
  auto package = Container().parse();
  ASSERT_OK(package);
  auto again = Package::parse({package->bytes().begin(), package->bytes().end()}, "again");
  ASSERT_OK(again);
  EXPECT_EQ(again->numVersions(), 3u);
  EXPECT_EQ(again->digest(), package->digest());
}

} // namespace
} // namespace mk::rt::test
