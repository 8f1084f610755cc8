//===- FirstFit.h - Gaps between what is taken ------------------*- C++ -*-===//
#ifndef MKERNEL_RUNTIME_MEMORY_FIRSTFIT_H
#define MKERNEL_RUNTIME_MEMORY_FIRSTFIT_H

#include <algorithm>
#include <cstdint>

namespace mk::rt {

struct Gap {
  uint64_t begin;   // of the first gap that is large enough, else of what is free at the end
  uint64_t largest; // of those before `begin`, and of that
};

/// Looks for `want` units in [begin, end) from the start, which all ranks do alike. It fits if
/// `want` is at most `largest`. `taken`: a map from where something begins; `sizeOf` gives its
/// size.
template <typename Map, typename SizeOf>
Gap findGap(const Map &taken, uint64_t begin, uint64_t end, uint64_t want, SizeOf sizeOf) {
  uint64_t largest = 0;
  for (const auto &[at, what] : taken) {
    largest = std::max<uint64_t>(largest, at - begin);
    if (at - begin >= want)
      break;
    begin = at + sizeOf(what);
  }
  return {begin, std::max(largest, end - begin)};
}

} // namespace mk::rt

#endif // MKERNEL_RUNTIME_MEMORY_FIRSTFIT_H
