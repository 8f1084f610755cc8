//===- Machine.cpp - Runs the events of all CTAs --------------------------===//

#include "mkernel/Check/Machine.h"

#include <optional>

using namespace mk::check;

using Releases = std::shared_ptr<const Races::Released>;

/// By element and the number that is asked for.
struct mk::check::Guarantees {
  std::map<std::pair<Machine::Element, int64_t>,
           std::shared_ptr<const Races::Clock>>
      clocks;
};

// Numbers of clocks that are compared for guarantees.
static constexpr uint64_t kMaxCompared = uint64_t(1) << 25;
// Words of clocks that waits join: some seconds.
static constexpr uint64_t kMaxJoined = uint64_t(1) << 31;

struct Machine::Signal {
  std::vector<Races::Arrival> arrivals; // in their order; kept for races only
  std::vector<uint32_t> waiters;
};

struct Machine::Counter {
  int64_t value = 0;
  Releases last;                 // covers the earlier ones
  std::optional<std::pair<uint32_t, int64_t>> first; // CTA, and draw, that came first
  std::vector<uint32_t> waiters; // for a value that is yet to come
};

struct Machine::Queue {
  struct Record {
    bool present = false;
    std::vector<int64_t> words;
    Releases released;
  };
  std::vector<Record> records;
  int64_t pushed = 0;
  std::vector<uint32_t> waiters;
};

struct Machine::Cta {
  Event event; // the one that it is blocked at
  bool blocked = false, ended = false;
  bool held = false; // once at this event
  /// It has counted outside of the items that it draws: what it does in them may be its own.
  bool counted = false;
};

Machine::Machine(uint32_t ranks, uint32_t ctas, Program &program,
                 Options options)
    : ctasOfRank_(ctas), program_(program), options_(options),
      races_(std::make_unique<Races>(options.races ? ranks : 0, ctas,
                                     options.placeOf)),
      ctas_(size_t(ranks) * ctas) {
  // Nearby seeds of this generator give nearby first numbers.
  random_.seed(static_cast<uint32_t>((options.seed + 1) * 0x9e3779b97f4a7c15u >> 33));
  random_.discard(4);
  for (uint32_t cta = 0; cta < ctas_.size(); ++cta)
    ready_.push_back(cta);
}

Machine::~Machine() = default;

uint32_t Machine::takeNext() {
  std::vector<uint32_t> &held = held_;
  if (options_.order == Options::Order::Random) {
    size_t i = random_() % (ready_.size() + held.size());
    uint32_t &id = i < ready_.size() ? ready_[i] : held[i - ready_.size()];
    uint32_t taken = id;
    if (i < ready_.size()) {
      id = ready_.back();
      ready_.pop_back();
    } else {
      id = held.back();
      held.pop_back();
    }
    return taken;
  }
  uint32_t taken;
  if (ready_.empty()) {
    taken = held.back();
    held.pop_back();
  } else if (options_.order == Options::Order::LastFirst) {
    taken = ready_.back();
    ready_.pop_back();
  } else {
    taken = ready_.front();
    ready_.pop_front();
  }
  return taken;
}

/// Whether others should come here first: what they find depends on who does. The last
/// CTA is the first anyway, but draws the first item.
bool Machine::holdsBack(const Event &event) {
  return options_.order != Options::Order::InTurn && !forced_ &&
         (event.kind == Event::Count || event.kind == Event::Push) &&
         event.order < 0 &&
         (event.draw >= 0 || options_.order == Options::Order::Random);
}

