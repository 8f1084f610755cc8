//===- Machine.h - Runs the events of all CTAs ------------------*- C++ -*-===//
//
// Carries out what CTAs do, as far as signals, counters and queues are
// concerned, in one of the orders that are possible. Signals only grow, so that
// whether every wait returns does not depend on the order, as long as
// what CTAs do does not. It does where they draw items or count: there other orders
// may show what one hides.
//
//===----------------------------------------------------------------------===//
#ifndef MKERNEL_CHECK_MACHINE_H
#define MKERNEL_CHECK_MACHINE_H

#include "mkernel/Check/Races.h"

#include <deque>
#include <functional>
#include <random>

namespace mk::check {

/// What waits that ask for fewer arrivals than an element gets can rely on.
struct Guarantees;

struct MachineOptions {
  bool races = true;
  /// Who goes on next: CTAs take turns; the last one that can, as far as it can, and of
  /// those that count in items the one that drew last; anyone, by the seed.
  enum class Order { InTurn, LastFirst, Random };
  Order order = Order::InTurn;
  uint64_t seed = 0;
  /// A race is reported once for each pair of places; none: sites are places.
  std::function<int32_t(int32_t site)> placeOf;
  uint64_t maxEvents = UINT64_MAX;
  /// Pairs of overlapping boxes; many where every tile overlaps many others.
  uint64_t maxCompared = UINT64_MAX;
  /// Of an earlier run of the same program, see Machine::guarantees.
  std::shared_ptr<const Guarantees> guarantees;
};

class Machine {
public:
  using Options = MachineOptions;
  /// Ranks, CTAs of a rank.
  Machine(uint32_t ranks, uint32_t ctas, Program &program,
          Options options = {});
  ~Machine();

  enum class End { Done, Stuck, Unknown, TooLong };
  /// Until all CTAs have ended, wait or cannot be followed (Unknown). TooLong:
  /// maxEvents or maxCompared have passed.
  End run();

  /// After a run: a wait for some of an element's arrivals saw those that came
  /// first by chance. A second run that is given this assumes no more than any
  /// choice of them would tell, and so finds races that the first one hid (of as many
  /// waits as can be compared in a moment; `all` becomes false if there are more). Null if
  /// there is no such wait.
  std::shared_ptr<const Guarantees> guarantees(bool *all = nullptr) const;

  struct Blocked {
    uint32_t cta = 0;
    const Event *event = nullptr;
    int64_t seen = 0; // arrivals so far, value of a counter, records
  };
  /// After Stuck.
  std::vector<Blocked> blocked() const;

  /// An arrival that was made after the waits had been dropped.
  struct Raise {
    uint32_t cta = 0;    // who
    uint32_t rank = 0;   // where
    int32_t object = 0;  // signal, or queue
    int64_t element = 0; // of a signal
    int64_t amount = 0;
    int32_t site = -1;
    bool queue = false;
  };
  /// After Stuck: goes on as if nothing had to be waited for, and says what
  /// would be raised. Records of queues that are not there end their CTA.
  std::vector<Raise> force();

  /// Arrivals at each element that got any.
  struct Element {
    uint32_t rank;
    int32_t signal;
    int64_t element;
    auto operator<=>(const Element &) const = default;
  };
  const std::map<Element, int64_t> &arrivals() const { return counts_; }
  /// Elements that were waited for, also for nothing, each with who did first.
  struct Waiter {
    uint32_t cta;
    int32_t site;
    int64_t amount;
  };
  const std::map<Element, Waiter> &waited() const { return waited_; }

  /// Counts of elements that several CTAs or drawn items count: their values were of one
  /// of several orders. By site.
  const std::set<int32_t> &ordersOfCounts() const { return ordersOfCounts_; }

  uint64_t events() const { return events_; }
  const std::vector<Race> &races() const { return races_->races(); }

private:
  struct Signal;
  struct Counter;
  struct Queue;
  struct Cta;
  enum class Step { Going, Yield, Blocked };

  uint32_t takeNext();
  bool holdsBack(const Event &event);
  Step carryOut(uint32_t cta, Event &event);
  Step wait(uint32_t cta, const Event &event);
  Step count(uint32_t cta, const Event &event);
  Step push(uint32_t cta, const Event &event);
  Step pop(uint32_t cta, const Event &event);
  void arrive(uint32_t cta, const Event &event, uint32_t rank,
              std::shared_ptr<const Races::Released> released);
  void wake(std::vector<uint32_t> &waiters);
  uint32_t rankOf(uint32_t cta) const { return cta / ctasOfRank_; }

  uint32_t ctasOfRank_;
  Program &program_;
  Options options_;
  std::unique_ptr<Races> races_;
  std::vector<Cta> ctas_;
  std::deque<uint32_t> ready_;
  std::vector<uint32_t> held_; // ready, but others may come first
  std::minstd_rand random_;
  std::map<Element, Signal> signals_;
  std::map<Element, int64_t> counts_;
  std::map<Element, Counter> counters_; // `signal` is the counter
  std::map<std::pair<uint32_t, int32_t>, Queue> queues_;
  std::map<Element, std::set<int64_t>> asked_; // by waits
  std::map<Element, Waiter> waited_;
  std::set<int32_t> ordersOfCounts_;
  uint32_t atBarrier_ = 0, ended_ = 0;
  uint64_t events_ = 0;
  bool forced_ = false, unknown_ = false;
  std::vector<Raise> raises_;
};

} // namespace mk::check

#endif // MKERNEL_CHECK_MACHINE_H
