//===- DiskCache.cpp - Compiled things kept between runs ------------------===//

#include "mkernel/Runtime/DiskCache.h"

#include "core/Socket.h"
#include "mkernel/Runtime/Env.h"
#include "mkernel/Runtime/Log.h"

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <dirent.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

using namespace mk::rt;

namespace {

/// In front of the contents of every entry.
struct Header {
  char magic[8];
  uint8_t key[32];
  uint8_t digest[32]; // of the contents
  uint64_t bytes;     // of the contents
};
constexpr char kMagic[8] = {'M', 'K', 'C', 'A', 'C', 'H', 'E', '1'};
constexpr std::string_view kTemporary = ".tmp-";
// Left behind by a process that was killed while it wrote.
constexpr time_t kStaleSeconds = 3600;

/// mkdir -p; folders that it makes are their owner's alone.
Status makeDirectories(const std::string &path) {
  for (size_t at = 1; at != std::string::npos;) {
    at = path.find('/', at);
    std::string prefix = path.substr(0, at);
    if (mkdir(prefix.c_str(), 0700) != 0 && errno != EEXIST)
      return errnoError(StatusCode::Unavailable,
                        str("cannot create the cache folder '", prefix,
                            "' (MK_CACHE_DIR names another)"),
                        errno);
    if (at != std::string::npos)
      ++at;
  }
  return Status::success();
}

bool readAll(int fd, void *data, size_t bytes) {
  auto *p = static_cast<char *>(data);
  while (bytes) {
    ssize_t n = read(fd, p, bytes);
    if (n < 0 && errno == EINTR)
      continue;
    if (n <= 0)
      return false;
    p += n;
    bytes -= n;
  }
  return true;
}

bool writeAll(int fd, const void *data, size_t bytes) {
  auto *p = static_cast<const char *>(data);
  while (bytes) {
    ssize_t n = write(fd, p, bytes);
    if (n < 0 && errno == EINTR)
      continue;
    if (n < 0)
      return false;
    p += n;
    bytes -= n;
  }
  return true;
}

/// The contents when the open file is a sound entry for `key`.
std::optional<std::vector<std::byte>> readEntry(int fd, const struct stat &info,
                                                const Digest &key) {
  Header header;
  if (info.st_size < off_t(sizeof(header)) ||
      !readAll(fd, &header, sizeof(header)) ||
      std::memcmp(header.magic, kMagic, sizeof(kMagic)) != 0 ||
      std::memcmp(header.key, key.data(), key.size()) != 0 ||
      header.bytes != uint64_t(info.st_size) - sizeof(header))
    return std::nullopt;
  std::vector<std::byte> bytes(header.bytes);
  if (!readAll(fd, bytes.data(), bytes.size()))
    return std::nullopt;
  Digest digest = sha256(std::span<const std::byte>(bytes));
  if (std::memcmp(header.digest, digest.data(), digest.size()) != 0)
    return std::nullopt;
  return bytes;
}

} // namespace

DiskCache DiskCache::standard() {
  env::warnOnce();
  uint64_t bytes =
      env::getBytes("MK_CACHE_BYTES", kDefaultLimit).valueOr(kDefaultLimit);
  if (auto directory = env::get("MK_CACHE_DIR"))
    return DiskCache(*directory == "off" ? "" : *directory, bytes);
  const char *xdg = ::getenv("XDG_CACHE_HOME"), *home = ::getenv("HOME");
  // A relative XDG_CACHE_HOME is invalid by its specification.
  if (xdg && xdg[0] == '/')
    return DiskCache(str(xdg, "/mkernel"), bytes);
  if (home && home[0] == '/')
    return DiskCache(str(home, "/.cache/mkernel"), bytes);
  return DiskCache("", bytes);
}

Digest DiskCache::key(std::initializer_list<std::string_view> parts) {
  std::string text;
  for (std::string_view part : parts)
    text += str(part.size(), ":", std::string(part));
  return sha256(text);
}

std::string DiskCache::path(std::string_view kind, const Digest &key) const {
  return str(directory_, "/", std::string(kind), "-", toHex(key));
}

