//===- History.h - What was written lately, and who has to see it -*- C++
//-*-===//
//
// A write takes effect at once, and what it overwrote is kept. Who reads later
// may be given the older bytes, as long as nothing obliges the reader to see
// the write. What obliges is a view: for each CTA a time, up to which its
// writes are seen.
//
//===----------------------------------------------------------------------===//
#ifndef MKERNEL_TEST_PTX_HISTORY_H
#define MKERNEL_TEST_PTX_HISTORY_H

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstring>
#include <functional>
#include <random>
#include <unordered_map>
#include <vector>

namespace mk::ptx {

inline constexpr int kMaxCtas = 96; // of all ranks

/// For each CTA a time. Those behind the last CTA that has one are not there: most tests
/// have a few CTAs, and clocks are copied and joined with nearly each instruction.
class Clock {
public:
  Clock() = default;
  Clock(const Clock &other) { *this = other; }
  Clock &operator=(const Clock &other) {
    used_ = other.used_;
    std::copy_n(other.times_.begin(), used_, times_.begin());
    return *this;
  }
  uint64_t operator[](size_t cta) const { return cta < used_ ? times_[cta] : 0; }
  void set(size_t cta, uint64_t time) {
    grow(cta + 1);
    times_[cta] = time;
  }
  void join(const Clock &other) {
    grow(other.used_);
    for (size_t i = 0; i < other.used_; ++i)
      times_[i] = std::max(times_[i], other.times_[i]);
  }

private:
  void grow(size_t used) {
    for (; used_ < used; ++used_)
      times_[used_] = 0;
  }

  size_t used_ = 0;
  std::array<uint64_t, kMaxCtas> times_;
};

/// What a warp, a barrier or a message knows.
struct View {
  Clock generic, async; // of global memory, through either proxy
  uint64_t shared = 0; // generic writes to shared memory the async proxy sees
  void join(const View &other) {
    generic.join(other.generic);
    async.join(other.async);
    shared = std::max(shared, other.shared);
  }
};

/// Who writes, and how.
struct Writer {
  uint64_t time = 0;
  uint16_t cta = 0;
  bool async = false;
};

class Random {
public:
  explicit Random(uint64_t seed) : engine_(seed * 2654435761u + 1) {}
  /// 0 to below `n`.
  uint32_t below(uint32_t n) { return uint32_t(uint64_t(engine_()) * n >> 32); }
  bool chance(uint32_t percent) { return below(100) < percent; }

private:
  std::mt19937 engine_;
};

/// The latest writes to memory that begins at an address of this process.
class History {
public:
  static constexpr uint64_t kSector = 32; // bytes

  /// Writes.
  void write(uint8_t *to, const void *from, size_t bytes, Writer writer);
  /// Reads; `mustSee(Writer)` says what has to be seen. Not all else need be
  /// old: `random` chooses.
  template <typename Fn>
  void read(const uint8_t *from, void *to, size_t bytes, Random &random,
            Fn mustSee) {
    std::memcpy(to, from, bytes);
    if (sectors_.empty())
      return;
    uint64_t begin = reinterpret_cast<uint64_t>(from), end = begin + bytes;
    for (uint64_t s = begin / kSector; s * kSector < end; ++s) {
      auto it = sectors_.find(s);
      if (it == sectors_.end())
        continue;
      const std::vector<Entry> &entries = it->second;
      size_t may = 0;
      while (may < entries.size() &&
             !mustSee(entries[entries.size() - 1 - may].writer))
        ++may;
      if (may == 0)
        continue;
      size_t undo = random.chance(50) ? may : random.below(uint32_t(may) + 1);
      for (size_t i = 0; i < undo; ++i)
        undoOne(entries[entries.size() - 1 - i], s, begin, end,
                static_cast<uint8_t *>(to));
    }
  }
  void clear() { sectors_.clear(); }
  /// What a test wants to know.
  std::function<void(const uint8_t *to, size_t bytes, const Writer &)> onWrite;

private:
  struct Entry {
    Writer writer;
    uint32_t bytes = 0; // which of the sector
    uint8_t old[kSector];
  };
  static constexpr size_t kDepth = 6; // older writes are seen

  static void undoOne(const Entry &entry, uint64_t sector, uint64_t begin,
                      uint64_t end, uint8_t *to) {
    for (uint64_t b = 0; b < kSector; ++b) {
      uint64_t at = sector * kSector + b;
      if ((entry.bytes >> b & 1) && at >= begin && at < end)
        to[at - begin] = entry.old[b];
    }
  }

  std::unordered_map<uint64_t, std::vector<Entry>> sectors_;
};

} // namespace mk::ptx

#endif // MKERNEL_TEST_PTX_HISTORY_H
