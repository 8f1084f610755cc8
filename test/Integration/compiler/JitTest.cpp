//===- JitTest.cpp - Compiling from a program, and the cache --------------===//
#include "mkernel/JIT/JIT.h"
#include "mkernel/Runtime/Env.h"
#include "mkernel/Runtime/Kernel.h"

#include "Support.h"

#include <algorithm>
#include <cstdio>
#include <ctime>
#include <filesystem>
#include <fstream>
#include <malloc.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

using namespace mk;
using namespace mk::rt;
using namespace mk::rt::test;
namespace fs = std::filesystem;

namespace {

struct JitTest : testing::Test {
  fs::path folder =
      fs::path(testing::TempDir()) /
      str("mkernel-jit-", getpid(), "-",
          testing::UnitTest::GetInstance()->current_test_info()->name());
  jit::Source source;
  jit::Options options;
  jit::Report report;

  void SetUp() override {
    fs::remove_all(folder);
    auto read = jit::Source::read(MK_TEST_EXAMPLES "/gemm.mlir");
    ASSERT_OK(read);
    source = *read;
    options.kernel = "gemm_nt";
    options.library = MK_TEST_JIT_LIBRARY;
    options.cache = DiskCache(folder.string());
  }
  void TearDown() override { fs::remove_all(folder); }

  Result<Package> compile() { return jit::compile(source, options, &report); }

  /// As the only rank.
  void load(const Package &package) {
    ContextOptions here;
    auto mesh = resolveMesh(package.metadata(), {}, 0, 0);
    ASSERT_OK(mesh);
    here.mesh = *mesh;
    auto made = Context::create(here);
    ASSERT_OK(made);
    context = std::move(*made);
    auto loaded = Kernel::load(*context, package);
    ASSERT_OK(loaded);
    kernel = std::move(*loaded);
  }
  std::unique_ptr<Context> context;
  std::unique_ptr<Kernel> kernel;

