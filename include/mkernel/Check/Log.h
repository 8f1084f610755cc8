//===- Log.h - What the CTAs of a run did -----------------------*- C++ -*-===//
//
// A rank of the host target writes it, `mk-run --check=races` replays those of
// all ranks. Both are of one build: the encoding has no versions.
//
//===----------------------------------------------------------------------===//
#ifndef MKERNEL_CHECK_LOG_H
#define MKERNEL_CHECK_LOG_H

#include "mkernel/Check/Event.h"

#include <string_view>

namespace mk::check {

/// Where an event was. Numbers are those of the package's metadata.
struct Site {
  int32_t role = -1; // -1: mk.prepare
  int32_t loop = -1;
  int32_t line = 0; // of the kernel's file; 0: not known
  std::array<int64_t, 4> item{-1, -1, -1, -1};
  bool operator==(const Site &) const = default;
};

/// One launch of one rank. An event's site is an index into those of its CTA.
struct RankLog {
  struct Cta {
    std::vector<Event> events;
    std::vector<Site> sites;
  };
  std::vector<Cta> ctas;
};

/// Appends a launch.
void encode(const RankLog &log, std::string &bytes);
/// All launches; false when the bytes are not what encode() wrote.
bool decode(std::string_view bytes, std::vector<RankLog> &launches);

} // namespace mk::check

#endif // MKERNEL_CHECK_LOG_H
