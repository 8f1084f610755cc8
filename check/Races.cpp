//===- Races.cpp - Accesses that nothing orders ---------------------------===//

#include "mkernel/Check/Races.h"

#include <algorithm>

using namespace mk::check;

//===----------------------------------------------------------------------===//
// Boxes
//===----------------------------------------------------------------------===//

bool Box::empty() const {
  for (int d = 0; d < rank; ++d)
    if (size[d] <= 0)
      return true;
  return false;
}

bool Box::overlaps(const Box &other) const {
  for (int d = 0; d < rank; ++d)
    if (begin[d] >= other.begin[d] + other.size[d] ||
        other.begin[d] >= begin[d] + size[d])
      return false;
  return true;
}

bool Box::contains(const Box &other) const {
  for (int d = 0; d < rank; ++d)
    if (other.begin[d] < begin[d] ||
        other.begin[d] + other.size[d] > begin[d] + size[d])
      return false;
  return true;
}

Box Box::intersection(const Box &other) const {
  Box both = *this;
  for (int d = 0; d < rank; ++d) {
    int64_t end = std::min(begin[d] + size[d], other.begin[d] + other.size[d]);
    both.begin[d] = std::max(begin[d], other.begin[d]);
    both.size[d] = std::max<int64_t>(end - both.begin[d], 0);
  }
  return both;
}

std::string Box::toString() const {
  std::string text = "[";
  for (int d = 0; d < rank; ++d) {
    text += (d ? ", " : "") + std::to_string(begin[d]);
    if (size[d] != 1)
      text += ":" + std::to_string(begin[d] + size[d]);
  }
  return text + "]";
}

//===----------------------------------------------------------------------===//
// Clocks
//===----------------------------------------------------------------------===//

struct Races::Clock {
  std::vector<uint32_t> own;     // by CTA: own accesses, a prefix
  std::vector<uint32_t> sourced; // by CTA: puts that have read their sources
  std::vector<uint64_t> done;    // bits by transfer: written

  bool isDone(uint32_t transfer) const {
    size_t word = transfer / 64;
    return word < done.size() && done[word] >> (transfer % 64) & 1;
  }
  void setDone(uint32_t transfer) {
    size_t word = transfer / 64;
    if (word >= done.size())
      done.resize(word + 1);
    done[word] |= uint64_t(1) << (transfer % 64);
  }
  void join(const Clock &other) {
    for (size_t i = 0; i < own.size(); ++i) {
      own[i] = std::max(own[i], other.own[i]);
      sourced[i] = std::max(sourced[i], other.sourced[i]);
    }
    if (done.size() < other.done.size())
      done.resize(other.done.size());
    for (size_t i = 0; i < other.done.size(); ++i)
      done[i] |= other.done[i];
  }
};

/// A put or a store to a peer.
struct Races::Transfer {
  uint32_t cta, peer;
  uint32_t inCta; // how many transfers of the CTA came before
  uint32_t fence; // those before this one are ordered if to the same peer
  int32_t site;
  bool add;
};

struct Races::CtaState {
  std::shared_ptr<Clock> clock; // what happens before all that follows
  uint32_t own = 0;             // own accesses so far
  uint32_t fence = 0;           // transfers before the last fence
  std::vector<uint32_t> transfers, remoteStores;
  std::map<uint32_t, std::vector<uint32_t>> toPeer;
};

struct Races::Released {
  std::shared_ptr<const Clock> clock;
  uint32_t cta = 0, own = 0;
  int64_t transfer = -1;
  uint32_t remoteStores = 0;     // a prefix of the CTA's
  uint32_t peer = 0, toPeer = 0; // a prefix of the CTA's transfers to `peer`
};

struct Races::Look {
  uint32_t cta = 0;
  int32_t site = -1;
  bool write = false, add = false;
  const Transfer *transfer = nullptr; // whose access it is, if of any
  uint32_t id = 0;                    // of that transfer
  uint32_t index = 0;                 // of an own access
  const Clock *clock = nullptr;
};

