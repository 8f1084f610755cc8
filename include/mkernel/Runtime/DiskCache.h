//===- DiskCache.h - Compiled things kept between runs ----------*- C++ -*-===//
//
// A folder of files, each named by the digest of all that its contents depend
// on. Safe for any number of processes and for being killed at any point: an
// entry appears by rename, complete, and carries a digest of its contents, so
// that a damaged one counts as absent. Files of other users, or that others may
// write, are never read: what is kept here is run.
//
// The folder is MK_CACHE_DIR, else $XDG_CACHE_HOME/mkernel, else
// ~/.cache/mkernel; MK_CACHE_DIR=off keeps nothing.
//
//===----------------------------------------------------------------------===//
#ifndef MKERNEL_RUNTIME_DISKCACHE_H
#define MKERNEL_RUNTIME_DISKCACHE_H

#include "mkernel/Runtime/Digest.h"
#include "mkernel/Runtime/Status.h"

#include <initializer_list>
#include <vector>

namespace mk::rt {

class DiskCache {
public:
  /// The folder that the environment names, MK_CACHE_BYTES as limit. Creates
  /// nothing yet. A limit that does not parse is warned about (env::warnOnce) and
  /// the default is taken.
  static DiskCache standard();

  static constexpr uint64_t kDefaultLimit = uint64_t(1) << 30;
  /// `directory` empty: keeps nothing. Above `limit` bytes in all, what was
  /// used least recently goes.
  explicit DiskCache(std::string directory, uint64_t limit = kDefaultLimit)
      : directory_(std::move(directory)), limit_(limit) {}

  bool enabled() const { return !directory_.empty(); }
  const std::string &directory() const { return directory_; }

  /// Digest of a list of parts; ("a", "bc") and ("ab", "c") differ.
  static Digest key(std::initializer_list<std::string_view> parts);

  /// The entry, or nothing when there is none, it is damaged (it is removed
  /// then, and put again by whoever makes it anew), or it cannot be read.
  /// `kind` ("cubin", "package") is part of the name: letters and digits.
  std::optional<std::vector<std::byte>> get(std::string_view kind,
                                            const Digest &key) const;

  /// Keeps `bytes`, in place of an older entry of that key. An error, which
  /// names path and cause, is no reason to stop: the caller has the bytes.
  Status put(std::string_view kind, const Digest &key,
             std::span<const std::byte> bytes) const;

  /// Where that entry lies, for messages and tests.
  std::string path(std::string_view kind, const Digest &key) const;

private:
  /// Removes old entries, but not the one with this name.
  void trim(const std::string &keep) const;

  std::string directory_;
  uint64_t limit_ = kDefaultLimit;
};

} // namespace mk::rt

#endif // MKERNEL_RUNTIME_DISKCACHE_H
