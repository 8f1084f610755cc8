//===- Timeline.cpp - What the CTAs of a launch did, and when -------------===//

#include "mkernel/Runtime/Timeline.h"

#include <cstring>
#include <type_traits>

using namespace mk::rt;

static_assert(std::is_trivially_copyable_v<Timeline::Record>);

namespace {

/// What a track has besides its records.
struct Head {
  uint64_t records, dropped;
  int64_t begin, end;
  uint32_t cta, part, sm, unused;
};

} // namespace

std::string mk::rt::encode(const Timeline &timeline) {
  std::string bytes;
  auto put = [&](const auto &value) {
    bytes.append(reinterpret_cast<const char *>(&value), sizeof(value));
  };
  put(timeline.uncertainty);
  for (const Timeline::Track &track : timeline.tracks) {
    put(Head{track.records.size(), track.dropped, track.begin, track.end, track.cta,
             track.part, track.sm, 0});
    bytes.append(reinterpret_cast<const char *>(track.records.data()),
                 track.records.size() * sizeof(Timeline::Record));
  }
  return bytes;
}

Result<Timeline> mk::rt::decodeTimeline(std::string_view bytes) {
  Timeline timeline;
  auto get = [&](auto &value) {
    if (bytes.size() < sizeof(value))
      return false;
    std::memcpy(&value, bytes.data(), sizeof(value));
    bytes.remove_prefix(sizeof(value));
    return true;
  };
  Status cut = error(StatusCode::Internal, "a timeline is cut off");
  if (!get(timeline.uncertainty))
    return cut;
  while (!bytes.empty()) {
    Head head;
    if (!get(head) || head.records > bytes.size() / sizeof(Timeline::Record))
      return cut;
    Timeline::Track &track = timeline.tracks.emplace_back();
    track.dropped = head.dropped;
    track.begin = head.begin;
    track.end = head.end;
    track.cta = head.cta;
    track.part = head.part;
    track.sm = head.sm;
    track.records.resize(head.records);
    size_t size = head.records * sizeof(Timeline::Record);
    if (size) // of no records there is no address
      std::memcpy(track.records.data(), bytes.data(), size);
    bytes.remove_prefix(size);
  }
  return timeline;
}
