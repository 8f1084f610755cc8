//===- PackageTest.cpp ----------------------------------------------------===//

#include "mkernel/Runtime/Package.h"

#include "mkernel/ABI/Package.h"
#include "mkernel/Runtime/PackageC.h"
#include "mkernel/Runtime/Payload.h"

#include "Support.h"

#include <cstdio>
#include <cstring>
#include <fstream>
#include <unistd.h>

namespace mk::rt::test {
namespace {

std::vector<std::byte> write(std::string_view metadata,
                             std::string_view payload) {
  void *package;
  size_t bytes;
  char *message = nullptr;
  EXPECT_EQ(mk_package_write(metadata.data(), metadata.size(), payload.data(),
                             payload.size(), &package, &bytes, &message),
            0)
      << message;
  auto *data = static_cast<std::byte *>(package);
  std::vector<std::byte> copy(data, data + bytes);
  mk_package_free(package);
  return copy;
}

std::vector<std::byte> makePackage(const std::string &target = "host",
                                   const std::string &features = "") {
  std::string metadata =
      R"({"kernel": "k", "target": ")" + target +
      R"(", "cpu": "x", "cpu_features": [)" + features + R"(], "grid": 1, "stack_bytes": 0, "mesh": [], "dims": [],
       "args": [], "signals": [], "counters": [], "queues": [], "loops": [],
       "requires": [], "roles": [{"name": "r", "ctas": 1, "then": -1}],
       "prepare": false, "reference": null)" +
      (target == "host"
           ? "}"
           : R"(, "gpu": {"variants": [{"name": "v", "needs": "", "grid": 1, "threads": 1, "cooperative": false,
                "shared_bytes": 0, "param_bytes": 112, "workspace_bytes": 0, "tensor_maps": [],
                "peer_maps": []}]}})");
  return write(metadata, "code");
}

Status parsed(std::vector<std::byte> bytes) {
  return Package::parse(std::move(bytes), "p").status();
}

TEST(Package, WhatIsWrittenIsRead) {
  auto package = Package::parse(makePackage(), "p");
  ASSERT_OK(package);
  EXPECT_EQ(package->metadata().kernel, "k");
  ASSERT_EQ(package->payload().size(), 4u);
  EXPECT_EQ(std::memcmp(package->payload().data(), "code", 4), 0);
}

TEST(Package, WriterRefusesBadMetadata) {
  void *package;
  size_t bytes;
  char *message = nullptr;
  ASSERT_EQ(mk_package_write("{}", 2, "", 0, &package, &bytes, &message), 1);
  EXPECT_THAT(std::string(message), HasSubstr("lacks the key 'kernel'"));
  mk_package_free(message);
}

TEST(Package, EveryPrefixIsRefused) {
  auto whole = makePackage();
  for (size_t n = 0; n < whole.size(); ++n)
    EXPECT_FALSE(parsed({whole.begin(), whole.begin() + n})) << n;
  whole.push_back({});
  EXPECT_ERROR(parsed(whole), InvalidArgument, "1 bytes behind its end");
}

TEST(Package, EveryChangedByteIsRefused) {
  auto whole = makePackage();
  for (size_t i = 0; i < whole.size(); ++i) {
    auto changed = whole;
    changed[i] ^= std::byte(0x40);
    EXPECT_FALSE(parsed(changed)) << i;
  }
}

TEST(Package, MessagesTellCausesApart) {
  auto change = [](size_t at) {
    auto bytes = makePackage();
    bytes[at] ^= std::byte(1);
    return parsed(bytes);
  };
  EXPECT_ERROR(change(0), InvalidArgument, "is not a package");
  EXPECT_ERROR(change(offsetof(mk_package_header, abi_version)),
               InvalidArgument, "has ABI version 0, this runtime has 1");
  EXPECT_ERROR(change(offsetof(mk_package_header, header_bytes)), InvalidArgument,
               "has a header of ");
  EXPECT_ERROR(change(offsetof(mk_package_header, abi_hash)), InvalidArgument,
               "compiled for another ABI");
  EXPECT_ERROR(change(offsetof(mk_package_header, digest)), InvalidArgument,
               "was altered");
  EXPECT_ERROR(change(sizeof(mk_package_header) + 3), InvalidArgument,
               "was altered");
}

TEST(Package, LoadingNamesTheCause) {
  auto other = Package::parse(makePackage("sm_80"), "p");
  ASSERT_OK(other);
  EXPECT_ERROR(Payload::load(*other).status(), InvalidArgument,
               "compiled for sm_80: compile it for what this runtime runs, host or sm_90a");
  auto package = Package::parse(makePackage(), "p");
  ASSERT_OK(package);
  EXPECT_ERROR(Payload::load(*package).status(), Unavailable,
               "cannot load the payload of kernel 'k'");
  EXPECT_ERROR(Package::read("/nonexistent").status(), NotFound,
               "No such file");
  EXPECT_ERROR(Package::read("/").status(), InvalidArgument,
               "is not a regular file");
  std::string path = ::testing::TempDir() + "package-test-" + std::to_string(getpid());
  std::ofstream(path) << "mk";
  ASSERT_EQ(truncate(path.c_str(), (int64_t(1) << 32) + 1), 0);
  EXPECT_ERROR(Package::read(path).status(), InvalidArgument,
               "has 4294967297 bytes; the largest package has 4294967296");
  std::remove(path.c_str());
}

TEST(Package, CpuHasToCoverTheCode) {
  auto package =
      Package::parse(makePackage("host", R"("avx1024", "amx-fp64")"), "p");
  ASSERT_OK(package);
  Status status = Payload::load(*package).status();
  EXPECT_ERROR(status, FailedPrecondition,
               "kernel 'k' is compiled for the CPU 'x', and this machine's, '");
  EXPECT_THAT(status.message(), HasSubstr("', lacks avx1024, amx-fp64: "));
}

TEST(Package, MetadataHasToBeThatOfTheCode) {
  auto package = Package::read(MK_TEST_PACKAGES "/allgather.mkpkg");
  ASSERT_OK(package);
  auto text = [](std::span<const std::byte> bytes) {
    return std::string(reinterpret_cast<const char *>(bytes.data()),
                       bytes.size());
  };
  std::string metadata = text(package->metadataText());
  size_t begin = metadata.find("\"signals\": ["), end = metadata.find(']', begin);
  ASSERT_NE(begin, std::string::npos);
  metadata.replace(begin, end + 1 - begin, "\"signals\": []");
  auto forged =
      Package::parse(write(metadata, text(package->payload())), "forged");
  ASSERT_OK(forged);
  EXPECT_ERROR(Payload::load(*forged).status(), InvalidArgument,
               "the metadata of kernel 'allgather' is not that of its code");
}

TEST(Package, TwoPayloadsAreTwo) {
  // The loader knows objects by name: the second must not be the first.
  auto a = Package::read(MK_TEST_PACKAGES "/allgather.mkpkg");
  auto b = Package::read(MK_TEST_PACKAGES "/mix.mkpkg");
  ASSERT_OK(a);
  ASSERT_OK(b);
  auto first = Payload::load(*a);
  ASSERT_OK(first);
  auto second = Payload::load(*b);
  ASSERT_OK(second);
  EXPECT_NE((*first)->plan, (*second)->plan);
  (*first).reset();
  auto third = Payload::load(*b);
  ASSERT_OK(third);
  EXPECT_EQ((*third)->roles.size(), 3u);
}

} // namespace
} // namespace mk::rt::test
