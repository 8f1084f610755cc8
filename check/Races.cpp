//===- Races.cpp - Accesses that nothing orders ---------------------------===//

#include "mkernel/Check/Races.h"

#include <algorithm>
#include <utility>

using namespace mk::check;

//===----------------------------------------------------------------------===//
// Clocks
//===----------------------------------------------------------------------===//

/// Which of the things that are known one by one are known, by their numbers.
class Races::Bits {
public:
  bool test(uint32_t i) const {
    return i / 64 < words.size() && words[i / 64] >> (i % 64) & 1;
  }
  void set(uint32_t i) {
    if (i / 64 >= words.size())
      words.resize(i / 64 + 1);
    words[i / 64] |= uint64_t(1) << (i % 64);
  }
  void join(const Bits &other) {
    if (words.size() < other.words.size())
      words.resize(other.words.size());
    for (size_t i = 0; i < other.words.size(); ++i)
      words[i] |= other.words[i];
  }

private:
  std::vector<uint64_t> words;
};

struct Races::Clock {
  std::vector<uint32_t> own; // by CTA: accesses outside of drawn items, a prefix
  std::vector<uint32_t> all; // by CTA: also those in items that it drew
  Bits itemReleases;
  Bits sourced, done; // transfers: have read, have written

  void join(const Clock &other) {
    for (size_t i = 0; i < own.size(); ++i) {
      own[i] = std::max(own[i], other.own[i]);
      all[i] = std::max(all[i], other.all[i]);
    }
    itemReleases.join(other.itemReleases);
    sourced.join(other.sourced);
    done.join(other.done);
  }
};

/// A put or a store to a peer.
struct Races::Transfer {
  uint32_t cta, peer;
  uint32_t inCta; // how many transfers of the CTA came before
  uint32_t fence; // those before this one are ordered if to the same peer
  uint32_t item;  // 0: none that is drawn
  int32_t site;
  bool add;
  bool ofTile; // a store

  /// Whether what is ordered by program order is so for this one.
  bool precedes(uint32_t otherItem) const {
    return item == 0 || item == otherItem;
  }
};

struct Races::CtaState {
  std::shared_ptr<Clock> clock; // what happens before all that follows
  uint32_t own = 0;             // own accesses so far
  uint32_t fence = 0;           // transfers before the last fence
  std::vector<uint32_t> transfers, remoteStores;
  std::map<uint32_t, std::vector<uint32_t>> toPeer;
  uint32_t settled = 0; // transfers, outside of items

  // Of the item that is drawn.
  int64_t draw = -1;
  uint32_t item = 0, items = 0;
  uint32_t firstRelease = 0, firstTransfer = 0;
  // Of what is around it.
  std::shared_ptr<Clock> outside;
  uint32_t outsideFence = 0, outsideTransfers = 0;
  std::shared_ptr<Clock> drawn; // what items know; null: none anything
  struct ItemRelease {
    uint32_t own, item, id;
  };
  std::vector<ItemRelease> releases;
};

struct Races::Released {
  std::shared_ptr<const Clock> clock, drawn;
  uint32_t cta = 0, own = 0;
  int64_t transfer = -1;
  uint32_t item = 0;
  uint32_t firstRelease = 0, releases = 0; // of the item
  uint32_t remoteStores = 0;               // a prefix of the CTA's
  uint32_t peer = 0, toPeer = 0; // a prefix of the CTA's transfers to `peer`
};

struct Races::Look {
  uint32_t cta = 0;
  int32_t site = -1;
  bool write = false, add = false;
  const Transfer *transfer = nullptr; // whose access it is, if of any
  uint32_t id = 0;                    // of that transfer
  uint32_t index = 0;                 // of an own access
  uint32_t item = 0;
  const Clock *clock = nullptr;
};

Races::Races(uint32_t ranks, uint32_t ctas,
             std::function<int32_t(int32_t)> placeOf)
    : ctasOfRank_(ctas), placeOf_(std::move(placeOf)),
      ctas_(size_t(ranks) * ctas) {
  auto start = std::make_shared<Clock>();
  start->own.resize(ctas_.size());
  start->all.resize(ctas_.size());
  for (CtaState &cta : ctas_)
    cta.clock = start;
}

