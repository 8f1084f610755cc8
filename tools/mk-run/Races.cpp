//===- Races.cpp - --check=races ------------------------------------------===//

#include "Races.h"

#include "mkernel/Check/Log.h"
#include "mkernel/Check/Machine.h"
#include "mkernel/Check/Provenance.h"
#include "mkernel/Runtime/Plan.h"

#include <algorithm>
#include <map>
#include <set>

using namespace mk::run;
using namespace mk::rt;
using mk::check::Event;
using mk::check::Machine;
using mk::check::RankLog;
using mk::check::Site;

namespace {

/// One launch of all ranks.
class Replay : public mk::check::Program {
public:
  Replay(std::vector<RankLog *> ranks) : ranks_(std::move(ranks)) {
    for (RankLog *log : ranks_)
      ctas_ = std::max(ctas_, log->ctas.size());
    next_.resize(ranks_.size() * ctas_);
    provenance_ = std::make_unique<mk::check::Provenance>(
        static_cast<uint32_t>(next_.size()), static_cast<uint32_t>(ctas_),
        /*items=*/false);
    size_t sites = 0;
    for (RankLog *log : ranks_)
      for (size_t c = 0; c < ctas_; ++c) {
        firstSite_.push_back(sites);
        sites += c < log->ctas.size() ? log->ctas[c].sites.size() : 0;
      }
    for (RankLog *log : ranks_)
      for (const RankLog::Cta &cta : log->ctas)
        for (const Site &site : cta.sites) {
          sites_.push_back(&site);
          places_.push_back(
              numbers_.try_emplace({site.role, site.line}, numbers_.size())
                  .first->second);
        }
  }

  size_t ctas() const { return ctas_; }
  /// Of what all accesses have touched and seen: who made them, and when, is chance.
  uint64_t accesses() const {
    uint64_t sum = 0;
    for (const auto &access : provenance_->accesses())
      sum += access.number;
    return sum;
  }
  void rewind() {
    provenance_.reset();
    std::fill(next_.begin(), next_.end(), 0);
    turn_ = UINT32_MAX;
  }
  const Site &site(int32_t i) const { return *sites_[i]; }
  int32_t placeOf(int32_t i) const { return places_[i]; }

