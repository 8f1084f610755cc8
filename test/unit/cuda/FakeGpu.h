//===- FakeGpu.h - Tests that run on the fake driver ------------*- C++ -*-===//
#ifndef MKERNEL_TEST_UNIT_CUDA_FAKEGPU_H
#define MKERNEL_TEST_UNIT_CUDA_FAKEGPU_H

#include "FakeCuda.h"
#include "Support.h"
#include "mkernel/Runtime/Kernel.h"
#include "mkernel/Runtime/PackageC.h"

#include <cstdlib>
#include <dlfcn.h>
#include <filesystem>

namespace mk::rt::test {

/// The driver of this process is the fake one, as good as new; compiled code is
/// cached in a folder of the test's own.
struct FakeGpu : ::testing::Test {
  FakeGpu() {
    setenv("MK_CUDA_LIBRARY", MK_TEST_FAKE_CUDA, 1);
    setenv("MK_PTXAS", MK_TEST_FAKE_PTXAS, 1);
    setenv("MK_CACHE_DIR", folder.c_str(), 1);
    void *library = dlopen(MK_TEST_FAKE_CUDA, RTLD_NOW | RTLD_LOCAL);
    EXPECT_NE(library, nullptr) << dlerror();
    auto find =
        reinterpret_cast<FakeCuda *(*)()>(dlsym(library, "fakeCuda"));
    fake = find();
    *fake = FakeCuda();
  }
  ~FakeGpu() override {
    std::filesystem::remove_all(folder);
    unsetenv("MK_CACHE_DIR");
    // Whatever happened: nothing is left, and the caller's context is current.
    EXPECT_TRUE(fake->blocks.empty());
    EXPECT_TRUE(fake->pinned.empty() && fake->registered.empty());
    EXPECT_EQ(fake->streams, 0);
    EXPECT_TRUE(fake->files.empty() && fake->mapped.empty());
    EXPECT_TRUE(fake->reserved.empty());
    EXPECT_EQ(fake->events, 0);
    EXPECT_EQ(fake->pushed, 0);
    EXPECT_EQ(fake->retained, 0);
  }

  /// The package `affine`, with another kernel of the fake driver and changes
  /// in the text of its metadata.
  Package package(const std::string &kernel = "affine",
                  std::vector<std::pair<std::string, std::string>> changes = {},
                  std::pair<std::string, std::string> code = {}) {
    auto base = Package::read(MK_TEST_PACKAGES "/affine.mkpkg");
    EXPECT_OK(base);
    auto all = base->bytes(), payload = base->payload();
    size_t header = 96; // bytes
    std::string metadata(reinterpret_cast<const char *>(all.data()) + header,
                         all.size() - header - payload.size());
    const std::string before = metadata;
    for (auto &[old, now] : changes) {
      size_t at = metadata.find(old);
      EXPECT_NE(at, std::string::npos) << old;
      metadata.replace(at, old.size(), now);
    }
    std::string bytes(reinterpret_cast<const char *>(payload.data()),
                      payload.size());
    auto patch = [&](const std::string &old, std::string now) {
      size_t at = bytes.find(old);
      EXPECT_NE(at, std::string::npos) << old;
      now.resize(old.size(), ' ');
      for (; at != std::string::npos; at = bytes.find(old, at + now.size()))
        bytes.replace(at, old.size(), now);
    };
    patch("fake: affine params", "fake: " + kernel + " params");
    // The code says whose it is.
    auto digestOf = [](const std::string &text) {
      auto digest = sha256(std::as_bytes(std::span(text)));
      return std::string(reinterpret_cast<const char *>(digest.data()),
                         digest.size());
    };
    patch(digestOf(before), digestOf(metadata));
    if (!code.first.empty())
      patch(code.first, code.second);
    void *written = nullptr;
    size_t size = 0;
    char *message = nullptr;
    EXPECT_EQ(mk_package_write(metadata.data(), metadata.size(), bytes.data(),
                               bytes.size(), &written, &size, &message),
              0)
        << message;
    auto *data = static_cast<std::byte *>(written);
    auto result = Package::parse({data, data + size}, "test");
    mk_package_free(written);
    EXPECT_OK(result);
    return std::move(*result);
  }

  /// A change of the metadata of `affine`: in front of its variant, of 384 threads, comes one of
  /// 256 that fetches tiles of `a` by tensor maps.
  static std::pair<std::string, std::string> withTensorMaps(int64_t paramBytes = 568, bool packs = false) {
    return {R"("variants": [)",
            str(R"("variants": [{"name": "tensor-maps", "needs": "tensor-maps",
         "grid": 4, "threads": 256, "cooperative": true, "shared_bytes": 200000, "param_bytes": )",
                paramBytes, R"(, "workspace_bytes": 0,
         "tensor_maps": [{"arg": 0, "box": [128, 32], "copies": true, "swizzle": 128)",
                packs ? R"(, "packs": true)" : "", R"(},
                         {"arg": 1, "box": [64, 16], "copies": false, "swizzle": 0}],
         "peer_maps": []}, )")};
  }

  std::unique_ptr<Context> context(int64_t gpus = 1) {
    auto mesh = Mesh::create({{"node", 1, LinkKind::Net},
                              {"gpu", gpus, LinkKind::Link}});
    EXPECT_OK(mesh);
    ContextOptions options;
    options.mesh = *mesh;
    options.heapBytes = 1 << 20;
    options.slots = 64;
    auto context = Context::create(options);
    EXPECT_OK(context);
    return std::move(*context);
  }

  std::filesystem::path folder =
      std::filesystem::temp_directory_path() /
      str("mk-gpu-", toHex(sha256(randomBytes(8))).substr(0, 16));
  FakeCuda *fake = nullptr;
  QuietLog quiet;
};

} // namespace mk::rt::test

#endif // MKERNEL_TEST_UNIT_CUDA_FAKEGPU_H
