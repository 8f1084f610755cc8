//===- Requests.cpp - From puts to the transport and back -----------------===//

#include "proxy/ProxyImpl.h"

#include "mkernel/Runtime/Log.h"

namespace mk::rt {

/// A put goes out at once, unless others wait for the transport, or a strong signal of its
/// (channel, peer) waits in front of it or in it.
void Proxy::Impl::admit(uint32_t number) {
  const Put &put = puts[number];
  uint64_t key = keyOf(put);
  if (ready.empty() && held[key].empty() && !(put.strong && outstanding[key] > 0)) {
    ++outstanding[key];
    if (post(number))
      return;
    ++pending;
    return append(ready, number);
  }
  ++pending;
  append(held[key], number);
  pump(key);
}

void Proxy::Impl::newPut() {
  puts.emplace_back();
  puts.back().request.fragments.resize(1);
  unused.resize(puts.size());
  unused[numUnused++] = numPuts++;
  if (timed)
    postedAt.emplace_back();
}

uint32_t Proxy::Impl::takePut(uint32_t channel, uint32_t peer) {
  if (numUnused == 0)
    newPut();
  uint32_t number = unused[--numUnused];
  Put &put = puts[number];
  put.request.fragments.clear();
  put.request.signal.reset();
  put.strong = false;
  put.channel = static_cast<uint16_t>(channel);
  put.request.peer = peer;
  put.request.cookie = number;
  return number;
}

void Proxy::Impl::notPosted(uint32_t number, const Status &why) {
  puts[number].posted = false;
  if (why.code() != StatusCode::Again)
    fail(why);
}

/// Posts what may go. A strong signal waits until everything admitted before it
/// has completed, which is what makes it cover all of that whatever the order
/// on the wire; its own bytes need not wait.
void Proxy::Impl::pump(uint64_t key) {
  while (!held[key].empty()) {
    uint32_t front = held[key].first;
    if (puts[front].strong && outstanding[key] > 0) {
      if (puts[front].request.fragments.empty())
        return;
      uint32_t data = takePut(puts[front].channel, puts[front].request.peer);
      puts[data].request.fragments.swap(puts[front].request.fragments);
      ++outstanding[key];
      ++pending;
      append(ready, data);
      return;
    }
    ++outstanding[key];
    append(ready, removeFirst(held[key]));
  }
}

/// Posts in order until the transport's queue is full.
void Proxy::Impl::postReady() {
  while (!ready.empty() && !discarding() && post(ready.first)) {
    removeFirst(ready);
    --pending;
  }
}

void Proxy::Impl::strayCompletion(uint64_t cookie) {
  fail(rt::error(StatusCode::Internal, transport->name(), " transport completed request ",
                 cookie, ", which is not in flight"));
}

/// What has failed is not made known: the abort is.
void Proxy::Impl::publish() {
  if (failed)
    return;
  if (Status published = sink->publish(); !published)
    fail(published);
}

void Proxy::Impl::arrived(const Arrival &a) {
  if (a.generation != options.generation) {
    stale.fetch_add(1, std::memory_order_relaxed);
    return;
  }
  // Release: a CTA that acquires the new value sees the payload, which this thread saw before
  // it polled the arrival.
  if (hostHeap)
    hostHeap->signal(a.slot).fetch_add(a.amount, std::memory_order_release);
  else
    sink->arrived(a.slot, a.amount);
  // Behind the addition: who counts it finds it added.
  arrivals.fetch_add(1, std::memory_order_release);
}

void Proxy::Impl::checkAges() {
  auto limit = options.requestTimeout;
  if (!timed)
    return;
  auto now = std::chrono::steady_clock::now();
  if (now < nextAgeCheck)
    return;
  nextAgeCheck = now + limit / 8;
  for (uint32_t number = 0; number < numPuts; ++number)
    if (const Put &put = puts[number]; put.posted && now - postedAt[number] > limit)
      return fail(rt::error(StatusCode::DeadlineExceeded, "a request of CTA ",
                            put.channel, " to rank ", put.request.peer,
                            " was not delivered within ",
                            Deadline::after(limit).duration(),
                            ": the network is stuck or that rank is"));
}

void Proxy::Impl::fail(Status status) {
  if (failed.exchange(true))
    return;
  log::info("proxy: ", status.toString());
  // A peer that has gone may have said why: its words are under way through the
  // store, and are those that everybody shall hear.
  if (status.code() == StatusCode::Unavailable) {
    Deadline deadline = Deadline::after(std::chrono::milliseconds(300));
    Backoff backoff(std::chrono::milliseconds(2));
    while (!options.abort->raised() && !stop && !deadline.passed())
      backoff.pause();
  }
  {
    std::lock_guard lock(errorMutex);
    firstError = options.abort->raised() ? options.abort->status() : status;
  }
  options.abort->raise(
      AbortRecord::now(static_cast<int32_t>(rank), "proxy", status.toString()));
}

} // namespace mk::rt
