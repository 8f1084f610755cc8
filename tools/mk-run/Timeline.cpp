//===- Timeline.cpp - --timeline: names, and the trace of all ranks -------===//

#include "Timeline.h"

#include "mkernel/ABI/Gpu.h"

#include <algorithm>
#include <cerrno>
#include <map>
#include <nlohmann/json.hpp>

using namespace mk::run;
using namespace mk::rt;
using Record = Timeline::Record;
using Track = Timeline::Track;

bool mk::run::isWait(const Record &record) { return record.kind >= MK_TIMELINE_WAIT; }

//===----------------------------------------------------------------------===//
// Names
//===----------------------------------------------------------------------===//

int64_t JobTimeline::begin() const {
  int64_t first = INT64_MAX;
  for (const Timeline &timeline : ranks)
    for (const Track &track : timeline.tracks) {
      first = std::min(first, track.begin);
      for (const Record &record : track.records)
        first = std::min(first, record.begin);
    }
  return first == INT64_MAX ? 0 : first;
}

int64_t JobTimeline::end() const {
  int64_t last = 0;
  for (const Timeline &timeline : ranks)
    for (const Track &track : timeline.tracks)
      for (const Record &record : track.records)
        last = std::max(last, record.end);
  return last;
}

std::string JobTimeline::roleName(const Record &record) const {
  bool known = record.role >= 0 && size_t(record.role) < metadata.roles.size();
  if (known)
    return metadata.roles[record.role].name;
  return record.kind == MK_TIMELINE_WAIT + int(MK_WAIT_DONE) ? "end of the launch" : "mk.prepare";
}

std::string JobTimeline::placeOf(const Record &record) const {
  if (!metadata.gpu)
    return record.site > 0 ? str(file, ":", record.site) : std::string();
  bool known = record.site >= 0 && size_t(record.site) < metadata.sites.size();
  return known ? metadata.sites[record.site].at : std::string();
}

/// "signal 'ready'[3, 0]".
static std::string elementName(const std::string &what, const std::string &name,
                               const std::vector<int64_t> &extents, int64_t element) {
  std::string index;
  for (size_t d = extents.size(); d-- > 0; element /= std::max<int64_t>(extents[d], 1))
    index = str(d ? ", " : "", element % std::max<int64_t>(extents[d], 1), index);
  return str(what, " '", name, "'", extents.empty() ? "" : str("[", index, "]"));
}

std::string JobTimeline::nameOf(const Record &record, uint32_t rank) const {
  auto signal = [&]() -> std::string {
    size_t number = size_t(record.object);
    return record.object >= 0 && number < metadata.signals.size()
               ? elementName("signal", metadata.signals[number].name,
                             plan.plan(rank).signals[number].extents, record.value)
               : "a signal";
  };
  switch (record.kind) {
  case MK_TIMELINE_ROLE:
    return roleName(record);
  case MK_TIMELINE_ITEM:
    return str("item ", record.value);
  case MK_TIMELINE_PLACE: {
    std::string text;
    for (int d = 0; d < 4; ++d) {
      auto at = int16_t(uint64_t(record.value) >> 16 * d);
      if (at >= 0)
        text += str(d ? ", " : "", at);
    }
    return str("item (", text, ")");
  }
  case MK_TIMELINE_PUT:
    return str("put to rank ", record.value);
  case MK_TIMELINE_STORE:
    return str("store at rank ", record.value);
  case MK_TIMELINE_SIGNAL:
    return str("raises ", signal());
  case MK_TIMELINE_WAIT + int(MK_WAIT_SIGNAL):
    return str("waits for ", signal());
  case MK_TIMELINE_WAIT + int(MK_WAIT_QUEUE): {
    size_t number = size_t(record.object);
    return str("waits for entry ", record.value, " of queue",
               number < metadata.queues.size()
                   ? str(" '", metadata.queues[number].name, "'")
                   : "");
  }
  case MK_TIMELINE_WAIT + int(MK_WAIT_RING):
    return "waits for its producer";
  case MK_TIMELINE_WAIT + int(MK_WAIT_READY):
    return str("waits for rank ", record.value, " to begin");
  case MK_TIMELINE_WAIT + int(MK_WAIT_DONE):
    return metadata.gpu ? "waits for all ranks to end"
                        : str("waits for rank ", record.value, " to end");
  case MK_TIMELINE_WAIT + int(MK_WAIT_GRID):
    return "waits for all CTAs to prepare";
  case MK_TIMELINE_WAIT + int(MK_WAIT_COMMAND):
    return "waits for a place among the commands";
  case MK_TIMELINE_WAIT + int(MK_WAIT_PUTS):
    return "waits for its puts to arrive";
  default:
    return "waits";
  }
}