Machine::End Machine::run() {
  while (!ready_.empty() || !held_.empty()) {
    uint32_t id = takeNext();
    Cta &cta = ctas_[id];
    for (Step step = Step::Going; step == Step::Going;) {
      if (!cta.blocked) {
        // Reused: the boxes keep their memory.
        std::vector<Box> boxes = std::move(cta.event.boxes);
        std::vector<Box> dst = std::move(cta.event.dstBoxes);
        boxes.clear(), dst.clear();
        cta.event = Event();
        cta.event.boxes = std::move(boxes);
        cta.event.dstBoxes = std::move(dst);
        cta.held = false;
        Program::Next next = program_.next(id, cta.event);
        // The others go on: what they do does not depend on what it would do.
        if (next == Program::Next::Unknown) {
          cta.ended = unknown_ = true;
          break;
        }
        if (next == Program::Next::End) {
          cta.ended = true;
          ++ended_;
          break;
        }
        events_ += cta.event.kind != Event::Turn;
        if (events_ > options_.maxEvents ||
            races_->compared() > options_.maxCompared || races_->joined() > kMaxJoined)
          return End::TooLong;
        if (cta.event.kind == Event::RoleEnd)
          cta.counted = false;
        else if (cta.event.kind == Event::Count && cta.event.draw < 0)
          cta.counted = true;
        if (options_.races && cta.event.kind != Event::Turn)
          races_->enter(id, cta.counted ? -1 : cta.event.draw);
      }
      if (!cta.held && holdsBack(cta.event)) {
        cta.held = cta.blocked = true;
        held_.push_back(id);
        break;
      }
      step = carryOut(id, cta.event);
      cta.blocked = step == Step::Blocked;
    }
    if (!cta.blocked && !cta.ended)
      ready_.push_back(id);
  }
  if (unknown_)
    return End::Unknown;
  return ended_ == ctas_.size() ? End::Done : End::Stuck;
}

std::shared_ptr<const Guarantees> Machine::guarantees(bool *all) const {
  auto result = std::make_shared<Guarantees>();
  uint64_t compared = 0;
  for (const auto &[element, counts] : asked_) {
    const std::vector<Races::Arrival> &arrivals = signals_.at(element).arrivals;
    for (int64_t count : counts) {
      if (count >= counts_.at(element))
        break; // all of them
      compared += arrivals.size() * (ctas_.size() + events_);
      if (compared > kMaxCompared) {
        if (all)
          *all = false;
        return result;
      }
      result->clocks[{element, count}] = races_->common(arrivals, count);
    }
  }
  return result->clocks.empty() ? nullptr : result;
}

std::vector<Machine::Blocked> Machine::blocked() const {
  std::vector<Blocked> result;
  for (uint32_t id = 0; id < ctas_.size(); ++id) {
    const Cta &cta = ctas_[id];
    if (!cta.blocked)
      continue;
    Blocked &entry = result.emplace_back();
    entry.cta = id;
    entry.event = &cta.event;
    const Event &e = cta.event;
    if (e.kind == Event::Wait) {
      auto it = counts_.find({rankOf(id), e.object, e.element});
      entry.seen = it == counts_.end() ? 0 : it->second;
    } else if (e.kind == Event::Pop) {
      auto it = queues_.find({rankOf(id), e.object});
      entry.seen = it == queues_.end() ? 0 : it->second.pushed;
    }
  }
  return result;
}

std::vector<Machine::Raise> Machine::force() {
  forced_ = true;
  options_.races = false;
  for (uint32_t id = 0; id < ctas_.size(); ++id)
    if (ctas_[id].blocked)
      ready_.push_back(id);
  run();
  return std::move(raises_);
}

void Machine::wake(std::vector<uint32_t> &waiters) {
  ready_.insert(ready_.end(), waiters.begin(), waiters.end());
  waiters.clear();
}

void Machine::arrive(uint32_t cta, const Event &event, uint32_t rank,
                     Releases released) {
  if (event.object < 0)
    return;
  // A put and a store make one arrival, whatever is in them.
  int64_t amount = event.kind == Event::Signal ? event.amount : 1;
  Element key{rank, event.object, event.element};
  if (forced_)
    raises_.push_back(
        {cta, rank, event.object, event.element, amount, event.site, false});
  counts_[key] += amount;
  Signal &signal = signals_[key];
  if (options_.races)
    signal.arrivals.push_back({amount, std::move(released)});
  wake(signal.waiters);
}