Races::Races(uint32_t ranks, uint32_t ctas,
             std::function<int32_t(int32_t)> placeOf)
    : ctasOfRank_(ctas), placeOf_(std::move(placeOf)),
      ctas_(size_t(ranks) * ctas) {
  auto start = std::make_shared<Clock>();
  start->own.resize(ctas_.size());
  start->sourced.resize(ctas_.size());
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

std::shared_ptr<const Races::Released> Races::release(uint32_t cta,
                                                      const Event &event) {
  CtaState &state = ctas_[cta];
  auto released = std::make_shared<Released>();
  released->clock = state.clock;
  released->cta = cta;
  released->own = state.own;
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
  clock.own[released.cta] = std::max(clock.own[released.cta], released.own);
  if (released.transfer >= 0)
    clock.setDone(static_cast<uint32_t>(released.transfer));
  for (uint32_t i = 0; i < released.remoteStores; ++i)
    clock.setDone(from.remoteStores[i]);
  if (released.toPeer) {
    const std::vector<uint32_t> &list = from.toPeer.at(released.peer);
    for (uint32_t i = 0; i < released.toPeer; ++i)
      clock.setDone(list[i]);
  }
}

void Races::acquire(uint32_t cta, const Released &released) {
  join(mutableClock(cta), released);
}

void Races::acquire(uint32_t cta, const Clock &clock) {
  mutableClock(cta).join(clock);
}

std::shared_ptr<const Races::Clock>
Races::common(const std::vector<Arrival> &arrivals, int64_t count) const {
  std::vector<Clock> clocks;
  for (const Arrival &arrival : arrivals) {
    join(clocks.emplace_back(*arrival.released->clock), *arrival.released);
    clocks.back().done.resize((transfers_.size() + 63) / 64);
  }
  // Whoever counts those that know least of a CTA knows the least of it. Arrivals that
  // happen before others know no more than those: they are among them in any case.
  auto result = std::make_shared<Clock>(clocks.front());
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
    result->own[c] = least([&](const Clock &clock) { return clock.own[c]; });
    result->sourced[c] =
        least([&](const Clock &clock) { return clock.sourced[c]; });
  }
  result->done.clear();
  for (uint32_t t = 0; t < transfers_.size(); ++t)
    if (least([&](const Clock &clock) { return uint32_t(clock.isDone(t)); }))
      result->setDone(t);
  return result;
}

void Races::fence(uint32_t cta) {
  ctas_[cta].fence = ctas_[cta].transfers.size();
}

void Races::settle(uint32_t cta) {
  uint32_t count = ctas_[cta].transfers.size();
  if (ctas_[cta].clock->sourced[cta] < count)
    mutableClock(cta).sourced[cta] = count;
}

void Races::barrier() {
  auto all = std::make_shared<Clock>(*ctas_[0].clock);
  for (size_t c = 0; c < ctas_.size(); ++c) {
    all->join(*ctas_[c].clock);
    all->own[c] = ctas_[c].own;
    all->sourced[c] = ctas_[c].transfers.size();
  }
  for (uint32_t t = 0; t < transfers_.size(); ++t)
    all->setDone(t);
  for (CtaState &cta : ctas_)
    cta.clock = all;
}

//===----------------------------------------------------------------------===//
// What happens before an access
//===----------------------------------------------------------------------===//

bool Races::before(const Own &own, bool write, const Look &look) const {
  if (look.clock->own[own.cta] >= own.index)
    return true;
  // Of one CTA only a store and a later own load are unordered.
  return own.cta == look.cta && (look.transfer || look.write || !write);
}

bool Races::writeBefore(uint32_t id, const Look &look) const {
  const Transfer &t = transfers_[id];
  return look.clock->isDone(id) ||
         (look.transfer && t.cta == look.cta && t.peer == look.transfer->peer &&
          t.inCta < look.transfer->fence);
}

bool Races::readBefore(uint32_t id, const Look &look) const {
  const Transfer &t = transfers_[id];
  return look.clock->sourced[t.cta] > t.inCta || writeBefore(id, look);
}

void Races::report(const Look &look, const Access &other, uint32_t rank,
                   int32_t buffer, const Box &box) {
  auto place = [&](int32_t site) { return placeOf_ ? placeOf_(site) : site; };
  if (races_.size() >= kMaxRaces ||
      !reported_.insert({place(other.site), place(look.site)}).second)
    return;
  Access now{look.cta, look.site, look.write, look.transfer != nullptr, box};
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
    for (const Own &w : cell.writes)
      if (!(w.add && look.add) && !before(w, true, look))
        conflict({w.cta, w.site, true, false, cell.box});
    for (uint32_t t : cell.putWrites) {
      const Transfer &other = transfers_[t];
      if (&other != look.transfer && !(other.add && look.add) &&
          !writeBefore(t, look))
        conflict({other.cta, other.site, true, true, cell.box});
    }
    if (!look.write)
      continue;
    for (const Own &r : cell.reads)
      if (!before(r, false, look))
        conflict({r.cta, r.site, false, false, cell.box});
    for (uint32_t t : cell.putReads)
      if (&transfers_[t] != look.transfer && !readBefore(t, look))
        conflict(
            {transfers_[t].cta, transfers_[t].site, false, true, cell.box});
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
  // The last of a CTA stands for the earlier ones, which are released with it.
  std::vector<Own> &list = look.write ? cell.writes : cell.reads;
  Own own{look.cta, look.index, look.site, look.add};
  for (Own &known : list)
    if (known.cta == look.cta && known.add == look.add) {
      known = own;
      return;
    }
  list.push_back(own);
}

