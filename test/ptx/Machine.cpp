//===- Machine.cpp - Whose turn it is -------------------------------------===//

#include "Machine.h"

#include <algorithm>
#include <cstring>
#include <sstream>

using namespace mk::ptx;

bool Groups::passed(size_t but, bool readOnly) {
  while (closed.size() > but) {
    for (auto &pending : closed.front())
      if (!(readOnly ? pending->read : pending->done))
        return false;
    // Those of which only the reads are over may be waited for once more.
    if (readOnly) {
      for (size_t g = 0; g + but < closed.size(); ++g)
        for (auto &pending : closed[g])
          if (!pending->read)
            return false;
      return true;
    }
    closed.pop_front();
  }
  return true;
}

Style Style::of(uint64_t seed) {
  switch (seed % 4) {
  case 0:
    return {32, 80, 1000, 30};
  case 1:
    return {200, 30, 5000, 60};
  case 2:
    return {4, 95, 30000, 50};
  default:
    return {1000, 50, 20000, 70};
  }
}

Cta::Cta(Machine &machine, Rank &rank, uint32_t index, uint32_t id)
    : machine(machine), rank(rank), index(index), id(id) {
  const Launch &launch = *rank.launch;
  // What nobody has written is no number.
  shared.assign(launch.sharedBytes + kSharedBase, 0xff);
  written.assign(shared.size() / History::kSector + 1, 0);
  stored.assign(written.size(), 0);
  for (uint32_t w = 0; w * 32 < launch.threads; ++w)
    warps.push_back(std::make_unique<Warp>(*this, w));
}

uint8_t *Rank::at(uint64_t address, uint64_t bytes) {
  const std::vector<Region> &memory = launch->memory;
  auto holds = [&](const Region &r) {
    return address >= r.address && address + bytes <= r.address + r.bytes;
  };
  if (lastRegion >= memory.size() || !holds(memory[lastRegion])) {
    lastRegion = memory.size();
    for (size_t i = 0; i < memory.size(); ++i)
      if (holds(memory[i]))
        lastRegion = i;
  }
  if (lastRegion >= memory.size()) {
    std::ostringstream text;
    text << "touches " << bytes << " bytes at 0x" << std::hex << address
         << ", where rank " << std::dec << number << " has no memory";
    throw Error(text.str());
  }
  const Region &r = memory[lastRegion];
  return r.data + (address - r.address);
}

Machine::Machine(const std::vector<std::vector<Stage>> &ranks, uint64_t seed)
    : random(seed), style(Style::of(seed)) {
  uint32_t ctas = 0;
  bool packs = false;
  for (const std::vector<Stage> &stages : ranks) {
    auto rank = std::make_unique<Rank>();
    rank->number = uint32_t(ranks_.size());
    rank->stages = &stages;
    rank->firstCta = ctas;
    uint32_t most = 1;
    for (const Stage &stage : stages)
      if (stage.launch) {
        most = std::max(most, stage.launch->ctas);
        packs |= stage.launch->program->name == "mk_pack";
      }
    ctas += most;
    stages_ += stages.size();
    ranks_.push_back(std::move(rank));
  }
  for (auto &rank : ranks_)
    rank->network = uint16_t(ctas++);
  if (ctas > kMaxCtas)
    throw Error(std::to_string(ctas) + " CTAs and proxies on all ranks, more than " +
                std::to_string(kMaxCtas) + ": choose a smaller grid" +
                (packs ? ", and MK_PACK=off: rows that no tensor map describes are packed by a "
                         "launch of its own, whose grid follows from their size"
                       : ""));
}

Machine::~Machine() = default;