//===----------------------------------------------------------------------===//
// Waits of consumers
//===----------------------------------------------------------------------===//

/// Waits of a producer, by role and number of the item that they are in.
static std::map<std::pair<int, int64_t>, std::vector<Record>> findWaits(const Track &producer) {
  std::map<std::pair<int, int64_t>, std::vector<Record>> waits;
  // An item ends behind its waits.
  std::vector<Record> open;
  for (const Record &record : producer.records)
    if (isWait(record)) {
      open.push_back(record);
    } else if (record.kind == MK_TIMELINE_ITEM) {
      for (const Record &wait : open)
        if (wait.begin >= record.begin)
          waits[{record.role, record.value}].push_back(wait);
      open.clear();
    }
  return waits;
}

void mk::run::addConsumerWaits(Timeline &timeline) {
  for (size_t t = 0; t < timeline.tracks.size(); ++t) {
    if (timeline.tracks[t].part != 0)
      continue;
    auto waits = findWaits(timeline.tracks[t]);
    for (Track &track : timeline.tracks) {
      if (track.cta != timeline.tracks[t].cta || track.part == 0)
        continue;
      std::vector<Record> added;
      for (const Record &item : track.records) {
        auto found = waits.find({item.role, item.value});
        if (item.kind != MK_TIMELINE_ITEM || found == waits.end())
          continue;
        for (Record wait : found->second) {
          wait.begin = std::max(wait.begin, item.begin);
          wait.end = std::min(wait.end, item.end);
          wait.kind = MK_TIMELINE_WAIT + int(MK_WAIT_RING);
          if (wait.begin < wait.end)
            added.push_back(wait);
        }
      }
      track.records.insert(track.records.end(), added.begin(), added.end());
    }
  }
}

//===----------------------------------------------------------------------===//
// The trace
//===----------------------------------------------------------------------===//

namespace {

std::string quote(const std::string &text) {
  return nlohmann::json(text).dump(-1, ' ', false,
                                   nlohmann::json::error_handler_t::replace);
}

/// Events are many: they are written one by one.
class Trace {
public:
  Trace(FILE *file, const JobTimeline &timeline)
      : file_(file), timeline_(timeline), zero_(timeline.begin()) {}