Races::~Races() = default;

Races::Clock &Races::mutableClock(uint32_t cta) {
  std::shared_ptr<Clock> &clock = ctas_[cta].clock;
  if (clock.use_count() > 1)
    clock = std::make_shared<Clock>(*clock);
  return *clock;
}

Races::Clock &Races::mutableDrawn(uint32_t cta) {
  CtaState &state = ctas_[cta];
  if (!state.drawn || state.drawn.use_count() > 1)
    state.drawn =
        std::make_shared<Clock>(state.drawn ? *state.drawn : *state.clock);
  return *state.drawn;
}

void Races::enter(uint32_t cta, int64_t draw) {
  CtaState &state = ctas_[cta];
  if (draw == state.draw)
    return;
  if (state.item) {
    std::shared_ptr<Clock> item = std::exchange(state.clock, state.outside);
    if (item != state.outside && !state.drawn)
      state.drawn = item;
    else if (item != state.outside)
      mutableDrawn(cta).join(*item);
  } else {
    state.outside = state.clock;
    state.outsideFence = state.fence;
    state.outsideTransfers = state.transfers.size();
  }
  state.fence = state.outsideFence;
  state.draw = draw;
  if (draw < 0) {
    state.item = 0;
    state.outside.reset();
    return;
  }
  state.item = ++state.items;
  state.firstRelease = state.releases.size();
  state.firstTransfer = state.transfers.size();
}

std::shared_ptr<Races::Released> Races::released(uint32_t cta) {
  CtaState &state = ctas_[cta];
  auto released = std::make_shared<Released>();
  released->clock = state.clock;
  released->cta = cta;
  released->own = state.own;
  released->item = state.item;
  if (!state.item) {
    released->drawn = state.drawn;
    return released;
  }
  auto &list = state.releases;
  if (list.size() == state.firstRelease || list.back().own < state.own)
    list.push_back({state.own, state.item, itemReleases_++});
  released->firstRelease = state.firstRelease;
  released->releases = list.size();
  return released;
}

std::shared_ptr<const Races::Released> Races::release(uint32_t cta,
                                                      const Event &event) {
  CtaState &state = ctas_[cta];
  auto released = this->released(cta);
  released->remoteStores = state.remoteStores.size();
  if (event.kind == Event::Signal && event.strong) {
    released->peer = event.peer;
    released->toPeer = state.toPeer[event.peer].size();
  }
  return released;
}

void Races::join(Clock &clock, const Released &released) const {
  if (&clock != released.clock.get())
    clock.join(*released.clock);
  const CtaState &from = ctas_[released.cta];
  uint32_t &own = clock.own[released.cta], &all = clock.all[released.cta];
  own = std::max(own, released.own);
  if (!released.item)
    all = std::max(all, released.own);
  if (released.drawn)
    clock.join(*released.drawn);
  for (uint32_t i = released.firstRelease; i < released.releases; ++i)
    clock.itemReleases.set(from.releases[i].id);
  if (released.transfer >= 0)
    clock.done.set(static_cast<uint32_t>(released.transfer));
  auto setDone = [&](const std::vector<uint32_t> &list, uint32_t count) {
    for (uint32_t i = 0; i < count; ++i)
      if (!released.item || transfers_[list[i]].precedes(released.item))
        clock.done.set(list[i]);
  };
  setDone(from.remoteStores, released.remoteStores);
  if (released.toPeer)
    setDone(from.toPeer.at(released.peer), released.toPeer);
}

void Races::acquire(uint32_t cta, const Released &released) {
  joined_ += 16 + ctas_.size();
  join(mutableClock(cta), released);
}

void Races::acquire(uint32_t cta, const Clock &clock) {
  mutableClock(cta).join(clock);
}