/// The next stage of a rank whose launches have ended.
void Machine::begin(Rank &rank) {
  const Stage &stage = (*rank.stages)[rank.next++];
  --stages_;
  changed();
  for (uint32_t c = 0; c < rank.ctas.size(); ++c) {
    rank.view.generic.set(rank.firstCta + c, now);
    rank.view.async.set(rank.firstCta + c, now);
  }
  if (stage.launch) {
    // Behind a launch that has failed, and has not waited for them.
    while (!rank.copies.empty())
      copyNext(rank);
    rank.copies.assign(stage.launch->copies.begin(), stage.launch->copies.end());
    rank.told.join(rank.view); // they come behind the launch before
    return start(rank, *stage.launch);
  }
  if (stage.reads) {
    // What peers have written it sees as far as its launches have.
    std::vector<uint8_t> data(stage.data.size());
    uint32_t first = rank.firstCta;
    uint32_t end = first + uint32_t(rank.ctas.size());
    global.read(stage.at, data.data(), data.size(), random,
                [&](const Writer &w) {
                  return (w.cta >= first && w.cta < end) ||
                         w.time <= rank.view.generic[w.cta];
                });
    for (size_t i = 0; i < data.size(); ++i, ++compared)
      wrong += data[i] != stage.data[i];
    return;
  }
  global.write(stage.at, stage.data.data(), stage.data.size(),
               {now, uint16_t(rank.firstCta), false});
  rank.view.generic.set(rank.firstCta, now);
  rank.view.async.set(rank.firstCta, now);
}

void Machine::start(Rank &rank, const Launch &launch) {
  rank.launch = &launch;
  rank.program = launch.program.get();
  // Copies of the launch before may still name them.
  for (auto &cta : rank.ctas)
    rank.ended.push_back(std::move(cta));
  rank.ctas.clear();
  for (uint32_t c = 0; c < launch.ctas; ++c)
    rank.ctas.push_back(
        std::make_unique<Cta>(*this, rank, c, rank.firstCta + c));
  uint32_t size = rank.program->cluster[0];
  for (uint32_t c = 0; c < launch.ctas; ++c) {
    Cta &cta = *rank.ctas[c];
    cta.clusterRank = c % size;
    for (uint32_t i = 0; i < size && c / size * size + i < launch.ctas; ++i)
      cta.cluster.push_back(rank.ctas[c / size * size + i].get());
    cta.clusterBarrier = cta.clusterRank
                             ? cta.cluster[0]->clusterBarrier
                             : std::make_shared<Cta::ClusterBarrier>();
    for (auto &warp : cta.warps) {
      warp->view.generic = rank.view.generic;
      warp->view.async = rank.view.async;
      live_.push_back(warp.get());
      ++rank.live;
    }
  }
  executed.resize(std::max(executed.size(), rank.program->instrs.size()));
  if (onBegin)
    onBegin(rank.number, launch);
}

void Machine::end(Warp &warp) {
  Rank &rank = warp.cta.rank;
  rank.view.join(warp.view);
  live_.erase(std::find(live_.begin(), live_.end(), &warp));
  changed();
  if (--rank.live)
    return;
  checkEnded(rank);
  rank.startAt = now + (random.chance(50) ? 0 : random.below(style.slow));
}

/// Barriers count: whoever has left one out is missed by the others, sooner or later.
void Machine::checkEnded(const Rank &rank) const {
  for (const auto &cta : rank.ctas) {
    std::string where = "rank " + std::to_string(rank.number) + ", CTA " +
                        std::to_string(cta->index) + ": when all had ended, ";
    for (size_t b = 0; b < std::size(cta->named); ++b)
      if (const NamedBarrier &named = cta->named[b]; named.arrived)
        throw Error(where + std::to_string(named.arrived) + " of " +
                    std::to_string(named.expected) + " threads had come to barrier " +
                    std::to_string(b));
    for (auto &[address, b] : cta->barriers)
      if (b.pending != b.expected || b.bytes)
        throw Error(where + "the mbarrier at " + std::to_string(address) + " lacked " +
                    std::to_string(b.pending) + " of " + std::to_string(b.expected) +
                    " arrivals and " + std::to_string(b.bytes) + " bytes");
  }
}

bool Machine::isOf(uint32_t rank, uint32_t cta) const {
  const Rank &r = *ranks_.at(rank);
  return cta >= r.firstCta && cta < r.firstCta + r.ctas.size();
}

void Machine::at(uint64_t delay, std::function<void()> what) {
  events_.push({now + delay, nextOrder_++, std::move(what)});
}

uint64_t Machine::copyTime() {
  if (random.chance(style.quick))
    return 1 + random.below(200);
  if (random.chance(5)) // longer than anybody would think
    return 1 + random.below(style.slow * 10);
  return 1 + random.below(style.slow);
}

