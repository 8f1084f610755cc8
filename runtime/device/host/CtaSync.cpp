//===- CtaSync.cpp - Signals, waits, counters, queues, tickets ------------===//

#include "device/host/Cta.h"
#include "mkernel/ABI/Gpu.h"

#include <algorithm>
#include <thread>

using namespace mk::rt;
using namespace mk::rt::host;

bool Cta::raiseSignal(int32_t signal, int64_t index, int64_t peer,
                      int64_t amount, int32_t flags) {
  if (!checkTarget(peer, signal, index))
    return false;
  if (signal < 0)
    return fail("signal", "a signal operation names no signal");
  if (amount < 0)
    return fail("signal",
                str(grid_.signalName(signal, index), " cannot be raised by ",
                    amount, ": signals only count up"));
  bool strong = flags & MK_PUT_STRONG;
  if (check::Event *event = note(check::Event::Signal)) {
    event->object = signal;
    event->element = index;
    event->amount = amount;
    event->peer = static_cast<uint32_t>(peer);
    event->strong = strong;
  }
  if (grid_.timing)
    span(MK_TIMELINE_SIGNAL, steadyNow(), index, signal);
  // A weak one covers this CTA's own stores, not its puts.
  if (!flush(/*storesOnly=*/!strong))
    return false;
  return raise(static_cast<uint32_t>(peer), signal, index, amount, strong);
}

bool Cta::raise(uint32_t peer, int32_t signal, int64_t index, uint64_t amount,
                bool strong) {
  SignalArray &array = grid_.signals[signal];
  if (peer == grid_.rank()) {
    grid_.signalWord(array, index).fetch_add(amount, std::memory_order_release);
    return true;
  }
  if (!awaitReady(peer))
    return false;
  uint32_t slot = array.slots.begin() + static_cast<uint32_t>(index);
  if (auto *word = grid_.heap().peerSignal(peer, slot)) {
    word->fetch_add(amount, std::memory_order_release);
    return true;
  }
  Command command;
  command.op = MK_CMD_SIGNAL;
  command.flags = MK_CMD_HAS_SIGNAL | (strong ? MK_CMD_STRONG : 0);
  command.peer = static_cast<uint16_t>(peer);
  command.channel = static_cast<uint16_t>(linear_);
  command.slot = slot;
  while (amount > 0) {
    command.amount =
        static_cast<uint16_t>(std::min<uint64_t>(amount, UINT16_MAX));
    amount -= command.amount;
    if (!submit(command))
      return false;
  }
  return true;
}

bool Cta::wait(int32_t signal, int64_t index, int64_t count) {
  if (!flush() || !checkTarget(grid_.rank(), signal, index))
    return false;
  if (signal < 0)
    return fail("wait", "a wait names no signal");
  noteObject(check::Event::Wait, signal, index, count);
  SignalArray &array = grid_.signals[signal];
  auto &word = grid_.signalWord(array, index);
  uint64_t base = array.base[index];
  auto done = [&] {
    uint64_t seen = word.load(std::memory_order_acquire) - base;
    return static_cast<int64_t>(seen) >= count;
  };
  if (done())
    return true;
  return waitFor({MK_WAIT_SIGNAL, index, signal}, done, [&] {
    int64_t seen = word.load(std::memory_order_acquire) - base;
    return str(grid_.signalName(signal, index), " to count ", count,
               count == 1 ? " arrival" : " arrivals", " of this launch, saw ", seen,
               array.arrivals >= 0 ? str(" (of ", array.arrivals, " declared)") : std::string(),
               placesText(grid_.metadata.signals[signal].waits, cta_.role), "; launch ",
               grid_.epoch());
  });
}

bool Cta::settle() {
  note(check::Event::Settle);
  return awaitPuts("settle");
}

bool Cta::fence() {
  note(check::Event::Fence);
  return awaitPuts("fence");
}