std::shared_ptr<const Races::Clock>
Races::common(const std::vector<Arrival> &arrivals, int64_t count) const {
  std::vector<Clock> clocks;
  for (const Arrival &arrival : arrivals)
    join(clocks.emplace_back(*arrival.released->clock), *arrival.released);
  // Whoever counts those that know least of a CTA knows the least of it. Arrivals that
  // happen before others know no more than those: they are among them in any case.
  auto result = std::make_shared<Clock>();
  std::vector<std::pair<uint32_t, int64_t>> known(arrivals.size());
  auto least = [&](auto of) {
    for (size_t i = 0; i < arrivals.size(); ++i)
      known[i] = {of(clocks[i]), arrivals[i].amount};
    std::sort(known.begin(), known.end());
    int64_t counted = 0;
    for (auto [value, amount] : known)
      if ((counted += amount) >= count)
        return value;
    return known.back().first;
  };
  for (size_t c = 0; c < ctas_.size(); ++c) {
    result->own.push_back(least([&](const Clock &clock) { return clock.own[c]; }));
    result->all.push_back(least([&](const Clock &clock) { return clock.all[c]; }));
  }
  // Known if those that do not know it are too few.
  auto certain = [&](Bits Clock::*bits, uint32_t size) {
    for (uint32_t bit = 0; bit < size; ++bit) {
      int64_t without = 0;
      for (size_t i = 0; i < arrivals.size() && without < count; ++i)
        without += (clocks[i].*bits).test(bit) ? 0 : arrivals[i].amount;
      if (without < count)
        ((*result).*bits).set(bit);
    }
  };
  certain(&Clock::itemReleases, itemReleases_);
  certain(&Clock::sourced, transfers_.size());
  certain(&Clock::done, transfers_.size());
  return result;
}

void Races::fence(uint32_t cta) {
  ctas_[cta].fence = ctas_[cta].transfers.size();
}

void Races::settle(uint32_t cta) {
  CtaState &state = ctas_[cta];
  uint32_t count = state.transfers.size();
  auto set = [&](uint32_t begin, uint32_t end) {
    for (uint32_t i = begin; i < end; ++i) {
      uint32_t t = state.transfers[i];
      if (transfers_[t].precedes(state.item)) {
        if (!state.clock->sourced.test(t))
          mutableClock(cta).sourced.set(t);
      } else { // of an item: known to what is released from here on
        mutableDrawn(cta).sourced.set(t);
      }
    }
  };
  if (state.item) {
    set(state.settled, state.outsideTransfers);
    set(state.firstTransfer, count);
    return;
  }
  set(state.settled, count);
  state.settled = count;
}

void Races::barrier() {
  auto all = std::make_shared<Clock>(*ctas_[0].clock);
  for (size_t c = 0; c < ctas_.size(); ++c) {
    all->join(*ctas_[c].clock);
    all->own[c] = all->all[c] = ctas_[c].own;
  }
  for (uint32_t t = 0; t < transfers_.size(); ++t)
    all->done.set(t), all->sourced.set(t);
  for (CtaState &cta : ctas_)
    cta.clock = all;
}

//===----------------------------------------------------------------------===//
// What happens before an access
//===----------------------------------------------------------------------===//

/// Whether a release of its item that is known covers the access.
bool Races::isReleased(const Own &own, const Clock &clock) const {
  const auto &list = ctas_[own.cta].releases;
  auto it = std::lower_bound(
      list.begin(), list.end(), own.index,
      [](const auto &release, uint32_t index) { return release.own < index; });
  return it != list.end() && it->item == own.item &&
         clock.itemReleases.test(it->id);
}

bool Races::before(const Own &own, bool write, const Look &look) const {
  if (own.item ? look.clock->all[own.cta] >= own.index ||
                     isReleased(own, *look.clock)
               : look.clock->own[own.cta] >= own.index)
    return true;
  // Of one CTA only a store and a later own load are unordered, and items that
  // others might have drawn.
  return own.cta == look.cta && (own.item == 0 || own.item == look.item) &&
         (look.transfer || look.write || !write);
}

bool Races::writeBefore(uint32_t id, const Look &look) const {
  const Transfer &t = transfers_[id];
  return look.clock->done.test(id) ||
         (look.transfer && t.cta == look.cta && t.peer == look.transfer->peer &&
          t.inCta < look.transfer->fence && t.precedes(look.item));
}