  std::vector<fs::path> packages() {
    std::vector<fs::path> paths;
    if (fs::exists(folder))
      for (const auto &entry : fs::directory_iterator(folder))
        if (entry.path().filename().string().starts_with("package-"))
          paths.push_back(entry.path());
    return paths;
  }
};

TEST_F(JitTest, EqualCallsCompileOnce) {
  // Of this process: other work on the machine does not count.
  auto cpuMs = [] { return 1e3 * std::clock() / CLOCKS_PER_SEC; };
  double begin = cpuMs();
  auto first = compile();
  ASSERT_OK(first);
  EXPECT_FALSE(report.cached);
  EXPECT_EQ(report.cacheProblem, "");
  EXPECT_GT(report.milliseconds, 0);
  EXPECT_LT(cpuMs() - begin, 3000);
  EXPECT_EQ(first->metadata().kernel, "gemm_nt");
  double fastest = 1e9;
  for (int i = 0; i < 5; ++i) {
    begin = cpuMs();
    auto again = compile();
    fastest = std::min(fastest, cpuMs() - begin);
    ASSERT_OK(again);
    EXPECT_TRUE(report.cached);
    EXPECT_EQ(again->digest(), first->digest());
  }
  EXPECT_LT(fastest, 50);
  EXPECT_EQ(packages().size(), 1u);
}

TEST_F(JitTest, WhateverMattersIsInTheKey) {
  std::vector<std::function<void()>> changes = {
      [] {},
      [&] { source.text += "\n// A comment.\n"; },
      [&] {
        options.bind = {{"K", {64}}};
      },
      [&] {
        options.bind = {{"N", {64}}};
      },
      [&] {
        options.bind = {{"gpu", {2}}};
      },
      [&] { options.grid = 5; },
      [&] { options.cpu = "x86-64"; },
      [&] { options.tuning = "none"; },
  };
  size_t count = 0;
  for (const auto &change : changes) {
    change();
    ASSERT_OK(compile());
    EXPECT_FALSE(report.cached) << "change " << count;
    EXPECT_EQ(packages().size(), ++count);
  }
  // Neither the order of bindings nor the name of the file does.
  options.bind = {{"K", {64}}, {"N", {32}}};
  ASSERT_OK(compile());
  options.bind = {{"N", {32}}, {"K", {64}}};
  source.name = "other.mlir";
  ASSERT_OK(compile());
  EXPECT_TRUE(report.cached);
}

TEST_F(JitTest, ATuningFileIsReadWhereItMatters) {
  fs::create_directories(folder);
  options.tuning = (folder / "tuning.json").string();
  auto write = [&](const char *text) { std::ofstream(options.tuning) << text; };
  write(R"({"target": "host", "entries": []})");
  auto first = compile();
  if (!first) { // the format is the compiler's; what counts is that it is asked
    EXPECT_THAT(first.status().message(), HasSubstr("tuning"));
  }
  write("{");
  EXPECT_ERROR(compile().status(), InvalidArgument, "tuning");
  EXPECT_FALSE(report.cached);
}

TEST_F(JitTest, DamagedEntriesAreMadeAgain) {
  QuietLog quiet;
  auto first = compile();
  ASSERT_OK(first);
  ASSERT_EQ(packages().size(), 1u);
  fs::path path = packages()[0];
  auto size = fs::file_size(path);
  std::vector<std::function<void()>> damages = {
      [&] { fs::resize_file(path, size / 2); },
      [&] { fs::resize_file(path, 0); },
      [&] {
        std::fstream file(path,
                          std::ios::in | std::ios::out | std::ios::binary);
        file.seekp(size - 100);
        file.put('!');
      },
      [&] { fs::permissions(path, fs::perms::none); }, // root reads it anyway
      [&] { fs::permissions(path, fs::perms::all); },  // others may write it
  };
  for (size_t i = 0; i < damages.size(); ++i) {
    damages[i]();
    auto again = compile();
    ASSERT_OK(again);
    EXPECT_EQ(again->digest(), first->digest());
    if (i != 3) {
      EXPECT_FALSE(report.cached) << "damage " << i;
    }
    ASSERT_OK(compile());
    EXPECT_TRUE(report.cached) << "damage " << i;
  }
}

TEST_F(JitTest, ManyProcessesAtOnce) {
  std::vector<pid_t> children;
  for (int i = 0; i < 6; ++i) {
    pid_t child = fork();
    ASSERT_GE(child, 0);
    if (child == 0) {
      bool good = true;
      for (int round = 0; round < 2; ++round) {
        options.grid = 3 + round;
        auto package = compile();
        good &= package && package->metadata().grid == 3u + round;
      }
      _exit(good ? 0 : 1);
    }
    children.push_back(child);
  }
  for (pid_t child : children) {
    int status = -1;
    waitpid(child, &status, 0);
    EXPECT_EQ(status, 0);
  }
  EXPECT_EQ(packages().size(), 2u);
  options.grid = 3;
  ASSERT_OK(compile());
  EXPECT_TRUE(report.cached);
}

TEST_F(JitTest, NoCompilerIsNeededForWhatIsThere) {
  auto first = compile();
  ASSERT_OK(first);
  options.library = (folder / "no-such.so").string();
  auto again = compile();
  ASSERT_OK(again);
  EXPECT_TRUE(report.cached);
  EXPECT_EQ(again->digest(), first->digest());
  options.grid = 7;
  EXPECT_ERROR(compile().status(), Unavailable, "no-such.so");
  EXPECT_ERROR(compile().status(), Unavailable, "MK_JIT_LIBRARY");
}

TEST_F(JitTest, AnotherLibraryIsNoCompiler) {
  options.library = MK_TEST_RUNTIME_LIBRARY;
  EXPECT_ERROR(compile().status(), Unavailable, "is no mKernel compiler");
}

TEST_F(JitTest, MessagesOfTheCompilerArePassedOn) {
  source = {"mk.kernel @x on @nowhere {", "broken.mlir"};
  EXPECT_ERROR(compile().status(), FailedPrecondition, "broken.mlir:1:");
  source = *jit::Source::read(MK_TEST_EXAMPLES "/gemm.mlir");
  options.bind = {{"Q", {1}}};
  EXPECT_ERROR(compile().status(), InvalidArgument, "there is no 'Q' to bind");
  // It would not see what stands twice.
  options.bind = {{"N", {70}}, {"N", {3}}};
  EXPECT_ERROR(compile().status(), InvalidArgument, "gemm.mlir': 'N' is bound twice");
  options.bind = {};
  options.params = {{"TM", "16"}, {"TM", "32"}};
  EXPECT_ERROR(compile().status(), InvalidArgument, "gemm.mlir': parameter 'TM' is set twice");
  for (const char *value : {"abc", "", "1.5", "16x"}) {
    options.params = {{"TM", value}};
    EXPECT_ERROR(compile().status(), InvalidArgument,
                 str("gemm.mlir': parameter 'TM': '", value,
                     "' is not an integer of 64 bits; give it an integer"));
  }
  options.params = {};
  options.cpu = "pdp11";
  EXPECT_ERROR(compile().status(), InvalidArgument, "there is no CPU 'pdp11'");
  EXPECT_TRUE(packages().empty()); // failures are not kept
  EXPECT_ERROR(jit::Source::read("/no/such.mlir").status(), NotFound,
               "/no/such.mlir");
}

TEST_F(JitTest, CandidatesAreMeasured) {
  options.grid = 2;
  options.bind = {{"N", {40}}, {"K", {24}}};
  options.variants = "M=16+TM=16+TN=16,M=16+TM=8+TN=32,M=64+TM=32+TN=32";
  auto package = compile();
  ASSERT_OK(package);
  EXPECT_EQ(package->numVersions(), 3u);
  ASSERT_NO_FATAL_FAILURE(load(*package));
  MeasureOptions measure;
  measure.cache = DiskCache("");
  std::vector<CandidateTime> times;
  // Without `prepare` inputs have random values.
  auto bound = kernel->bindFastest(std::vector<DimValue>{{"M", {16}}}, measure, &times);
  ASSERT_OK(bound);
  ASSERT_EQ(times.size(), 2u);
  EXPECT_EQ((*bound)->version(), times[1].ms < times[0].ms ? 1u : 0u);
  auto other = kernel->bindFastest({{"M", {17}}}, measure);
  ASSERT_OK(other);
  EXPECT_EQ((*other)->version(), 2u);
  // The compiler's choice is not asked for more.
  auto first = kernel->bind({{"M", {16}}});
  ASSERT_OK(first);
  EXPECT_EQ((*first)->version(), 0u);
  for (BoundKernel *one : {bound->get(), other->get(), first->get()}) {
    for (const char *name : {"a", "b"})
      for (int64_t i = 0; i < one->shard(name).elements(); ++i)
        storeElement(ElementType::bf16, one->data(name), size_t(i), 1);
    ASSERT_OK(one->launch({}));
    for (int64_t i = 0; i < one->shard("c").elements(); ++i)
      ASSERT_EQ(loadElement(ElementType::bf16, one->data("c"), size_t(i)), 24) << i;
  }
  // What the cost model lists is for GPUs.
  options.variants.clear();
  options.candidates = 3;
  options.bind.push_back({"M", {16}});
  auto alone = compile();
  ASSERT_OK(alone);
  EXPECT_EQ(alone->numVersions(), 1u);
  options.target = "sm_90a";
  options.grid = 0;
  auto several = compile();
  ASSERT_OK(several);
  EXPECT_EQ(several->numVersions(), 3u);
  options.candidates = 9;
  EXPECT_ERROR(compile().status(), InvalidArgument, "--candidates=9: a package has at most 8");
}

TEST_F(JitTest, VersionsAreKeptAndChosen) {
  options.grid = 2;
  options.bind = {{"N", {40}}, {"K", {24}}};
  options.variants = "M=16+TM=16+TN=16,M=64+TM=32+TN=32";
  auto first = compile();
  ASSERT_OK(first);
  EXPECT_FALSE(report.cached);
  auto package = compile();
  ASSERT_OK(package);
  EXPECT_TRUE(report.cached);
  EXPECT_EQ(package->digest(), first->digest());
  EXPECT_EQ(package->numVersions(), 2u);
  options.variants = "M=16+TM=16+TN=16,M=65+TM=32+TN=32";
  ASSERT_OK(compile());
  EXPECT_FALSE(report.cached);

  ASSERT_NO_FATAL_FAILURE(load(*package));
  std::vector<std::unique_ptr<BoundKernel>> bound;
  for (int64_t m : {16, 17, 300, 3}) {
    auto one = kernel->bind({{"M", {m}}, {"N", {40}}, {"K", {24}}});
    ASSERT_OK(one);
    EXPECT_EQ((*one)->version(), m > 16 ? 1u : 0u) << m;
    bound.push_back(std::move(*one));
  }
  // Rows of ones: each element is the number of terms.
  for (int round = 0; round < 2; ++round)
    for (auto &one : bound) {
      for (const char *name : {"a", "b"})
        for (int64_t i = 0; i < one->shard(name).elements(); ++i)
          storeElement(ElementType::bf16, one->data(name), size_t(i), 1);
      ASSERT_OK(one->fill(one->index("c"), std::byte(0xff)));
      ASSERT_OK(one->launch({}));
      for (int64_t i = 0; i < one->shard("c").elements(); ++i)
        ASSERT_EQ(loadElement(ElementType::bf16, one->data("c"), size_t(i)), 24) << i;
    }
  options.variants = "Q=1";
  EXPECT_ERROR(compile().status(), InvalidArgument, "no dimension and no parameter 'Q'");
}

/// In a process of its own: whether compilations with hardly any memory fail, and say
/// why, and one with memory succeeds behind them.
static bool compilesAfterNoMemory(const jit::Source &source, const jit::Options &options) {
  if (!jit::compile(source, options))
    return false;
  unsigned failed = 0;
  for (rlim_t more : {16 << 20, 4 << 20, 1 << 20, 0}) {
    malloc_trim(0);
    rlim_t pages = 0;
    std::ifstream("/proc/self/statm") >> pages;
    rlimit before, little;
    getrlimit(RLIMIT_AS, &before);
    little = {pages * static_cast<rlim_t>(sysconf(_SC_PAGESIZE)) + more, before.rlim_max};
    setrlimit(RLIMIT_AS, &little);
    auto package = jit::compile(source, options);
    setrlimit(RLIMIT_AS, &before);
    if (package)
      continue;
    ++failed;
    // Whoever it was that had none: the compiler, the linker or its thread.
    std::string said(package.status().message());
    if (said.find("no memory left") == std::string::npos &&
        said.find("raise the limit of memory") == std::string::npos &&
        said.find("Cannot allocate memory") == std::string::npos) {
      std::fprintf(stderr, "%s\n", package.status().message().c_str());
      return false;
    }
  }
  return failed > 0 && jit::compile(source, options);
}

TEST_F(JitTest, WithoutMemoryTheCallFailsAndTheProcessGoesOn) {
  options.cache = DiskCache("");
  pid_t child = fork();
  if (child == 0)
    _exit(compilesAfterNoMemory(source, options) ? 0 : 1);
  int status = 0;
  ASSERT_EQ(waitpid(child, &status, 0), child);
  ASSERT_TRUE(WIFEXITED(status)) << "signal " << WTERMSIG(status);
  EXPECT_EQ(WEXITSTATUS(status), 0);
}

TEST_F(JitTest, SizesThatTakeTooMuchMemoryAreAnError) {
  auto package = compile();
  ASSERT_OK(package);
  load(*package);
  EXPECT_ERROR(kernel->bind({{"M", {int64_t(1) << 40}}, {"N", {1}}, {"K", {16}}}).status(),
               ResourceExhausted,
               "kernel 'gemm_nt': argument 'a' of 1099511627776 x 16 elements takes 35184372088832 "
               "bytes on rank 0, and there is no memory for that: give smaller sizes, or raise the "
               "limit of memory (ulimit -v)");
  EXPECT_OK(kernel->bind({{"M", {8}}, {"N", {8}}, {"K", {16}}}));
}

TEST_F(JitTest, BracketsThatNestWithoutEndAreAnError) {
  source.text = std::string(100000, '{');
  auto package = compile();
  EXPECT_FALSE(package);
  EXPECT_NE(package.status().message().find("nest more than 1000 deep"),
            std::string::npos);
}

TEST_F(JitTest, ACacheThatCannotBeWrittenIsNoFailure) {
  QuietLog quiet;
  std::ofstream(folder.string()) << "a file, not a folder";
  ASSERT_OK(compile());
  EXPECT_NE(report.cacheProblem, "");
  options.cache = DiskCache("");
  ASSERT_OK(compile());
  EXPECT_FALSE(report.cached);
  EXPECT_EQ(report.cacheProblem, "");
}

} // namespace
