//===- TimelineSummary.cpp - What a timeline says in a few lines ----------===//
//
// A thread of a CTA is in a role from its beginning to its end. There it waits, or it works: that
// is all other time. On a GPU the consumer's thread stands for the CTA.
//
//===----------------------------------------------------------------------===//

#include "Timeline.h"

#include "mkernel/ABI/Gpu.h"

#include <algorithm>
#include <map>
#include <tuple>

using namespace mk::run;
using namespace mk::rt;
using Record = Timeline::Record;
using Track = Timeline::Track;

namespace {

/// Spans of time without overlap, in order.
class Spans {
public:
  void add(int64_t begin, int64_t end) {
    if (end > begin)
      spans_.push_back({begin, end});
  }
  void add(const Spans &other) {
    spans_.insert(spans_.end(), other.spans_.begin(), other.spans_.end());
  }
  /// Joins what overlaps.
  void join() {
    std::sort(spans_.begin(), spans_.end());
    std::vector<std::pair<int64_t, int64_t>> joined;
    for (auto [begin, end] : spans_)
      if (!joined.empty() && begin <= joined.back().second)
        joined.back().second = std::max(joined.back().second, end);
      else
        joined.push_back({begin, end});
    spans_ = std::move(joined);
  }
  int64_t sum() const {
    int64_t sum = 0;
    for (auto [begin, end] : spans_)
      sum += end - begin;
    return sum;
  }
  /// What is in both; both are joined.
  Spans common(const Spans &other) const {
    Spans result;
    size_t i = 0, j = 0;
    while (i < spans_.size() && j < other.spans_.size()) {
      auto [a, b] = spans_[i];
      auto [c, d] = other.spans_[j];
      result.add(std::max(a, c), std::min(b, d));
      b < d ? ++i : ++j;
    }
    return result;
  }
  /// What is here and not there; both are joined.
  Spans without(const Spans &other) const {
    Spans result;
    size_t j = 0;
    for (auto [begin, end] : spans_) {
      while (j < other.spans_.size() && other.spans_[j].second <= begin)
        ++j;
      for (size_t k = j; k < other.spans_.size() && other.spans_[k].first < end; ++k) {
        result.add(begin, other.spans_[k].first);
        begin = std::max(begin, other.spans_[k].second);
      }
      result.add(begin, end);
    }
    return result;
  }

private:
  std::vector<std::pair<int64_t, int64_t>> spans_;
};

/// A role over all CTAs of a rank.
struct RoleTimes {
  int64_t in = 0;      // all time of CTAs in the role
  int64_t waiting = 0; // of it
  int64_t after = 0;   // from their ends to that of the rank
  int64_t ctas = 0;
  Spans working;       // of any CTA
};

struct LongWait {
  Record record;
  uint32_t rank, cta;
};

class Summary {
public:
  Summary(const JobTimeline &timeline) : timeline_(timeline) {
    for (uint32_t rank = 0; rank < timeline.ranks.size(); ++rank) {
      roles_.emplace_back(timeline.metadata.roles.size());
      int64_t end = 0;
      for (const Track &track : timeline.ranks[rank].tracks)
        end = std::max(end, track.end);
      for (const Track &track : timeline.ranks[rank].tracks)
        read(rank, track, end);
      for (RoleTimes &role : roles_.back())
        role.working.join();
    }
  }

  void print(FILE *out) const {
    std::fprintf(out, "timeline: %.3f ms", double(timeline_.end() - timeline_.begin()) / 1e6);
    int64_t uncertainty = 0;
    for (const Timeline &one : timeline_.ranks)
      uncertainty = std::max(uncertainty, one.uncertainty);
    if (uncertainty && timeline_.ranks.size() > 1)
      std::fprintf(out, "; clocks of ranks agree within %.1f us", double(uncertainty) / 1e3);
    std::fprintf(out, "\n");
    printRoles(out);
    printHidden(out);
    printWaits(out);
    if (dropped_)
      std::fprintf(out,
                   "  %llu records did not fit, and are missing from the file and from this: "
                   "use smaller sizes\n",
                   static_cast<unsigned long long>(dropped_));
  }

private:
  void read(uint32_t rank, const Track &track, int64_t end) {
    dropped_ += track.dropped;
    for (const Record &record : track.records) // those of producers say for what
      if (isWait(record) && record.kind != MK_TIMELINE_WAIT + int(MK_WAIT_RING))
        waits_.push_back({record, rank, track.cta});
    // The producer is ahead.
    if (timeline_.metadata.gpu && track.part == 0)
      return;
    for (const Record &role : track.records) {
      if (role.kind != MK_TIMELINE_ROLE || role.role < 0)
        continue;
      Spans whole, waits;
      whole.add(role.begin, role.end);
      for (const Record &record : track.records)
        if (isWait(record) && record.begin >= role.begin && record.end <= role.end)
          waits.add(record.begin, record.end);
      waits.join();
      RoleTimes &times = roles_[rank][role.role];
      times.in += whole.sum();
      times.waiting += waits.sum();
      times.after += end - role.end;
      ++times.ctas;
      times.working.add(whole.without(waits));
    }
  }

