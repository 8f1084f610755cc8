//===- TimelineTest.cpp - What CTAs did, and when -------------------------===//

#include "Support.h"
#include "Timeline.h"
#include "device/cuda/Timeline.h"
#include "mkernel/ABI/Gpu.h"
#include "mkernel/Runtime/Timeline.h"

#include <cstring>

namespace mk::rt::test {
namespace {

TEST(Timeline, IsWhatWasEncoded) {
  Timeline timeline;
  timeline.uncertainty = 7;
  for (uint32_t cta = 0; cta < 2; ++cta) {
    Timeline::Track &track = timeline.tracks.emplace_back();
    track.cta = cta, track.part = 1, track.sm = 9, track.dropped = 3;
    track.begin = 5, track.end = 50;
    track.records.resize(cta * 2);
    for (Timeline::Record &record : track.records)
      record = {10, 20, -1, 4, 2, -1, MK_TIMELINE_ITEM};
  }
  std::string bytes = encode(timeline);
  auto read = decodeTimeline(bytes);
  ASSERT_OK(read);
  EXPECT_EQ(read->uncertainty, 7);
  ASSERT_EQ(read->tracks.size(), 2u);
  EXPECT_EQ(read->tracks[1].cta, 1u);
  EXPECT_EQ(read->tracks[1].sm, 9u);
  EXPECT_EQ(read->tracks[1].dropped, 3u);
  EXPECT_EQ(read->tracks[1].end, 50);
  ASSERT_EQ(read->tracks[1].records.size(), 2u);
  EXPECT_EQ(read->tracks[1].records[1].value, -1);
  EXPECT_EQ(read->tracks[1].records[1].role, 2);
  for (size_t cut : {size_t(1), size_t(12), bytes.size() - 1})
    EXPECT_ERROR(decodeTimeline(std::string_view(bytes).substr(0, cut)).status(), Internal,
                 "cut off");
}

// A track as a kernel leaves it: times have their lower halves only.
TEST(Timeline, ReadsTracksOfGpus) {
  Metadata metadata;
  metadata.grid = 2;
  metadata.timeline.emplace();
  metadata.timeline->records = 3;
  metadata.timeline->tracks = 2;
  size_t size = MK_TIMELINE_TRACK_BYTES(3);
  std::vector<std::byte> bytes(4 * size);
  // The second track of the second CTA.
  std::byte *at = bytes.data() + 3 * size;
  mk_timeline_track head{};
  head.begin = 0x5fffffff0;
  head.end = 0x600000100;
  head.count = 5;
  head.sm = 77;
  std::memcpy(at, &head, sizeof(head));
  mk_timeline_record records[] = {
      {MK_TIMELINE_WHAT(MK_TIMELINE_WAIT + int(MK_WAIT_SIGNAL), 1, 2, 300), 42, 0xfffffff2, 0xfffffffe},
      {MK_TIMELINE_WHAT(MK_TIMELINE_ITEM, 1, 255, 8191), 6, 0xfffffff1, 0x10},
      {MK_TIMELINE_WHAT(MK_TIMELINE_ROLE, 63, 255, 0), 0, 0xfffffff0, 0x20}};
  std::memcpy(at + sizeof(head), records, sizeof(records));
  std::vector<Timeline::Track> tracks = cuda::readTracks(metadata, bytes);
  ASSERT_EQ(tracks.size(), 1u);
  const Timeline::Track &track = tracks[0];
  EXPECT_EQ(track.cta, 1u);
  EXPECT_EQ(track.part, 1u);
  EXPECT_EQ(track.sm, 77u);
  EXPECT_EQ(track.dropped, 2u);
  ASSERT_EQ(track.records.size(), 3u);
  const Timeline::Record &wait = track.records[0], &item = track.records[1],
                         &role = track.records[2];
  EXPECT_EQ(wait.kind, MK_TIMELINE_WAIT + int(MK_WAIT_SIGNAL));
  EXPECT_EQ(wait.role, 1);
  EXPECT_EQ(wait.object, 2);
  EXPECT_EQ(wait.site, 300);
  EXPECT_EQ(wait.value, 42);
  EXPECT_EQ(wait.begin, 0x5fffffff2);
  EXPECT_EQ(wait.end, 0x5fffffffe);
  EXPECT_EQ(item.object, -1);
  EXPECT_EQ(item.site, -1);
  EXPECT_EQ(item.begin, 0x5fffffff1);
  EXPECT_EQ(item.end, 0x600000010);
  EXPECT_EQ(role.role, -1);
  EXPECT_EQ(role.end, 0x600000020);
}

// The producer waits for item 1 while the consumer is in item 0, and then in item 1.
TEST(Timeline, ConsumersWaitForTheirProducers) {
  auto make = [](int kind, int64_t begin, int64_t end, int64_t value) {
    return Timeline::Record{begin, end, value, 3, 0, 0, kind};
  };
  constexpr int wait = MK_TIMELINE_WAIT + int(MK_WAIT_SIGNAL);
  Timeline timeline;
  timeline.tracks.resize(3);
  timeline.tracks[0].records = {make(MK_TIMELINE_ITEM, 0, 10, 0), make(wait, 12, 40, 5),
                                make(MK_TIMELINE_ITEM, 11, 50, 1)};
  timeline.tracks[1].part = 1;
  timeline.tracks[1].records = {make(MK_TIMELINE_ITEM, 5, 30, 0),
                                make(MK_TIMELINE_ITEM, 31, 60, 1),
                                make(MK_TIMELINE_ROLE, 0, 61, 0)};
  timeline.tracks[2] = timeline.tracks[1];
  timeline.tracks[2].cta = 1; // has another producer
  mk::run::addConsumerWaits(timeline);
  ASSERT_EQ(timeline.tracks[1].records.size(), 4u);
  const Timeline::Record &added = timeline.tracks[1].records[3];
  EXPECT_EQ(added.kind, MK_TIMELINE_WAIT + int(MK_WAIT_RING));
  EXPECT_EQ(added.begin, 31);
  EXPECT_EQ(added.end, 40);
  EXPECT_EQ(timeline.tracks[2].records.size(), 3u);
}

} // namespace
} // namespace mk::rt::test