void Races::access(uint32_t cta, const Event &event) {
  CtaState &state = ctas_[cta];
  Look look;
  look.cta = cta;
  look.site = event.site;
  look.write = event.kind != Event::Load;
  look.add = event.add;
  look.index = ++state.own;
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
      {cta, event.peer, inCta, state.fence, event.site, event.add});
  Look look;
  look.cta = cta;
  look.site = event.site;
  look.transfer = &transfers_.back();
  look.id = id;
  look.clock = state.clock.get();
  for (const Box &box : event.boxes)
    this->look(look, cta / ctasOfRank_, event.buffer, box);
  look.write = true;
  look.add = event.add;
  for (const Box &box : event.dstBoxes)
    this->look(look, event.peer, event.dstBuffer, box);

  auto released = std::make_shared<Released>();
  released->clock = state.clock;
  released->cta = cta;
  released->own = state.own;
  released->transfer = id;
  released->peer = event.peer;
  std::vector<uint32_t> &toPeer = state.toPeer[event.peer];
  if (event.strong)
    released->toPeer = toPeer.size();
  else // the fence orders earlier puts to that peer before the arrival
    released->toPeer =
        std::count_if(toPeer.begin(), toPeer.end(), [&](uint32_t t) {
          return transfers_[t].inCta < state.fence;
        });
  state.transfers.push_back(id);
  toPeer.push_back(id);
  if (event.ofTile)
    state.remoteStores.push_back(id);
  return released;
}

//===----------------------------------------------------------------------===//
// Cells
//===----------------------------------------------------------------------===//

Races::Buffer &Races::bufferOf(uint32_t rank, int32_t buffer) {
  return buffers_[{rank, buffer}];
}

static size_t mix(size_t hash, int64_t value) {
  return (hash ^ static_cast<size_t>(value)) * 0x9e3779b97f4a7c15u +
         (hash >> 29);
}

uint32_t Races::cellOf(Buffer &buffer, const Box &box) {
  size_t hash = 0;
  for (int d = 0; d < box.rank; ++d)
    hash = mix(mix(hash, box.begin[d]), box.size[d]);
  std::vector<uint32_t> &same = buffer.byHash[hash];
  for (uint32_t c : same)
    if (buffer.cells[c].box == box)
      return c;
  auto id = static_cast<uint32_t>(buffer.cells.size());
  same.push_back(id);
  buffer.cells.emplace_back().box = box;
  connect(buffer, id);
  return id;
}

/// Finds the cells that overlap a new one. Squares are as large as the first.
void Races::connect(Buffer &buffer, uint32_t id) {
  const Box box = buffer.cells[id].box;
  if (id == 0)
    for (int d = 0; d < box.rank; ++d)
      buffer.grid[d] = box.size[d];
  std::array<int64_t, Box::kMaxRank> first{}, at{}, last{};
  constexpr int64_t kMany = 32;
  int64_t squares = 1;
  for (int d = 0; d < box.rank; ++d) {
    at[d] = first[d] = box.begin[d] / buffer.grid[d];
    last[d] = (box.begin[d] + box.size[d] - 1) / buffer.grid[d];
    squares *= std::min(last[d] - first[d] + 1, kMany + 1);
  }
  std::set<uint32_t> near(buffer.large.begin(), buffer.large.end());
  if (squares > kMany) {
    for (uint32_t c = 0; c < id; ++c)
      near.insert(c);
    buffer.large.push_back(id);
  } else {
    for (int d = 0; d >= 0;) {
      size_t hash = 0;
      for (int k = 0; k < box.rank; ++k)
        hash = mix(hash, at[k]);
      std::vector<uint32_t> &square = buffer.squares[hash];
      near.insert(square.begin(), square.end());
      square.push_back(id);
      for (d = box.rank - 1; d >= 0 && ++at[d] > last[d]; --d)
        at[d] = first[d];
    }
  }
  buffer.cells[id].overlaps.push_back(id);
  compared_ += near.size();
  for (uint32_t c : near)
    if (c != id && buffer.cells[c].box.overlaps(box)) {
      buffer.cells[id].overlaps.push_back(c);
      buffer.cells[c].overlaps.push_back(id);
    }
}

//===----------------------------------------------------------------------===//
// Words
//===----------------------------------------------------------------------===//

const char *mk::check::verbOf(const Access &access) {
  if (access.put)
    return access.write ? "puts" : "takes a put's source from";
  return access.write ? "stores" : "loads";
}

const char *mk::check::remedyOf(const Race &race) {
  const Access &a = race.first, &b = race.second;
  if (a.put && !a.write)
    return "settle (mk.settle) before the source of a put is written again";
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
  return "order the two writes by a signal and a wait";
}