  void printRoles(FILE *out) const {
    for (size_t i = 0; i < timeline_.metadata.roles.size(); ++i) {
      int64_t in = 0, waiting = 0, after = 0, threads = 0;
      for (const auto &roles : roles_) {
        in += roles[i].in;
        waiting += roles[i].waiting;
        after += roles[i].after;
        threads += roles[i].ctas;
      }
      if (!threads)
        continue;
      std::fprintf(out,
                   "  role %s: working %.1f %% and waiting %.1f %% of %.3f ms, over %.3f ms "
                   "before the rank (means of %lld threads)\n",
                   timeline_.metadata.roles[i].name.c_str(),
                   100 * double(in - waiting) / double(std::max<int64_t>(in, 1)),
                   100 * double(waiting) / double(std::max<int64_t>(in, 1)),
                   double(in) / double(threads) / 1e6, double(after) / double(threads) / 1e6,
                   static_cast<long long>(threads));
    }
  }

  // Communication is hidden where a role that multiplies works on the same rank.
  void printHidden(FILE *out) const {
    const Metadata::TimelineTracks &about = *timeline_.metadata.timeline;
    std::string mixed;
    int64_t all = 0, hidden = 0;
    bool computes = false, separate = false;
    for (const auto &roles : roles_) {
      Spans communication, computation;
      for (size_t i = 0; i < roles.size(); ++i) {
        if (about.computes[i])
          computation.add(roles[i].working);
        else if (about.communicates[i])
          communication.add(roles[i].working);
        computes |= about.computes[i];
        separate |= about.communicates[i] && !about.computes[i];
      }
      communication.join();
      computation.join();
      all += communication.sum();
      hidden += communication.common(computation).sum();
    }
    for (size_t i = 0; i < about.computes.size(); ++i)
      if (about.computes[i] && about.communicates[i])
        mixed += str(mixed.empty() ? "" : ", ", "'", timeline_.metadata.roles[i].name, "'");
    if (all && computes && separate)
      std::fprintf(out,
                   "  communication hidden: %.1f %% (%.3f of %.3f ms in which roles that "
                   "communicate work, on the mean of ranks)\n",
                   100 * double(hidden) / double(all),
                   double(hidden) / double(roles_.size()) / 1e6,
                   double(all) / double(roles_.size()) / 1e6);
    if (!mixed.empty())
      std::fprintf(out,
                   "  role %s multiplies and communicates: what it sends is in its working "
                   "time\n",
                   mixed.c_str());
  }

  // The longest of each place: what is late keeps many.
  void printWaits(FILE *out) const {
    constexpr size_t kListed = 5;
    struct Same {
      LongWait longest;
      int64_t sum = 0;
      size_t count = 0;
    };
    std::map<std::tuple<int, int, int, int>, Same> places;
    for (const LongWait &wait : waits_) {
      const Record &r = wait.record;
      Same &same = places[{r.kind, r.object, r.role, r.site}];
      int64_t time = wait.record.end - wait.record.begin;
      if (!same.count++ ||
          time > same.longest.record.end - same.longest.record.begin)
        same.longest = wait;
      same.sum += time;
    }
    std::vector<Same> order;
    for (const auto &[where, same] : places)
      order.push_back(same);
    auto length = [](const Same &same) {
      return same.longest.record.end - same.longest.record.begin;
    };
    std::stable_sort(order.begin(), order.end(),
                     [&](const Same &a, const Same &b) { return length(a) > length(b); });
    if (order.empty())
      return void(std::fprintf(out, "  no wait\n"));
    std::fprintf(out, "  longest waits:\n");
    for (size_t i = 0; i < std::min(order.size(), kListed); ++i) {
      const Same &same = order[i];
      const LongWait &wait = same.longest;
      std::string at = timeline_.placeOf(wait.record);
      at = at.empty() ? at : " (" + at + ")";
      std::string who = str(", CTA ", wait.cta);
      if (wait.record.role >= 0)
        who = str(", role '", timeline_.roleName(wait.record), "'", who);
      if (wait.record.kind == MK_TIMELINE_WAIT + int(MK_WAIT_DONE))
        who = "";
      std::fprintf(out, "    %.3f ms: rank %u%s %s%s; %zu such wait%s, %.3f ms\n",
                   double(length(same)) / 1e6, wait.rank, who.c_str(),
                   timeline_.nameOf(wait.record, wait.rank).c_str(), at.c_str(), same.count, same.count == 1 ? "" : "s", double(same.sum) / 1e6);
    }
  }

  const JobTimeline &timeline_;
  std::vector<std::vector<RoleTimes>> roles_; // by rank
  std::vector<LongWait> waits_;
  uint64_t dropped_ = 0;
};

} // namespace

void mk::run::printSummary(FILE *out, const JobTimeline &timeline) {
  Summary(timeline).print(out);
}
