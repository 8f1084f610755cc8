//===- RacesTest.cpp - Litmus tests of happens-before ---------------------===//
//
// Numbers are those of docs/memory-model.md, section 3. Buffer 0 is `x`, 1 `y`.
//
//===----------------------------------------------------------------------===//

#include "mkernel/Check/Log.h"
#include "mkernel/Check/Machine.h"

#include <gtest/gtest.h>

using namespace mk::check;

namespace {

/// Events by CTA; one CTA on each rank unless said otherwise.
struct Litmus : Program {
  std::vector<std::vector<Event>> ctas;
  std::vector<size_t> at;
  uint32_t perRank = 1;

  explicit Litmus(std::vector<std::vector<Event>> events, uint32_t perRank = 1)
      : ctas(std::move(events)), at(ctas.size()), perRank(perRank) {}
  Next next(uint32_t cta, Event &event) override {
    if (at[cta] == ctas[cta].size())
      return Next::End;
    event = ctas[cta][at[cta]++];
    return Next::Event;
  }
  size_t races() {
    Machine machine(ctas.size() / perRank, perRank, *this);
    EXPECT_EQ(machine.run(), Machine::End::Done);
    MachineOptions options;
    options.guarantees = machine.guarantees();
    if (!machine.races().empty() || !options.guarantees)
      return machine.races().size();
    std::fill(at.begin(), at.end(), 0);
    Machine again(ctas.size() / perRank, perRank, *this, options);
    EXPECT_EQ(again.run(), Machine::End::Done);
    return again.races().size();
  }
};

Box box(int64_t begin, int64_t size = 1) {
  Box b;
  b.rank = 1;
  b.begin[0] = begin;
  b.size[0] = size;
  return b;
}

int32_t sites = 0;

Event access(Event::Kind kind, int32_t buffer, Box where) {
  Event e;
  e.kind = kind;
  e.site = sites++;
  e.buffer = buffer;
  e.boxes = {where};
  return e;
}
Event load(int32_t buffer, Box where) {
  return access(Event::Load, buffer, where);
}
Event store(int32_t buffer, Box where) {
  return access(Event::Store, buffer, where);
}
Event put(Box from, Box to, uint32_t peer, int32_t signal = -1,
          int64_t element = 0, bool strong = false) {
  Event e = access(Event::Put, 0, from);
  e.dstBuffer = 1;
  e.dstBoxes = {to};
  e.peer = peer;
  e.object = signal;
  e.element = element;
  e.strong = strong;
  return e;
}
Event remoteStore(Box to, uint32_t peer) {
  Event e = put(box(0), to, peer);
  e.boxes.clear();
  e.ofTile = true;
  return e;
}
Event object(Event::Kind kind, int64_t element, int64_t amount,
             uint32_t peer = 0, bool strong = false) {
  Event e;
  e.kind = kind;
  e.site = sites++;
  e.object = 0;
  e.element = element;
  e.amount = amount;
  e.peer = peer;
  e.strong = strong;
  return e;
}
Event wait(int64_t element, int64_t n = 1) {
  return object(Event::Wait, element, n);
}
Event raise(int64_t element, uint32_t peer, bool strong = false) {
  return object(Event::Signal, element, 1, peer, strong);
}
Event plain(Event::Kind kind) {
  Event e;
  e.kind = kind;
  return e;
}

size_t races(std::vector<std::vector<Event>> events, uint32_t perRank = 1) {
  return Litmus(std::move(events), perRank).races();
}

TEST(Races, MessagePassing) { // 1
  EXPECT_EQ(races({{store(0, box(0)), put(box(0), box(0), 1, 0)},
                   {wait(0), load(1, box(0))}}),
            0u);
  EXPECT_EQ(races({{store(0, box(0)), put(box(0), box(0), 1, 0)},
                   {load(1, box(0)), wait(0)}}),
            1u);
}

TEST(Races, WeakStrongAndFence) { // 2, 3, 4, 5
  auto two = [&](std::vector<Event> between, bool strong) {
    std::vector<Event> sender = {put(box(0), box(0), 1)};
    sender.insert(sender.end(), between.begin(), between.end());
    sender.push_back(put(box(1), box(1), 1, 0, 0, strong));
    return races({sender, {wait(0), load(1, box(0, 2))}});
  };
  EXPECT_EQ(two({}, false), 1u);
  EXPECT_EQ(two({}, true), 0u);
  EXPECT_EQ(two({plain(Event::Fence)}, false), 0u);
  auto behind = [&](Event first, bool strong) {
    return races({{first, raise(0, 1, strong)}, {wait(0), load(1, box(0))}});
  };
  EXPECT_EQ(behind(put(box(0), box(0), 1), false), 1u);
  EXPECT_EQ(behind(put(box(0), box(0), 1), true), 0u);
  EXPECT_EQ(behind(remoteStore(box(0), 1), false), 0u);
}

// A store that names its rank is a remote one, whichever that is.
TEST(Races, RemoteStoresAtTheOwnRank) {
  EXPECT_EQ(races({{remoteStore(box(0, 4), 0), remoteStore(box(2), 0)}}), 1u);
  EXPECT_EQ(races({{remoteStore(box(0, 4), 0), plain(Event::Fence), remoteStore(box(2), 0)}}), 0u);
  EXPECT_EQ(races({{store(1, box(0, 4)), store(1, box(2))}}), 0u);
}

TEST(Races, EndsOfOnePut) {
  auto within = [](Box from, Box to, uint32_t peer, bool add) {
    Event e = put(from, to, peer);
    e.buffer = 1;
    e.add = add;
    return races({{e}, {}});
  };
  EXPECT_EQ(within(box(0, 4), box(2, 4), 0, false), 1u);
  EXPECT_EQ(within(box(0, 4), box(4, 4), 0, false), 0u);
  EXPECT_EQ(within(box(0, 4), box(0, 4), 0, false), 0u);
  EXPECT_EQ(within(box(0, 4), box(0, 4), 0, true), 1u);
  EXPECT_EQ(within(box(0, 4), box(2, 4), 1, false), 0u);
}

TEST(Races, Overtaking) { // 6
  EXPECT_EQ(races({{put(box(0), box(0), 1, 0, 0), put(box(1), box(1), 1, 0, 1)},
                   {wait(1), load(1, box(0))}}),
            1u);
  EXPECT_EQ(races({{put(box(0), box(0), 1, 0, 0), put(box(1), box(1), 1, 0, 1)},
                   {wait(1), wait(0), load(1, box(0))}}),
            0u);
}

TEST(Races, Settle) { // 7
  EXPECT_EQ(races({{put(box(0), box(0), 1, 0), store(0, box(0))}, {}}), 1u);
  EXPECT_EQ(races({{put(box(0), box(0), 1, 0), plain(Event::Settle),
                    store(0, box(0))},
                   {}}),
            0u);
}

TEST(Races, SomeOfTwoArrivals) { // 8
  auto with = [&](int64_t n) {
    return races({{put(box(0), box(0), 1, 0), put(box(1), box(1), 1, 0)},
                  {wait(0, n), load(1, box(0, 2))}});
  };
  EXPECT_EQ(with(1), 1u);
  EXPECT_EQ(with(2), 0u);
}

TEST(Races, WhicheverArrivalsAreCounted) { // (arrive)
  // Also if the one that is read comes first in this run.
  for (int64_t first : {0, 1})
    EXPECT_EQ(races({{put(box(0), box(0), 2, 0)},
                     {put(box(1), box(1), 2, 0)},
                     {wait(0, 1), load(1, box(first))}}),
              1u)
        << first;
  // Either covers what happened before both of them.
  EXPECT_EQ(races({{store(0, box(0)), raise(1, 0), raise(2, 0)},
                   {wait(1), raise(0, 0)},
                   {wait(2), raise(0, 0)},
                   {wait(0, 1), load(0, box(0))}},
                  4),
            0u);
  // Of one CTA the later covers what the earlier does.
  EXPECT_EQ(races({{store(0, box(0)), raise(0, 0), store(0, box(1)), raise(0, 0)},
                   {wait(0, 1), load(0, box(0)), wait(0, 2), load(0, box(1))}},
                  2),
            0u);
  EXPECT_EQ(races({{store(0, box(0)), raise(0, 0), store(0, box(1)), raise(0, 0)},
                   {wait(0, 1), load(0, box(1))}},
                  2),
            1u);
  // Two of three: none of them for certain.
  EXPECT_EQ(races({{put(box(0), box(0), 3, 0)},
                   {put(box(1), box(1), 3, 0)},
                   {put(box(2), box(2), 3, 0)},
                   {wait(0, 2), load(1, box(0))}}),
            1u);
}

TEST(Races, StoreAndLoadOfOneCta) { // 14
  EXPECT_EQ(races({{store(0, box(0)), load(0, box(0))}}), 1u);
  EXPECT_EQ(races({{store(0, box(0)), raise(0, 0), wait(0), load(0, box(0))}}),
            0u);
  EXPECT_EQ(races({{load(0, box(0)), store(0, box(0))}}), 0u);
  EXPECT_EQ(races({{store(0, box(0)), load(0, box(1))}}), 0u);
}

TEST(Races, LastArriver) { // 15
  auto counted = [](int64_t before) {
    Event e = object(Event::Count, 0, 1);
    e.order = before;
    return e;
  };
  EXPECT_EQ(races({{store(0, box(0)), counted(0)},
                   {store(0, box(1)), counted(1), load(0, box(0, 2))}},
                  2),
            0u);
  EXPECT_EQ(races({{store(0, box(0)), counted(1), load(0, box(0, 2))},
                   {counted(0), store(0, box(1))}},
                  2),
            1u);
}

TEST(Races, Transitivity) { // 16
  Event forward = put(box(0), box(0), 2, 0);
  forward.buffer = 1; // what has arrived
  forward.dstBuffer = 2;
  EXPECT_EQ(races({{put(box(0), box(0), 1, 0)},
                   {wait(0), forward},
                   {wait(0), load(2, box(0))}}),
            0u);
}

TEST(Races, AddsAndBarrier) { // 13
  auto add = [&](uint32_t peer) {
    Event e = remoteStore(box(0), peer);
    e.add = true;
    return e;
  };
  Event zero = store(1, box(0));
  EXPECT_EQ(races({{plain(Event::Barrier), add(2)},
                   {plain(Event::Barrier), add(2)},
                   {zero, plain(Event::Barrier)}}),
            0u);
  EXPECT_EQ(races({{add(1)}, {zero}}), 1u);
}

TEST(Races, ManyBoxes) { // whoever overlaps is found, wherever it lies
  for (int64_t size : {1, 3, 40, 400}) {
    std::vector<Event> writes;
    for (int64_t i = 0; i < 100; ++i)
      writes.push_back(store(0, box(i * 4, 4)));
    for (int64_t at : {0, 2, 77, 396})
      EXPECT_EQ(races({writes, {load(0, box(at, size))}}, 2),
                std::min<size_t>(16, std::min<int64_t>((at + size + 3) / 4, 100) -
                                         at / 4))
          << at << " " << size;
  }
}

/// As what item `draw` does.
std::vector<Event> item(int64_t draw, std::vector<Event> events) {
  for (Event &event : events)
    event.draw = draw;
  return events;
}

std::vector<Event> joined(std::vector<std::vector<Event>> parts) {
  std::vector<Event> all;
  for (const std::vector<Event> &part : parts)
    all.insert(all.end(), part.begin(), part.end());
  return all;
}

TEST(Races, DrawnItems) { // another CTA might have drawn one of them
  Event source = put(box(0), box(0), 1);
  auto two = [&](int64_t first, int64_t second) {
    return races({joined({item(first, {store(0, box(0))}),
                          item(second, {store(0, box(0))})})});
  };
  EXPECT_EQ(two(0, 1), 1u);
  EXPECT_EQ(two(-1, 1), 0u); // before the loop
  EXPECT_EQ(two(0, -1), 1u); // behind it
  EXPECT_EQ(two(1, 1), 0u);

  // What one has waited for the other has not.
  auto reader = [&](int64_t waits, int64_t loads) {
    return races({{put(box(0), box(0), 1, 0)},
                  joined({item(waits, {wait(0)}),
                          item(loads, {load(1, box(0))})})});
  };
  EXPECT_EQ(reader(0, 1), 1u);
  EXPECT_EQ(reader(-1, 1), 0u);
  EXPECT_EQ(reader(0, -1), 1u);
  EXPECT_EQ(reader(1, 1), 0u);

  // A release covers its own item, one behind the loop all.
  auto writer = [&](int64_t stores, int64_t raises) {
    return races({joined({item(stores, {store(0, box(0))}),
                          item(raises, {raise(0, 0)})}),
                  {wait(0), load(0, box(0))}},
                 2);
  };
  EXPECT_EQ(writer(0, 1), 1u);
  EXPECT_EQ(writer(0, 0), 0u);
  EXPECT_EQ(writer(0, -1), 0u);
  EXPECT_EQ(writer(-1, 0), 0u);
  // Also what they have waited for.
  EXPECT_EQ(races({{store(0, box(0)), raise(0, 0)},
                   joined({item(0, {wait(0)}), item(1, {}), {raise(1, 0)}}),
                   {wait(1), load(0, box(0))}},
                  3),
            0u);

  // Strong signals, fences and settles cover puts of their own item, or of all behind the loop.
  auto strong = [&](int64_t puts, int64_t raises) {
    return races({joined({item(puts, {put(box(0), box(0), 1)}),
                          item(raises, {raise(0, 1, true)})}),
                  {wait(0), load(1, box(0))}});
  };
  EXPECT_EQ(strong(0, 1), 1u);
  EXPECT_EQ(strong(0, 0), 0u);
  EXPECT_EQ(strong(0, -1), 0u);
  auto fence = [&](int64_t puts, int64_t fences) {
    return races({joined({item(puts, {put(box(0), box(0), 1)}),
                          item(fences, {plain(Event::Fence),
                                        put(box(1), box(1), 1, 0)})}),
                  {wait(0), load(1, box(0))}});
  };
  EXPECT_EQ(fence(0, 1), 1u);
  EXPECT_EQ(fence(0, 0), 0u);
  auto again = [&](int64_t puts, int64_t settles) {
    return races({joined({item(puts, {source}),
                          item(settles, {plain(Event::Settle), store(0, box(0))})}),
                  {}});
  };
  EXPECT_EQ(again(0, 1), 1u);
  EXPECT_EQ(again(0, 0), 0u);
  EXPECT_EQ(again(-1, 0), 0u);
  // All CTAs settle behind their loops, and somebody waits for all.
  EXPECT_EQ(races({joined({item(0, {put(box(0), box(0), 0)}),
                           {plain(Event::Settle), raise(0, 0)}}),
                   {wait(0), store(0, box(0))}},
                  2),
            0u);
}

TEST(Races, WhoHasCountedMayKeepToItself) {
  // The count may have told it a place of its own.
  EXPECT_EQ(races({joined({{object(Event::Count, 0, 1)},
                           item(0, {store(0, box(0))}),
                           item(1, {store(0, box(0))})})}),
            0u);
}

TEST(Races, BoxesFarApart) {
  const int64_t far = int64_t(1) << 49;
  EXPECT_EQ(races({{store(0, box(far, 8))}, {store(0, box(far + 8, 8))}}, 2), 0u);
  EXPECT_EQ(races({{store(0, box(far, 9))}, {store(0, box(far + 8, 8))}}, 2), 1u);
  EXPECT_EQ(races({{store(0, box(5, 8))}, {store(0, box(far, INT64_MAX))}}, 2), 0u);
  EXPECT_EQ(races({{store(0, box(INT64_MAX - 4, 2))},
                   {store(0, box(5, INT64_MAX))}},
                  2),
            1u);
}

TEST(Machine, OrdersOfCounts) {
  using Order = MachineOptions::Order;
  struct Counting : Litmus {
    using Litmus::Litmus;
    std::vector<int64_t> before = {-1, -1, -1};
    void counted(uint32_t cta, int64_t value) override { before[cta] = value; }
  };
  std::set<std::vector<int64_t>> seen;
  // `drawn`: of items, which CTAs draw in the order in which they come.
  auto follow = [&](Order order, uint64_t seed, bool drawn = false) {
    Event count = object(Event::Count, 0, 1);
    count.draw = drawn ? 0 : -1;
    Counting program({{count}, {count}, {count}}, 3);
    MachineOptions options;
    options.order = order;
    options.seed = seed;
    Machine machine(1, 3, program, options);
    EXPECT_EQ(machine.run(), Machine::End::Done);
    return program.before;
  };
  EXPECT_EQ(follow(Order::InTurn, 0), (std::vector<int64_t>{0, 1, 2}));
  EXPECT_EQ(follow(Order::LastFirst, 0), (std::vector<int64_t>{2, 1, 0}));
  EXPECT_EQ(follow(Order::LastFirst, 0, true), (std::vector<int64_t>{0, 1, 2}));
  for (uint64_t seed = 0; seed < 100; ++seed)
    seen.insert(follow(Order::Random, seed));
  EXPECT_EQ(seen.size(), 6u);
}

TEST(Machine, SaysWhatIsWaitedFor) {
  Litmus litmus({{wait(3, 0), wait(0, 1)}, {raise(0, 0)}});
  Machine machine(2, 1, litmus);
  ASSERT_EQ(machine.run(), Machine::End::Done);
  ASSERT_EQ(machine.waited().size(), 2u);
  EXPECT_EQ(machine.waited().at({0, 0, 3}).amount, 0);
  EXPECT_FALSE(machine.arrivals().contains({0, 0, 3}));
}

TEST(Machine, StuckAndForced) {
  Litmus litmus({{wait(0), raise(1, 1)}, {wait(1), raise(0, 0)}});
  Machine machine(2, 1, litmus);
  ASSERT_EQ(machine.run(), Machine::End::Stuck);
  ASSERT_EQ(machine.blocked().size(), 2u);
  EXPECT_EQ(machine.blocked()[0].seen, 0);
  auto raises = machine.force();
  ASSERT_EQ(raises.size(), 2u);
  EXPECT_EQ(raises[0].rank, 1u);
  EXPECT_EQ(raises[0].element, 1);
}

TEST(Log, RoundTrip) {
  RankLog log;
  RankLog::Cta &cta = log.ctas.emplace_back();
  cta.sites.push_back({2, 1, 77, {5, 6, -1, -1}});
  cta.events = {store(1, box(3, 4)), put(box(0), box(9, 2), 1, 0, 5, true),
                object(Event::Count, 3, 2)};
  cta.events[1].draw = 41;
  std::string bytes;
  encode(log, bytes);
  encode(log, bytes);
  std::vector<RankLog> launches;
  ASSERT_TRUE(decode(bytes, launches));
  ASSERT_EQ(launches.size(), 2u);
  ASSERT_EQ(launches[1].ctas.size(), 1u);
  EXPECT_EQ(launches[1].ctas[0].sites[0], cta.sites[0]);
  ASSERT_EQ(launches[1].ctas[0].events.size(), 3u);
  EXPECT_EQ(launches[1].ctas[0].events[1].dstBoxes[0], box(9, 2));
  EXPECT_TRUE(launches[1].ctas[0].events[1].strong);
  EXPECT_EQ(launches[1].ctas[0].events[1].draw, 41);
  for (size_t cut : {size_t(1), bytes.size() / 3, bytes.size() - 1}) {
    launches.clear();
    EXPECT_FALSE(decode(std::string_view(bytes).substr(0, cut), launches));
  }
}

} // namespace
