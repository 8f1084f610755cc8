//===- Timeline.cpp - What a kernel on a GPU records of its time ----------===//

#include "device/cuda/Timeline.h"

#include "device/cuda/Kernels.h"

#include "mkernel/Runtime/Deadline.h"
#include "mkernel/Runtime/Log.h"

#include <algorithm>
#include <atomic>
#include <cstring>

using namespace mk::rt;
using namespace mk::rt::cuda;

//===----------------------------------------------------------------------===//
// Clocks
//===----------------------------------------------------------------------===//

// A thread writes its clock to the host's memory again and again (kernels/clock.ptx), and the host
// looks on: its own clock when it sees a value is ahead by their difference and the time that the
// value took. The least of many takes about as long on each GPU.
Result<ClockOffset> TimelineTracks::compareClocks() {
  constexpr int kRounds = 4;
  const Driver &driver = device_->driver();
  MK_ASSIGN(PinnedMemory shared, PinnedMemory::allocate(device_, 64));
  auto *time = reinterpret_cast<std::atomic<int64_t> *>(shared.host());
  auto *done = time + 1;
  ModuleHandle module = nullptr;
  FunctionHandle function = nullptr;
  MK_TRY(driver.check(
      driver.moduleLoadDataEx(&module, kClockPtx, 0, nullptr, nullptr),
      "cuModuleLoadDataEx of the kernel that compares clocks"));
  auto compare = [&]() -> Result<ClockOffset> {
    MK_TRY(driver.check(driver.moduleGetFunction(&function, module, "mk_clock"),
                        "cuModuleGetFunction of mk_clock"));
    int64_t least = INT64_MAX, most = INT64_MIN;
    for (int round = 0; round < kRounds; ++round) {
      *time = 0, *done = 0;
      struct {
        uint64_t to;
        uint32_t times, unused;
      } args{shared.address(), 2000, 0};
      LaunchConfig config;
      config.grid[0] = config.block[0] = 1;
      void *parameters[] = {&args};
      MK_TRY(driver.check(driver.launchKernelEx(&config, function, parameters, nullptr),
                          "launching the kernel that compares clocks"));
      int64_t offset = INT64_MAX;
      Deadline deadline = Deadline::after(std::chrono::seconds(1));
      for (int64_t last = 0; !done->load(std::memory_order_acquire) && !deadline.passed();) {
        int64_t seen = time->load(std::memory_order_relaxed);
        if (seen == last)
          continue;
        last = seen;
        offset = std::min(offset, steadyNow() - seen);
      }
      MK_TRY(driver.check(driver.streamSynchronize(nullptr), "cuStreamSynchronize"));
      if (offset == INT64_MAX)
        return error(StatusCode::Unavailable, "the GPU's clock was not seen");
      least = std::min(least, offset);
      most = std::max(most, offset);
    }
    // Ways to different GPUs differ by some hundred nanoseconds.
    return ClockOffset{least, most - least + 1000};
  };
  Result<ClockOffset> result = compare();
  driver.moduleUnload(module);
  return result;
}

//===----------------------------------------------------------------------===//
// Tracks
//===----------------------------------------------------------------------===//

uint64_t TimelineTracks::bytes(const Metadata &metadata) const {
  return uint64_t(metadata.grid) * metadata.timeline->tracks *
         MK_TIMELINE_TRACK_BYTES(metadata.timeline->records);
}

Status TimelineTracks::allocate(std::shared_ptr<Gpu> device, const Metadata &metadata) {
  device_ = std::move(device);
  MK_ASSIGN(memory_,
            DeviceMemory::allocate(device_, bytes(metadata),
                                   str("the timeline of kernel '", metadata.kernel, "'")));
  return Status::success();
}

std::vector<Timeline::Track> cuda::readTracks(const Metadata &metadata,
                                              std::span<const std::byte> bytes) {
  const Metadata::TimelineTracks &about = *metadata.timeline;
  auto field = [](uint32_t what, int at, int bits) {
    uint32_t all = (1u << bits) - 1, value = what >> at & all;
    return value == all ? -1 : int32_t(value);
  };
  std::vector<Timeline::Track> tracks;
  size_t size = MK_TIMELINE_TRACK_BYTES(about.records);
  uint32_t movers = metadata.countBeside();
  for (size_t i = 0; i < size_t(metadata.grid) * about.tracks; ++i) {
    const std::byte *at = bytes.data() + i * size;
    mk_timeline_track head;
    std::memcpy(&head, at, sizeof(head));
    uint32_t count = std::min(head.count, about.records);
    if (!count)
      continue;
    Timeline::Track &track = tracks.emplace_back();
    track.cta = uint32_t(i / about.tracks);
    track.part = uint32_t(i % about.tracks);
    track.sm = head.sm;
    track.dropped = head.count - count;
    track.begin = int64_t(head.begin);
    track.end = int64_t(head.end);
    // Upper halves follow from the order of ends.
    int64_t last = track.begin;
    for (uint32_t r = 0; r < count; ++r) {
      mk_timeline_record raw;
      std::memcpy(&raw, at + sizeof(head) + r * sizeof(raw), sizeof(raw));
      Timeline::Record &record = track.records.emplace_back();
      record.kind = raw.what & 31;
      record.role = int16_t(field(raw.what, 5, MK_TIMELINE_ROLE_BITS));
      record.object = int16_t(field(raw.what, 11, MK_TIMELINE_OBJECT_BITS));
      record.site = field(raw.what, 19, MK_TIMELINE_SITE_BITS);
      record.value = raw.value;
      // Teams go through a loop together, and take its items in turn.
      if (record.kind == MK_TIMELINE_ITEM && track.part > 1 &&
          track.part + movers < about.tracks && record.role >= 0 &&
          size_t(record.role) < metadata.roles.size())
        record.value += int64_t(track.part - 1) * metadata.roles[record.role].ctas;
      last += raw.end - uint32_t(last);
      record.end = last;
      record.begin = last - int64_t(raw.end - raw.begin);
    }
  }
  return tracks;
}

Result<Timeline> TimelineTracks::read(const Metadata &metadata, int64_t ended) {
  std::vector<std::byte> bytes(this->bytes(metadata));
  const Driver &driver = device_->driver();
  MK_TRY(driver.check(
      driver.memcpyDtoHAsync(bytes.data(), memory_.address(), bytes.size(), nullptr),
      "copying the timeline from the GPU"));
  MK_TRY(driver.check(driver.streamSynchronize(nullptr), "cuStreamSynchronize"));
  Timeline timeline;
  timeline.tracks = readTracks(metadata, bytes);
  auto offset = compareClocks();
  if (!offset) {
    log::info("timeline: ", offset.status().message(),
              "; it is taken to end when the host sees the end of the launch");
    int64_t last = ended, first = ended;
    for (size_t i = 0; i < timeline.tracks.size(); ++i) {
      last = i ? std::max(last, timeline.tracks[i].end) : timeline.tracks[i].end;
      first = i ? std::min(first, timeline.tracks[i].begin) : timeline.tracks[i].begin;
    }
    offset = ClockOffset{ended - last, last - first};
  }
  timeline.uncertainty = offset->uncertainty;
  for (Timeline::Track &track : timeline.tracks) {
    track.begin += offset->offset;
    track.end += offset->offset;
    for (Timeline::Record &record : track.records) {
      record.begin += offset->offset;
      record.end += offset->offset;
    }
  }
  return timeline;
}