bool Races::readBefore(uint32_t id, const Look &look) const {
  return look.clock->sourced.test(id) || writeBefore(id, look);
}

void Races::report(const Look &look, const Access &other, uint32_t rank,
                   int32_t buffer, const Box &box) {
  auto place = [&](int32_t site) { return placeOf_ ? placeOf_(site) : site; };
  if (races_.size() >= kMaxRaces ||
      !reported_.insert({place(other.site), place(look.site)}).second)
    return;
  Access now{look.cta,
             look.site,
             look.write,
             look.transfer != nullptr,
             look.transfer && look.transfer->ofTile,
             look.item,
             box};
  races_.push_back({other, now, rank, buffer, other.box.intersection(box)});
}

void Races::look(const Look &look, uint32_t rank, int32_t bufferIndex,
                 const Box &box) {
  if (bufferIndex < 0 || box.empty())
    return;
  Buffer &buffer = bufferOf(rank, bufferIndex);
  uint32_t self = cellOf(buffer, box);
  bool clean = true;
  auto conflict = [&](const Access &other) {
    clean = false;
    report(look, other, rank, bufferIndex, box);
  };
  compared_ += buffer.cells[self].overlaps.size();
  for (uint32_t c : buffer.cells[self].overlaps) {
    const Cell &cell = buffer.cells[c];
    // Looked at in no time, unless there are very many.
    compared_ += (cell.writes.size() + cell.putWrites.size() +
                  (look.write ? cell.reads.size() + cell.putReads.size() : 0)) /
                 64;
    for (const Own &w : cell.writes)
      if (!(w.add && look.add) && !before(w, true, look))
        conflict({w.cta, w.site, true, false, false, w.item, cell.box});
    for (uint32_t t : cell.putWrites) {
      const Transfer &other = transfers_[t];
      if (&other != look.transfer && !(other.add && look.add) &&
          !writeBefore(t, look))
        conflict({other.cta, other.site, true, true, other.ofTile, other.item, cell.box});
    }
    if (!look.write)
      continue;
    for (const Own &r : cell.reads)
      if (!before(r, false, look))
        conflict({r.cta, r.site, false, false, false, r.item, cell.box});
    for (uint32_t t : cell.putReads) {
      const Transfer &other = transfers_[t];
      if (&other != look.transfer && !readBefore(t, look))
        conflict({other.cta, other.site, false, true, false, other.item, cell.box});
    }
  }
  // What lies wholly below an ordered write is ordered before all that this
  // write is: forget it. An add is no such write for other adds.
  if (look.write && !look.add && clean)
    for (uint32_t c : buffer.cells[self].overlaps) {
      Cell &cell = buffer.cells[c];
      if (box.contains(cell.box))
        cell.writes.clear(), cell.reads.clear(), cell.putWrites.clear(),
            cell.putReads.clear();
    }
  Cell &cell = buffer.cells[self];
  if (look.transfer) {
    (look.write ? cell.putWrites : cell.putReads).push_back(look.id);
    return;
  }
  // The last of a CTA or item stands for the earlier ones, which are released with it.
  std::vector<Own> &list = look.write ? cell.writes : cell.reads;
  Own own{look.cta, look.index, look.item, look.site, look.add};
  for (auto known = list.rbegin(); known != list.rend(); ++known) {
    if (known->cta == look.cta && known->item == look.item &&
        known->add == look.add) {
      *known = own;
      return;
    }
    if (known->cta == look.cta && known->item < look.item)
      break; // items of a CTA come in their order
  }
  list.push_back(own);
}

/// A put reads and writes in pieces: elements that are put to others of its own source may be
/// read before or behind that. Those that are put to themselves stay what they are.
void Races::lookAtEnds(Look look, const Event &event) {
  if (!event.add && event.boxes == event.dstBoxes)
    return;
  look.write = true;
  compared_ += event.boxes.size() * event.dstBoxes.size();
  for (const Box &from : event.boxes)
    for (const Box &to : event.dstBoxes)
      if (from.overlaps(to)) {
        size_t known = races_.size();
        report(look, {look.cta, look.site, false, true, false, look.item, from}, event.peer,
               event.buffer, to);
        if (races_.size() > known)
          races_.back().ofOnePut = true;
        return;
      }
}