Warp *Machine::pick() {
  auto ready = [&](const Warp *warp) {
    return !warp->blocked && warp->wakeAt <= now;
  };
  // Now and then a CTA falls behind.
  uint32_t lazy = uint32_t(now >> 15) % 7;
  for (int tries = 0; tries < 8; ++tries) {
    Warp *warp = live_[random.below(uint32_t(live_.size()))];
    if (ready(warp) && (warp->cta.id % 7 != lazy || random.chance(10)))
      return warp;
  }
  size_t first = random.below(uint32_t(live_.size()));
  for (size_t i = 0; i < live_.size(); ++i)
    if (Warp *warp = live_[(first + i) % live_.size()]; ready(warp))
      return warp;
  return nullptr;
}

void Machine::run() {
  // Sleeps in a row in which nothing has changed: nothing will.
  constexpr uint64_t kSteps = uint64_t(1) << 24, kLook = 1000;
  const uint64_t kPolls = outside || patience ? 4 : 200;
  uint64_t polls = 0, seen = 0, looked = 0, copied = 0;
  while (!live_.empty() || !events_.empty() || stages_) {
    while (!events_.empty() && events_.top().time <= now) {
      auto what = std::move(const_cast<Event &>(events_.top()).what);
      events_.pop();
      what();
      changed();
    }
    if (outside && steps_ - looked >= kLook) {
      looked = steps_;
      outside(/*wait=*/false);
    }
    if (steps_ - copied >= kLook / 4) {
      copied = steps_;
      if (hasCopies() && random.below(2))
        copyBeside();
    }
    uint64_t next = ~uint64_t(0); // when something will happen
    for (auto &rank : ranks_) {
      bool waits = rank->live == 0 && rank->inFlight == 0;
      while (waits && rank->next < rank->stages->size() &&
             rank->startAt <= now && rank->live == 0)
        begin(*rank);
      if (waits && rank->next < rank->stages->size() && rank->live == 0)
        next = std::min(next, rank->startAt);
    }
    Warp *warp = live_.empty() ? nullptr : pick();
    if (!warp) {
      for (Warp *w : live_)
        if (!w->blocked)
          next = std::min(next, w->wakeAt);
      if (!events_.empty())
        next = std::min(next, events_.top().time);
      if (next == ~uint64_t(0)) {
        if (live_.empty())
          break;
        if (copyBeside())
          continue;
        deadlock();
      }
      now = std::max(now, next);
      continue;
    }
    if (lastChange != seen) {
      seen = lastChange;
      polls = 0;
    }
    uint32_t burst = 1 + random.below(style.burst);
    for (uint32_t i = 0; i < burst; ++i) {
      ++now;
      ++steps_;
      warp->step();
      if (!warp->live) {
        end(*warp);
        break;
      }
      if (warp->blocked)
        break;
      if (warp->wakeAt > now) {
        ++polls;
        warp->polledAt = now;
        break;
      }
      if (!events_.empty() && events_.top().time <= now)
        break;
    }
    // Who computes in registers changes nothing that others see, and asks for nothing.
    auto computes = [&](Warp *w) { return !w->blocked && w->polledAt <= lastChange; };
    if (polls > kPolls * live_.size() && std::any_of(live_.begin(), live_.end(), computes))
      polls = 0;
    if (polls > kPolls * live_.size() || now - lastChange > kSteps) {
      // Unless copies are under way, or a rank is still between launches.
      uint64_t later = events_.empty() ? 0 : events_.top().time;
      for (auto &rank : ranks_)
        if (rank->live == 0 && rank->next < rank->stages->size())
          later = std::max(later, rank->startAt);
      // What is due happens next. The host takes the time it takes.
      bool isDue = !events_.empty() && later <= now;
      if (later <= now && !isDue && !copyBeside() && (!outside || !outside(/*wait=*/true))) {
        if (!patience)
          deadlock();
        --patience;
        skipped_ += jump;
      }
      now = std::max(now, later);
      polls = 0;
    }
    if (stepLimit && steps_ > stepLimit)
      throw Error("has not ended after " + std::to_string(steps_) + " steps");
  }
}

void Machine::deadlock() {
  std::ostringstream text;
  text << "no warp can go on:";
  size_t told = 0;
  for (Warp *warp : live_) {
    if (++told > 12) {
      text << "\n  and " << live_.size() - 12 << " more";
      break;
    }
    text << "\n  rank " << warp->cta.rank.number << ", CTA " << warp->cta.index
         << ", warp " << warp->number << ":";
    for (const Warp::Part &part : warp->parts)
      text << " line " << warp->cta.rank.program->instrs[part.pc].line;
    if (warp->blocked)
      text << " (behind a barrier)";
  }
  throw Error(text.str());
}

