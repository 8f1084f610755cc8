//===- ModuleTest.cpp - Code, its cache, and whether a grid fits ----------===//

#include "FakeGpu.h"
#include "device/cuda/Module.h"

#include <fstream>
#include <sys/wait.h>
#include <unistd.h>

namespace mk::rt::test {
namespace {

using cuda::Gpu;
using cuda::Module;
namespace fs = std::filesystem;

struct CudaModule : FakeGpu {
  CudaModule() {
    auto opened = Gpu::open(0);
    EXPECT_OK(opened);
    device = *opened;
  }
  Result<std::unique_ptr<Module>> load(const Package &package) {
    auto payload = Payload::load(package);
    EXPECT_OK(payload);
    return Module::load(device, (*payload)->deviceCode[0], package.metadata(),
                        package.metadata().gpu->variants[0], DiskCache(folder));
  }
  fs::path entry() {
    std::vector<fs::path> all;
    for (auto &file : fs::directory_iterator(folder))
      all.push_back(file.path());
    EXPECT_EQ(all.size(), 1u);
    return all.empty() ? fs::path() : all[0];
  }
  std::shared_ptr<Gpu> device;
};

TEST_F(CudaModule, CompiledOnceAndKept) {
  Package affine = package();
  for (bool cached : {false, true, true}) {
    auto module = load(affine);
    ASSERT_OK(module);
    EXPECT_EQ((*module)->cached(), cached);
    EXPECT_NE((*module)->function(), nullptr);
  }
  EXPECT_EQ(fake->count("cuFuncLoad"), 3u);
  // Other code.
  auto other = load(package("fault "));
  ASSERT_OK(other);
  EXPECT_FALSE((*other)->cached());
}

TEST_F(CudaModule, DamagedEntriesAreMadeAnew) {
  Package affine = package();
  ASSERT_OK(load(affine));
  fs::path file = entry();
  for (int at : {0, 20, 50, 90}) {
    std::fstream out(file, std::ios::in | std::ios::out | std::ios::binary);
    out.seekg(at);
    int byte = out.get();
    out.seekp(at);
    out.put(static_cast<char>(byte ^ 1));
    out.close();
    auto module = load(affine);
    ASSERT_OK(module);
    EXPECT_FALSE((*module)->cached()) << at;
  }
  fs::resize_file(file, 10);
  EXPECT_FALSE((*load(affine))->cached());
  EXPECT_TRUE((*load(affine))->cached());
  // Sound, but the driver does not take it.
  auto name = file.filename().string();
  Digest key;
  for (size_t i = 0; i < key.size(); ++i)
    key[i] = uint8_t(std::stoi(name.substr(6 + 2 * i, 2), nullptr, 16));
  for (std::string junk : {"junk", "\x7f""ELF of another kind"}) {
    ASSERT_OK(DiskCache(folder).put(
        "cubin", key,
        std::as_bytes(std::span<const char>(junk.c_str(), junk.size() + 1))));
    EXPECT_FALSE((*load(affine))->cached());
    EXPECT_TRUE((*load(affine))->cached());
  }
}

TEST_F(CudaModule, ManyProcessesAtOnce) {
  Package affine = package();
  std::vector<pid_t> children;
  for (int child = 0; child < 8; ++child) {
    pid_t pid = fork();
    ASSERT_GE(pid, 0);
    if (pid == 0)
      _exit(load(affine).isOk() ? 0 : 1);
    children.push_back(pid);
  }
  for (pid_t pid : children) {
    int status = 0;
    ASSERT_EQ(waitpid(pid, &status, 0), pid);
    EXPECT_EQ(status, 0);
  }
  entry();
  EXPECT_TRUE((*load(affine))->cached());
}

TEST_F(CudaModule, WithoutPtxasOrACacheItStillLoads) {
  setenv("MK_PTXAS", "off", 1);
  Package affine = package();
  auto module = load(affine);
  ASSERT_OK(module);
  EXPECT_FALSE((*module)->cached());
  EXPECT_FALSE(fs::exists(folder));
  setenv("MK_PTXAS", MK_TEST_FAKE_PTXAS, 1);
  std::ofstream(folder) << "no folder";
  ASSERT_OK(load(affine));
  fs::remove(folder);
}

TEST_F(CudaModule, ACubinThatTheDriverCannotReadIsLeftToItsCompiler) {
  fake->refusesCubins = true;
  Package affine = package();
  for (int i = 0; i < 2; ++i) {
    auto module = load(affine);
    ASSERT_OK(module);
    EXPECT_FALSE((*module)->cached());
    EXPECT_NE((*module)->function(), nullptr);
  }
  EXPECT_FALSE(fs::exists(folder));
  // What neither takes is an error with the text's log.
  fake->loadCode = 218;
  EXPECT_ERROR(load(affine).status(), FailedPrecondition, "ptxas line 3");
}

TEST_F(CudaModule, AnotherPtxasMakesAnotherCubin) {
  Package affine = package();
  ASSERT_OK(load(affine));
  EXPECT_TRUE((*load(affine))->cached());
  fs::path other = fs::path(testing::TempDir()) /
                   str("ptxas-", getpid());
  fs::copy_file(MK_TEST_FAKE_PTXAS, other);
  setenv("MK_PTXAS", other.c_str(), 1);
  EXPECT_FALSE((*load(affine))->cached());
  EXPECT_TRUE((*load(affine))->cached());
  // Replaced by another version of itself.
  fs::last_write_time(other, fs::last_write_time(other) + std::chrono::hours(1));
  EXPECT_FALSE((*load(affine))->cached());
  fs::remove(other);
}

TEST_F(CudaModule, ErrorsCarryTheLog) {
  fake->loadCode = 218;
  EXPECT_ERROR(load(package()).status(), FailedPrecondition,
               "the driver (CUDA 13.0) does not take the code of kernel "
               "'affine' for GPU 0 (Fake H200): cuModuleLoadDataEx: "
               "CUDA_ERROR_INVALID_PTX (as the fake says): ptxas line 3: it "
               "cannot be: compile the kernel again");
}

TEST_F(CudaModule, CodeAndMetadataMustAgree) {
  Package other = package("affine", {}, {"params=568", "params=560"});
  EXPECT_ERROR(load(other).status(), Internal,
               "takes parameters of 560 bytes, its metadata says 568");
}

TEST_F(CudaModule, WhatDoesNotFitIsRefusedWithNumbers) {
  fake->sms = 114;
  auto other = Gpu::open(0);
  ASSERT_OK(other);
  device = *other;
  EXPECT_ERROR(load(package()).status(), FailedPrecondition,
               "kernel 'affine' has a grid of 132 CTAs that wait for one "
               "another; GPU 0 (Fake H200) has 114 SMs with room for 1 CTA "
               "each: compile it with --grid 114");
  fake->blocksPerSm = 2;
  EXPECT_OK(load(package()));
  fake->blocksPerSm = 0;
  EXPECT_ERROR(load(package()).status(), FailedPrecondition,
               "a CTA of kernel 'affine' (384 threads of 168 registers, 200000 "
               "bytes of shared memory) does not fit an SM");
  fake->maxShared = 101376;
  EXPECT_ERROR(load(package()).status(), FailedPrecondition,
               "needs 200000 bytes of shared memory in a CTA, GPU 0 (Fake "
               "H200) has 101376: use smaller tiles or fewer stages");
}

TEST_F(CudaModule, SpillsAreWarnedOf) {
  static std::string said;
  log::setSink([](log::Level level, std::string_view line) {
    if (level == log::Level::Warn)
      said += line;
  });
  said.clear();
  ASSERT_OK(load(package()));
  EXPECT_EQ(said, "");
  fake->localBytes = 40;
  ASSERT_OK(load(package())); // from the cache as well
  EXPECT_NE(said.find("kernel 'affine' spills: 40 bytes of each thread"), std::string::npos)
      << said;
  EXPECT_NE(said.find("smaller tiles"), std::string::npos) << said;
}

} // namespace
} // namespace mk::rt::test