void Races::access(uint32_t cta, const Event &event) {
  CtaState &state = ctas_[cta];
  Look look;
  look.cta = cta;
  look.site = event.site;
  look.write = event.kind != Event::Load;
  look.add = event.add;
  look.index = ++state.own;
  look.item = state.item;
  look.clock = state.clock.get();
  for (const Box &box : event.boxes)
    this->look(look, cta / ctasOfRank_, event.buffer, box);
}

std::shared_ptr<const Races::Released> Races::transfer(uint32_t cta,
                                                       const Event &event) {
  CtaState &state = ctas_[cta];
  auto id = static_cast<uint32_t>(transfers_.size());
  auto inCta = static_cast<uint32_t>(state.transfers.size());
  transfers_.push_back(
      {cta, event.peer, inCta, state.fence, state.item, event.site, event.add, event.ofTile});
  Look look;
  look.cta = cta;
  look.site = event.site;
  look.item = state.item;
  look.transfer = &transfers_.back();
  look.id = id;
  look.clock = state.clock.get();
  for (const Box &box : event.boxes)
    this->look(look, cta / ctasOfRank_, event.buffer, box);
  if (event.peer == cta / ctasOfRank_ && event.buffer == event.dstBuffer)
    lookAtEnds(look, event);
  look.write = true;
  look.add = event.add;
  for (const Box &box : event.dstBoxes)
    this->look(look, event.peer, event.dstBuffer, box);

  std::vector<uint32_t> &toPeer = state.toPeer[event.peer];
  std::shared_ptr<Released> released;
  if (event.object >= 0) {
    released = this->released(cta);
    released->transfer = id;
    released->peer = event.peer;
    if (event.strong)
      released->toPeer = toPeer.size();
    else // the fence orders earlier puts to that peer before the arrival
      released->toPeer =
          std::count_if(toPeer.begin(), toPeer.end(), [&](uint32_t t) {
            return transfers_[t].inCta < state.fence;
          });
  }
  state.transfers.push_back(id);
  toPeer.push_back(id);
  if (event.ofTile)
    state.remoteStores.push_back(id);
  return released;
}

//===----------------------------------------------------------------------===//
// Words
//===----------------------------------------------------------------------===//

const char *mk::check::verbOf(const Access &access) {
  if (access.put && !access.ofTile)
    return access.write ? "puts" : "takes a put's source from";
  return access.write ? "stores" : "loads";
}

const char *mk::check::remedyOf(const Race &race, bool byEngines) {
  const Access &a = race.first, &b = race.second;
  if (race.ofOnePut)
    return "source and destination of a put must not overlap: put to memory of its own, "
           "or load what is moved and store it";
  if (a.cta == b.cta && a.item != b.item)
    return "which CTA draws an item is chance: items of a loop are ordered by "
           "signals and waits (or counts) alone";
  if (a.put && !a.write && byEngines)
    return "copy engines wait for nothing: let the put raise a signal, the rank that has "
           "waited for it signal back, and wait for that before the source is written again";
  if (a.put && !a.write && a.cta != b.cta)
    return "settle (mk.settle) behind the put, signal, and wait for that before the source "
           "is written again";
  if (a.put && !a.write)
    return "settle (mk.settle) before the source of a put is written again";
  if (a.put && b.put && a.write && b.write && a.cta == b.cta && !byEngines)
    return "order the two writes by mk.fence, or by a signal and a wait, or give each memory of "
           "its own, as a slot for each";
  if (!a.put && !b.put && a.cta == b.cta)
    return "a store is not ordered before a later load of the same CTA: signal "
           "behind the store and wait before the load";
  if (a.write && !b.write)
    return "signal with or behind the write (a signal covers its own put "
           "alone, a strong one all earlier) and wait for that signal before "
           "the read";
  if (!a.write)
    return "signal when the read is done and wait for that before the memory "
           "is written again";
  return "order the two writes by a signal and a wait, or give each memory of "
         "its own, as a slot for each writer";
}