std::optional<std::vector<std::byte>>
DiskCache::get(std::string_view kind, const Digest &key) const {
  if (!enabled())
    return std::nullopt;
  std::string file = path(kind, key);
  Fd fd(open(file.c_str(), O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK));
  struct stat info;
  if (!fd || fstat(fd.get(), &info) != 0)
    return std::nullopt;
  if (!S_ISREG(info.st_mode) || info.st_uid != geteuid() ||
      (info.st_mode & (S_IWGRP | S_IWOTH))) {
    log::warn("cache entry '", file,
              "' is not used: it is not a file that only this user may write");
    return std::nullopt;
  }
  auto bytes = readEntry(fd.get(), info, key);
  if (!bytes) {
    log::info("cache entry '", file, "' is damaged and is made anew");
    unlink(file.c_str());
    return std::nullopt;
  }
  // Its time says when it was last of use; see trim().
  futimens(fd.get(), nullptr);
  return bytes;
}

Status DiskCache::put(std::string_view kind, const Digest &key,
                      std::span<const std::byte> bytes) const {
  if (!enabled())
    return Status::success();
  MK_TRY(makeDirectories(directory_));
  std::string random = randomBytes(8);
  std::string temporary =
      str(directory_, "/", std::string(kTemporary), int64_t(getpid()), "-",
          toHex({reinterpret_cast<const uint8_t *>(random.data()), 8}));
  std::string file = path(kind, key);
  Fd fd(open(temporary.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600));
  if (!fd)
    return errnoError(StatusCode::Unavailable,
                      str("cannot create '", temporary, "'"), errno);
  Header header = {};
  std::memcpy(header.magic, kMagic, sizeof(kMagic));
  std::memcpy(header.key, key.data(), key.size());
  Digest digest = sha256(bytes);
  std::memcpy(header.digest, digest.data(), digest.size());
  header.bytes = bytes.size();
  // Not synced to the disk: what a crash of the machine leaves is found out by
  // its digest.
  int err = 0;
  if (!writeAll(fd.get(), &header, sizeof(header)) ||
      !writeAll(fd.get(), bytes.data(), bytes.size()) ||
      close(fd.release()) != 0 || rename(temporary.c_str(), file.c_str()) != 0)
    err = errno;
  if (err) {
    unlink(temporary.c_str());
    return errnoError(StatusCode::Unavailable, str("cannot write '", file, "'"),
                      err);
  }
  trim(file.substr(directory_.size() + 1));
  return Status::success();
}

void DiskCache::trim(const std::string &keep) const {
  struct Entry {
    std::string name;
    uint64_t bytes;
    int64_t usedNs;
  };
  std::vector<Entry> entries;
  uint64_t total = 0;
  DIR *dir = opendir(directory_.c_str());
  if (!dir)
    return;
  while (dirent *entry = readdir(dir)) {
    std::string name = entry->d_name;
    struct stat info;
    if (fstatat(dirfd(dir), name.c_str(), &info, AT_SYMLINK_NOFOLLOW) != 0 ||
        !S_ISREG(info.st_mode))
      continue;
    if (name.starts_with(kTemporary)) {
      if (time(nullptr) - info.st_mtim.tv_sec > kStaleSeconds)
        unlinkat(dirfd(dir), name.c_str(), 0);
      continue;
    }
    // Nothing but what path() makes: the folder may be shared with others.
    size_t dash = name.find('-');
    if (dash == std::string::npos || name.size() - dash - 1 != 64 ||
        name.find_first_not_of("0123456789abcdef", dash + 1) !=
            std::string::npos)
      continue;
    total += info.st_size;
    if (name == keep)
      continue;
    entries.push_back(
        {name, uint64_t(info.st_size),
         info.st_mtim.tv_sec * 1'000'000'000LL + info.st_mtim.tv_nsec});
  }
  std::sort(entries.begin(), entries.end(),
            [](const Entry &a, const Entry &b) { return a.usedNs < b.usedNs; });
  for (size_t i = 0; i < entries.size() && total > limit_; ++i) {
    unlinkat(dirfd(dir), entries[i].name.c_str(), 0);
    total -= entries[i].bytes;
  }
  closedir(dir);
}