  Next next(uint32_t id, Event &event) override {
    RankLog &log = *ranks_[id / ctas_];
    size_t c = id % ctas_;
    if (c >= log.ctas.size() || next_[id] == log.ctas[c].events.size())
      return Next::End;
    // CTAs take turns, so that little is ordered by chance.
    if (turn_ != id) {
      turn_ = id;
    } else {
      turn_ = UINT32_MAX;
      event.kind = Event::Turn;
      return Next::Event;
    }
    event = log.ctas[c].events[next_[id]++];
    event.site += static_cast<int32_t>(firstSite_[id]);
    if (provenance_) {
      const Site &site = *sites_[event.site];
      provenance_->add(id, event,
                       (uint64_t(uint32_t(site.role)) << 32) + uint32_t(site.line));
    }
    return Next::Event;
  }

private:
  std::vector<RankLog *> ranks_;
  size_t ctas_ = 0;
  std::vector<size_t> next_, firstSite_; // by CTA
  std::vector<const Site *> sites_;
  std::vector<int32_t> places_; // of sites
  std::map<std::pair<int32_t, int32_t>, int32_t> numbers_;
  uint32_t turn_ = UINT32_MAX;
  std::unique_ptr<mk::check::Provenance> provenance_;
};

std::string describe(const Metadata &metadata, const Replay &replay,
                     const mk::check::Access &access) {
  const Site &site = replay.site(access.site);
  std::string text =
      str(site.role < 0 ? std::string("mk.prepare")
                        : str("role '", metadata.roles[site.role].name, "'"),
          " (rank ", access.cta / replay.ctas(), ", CTA ",
          access.cta % replay.ctas(), ")");
  if (site.loop >= 0) {
    text += ", item (";
    for (int i = 0; i < 4 && (i == 0 || site.item[i] >= 0); ++i)
      text += str(i ? ", " : "", site.item[i]);
    text += str(") of loop ", site.loop);
  }
  if (site.line)
    text += str(", line ", site.line);
  return str(text, ": ", verbOf(access), " ", access.box.toString());
}

/// "'ready'[3, 0]".
std::string elementName(const std::string &name,
                        const std::vector<int64_t> &extents, int64_t element) {
  std::string index;
  for (size_t d = extents.size(); d-- > 0; element /= std::max<int64_t>(extents[d], 1))
    index = str(d ? ", " : "", element % std::max<int64_t>(extents[d], 1), index);
  return str("'", name, "'[", index, "]");
}

/// Of each rank its launches.
using Logs = std::vector<std::vector<RankLog>>;

/// As far as there are any, if the run did not end well.
Result<Logs> readLogs(FILE *out, const Report &report, bool ended) {
  Logs logs(report.mesh.size());
  size_t launches = 0;
  for (uint32_t r = 0; r < logs.size(); ++r) {
    Result<std::string> bytes = report.job.readLog(r);
    if (!bytes && ended)
      return bytes.status();
    if (!bytes)
      std::fprintf(out, "races: %s\n", bytes.status().message().c_str());
    else if (!decode(*bytes, logs[r]))
      return error(StatusCode::Internal, "the log of rank ", r, " cannot be read");
    launches = std::max(launches, logs[r].size());
  }
  for (uint32_t r = 0; r < logs.size(); ++r) {
    if (ended && logs[r].size() != launches)
      return error(StatusCode::Internal, "the log of rank ", r, " has ",
                   logs[r].size(), " launches, others have ", launches);
    logs[r].resize(launches);
  }
  return logs;
}

/// Arrivals that are not those declared: later launches count on them. An element gets
/// them in each launch (a launch without says so itself), or in none and is not waited for.
class Arrivals {
public:
  Arrivals(FILE *out, const Report &report, const JobPlan &plan)
      : out_(out), report_(report), plan_(plan) {}

  /// Of a launch that was cut off: what it waits for had to come in the launches before, too.
  size_t checkFailed(const Machine &machine, size_t launch) {
    size_t wrong = 0;
    for (const auto &[where, waiter] : machine.waited()) {
      const Plan::Signal &signal = plan_.plan(where.rank).signals[where.signal];
      if (signal.arrivals <= 0 || launch == 0 || raised_.contains(where))
        continue;
      if (wrong++ < kListed)
        std::fprintf(out_,
                     "arrivals: signal %s of rank %u gets 0 in launch 1, is waited for in "
                     "launch %zu, and is declared with %lld for each; raise it in every "
                     "launch, or declare it dynamic\n",
                     name(where).c_str(), where.rank, launch + 1,
                     static_cast<long long>(signal.arrivals));
    }
    return wrong;
  }

  /// How many elements are wrong in this launch.
  size_t check(const Machine &machine, size_t launch) {
    size_t wrong = 0;
    for (const auto &[where, count] : machine.arrivals())
      raised_.insert(where);
    std::set<Machine::Element> elements;
    for (const auto &[where, count] : machine.arrivals())
      elements.insert(where);
    for (const auto &[where, waiter] : machine.waited())
      elements.insert(where);
    for (const Machine::Element &where : elements) {
      const Plan::Signal &signal = plan_.plan(where.rank).signals[where.signal];
      auto found = machine.arrivals().find(where);
      int64_t count = found == machine.arrivals().end() ? 0 : found->second;
      bool waited = machine.waited().contains(where);
      if (signal.arrivals < 0 || count == signal.arrivals || (count == 0 && !waited))
        continue;
      if (wrong++ < kListed)
        std::fprintf(
            out_,
            "arrivals: signal %s of rank %u gets %lld in launch %zu, and is "
            "declared with %lld: later launches wait for the wrong value; raise "
            "it in every launch as often as it is declared, or declare it "
            "dynamic\n",
            name(where).c_str(), where.rank, static_cast<long long>(count), launch + 1,
            static_cast<long long>(signal.arrivals));
    }
    return wrong;
  }

private:
  std::string name(const Machine::Element &where) const {
    return elementName(report_.metadata.signals[where.signal].name,
                       plan_.plan(where.rank).signals[where.signal].extents, where.element);
  }

