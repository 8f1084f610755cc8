//===- Timeline.h - What the CTAs of a launch did, and when -----*- C++ -*-===//
//
// A kernel that was compiled with the option `timeline` records it in each launch:
// BoundKernel::timeline() gives that of the last one. Ranks of one machine have one clock, as
// far as `uncertainty` says.
//
//===----------------------------------------------------------------------===//
#ifndef MKERNEL_RUNTIME_TIMELINE_H
#define MKERNEL_RUNTIME_TIMELINE_H

#include "mkernel/ABI/Timeline.h"
#include "mkernel/Runtime/Status.h"

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace mk::rt {

/// One launch on one rank. Times are nanoseconds of the host's steady clock.
struct Timeline {
  struct Record {
    int64_t begin = 0, end = 0;
    int64_t value = 0;   // see mk_timeline_kind
    int32_t site = -1;   // in the metadata; host target: a line of the file, 0: not known
    int16_t role = -1;   // -1: outside of roles
    int16_t object = -1; // number of the signal, queue or ring
    int32_t kind = 0;    // mk_timeline_kind
  };
  /// What one thread went through, in order of ends.
  struct Track {
    uint32_t cta = 0;
    uint32_t part =
        0; // of the CTA: 0 producer, then the consumer, then roles beside others; on the host all
    uint32_t sm = 0;     // of a GPU
    uint64_t dropped = 0; // records that did not fit
    int64_t begin = 0, end = 0;
    std::vector<Record> records;
  };
  std::vector<Track> tracks;
  /// By how much times may be wrong against those of other ranks of the machine.
  int64_t uncertainty = 0;
};

/// For one build of the project: without versions.
std::string encode(const Timeline &timeline);
/// Internal where the bytes are not what encode() gave.
Result<Timeline> decodeTimeline(std::string_view bytes);

} // namespace mk::rt

#endif // MKERNEL_RUNTIME_TIMELINE_H
