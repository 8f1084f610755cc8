//===- Races.cpp - --check=races ------------------------------------------===//

#include "Races.h"

#include "mkernel/Check/Log.h"
#include "mkernel/Check/Machine.h"

#include <algorithm>
#include <map>

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
  void rewind() {
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

} // namespace

Result<bool> mk::run::checkRaces(FILE *out, const Report &report) {
  uint32_t world = report.mesh.size();
  std::vector<std::vector<RankLog>> logs(world);
  for (uint32_t r = 0; r < world; ++r) {
    MK_ASSIGN(std::string bytes, report.job.readLog(r));
    if (!decode(bytes, logs[r]) || logs[r].size() != logs[0].size())
      return error(StatusCode::Internal, "the log of rank ", r,
                   " cannot be read");
  }
  uint64_t events = 0;
  size_t found = 0, launches = logs[0].size();
  for (size_t launch = 0; launch < launches && !found; ++launch) {
    std::vector<RankLog *> ranks;
    for (auto &log : logs)
      ranks.push_back(&log[launch]);
    Replay replay(ranks);
    mk::check::MachineOptions options;
    options.placeOf = [&](int32_t site) { return replay.placeOf(site); };
    auto machine = std::make_unique<Machine>(world, replay.ctas(), replay, options);
    if (machine->run() != Machine::End::Done)
      return error(StatusCode::Internal, "launch ", launch + 1,
                   " cannot be replayed from its log");
    events += machine->events();
    options.guarantees = machine->guarantees();
    if (machine->races().empty() && options.guarantees) {
      replay.rewind();
      machine = std::make_unique<Machine>(world, replay.ctas(), replay, options);
      (void)machine->run();
    }
    found = machine->races().size();
    for (const mk::check::Race &race : machine->races())
      std::fprintf(out,
                   "race: '%s'%s of rank %u, launch %zu\n  %s\n  %s\n  %s\n",
                   report.metadata.args[race.buffer].name.c_str(),
                   race.both.toString().c_str(), race.rank, launch + 1,
                   describe(report.metadata, replay, race.second).c_str(),
                   describe(report.metadata, replay, race.first).c_str(),
                   remedyOf(race));
  }
  std::fprintf(
      out, "races: %s (kernel '%s', %u %s, %zu launch%s, %llu events)\n",
      found ? str(found, found == 1 ? " pair of places" : " pairs of places",
                  " that nothing orders")
                  .c_str()
            : "none",
      report.metadata.kernel.c_str(), world, world == 1 ? "rank" : "ranks",
      launches, launches == 1 ? "" : "es",
      static_cast<unsigned long long>(events));
  return found == 0;
}