  static constexpr size_t kListed = 16;
  std::set<Machine::Element> raised_; // in a launch before
  FILE *out_;
  const Report &report_;
  const JobPlan &plan_;
};

} // namespace

Result<bool> mk::run::checkRaces(FILE *out, const Report &report,
                                 const JobPlan &plan, bool ended) {
  uint32_t world = report.mesh.size();
  MK_ASSIGN(Logs logs, readLogs(out, report, ended));
  Arrivals arrivals(out, report, plan);
  uint64_t events = 0;
  size_t found = 0, wrong = 0, launches = logs[0].size();
  bool allCompared = true;
  std::set<int32_t> counts; // lines
  uint64_t accesses = 0;
  for (size_t launch = 0; launch < launches && !found && !wrong; ++launch) {
    std::vector<RankLog *> ranks;
    for (auto &log : logs)
      ranks.push_back(&log[launch]);
    Replay replay(ranks);
    mk::check::MachineOptions options;
    options.placeOf = [&](int32_t site) { return replay.placeOf(site); };
    auto machine = std::make_unique<Machine>(world, replay.ctas(), replay, options);
    bool whole = machine->run() == Machine::End::Done;
    if (!whole && ended)
      return error(StatusCode::Internal, "launch ", launch + 1,
                   " cannot be replayed from its log");
    events += machine->events();
    accesses = accesses * 31 + replay.accesses();
    // The last launch of a run that failed is cut off.
    if (whole && (ended || launch + 1 < launches))
      wrong = arrivals.check(*machine, launch);
    else
      wrong = arrivals.checkFailed(*machine, launch);
    options.guarantees = machine->guarantees(&allCompared);
    if (machine->races().empty() && options.guarantees) {
      replay.rewind();
      machine = std::make_unique<Machine>(world, replay.ctas(), replay, options);
      (void)machine->run();
    }
    found = machine->races().size();
    for (int32_t site : machine->ordersOfCounts())
      counts.insert(replay.site(site).line);
    auto byEngines = [&](const mk::check::Access &access) {
      int32_t role = replay.site(access.site).role;
      return role >= 0 && report.metadata.roles[role].engines;
    };
    for (const mk::check::Race &race : machine->races())
      std::fprintf(out, "race: '%s'%s of rank %u, launch %zu\n  %s\n  %s\n  %s\n",
                   report.metadata.args[race.buffer].name.c_str(), race.both.toString().c_str(),
                   race.rank, launch + 1, describe(report.metadata, replay, race.second).c_str(),
                   describe(report.metadata, replay, race.first).c_str(),
                   remedyOf(race, byEngines(race.first)));
  }
  if (report.options.accesses)
    std::fprintf(out, "accesses: %016llx\n", static_cast<unsigned long long>(accesses));
  std::string text =
      found ? str(found, found == 1 ? " pair of places" : " pairs of places",
                  " that nothing orders")
            : std::string("none");
  if (wrong)
    text += str(", ", wrong, wrong == 1 ? " element" : " elements",
                " without the declared arrivals");
  if (!ended)
    text += " in what was recorded before the run failed";
  if (!allCompared)
    text += "; waits for some of very many arrivals were taken to count the first";
  std::string lines;
  for (int32_t line : counts)
    lines += str(lines.empty() ? counts.size() == 1 ? "line " : "lines " : ", ", line);
  std::fprintf(
      out, "races: %s (kernel '%s', %u %s, %zu launch%s, %llu events)%s\n",
      text.c_str(), report.metadata.kernel.c_str(), world,
      world == 1 ? "rank" : "ranks", launches, launches == 1 ? "" : "es",
      static_cast<unsigned long long>(events),
      found || counts.empty()
          ? ""
          : str("; what rests on the order in which CTAs count (", lines,
                ") was seen in this one: run with other seeds, too")
                .c_str());
  return found == 0 && wrong == 0;
}