  void write() {
    std::fputs("{\"displayTimeUnit\":\"ns\",\"traceEvents\":[", file_);
    for (uint32_t rank = 0; rank < timeline_.ranks.size(); ++rank) {
      std::string place;
      std::vector<int64_t> coords = timeline_.mesh.coords(rank);
      for (size_t i = 0; i < coords.size(); ++i)
        place += str(i ? ", " : " (", timeline_.mesh.axes()[i].name, " ", coords[i]);
      name("process_name", rank, 0, str("rank ", rank, place, place.empty() ? "" : ")"));
      for (const Track &track : timeline_.ranks[rank].tracks)
        write(rank, track);
    }
    std::fputs("\n]}\n", file_);
  }

private:
  void next() {
    std::fputs(some_ ? ",\n" : "\n", file_);
    some_ = true;
  }
  void name(const char *kind, uint32_t pid, uint64_t tid, const std::string &name) {
    next();
    std::fprintf(file_, "{\"ph\":\"M\",\"pid\":%u,\"tid\":%llu,\"name\":\"%s\",\"args\":{\"name\":%s}}",
                 pid, static_cast<unsigned long long>(tid), kind, quote(name).c_str());
  }
  std::string nameOf(const Track &track) const {
    const Metadata &m = timeline_.metadata;
    if (track.cta >= m.grid)
      return "end of the launch";
    std::string text = str("CTA ", track.cta);
    if (!m.gpu)
      return text;
    text = str("SM ", track.sm, ", ", text);
    if (track.part == 0)
      return text + ", producer";
    if (track.part + m.countBeside() >= m.timeline->tracks)
      return text + ", beside";
    return str(text, ", consumer", track.part == 1 ? "" : str(" ", track.part));
  }
  void write(uint32_t rank, const Track &track) {
    uint64_t tid = uint64_t(track.cta) * timeline_.metadata.timeline->tracks + track.part + 1;
    name("thread_name", rank, tid, nameOf(track));
    next();
    std::fprintf(file_,
                 "{\"ph\":\"M\",\"pid\":%u,\"tid\":%llu,\"name\":\"thread_sort_index\","
                 "\"args\":{\"sort_index\":%llu}}",
                 rank, static_cast<unsigned long long>(tid),
                 static_cast<unsigned long long>(tid));
    // Outer spans first, as viewers want it.
    std::vector<const Record *> records;
    for (const Record &record : track.records)
      records.push_back(&record);
    std::stable_sort(records.begin(), records.end(), [](const Record *a, const Record *b) {
      return a->begin != b->begin ? a->begin < b->begin : a->end > b->end;
    });
    for (const Record *record : records)
      write(rank, tid, *record);
  }
  void write(uint32_t rank, uint64_t tid, const Record &record) {
    next();
    bool instant = record.kind == MK_TIMELINE_SIGNAL;
    const char *category = isWait(record)                      ? "wait"
                           : record.kind == MK_TIMELINE_ROLE   ? "role"
                           : instant                           ? "signal"
                           : record.kind == MK_TIMELINE_PUT ||
                                   record.kind == MK_TIMELINE_STORE
                               ? "put"
                               : "item";
    std::fprintf(file_, "{\"ph\":\"%s\",\"pid\":%u,\"tid\":%llu,\"cat\":\"%s\",\"name\":%s,\"ts\":%.3f",
                 instant ? "i" : "X", rank, static_cast<unsigned long long>(tid), category,
                 quote(timeline_.nameOf(record, rank)).c_str(),
                 double(record.begin - zero_) / 1000);
    if (instant)
      std::fputs(",\"s\":\"t\"", file_);
    else
      std::fprintf(file_, ",\"dur\":%.3f", double(record.end - record.begin) / 1000);
    std::string at = timeline_.placeOf(record);
    std::fprintf(file_, ",\"args\":{\"role\":%s%s}}",
                 quote(timeline_.roleName(record)).c_str(),
                 at.empty() ? "" : str(",\"at\":", quote(at)).c_str());
  }

  FILE *file_;
  const JobTimeline &timeline_;
  int64_t zero_;
  bool some_ = false;
};

} // namespace

Status mk::run::writeTrace(const JobTimeline &timeline, const std::string &path) {
  FILE *file = std::fopen(path.c_str(), "w");
  if (!file)
    return errnoError(StatusCode::NotFound, str("--timeline: writing '", path, "'"), errno);
  Trace(file, timeline).write();
  bool bad = std::ferror(file);
  if (std::fclose(file) != 0 || bad)
    return errnoError(StatusCode::ResourceExhausted,
                      str("--timeline: writing '", path, "'"), errno);
  return Status::success();
}

Status mk::run::writeTimeline(FILE *out, const Report &report, const JobPlan &plan) {
  const std::string &file = report.options.file;
  JobTimeline timeline{report.metadata, report.mesh, plan,
                       file.substr(file.rfind('/') + 1), {}};
  for (uint32_t rank = 0; rank < report.mesh.size(); ++rank) {
    MK_ASSIGN(std::string bytes, report.job.readLog(rank, JobMemory::Log::Times));
    MK_ASSIGN(Timeline one, decodeTimeline(bytes));
    if (report.metadata.gpu)
      addConsumerWaits(one);
    timeline.ranks.push_back(std::move(one));
  }
  MK_TRY(writeTrace(timeline, report.options.timeline));
  printSummary(out, timeline);
  return Status::success();
}