Machine::Step Machine::carryOut(uint32_t cta, Event &event) {
  switch (event.kind) {
  case Event::Turn:
    return options_.order == Options::Order::LastFirst ? Step::Going
                                                       : Step::Yield;
  case Event::Barrier:
    // Blocked until the last one has come, who lets all go on.
    if (ctas_[cta].blocked && atBarrier_ == 0)
      return Step::Going;
    if (!ctas_[cta].blocked && ++atBarrier_ == ctas_.size()) {
      atBarrier_ = 0;
      if (options_.races)
        races_->barrier();
      for (uint32_t id = 0; id < ctas_.size(); ++id)
        if (ctas_[id].blocked)
          ready_.push_back(id);
      return Step::Going;
    }
    return forced_ ? Step::Going : Step::Blocked;
  case Event::Load:
  case Event::Store: {
    Releases released;
    if (options_.races) {
      races_->access(cta, event);
      if (event.object >= 0)
        released = races_->release(cta, event);
    }
    arrive(cta, event, rankOf(cta), std::move(released));
    return Step::Going;
  }
  case Event::Put:
    arrive(cta, event, event.peer,
           options_.races ? races_->transfer(cta, event) : nullptr);
    return Step::Going;
  case Event::Signal:
    arrive(cta, event, event.peer,
           options_.races ? races_->release(cta, event) : nullptr);
    return Step::Going;
  case Event::Wait:
    return wait(cta, event);
  case Event::Fence:
    if (options_.races)
      races_->fence(cta);
    return Step::Going;
  case Event::Settle:
  case Event::RoleEnd:
    if (options_.races)
      races_->settle(cta);
    return Step::Going;
  case Event::Count:
    return count(cta, event);
  case Event::Push:
    return push(cta, event);
  case Event::Pop:
    return pop(cta, event);
  }
  return Step::Going;
}

Machine::Step Machine::wait(uint32_t cta, const Event &event) {
  if (forced_)
    return Step::Going;
  Element key{rankOf(cta), event.object, event.element};
  waited_.try_emplace(key, Waiter{cta, event.site, event.amount});
  if (event.amount <= 0)
    return Step::Going;
  Signal &signal = signals_[key];
  auto count = counts_.find(key);
  if (count == counts_.end() || count->second < event.amount) {
    signal.waiters.push_back(cta);
    return Step::Blocked;
  }
  if (!options_.races)
    return Step::Going;
  asked_[key].insert(event.amount);
  if (options_.guarantees)
    if (auto known = options_.guarantees->clocks.find({key, event.amount});
        known != options_.guarantees->clocks.end()) {
      races_->acquire(cta, *known->second);
      return Step::Going;
    }
  // It may count on no more arrivals than it asked for.
  int64_t counted = 0;
  for (const Races::Arrival &arrival : signal.arrivals) {
    if (counted >= event.amount)
      break;
    counted += arrival.amount;
    races_->acquire(cta, *arrival.released);
  }
  return Step::Going;
}

Machine::Step Machine::count(uint32_t cta, const Event &event) {
  Counter &counter = counters_[{rankOf(cta), event.object, event.element}];
  if (event.order >= 0 && event.order != counter.value && !forced_) {
    counter.waiters.push_back(cta);
    return Step::Blocked;
  }
  if (options_.races) {
    if (counter.last)
      races_->acquire(cta, *counter.last);
    counter.last = races_->release(cta, event);
    // It releases and acquires: own stores before it are ordered as well.
    races_->acquire(cta, *counter.last);
  }
  // Of two items that one CTA has drawn another might have drawn one.
  if (!counter.first)
    counter.first = {cta, event.draw};
  else if (*counter.first != std::pair(cta, event.draw))
    ordersOfCounts_.insert(event.site);
  program_.counted(cta, counter.value);
  counter.value += event.amount;
  wake(counter.waiters);
  return Step::Going;
}

Machine::Step Machine::push(uint32_t cta, const Event &event) {
  Queue &queue = queues_[{rankOf(cta), event.object}];
  size_t entry = event.order >= 0 ? event.order : queue.pushed;
  ++queue.pushed;
  if (queue.records.size() <= entry)
    queue.records.resize(entry + 1);
  Queue::Record &record = queue.records[entry];
  record.present = true;
  record.words = event.record;
  if (options_.races)
    record.released = races_->release(cta, event);
  if (forced_)
    raises_.push_back(
        {cta, rankOf(cta), event.object, int64_t(entry), 1, event.site, true});
  wake(queue.waiters);
  return Step::Going;
}

Machine::Step Machine::pop(uint32_t cta, const Event &event) {
  Queue &queue = queues_[{rankOf(cta), event.object}];
  auto entry = static_cast<size_t>(event.element);
  if (entry >= queue.records.size() || !queue.records[entry].present) {
    queue.waiters.push_back(cta);
    return Step::Blocked;
  }
  const Queue::Record &record = queue.records[entry];
  if (options_.races)
    races_->acquire(cta, *record.released);
  program_.popped(cta, record.words);
  return Step::Going;
}
