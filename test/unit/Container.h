//===- Container.h - Packages with several versions -------------*- C++ -*-===//
#ifndef MKERNEL_TEST_UNIT_CONTAINER_H
#define MKERNEL_TEST_UNIT_CONTAINER_H

#include "mkernel/Runtime/PackageC.h"

#include "Ranks.h"

#include <cstring>
#include <fstream>
#include <nlohmann/json.hpp>

namespace mk::rt::test {

using Json = nlohmann::json;

inline std::string textOf(std::span<const std::byte> bytes) {
  return {reinterpret_cast<const char *>(bytes.data()), bytes.size()};
}

/// A container as a compiler writes it, of what a test changes.
struct Container {
  enum Choice : char { BySize, ByRank, None };

  explicit Container(std::vector<std::string> names = {"allgather", "allgather", "allgather"}) {
    for (const std::string &name : names)
      packages.push_back(package(name));
    fill();
  }
  explicit Container(std::vector<Package> given) : packages(std::move(given)) { fill(); }

  void fill() {
    const Package &first = packages.front();
    Json own = Json::parse(textOf(first.metadataText()));
    for (const char *key : {"kernel", "target", "cpu", "mesh", "dims", "args", "grid"})
      metadata[key] = own[key];
    if (own.contains("cpu_features"))
      metadata["cpu_features"] = own["cpu_features"];
    metadata["versions"] = Json::array();
    int64_t most[] = {16, 64, 512};
    for (size_t i = 0; i < packages.size(); ++i) {
      versions.push_back(textOf(packages[i].bytes()));
      metadata["versions"].push_back(
          {{"serves", {{"M", most[i % 3]}}}, {"bytes", versions.back().size()}});
    }
  }

  std::vector<std::byte> bytes() const {
    std::string text = metadata.dump();
    std::ifstream file(MK_TEST_PACKAGES "/test-select.so", std::ios::binary);
    std::string payload{std::istreambuf_iterator<char>(file), {}};
    size_t at = payload.find("mk_select: 32 bytes of a digest.");
    EXPECT_NE(at, std::string::npos);
    Digest digest = sha256(std::as_bytes(std::span(text)));
    std::memcpy(&payload[at], digest.data(), digest.size());
    payload[at + 32] = choice;
    for (const std::string &version : versions)
      payload += version;
    void *package;
    size_t size;
    char *message = nullptr;
    int failed = mk_package_write(text.data(), text.size(), payload.data(), payload.size(),
                                  &package, &size, &message);
    EXPECT_EQ(failed, 0) << message;
    if (failed) {
      mk_package_free(message);
      return {};
    }
    auto *data = static_cast<std::byte *>(package);
    std::vector<std::byte> copy(data, data + size);
    mk_package_free(package);
    return copy;
  }
  Result<Package> parse() const { return Package::parse(bytes(), "c"); }
  /// What is wrong with the metadata.
  Status metadataStatus() const { return parseMetadata(metadata.dump()).status(); }

  std::vector<Package> packages;
  Json metadata;
  std::vector<std::string> versions;
  Choice choice = BySize;
};

} // namespace mk::rt::test

#endif // MKERNEL_TEST_UNIT_CONTAINER_H
