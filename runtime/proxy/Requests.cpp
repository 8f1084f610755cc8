//===- Requests.cpp - From puts to the transport and back -----------------===//

#include "proxy/ProxyImpl.h"

#include "mkernel/Runtime/Log.h"

#include <algorithm>

namespace mk::rt {

/// A put goes out at once, unless a strong signal of its (channel, peer) waits
/// in front of it.
void Proxy::Impl::admit(Put put) {
  uint64_t key = keyOf(put.channel, put.request.peer);
  Pair &pair = pairs[key];
  pair.held.push_back(std::move(put));
  ++heldPuts;
  pump(key, pair);
}

/// Posts what may go. A strong signal waits until everything admitted before it
/// has completed, which is what makes it cover all of that whatever the order
/// on the wire; its own bytes need not wait.
void Proxy::Impl::pump(uint64_t key, Pair &pair) {
  while (!pair.held.empty()) {
    Put &front = pair.held.front();
    if (front.strong && pair.outstanding > 0) {
      if (front.request.fragments.empty())
        return;
      Put data;
      data.channel = front.channel;
      data.request.peer = front.request.peer;
      data.request.fragments.swap(front.request.fragments);
      ++pair.outstanding;
      ready.push_back(std::move(data));
      return;
    }
    ++pair.outstanding;
    ready.push_back(std::move(front));
    pair.held.pop_front();
    --heldPuts;
  }
}

/// Posts in order until the transport's queue is full.
bool Proxy::Impl::postReady() {
  bool any = false;
  while (!ready.empty() && !discarding()) {
    Put &put = ready.front();
    uint32_t cookie;
    if (freeWorks.empty()) {
      cookie = static_cast<uint32_t>(works.size());
      works.emplace_back();
    } else {
      cookie = freeWorks.back();
      freeWorks.pop_back();
    }
    put.request.cookie = cookie;
    works[cookie] = {put.channel, put.request.peer, put.commands, true,
                     std::chrono::steady_clock::now()};
    Status posted = options.transport->post(put.request);
    if (!posted) {
      works[cookie].used = false;
      freeWorks.push_back(cookie);
      if (posted.code() != StatusCode::Again)
        fail(posted);
      return any;
    }
    any = true;
    requests.fetch_add(1, std::memory_order_relaxed);
    ready.pop_front();
  }
  return any;
}

void Proxy::Impl::completed(uint64_t cookie) {
  if (cookie >= works.size() || !works[cookie].used)
    return fail(rt::error(StatusCode::Internal, options.transport->name(),
                          " transport completed request ", cookie,
                          ", which is not in flight"));
  Work work = works[cookie];
  works[cookie].used = false;
  freeWorks.push_back(static_cast<uint32_t>(cookie));
  uint64_t key = keyOf(work.channel, work.peer);
  uncount(work.channel, work.peer, work.commands);
  // Of a strong put the bytes that went ahead of its signal are no put.
  if (work.commands > 0)
    sink->completed(work.channel);
  Pair &pair = pairs[key];
  if (--pair.outstanding == 0)
    pump(key, pair);
}

/// Release: who reads zero knows that the bytes are at the peer. Commands that nobody
/// counted (CommandRing::push) take nothing off; only this thread subtracts.
void Proxy::Impl::uncount(uint32_t channel, uint32_t peer, uint32_t commands) {
  auto take = [&](auto &count) {
    auto most = count.load(std::memory_order_relaxed);
    count.fetch_sub(std::min<decltype(most)>(commands, most), std::memory_order_release);
  };
  take(byPair[keyOf(channel, peer)]);
  take(byChannel[channel]);
  take(total);
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
  sink->arrived(a.slot, a.amount);
  // Behind the addition: who counts it finds it added.
  arrivals.fetch_add(1, std::memory_order_release);
}

void Proxy::Impl::checkAges() {
  auto limit = options.requestTimeout;
  if (limit.count() == 0)
    return;
  auto now = std::chrono::steady_clock::now();
  if (now < nextAgeCheck)
    return;
  nextAgeCheck = now + limit / 8;
  for (const Work &work : works)
    if (work.used && now - work.posted > limit)
      return fail(rt::error(StatusCode::DeadlineExceeded, "a request of CTA ",
                            work.channel, " to rank ", work.peer,
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
