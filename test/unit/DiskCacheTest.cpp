//===- DiskCacheTest.cpp --------------------------------------------------===//

#include "mkernel/Runtime/DiskCache.h"

#include "Support.h"

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

namespace mk::rt::test {
namespace {

namespace fs = std::filesystem;

std::vector<std::byte> bytesOf(std::string_view text) {
  auto *p = reinterpret_cast<const std::byte *>(text.data());
  return {p, p + text.size()};
}

struct DiskCacheTest : ::testing::Test {
  fs::path root = fs::temp_directory_path() /
                  str("mk-cache-", toHex(sha256(randomBytes(8))).substr(0, 16));
  // Two levels that do not exist yet.
  DiskCache cache{root / "a" / "b"};
  Digest key = DiskCache::key({"ptx", "driver 13000"});
  QuietLog quiet;
  ~DiskCacheTest() override { fs::remove_all(root); }
};

TEST_F(DiskCacheTest, WhatIsPutIsGot) {
  EXPECT_FALSE(cache.get("cubin", key));
  ASSERT_OK(cache.put("cubin", key, bytesOf("code")));
  EXPECT_EQ(cache.get("cubin", key), bytesOf("code"));
  EXPECT_FALSE(cache.get("package", key));
  EXPECT_FALSE(cache.get("cubin", DiskCache::key({"other"})));
  ASSERT_OK(cache.put("cubin", key, bytesOf("newer")));
  EXPECT_EQ(cache.get("cubin", key), bytesOf("newer"));
  ASSERT_OK(cache.put("cubin", key, {}));
  EXPECT_EQ(cache.get("cubin", key), bytesOf(""));
  struct stat info;
  ASSERT_EQ(stat(cache.path("cubin", key).c_str(), &info), 0);
  EXPECT_EQ(info.st_mode & 0777, 0600u);
}

TEST_F(DiskCacheTest, PartsOfAKeyDoNotRunTogether) {
  EXPECT_NE(DiskCache::key({"a", "bc"}), DiskCache::key({"ab", "c"}));
  EXPECT_NE(DiskCache::key({"a"}), DiskCache::key({"a", ""}));
}

TEST_F(DiskCacheTest, DamageIsFoundAndRemoved) {
  std::string file = cache.path("cubin", key);
  auto whole = [&] {
    EXPECT_OK(cache.put("cubin", key, bytesOf("some code")));
    return fs::file_size(file);
  };
  for (uintmax_t at = 0, n = whole(); at < n; at += 3) {
    whole();
    std::fstream out(file, std::ios::in | std::ios::out | std::ios::binary);
    out.seekg(at);
    char c = static_cast<char>(out.get() ^ 0x40);
    out.seekp(at);
    out.put(c);
    out.close();
    EXPECT_FALSE(cache.get("cubin", key)) << at;
    EXPECT_FALSE(fs::exists(file)) << at;
  }
  for (uintmax_t n = whole(); n-- > 0;) {
    whole();
    fs::resize_file(file, n);
    EXPECT_FALSE(cache.get("cubin", key)) << n;
  }
  // Another entry under this name.
  Digest other = DiskCache::key({"other"});
  ASSERT_OK(cache.put("cubin", other, bytesOf("other code")));
  fs::rename(cache.path("cubin", other), file);
  EXPECT_FALSE(cache.get("cubin", key));
}

TEST_F(DiskCacheTest, WhatOthersMayWriteIsNotRead) {
  ASSERT_OK(cache.put("cubin", key, bytesOf("code")));
  chmod(cache.path("cubin", key).c_str(), 0622);
  EXPECT_FALSE(cache.get("cubin", key));
  chmod(cache.path("cubin", key).c_str(), 0600);
  fs::rename(cache.path("cubin", key), root / "elsewhere");
  fs::create_symlink(root / "elsewhere", cache.path("cubin", key));
  EXPECT_FALSE(cache.get("cubin", key));
}

TEST_F(DiskCacheTest, ManyProcessesAtOnce) {
  // Each sees nothing or a whole entry, whoever wrote it.
  std::vector<pid_t> children;
  for (int child = 0; child < 6; ++child) {
    pid_t pid = fork();
    ASSERT_GE(pid, 0);
    if (pid == 0) {
      bool good = true;
      for (int i = 0; i < 60; ++i) {
        std::string text(20000 + child, static_cast<char>('a' + child));
        good &= cache.put("cubin", key, bytesOf(text)).isOk();
        if (auto got = cache.get("cubin", key)) {
          char c = static_cast<char>((*got)[0]);
          good &= *got == bytesOf(std::string(20000 + (c - 'a'), c));
        }
      }
      _exit(good ? 0 : 1);
    }
    children.push_back(pid);
  }
  for (pid_t pid : children) {
    int status = 0;
    ASSERT_EQ(waitpid(pid, &status, 0), pid);
    EXPECT_EQ(status, 0);
  }
  ASSERT_TRUE(cache.get("cubin", key));
  EXPECT_EQ(std::distance(fs::directory_iterator(cache.directory()), {}), 1);
}

TEST_F(DiskCacheTest, TheLeastRecentlyUsedGoes) {
  DiskCache small(root / "small", 3000);
  auto named = [](int i) { return DiskCache::key({str(i)}); };
  auto age = [&](int i, int seconds) {
    fs::last_write_time(small.path("x", named(i)),
                        fs::file_time_type::clock::now() -
                            std::chrono::seconds(seconds));
  };
  std::vector<std::byte> kilobyte(1000);
  ASSERT_OK(small.put("x", named(0), kilobyte));
  ASSERT_OK(small.put("x", named(1), kilobyte));
  age(0, 100), age(1, 50);
  std::ofstream(root / "small" / "somebody-elses") << std::string(5000, 'x');
  EXPECT_TRUE(small.get("x", named(0))); // now younger than 1
  ASSERT_OK(small.put("x", named(2), kilobyte));
  EXPECT_FALSE(small.get("x", named(1)));
  EXPECT_TRUE(small.get("x", named(0)));
  EXPECT_TRUE(small.get("x", named(2)));
  EXPECT_TRUE(fs::exists(root / "small" / "somebody-elses"));
  // Larger than all: kept, alone.
  ASSERT_OK(small.put("x", named(3), std::vector<std::byte>(9000)));
  EXPECT_TRUE(small.get("x", named(3)));
  EXPECT_FALSE(small.get("x", named(0)));
}

TEST_F(DiskCacheTest, TheEnvironmentNamesTheFolder) {
  setenv("MK_CACHE_DIR", "/somewhere", 1);
  EXPECT_EQ(DiskCache::standard().directory(), "/somewhere");
  setenv("MK_CACHE_DIR", "off", 1);
  DiskCache off = DiskCache::standard();
  EXPECT_FALSE(off.enabled());
  EXPECT_OK(off.put("cubin", key, bytesOf("code")));
  EXPECT_FALSE(off.get("cubin", key));
  unsetenv("MK_CACHE_DIR");
  setenv("XDG_CACHE_HOME", "/xdg", 1);
  EXPECT_EQ(DiskCache::standard().directory(), "/xdg/mkernel");
  setenv("XDG_CACHE_HOME", "relative", 1);
  setenv("HOME", "/nowhere", 1);
  EXPECT_EQ(DiskCache::standard().directory(), "/nowhere/.cache/mkernel");
  unsetenv("XDG_CACHE_HOME");
}

TEST_F(DiskCacheTest, AFolderThatCannotBeIsNamed) {
  std::ofstream(fs::temp_directory_path() / "mk-cache-file") << "x";
  DiskCache bad(fs::temp_directory_path() / "mk-cache-file" / "sub");
  EXPECT_ERROR(bad.put("cubin", key, bytesOf("code")), Unavailable,
               "cannot create the cache folder");
  EXPECT_FALSE(bad.get("cubin", key));
  fs::remove(fs::temp_directory_path() / "mk-cache-file");
}

} // namespace
} // namespace mk::rt::test