//===--- The network ------------------------------------------------------===//

void Machine::tellHost(Warp &warp, const uint8_t *word) {
  Rank &rank = warp.cta.rank;
  const std::vector<Region> &memory = rank.launch->memory;
  auto it = messages.find(word);
  if (!memory[rank.lastRegion].host || it == messages.end())
    return;
  for (const Message::Part &part : it->second.parts)
    if (part.scope == kSys)
      rank.told.join(part.view);
}

void Machine::networkRead(uint32_t rank, const uint8_t *from, void *to, uint64_t bytes) {
  const Rank &r = *ranks_.at(rank);
  global.read(from, to, bytes, random, [&](const Writer &w) {
    return w.cta >= ranks_[0]->network || w.time <= r.told.generic[w.cta];
  });
}

void Machine::networkWrite(uint32_t rank, uint8_t *to, const void *from, uint64_t bytes) {
  ++now;
  global.write(to, from, bytes, {now, ranks_.at(rank)->network, false});
  changed();
}

void Machine::networkPublish(uint32_t rank, uint8_t *to, uint32_t value) {
  networkWrite(rank, to, &value, sizeof(value));
  // Whoever sees it sees what all proxies have written, and what was known to who
  // commanded it.
  View view;
  for (auto &r : ranks_) {
    view.join(r->told);
    view.generic.set(r->network, now);
  }
  messages[to] = {{{kSys, uint32_t(ranks_.size()) + rank, ranks_[rank]->network, view}}};
}

//===--- Copy engines -----------------------------------------------------===//

void Machine::copyNext(Rank &rank) {
  EngineCopy copy = rank.copies.front();
  rank.copies.pop_front();
  std::vector<uint8_t> data(copy.bytes);
  networkRead(rank.number, copy.from, data.data(), copy.bytes);
  uint32_t word;
  if (copy.bytes != sizeof(word))
    return networkWrite(rank.number, copy.to, data.data(), copy.bytes);
  std::memcpy(&word, data.data(), sizeof(word));
  networkPublish(rank.number, copy.to, word);
}

bool Machine::hasCopies() const {
  return std::any_of(ranks_.begin(), ranks_.end(),
                     [](auto &rank) { return !rank->copies.empty(); });
}

bool Machine::copyBeside() {
  if (!hasCopies())
    return false;
  size_t first = random.below(uint32_t(ranks_.size()));
  for (size_t i = 0; i < ranks_.size(); ++i)
    if (Rank &rank = *ranks_[(first + i) % ranks_.size()]; !rank.copies.empty()) {
      copyNext(rank);
      return true;
    }
  return false;
}

//===--- Messages ---------------------------------------------------------===//

/// Whether scopes of two accesses include both threads.
static bool includes(int mine, int other, const Cta &cta,
                     const Message::Part &part) {
  int needed = part.cta == cta.id             ? kCta
               : part.rank == cta.rank.number ? kGpu
                                              : kSys;
  return mine >= needed && other >= needed;
}

void Machine::acquire(Warp &warp, const uint8_t *word, int scope, bool keep) {
  auto it = messages.find(word);
  if (it == messages.end())
    return;
  for (const Message::Part &part : it->second.parts) {
    if (!includes(scope, part.scope, warp.cta, part))
      continue;
    if (keep)
      warp.acquirable.join(part.view);
    else
      warp.view.join(part.view);
  }
}

void Machine::release(Warp &warp, const uint8_t *word, int scope, bool releases,
                      bool chain) {
  Message &message = messages[word];
  if (!chain)
    message.parts.clear();
  auto add = [&](int level, const View &view) {
    for (Message::Part &part : message.parts)
      if (part.scope == level && part.cta == warp.cta.id)
        return part.view.join(view);
    message.parts.push_back({level, warp.cta.rank.number, warp.cta.id, view});
  };
  if (releases)
    return add(scope, warp.released());
  for (int level = scope; level >= kCta; --level)
    if (warp.hasFenced[level])
      add(level, warp.fenced[level]);
}
