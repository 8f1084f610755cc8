//===- Races.h - Accesses that nothing orders -------------------*- C++ -*-===//
//
// Happens-before of docs/memory-model.md, section 2, by vector clocks. What is
// known of a CTA is a prefix of its own accesses, since releases cover all of
// them; of its puts, which complete in any order, each by itself.
//
// A CTA's own accesses are not ordered by program order alone: a store and a
// later load of it may race, (not).
//
// Which CTA draws an item of a ticket or queue loop is chance, so that two items are
// unordered also if one CTA has drawn both: each knows what its CTA knew before the loop
// and what it finds out itself. What a CTA releases behind the loop covers its items.
//
//===----------------------------------------------------------------------===//
#ifndef MKERNEL_CHECK_RACES_H
#define MKERNEL_CHECK_RACES_H

#include "mkernel/Check/Event.h"

#include <functional>
#include <map>
#include <memory>
#include <set>
#include <unordered_map>

namespace mk::check {

/// One side of a race.
struct Access {
  uint32_t cta = 0;
  int32_t site = -1;
  bool write = false;
  bool put = false;    // asynchronous: a put's read or write, or a store at a rank
  bool ofTile = false; // put: it is such a store
  uint32_t item = 0; // of those that its CTA drew; 0: of none
  Box box;
};

struct Race {
  Access first, second; // in an order that would have been possible
  uint32_t rank = 0;    // whose memory
  int32_t buffer = 0;
  Box both; // elements of both
  /// They are the two ends of one put.
  bool ofOnePut = false;
};

/// For messages: what an access does ("loads", "puts"), and what to do about a
/// race. `byEngines`: the first access is one of copy engines.
const char *verbOf(const Access &access);
const char *remedyOf(const Race &race, bool byEngines = false);

class Races {
public:
  /// `placeOf`, if given: reports are one for each pair of places.
  Races(uint32_t ranks, uint32_t ctas,
        std::function<int32_t(int32_t)> placeOf = nullptr);
  ~Races();

  /// What an arrival, a count or a record releases.
  struct Released;
  /// What is known to have happened.
  struct Clock;

  /// What follows is of the item `draw` (Event::draw), or of none.
  void enter(uint32_t cta, int64_t draw);
  void access(uint32_t cta, const Event &event);
  /// A put: its accesses, and what its arrival releases; null if it makes none.
  std::shared_ptr<const Released> transfer(uint32_t cta, const Event &event);
  /// What happens before a signal, count or push of this CTA.
  std::shared_ptr<const Released> release(uint32_t cta, const Event &event);
  void acquire(uint32_t cta, const Released &released);
  void acquire(uint32_t cta, const Clock &clock);
  struct Arrival {
    int64_t amount;
    std::shared_ptr<const Released> released;
  };
  /// What happens before a wait for `count` of these arrivals, whichever they are.
  std::shared_ptr<const Clock> common(const std::vector<Arrival> &arrivals,
                                      int64_t count) const;
  void fence(uint32_t cta);
  void settle(uint32_t cta);
  /// Everything so far happens before everything that follows.
  void barrier();

  /// One for each pair of places, at most kMaxRaces.
  static constexpr size_t kMaxRaces = 16;
  const std::vector<Race> &races() const { return races_; }
  /// Pairs of boxes that overlap and were compared, which is what takes time.
  uint64_t compared() const { return compared_; }
  /// Words of clocks that waits have joined: each wait joins those of all arrivals it counts.
  uint64_t joined() const { return joined_; }

private:
  class Bits;
  struct Transfer;
  struct Own {
    uint32_t cta, index;
    uint32_t item; // 0: none that is drawn
    int32_t site;
    bool add;
  };
  /// History of one box.
  struct Cell {
    Box box;
    std::vector<Own> writes, reads;
    std::vector<uint32_t> putWrites, putReads; // transfers
    std::vector<uint32_t> overlaps;            // cells, itself included
  };
  struct Buffer {
    std::vector<Cell> cells;
    std::unordered_map<size_t, std::vector<uint32_t>> byHash;
    // Who may overlap: cells by the squares of a grid that they touch, and
    // those that touch many.
    std::array<int64_t, Box::kMaxRank> grid{};
    std::unordered_map<size_t, std::vector<uint32_t>> squares;
    std::vector<uint32_t> large;
  };
  struct CtaState;
  /// One access that is looked at.
  struct Look;

  Buffer &bufferOf(uint32_t rank, int32_t buffer);
  uint32_t cellOf(Buffer &buffer, const Box &box);
  void connect(Buffer &buffer, uint32_t cell);
  Clock &mutableClock(uint32_t cta);
  Clock &mutableDrawn(uint32_t cta);
  void join(Clock &clock, const Released &released) const;
  std::shared_ptr<Released> released(uint32_t cta);
  bool isReleased(const Own &own, const Clock &clock) const;
  bool before(const Own &own, bool write, const Look &look) const;
  bool writeBefore(uint32_t transfer, const Look &look) const;
  bool readBefore(uint32_t transfer, const Look &look) const;
  void look(const Look &look, uint32_t rank, int32_t buffer, const Box &box);
  void lookAtEnds(Look look, const Event &event);
  void report(const Look &look, const Access &other, uint32_t rank,
              int32_t buffer, const Box &box);

  uint32_t ctasOfRank_;
  std::function<int32_t(int32_t)> placeOf_;
  std::vector<CtaState> ctas_;
  std::vector<Transfer> transfers_;
  uint32_t itemReleases_ = 0;
  std::map<std::pair<uint32_t, int32_t>, Buffer> buffers_;
  std::set<std::pair<int32_t, int32_t>> reported_;
  std::vector<Race> races_;
  uint64_t compared_ = 0, joined_ = 0;
};

} // namespace mk::check

#endif // MKERNEL_CHECK_RACES_H