bool Cta::awaitPuts(const char *what) {
  if (!flush())
    return false;
  Proxy *proxy = grid_.context.proxy();
  if (!proxy || proxy->inflightAll(linear_) == 0)
    return true;
  return waitFor({MK_WAIT_PUTS}, [&] { return proxy->inflightAll(linear_) == 0; },
                 [&] {
                   return str(proxy->inflightAll(linear_),
                              " puts across the network to complete (", what,
                              ")");
                 });
}

// Whoever drew first counts first as a rule, and what rests on that passes by luck.
void Cta::holdBack() {
  constexpr std::chrono::microseconds kMost{20'000}; // of a launch
  if ((!grid_.recording && !grid_.seed) || heldBack_ >= kMost)
    return;
  std::chrono::microseconds time(random_() % 1000);
  heldBack_ += time;
  std::this_thread::sleep_for(time);
}

bool Cta::count(int32_t counter, int64_t index, int64_t amount,
                int64_t &before) {
  if (!flush())
    return false;
  if (counter < 0 || size_t(counter) >= grid_.counters.size())
    return fail("count", str("there is no counter ", counter));
  CounterArray &array = grid_.counters[counter];
  if (index < 0 || index >= array.elements)
    return fail("count", str("counter '", grid_.metadata.counters[counter].name,
                             "' has ", array.elements, " elements; index ",
                             index, " is out of range"));
  holdBack();
  before = array.values[index].fetch_add(amount, std::memory_order_acq_rel);
  noteObject(check::Event::Count, counter, index, amount, before);
  return true;
}

bool Cta::push(int32_t queue, const int64_t *record, int32_t site) {
  if (!flush())
    return false;
  if (queue < 0 || size_t(queue) >= grid_.queues.size())
    return fail("push", str("there is no queue ", queue));
  QueueState &q = grid_.queues[queue];
  holdBack();
  int64_t entry = q.reserved.fetch_add(1, std::memory_order_relaxed);
  if (entry >= q.capacity)
    return fail("push", outsideText(grid_.metadata, {site, MK_FULL_QUEUE, queue, 0, entry,
                                                     1, q.capacity, 0}));
  noteObject(check::Event::Push, queue, 0, 1, entry);
  std::copy_n(record, q.width, q.records.data() + entry * q.width);
  q.published[entry].store(grid_.epoch(), std::memory_order_release);
  return true;
}

bool Cta::pop(int32_t queue, int64_t entry, int64_t *record) {
  if (!flush())
    return false;
  if (queue < 0 || size_t(queue) >= grid_.queues.size())
    return fail("pop", str("there is no queue ", queue));
  enterItem();
  noteObject(check::Event::Pop, queue, entry, 1);
  QueueState &q = grid_.queues[queue];
  const std::string &name = grid_.metadata.queues[queue].name;
  if (entry < 0 || entry >= q.capacity)
    return fail("pop", str("queue '", name, "' holds ", q.capacity,
                           " records; entry ", entry, " is out of range"));
  auto done = [&] {
    return q.published[entry].load(std::memory_order_acquire) == grid_.epoch();
  };
  if (!done() && !waitFor({MK_WAIT_QUEUE, entry, queue}, done, [&] {
        return str("entry ", entry, " of queue '", name, "', which nobody has pushed so far",
                   placesText(grid_.metadata.queues[queue].waits, cta_.role));
      }))
    return false;
  std::copy_n(q.records.data() + entry * q.width, q.width, record);
  return true;
}

bool Cta::ticket(int32_t loop, int64_t &value) {
  if (loop < 0 || size_t(loop) >= grid_.tickets.size())
    return fail("ticket", str("there is no loop ", loop));
  // Random progress of deferred puts between items.
  if (grid_.seed && chance(3) && !flush())
    return false;
  closeItem();
  value = grid_.tickets[loop].fetch_add(1, std::memory_order_relaxed);
  // Between items; behind the last one if the ticket is not for one.
  loop_ = -1;
  draw_ = -1;
  ticketLoop_ = loop;
  ticket_ = value;
  return true;
}
