//===- Wire.cpp - The wire thread of the loopback transport ---------------===//

#include "transport/loopback/Loopback.h"

#include <cerrno>
#include <sys/socket.h>

namespace mk::rt {
namespace {
// How far a packet may be overtaken, in packets.
constexpr uint64_t kReorderWindow = 64;
// Packets that are copied at a time, and how often, before their ends are looked for.
constexpr size_t kFlight = 32, kFlights = 8;
} // namespace

/// Numbers and schedules a packet; mutex_ held.
void Loopback::enqueue(std::shared_ptr<Request> request, Fragment part,
                       Clock::time_point now) {
  ++request->packetsLeft;
  Packet packet;
  packet.part = part;
  packet.number = packets_++;
  packet.key = packet.number;
  if (options_.reorder)
    packet.key += random_() % kReorderWindow;
  packet.due = now;
  if (options_.rate > 0) {
    auto takes = std::chrono::duration<double>(static_cast<double>(part.bytes) /
                                               options_.rate);
    wireFree_ = std::max(wireFree_, now) +
                std::chrono::duration_cast<Clock::duration>(takes);
    packet.due = wireFree_;
  }
  packet.due += options_.delay;
  if (options_.jitter.count() > 0)
    packet.due += std::chrono::nanoseconds(
        random_() % (static_cast<uint64_t>(options_.jitter.count()) + 1));
  packet.request = std::move(request);
  if (packet.due <= now)
    ready_.insert(std::move(packet));
  else
    held_.insert(std::move(packet));
}

/// The packets whose turn it is, in order; mutex_ held.
std::vector<Loopback::Packet> Loopback::nextPackets(Clock::time_point now) {
  while (!held_.empty() && held_.begin()->due <= now)
    ready_.insert(std::move(held_.extract(held_.begin()).value()));
  // A CPU copies one after the other, and may be told to stop in between.
  size_t most = onGpu_ ? kFlight : 1;
  std::vector<Packet> packets;
  while (!ready_.empty() && packets.size() < most)
    packets.push_back(std::move(ready_.extract(ready_.begin()).value()));
  return packets;
}

void Loopback::runWire() {
  std::unique_lock lock(mutex_);
  while (!stop_) {
    if ((paused_ && flights_.empty()) || failed()) {
      changed_.wait(lock);
      continue;
    }
    if (outboxed_ > 0)
      flushOutboxes();
    std::vector<Packet> packets;
    if (flights_.size() < kFlights && !paused_)
      packets = nextPackets(Clock::now());
    if (!packets.empty() || !flights_.empty()) {
      lock.unlock();
      bool none = packets.empty();
      if (!none)
        if (auto flight = start(std::move(packets)))
          flights_.push_back(std::move(*flight));
      if (!land() && none)
        std::this_thread::yield();
      lock.lock();
    } else if (outboxed_ > 0) {
      // A peer's socket is full; there is no cheap way to wait for it and for
      // new packets together, and it is rare.
      changed_.wait_for(lock, std::chrono::microseconds(500));
    } else if (!held_.empty()) {
      // A copy: the packet may be gone before the wait is over.
      Clock::time_point due = held_.begin()->due;
      changed_.wait_until(lock, due);
    } else {
      changed_.wait(lock);
    }
  }
}

/// Begins the copies of some packets; nothing after an error.
std::optional<Loopback::Flight> Loopback::start(std::vector<Packet> packets) {
  Flight flight;
  auto begin = [&]() -> Status {
    for (const Packet &packet : packets) {
      const Fragment &part = packet.part;
      if (packet.request->fails)
        return rt::error(StatusCode::Unavailable, "a request to rank ",
                         packet.request->peer, " of ", part.bytes,
                         " bytes failed on the wire (loopback option fail=",
                         options_.fail, ")");
      if (part.bytes > 0)
        MK_TRY(copies_->toPeer(packet.request->peer, part.dst, part.src, part.bytes));
    }
    MK_ASSIGN(flight.mark, copies_->mark());
    return Status::success();
  };
  if (Status begun = begin(); !begun) {
    latch(begun).ignore();
    wake();
    return std::nullopt;
  }
  flight.packets = std::move(packets);
  return flight;
}

/// Whether copies of some packets have ended.
bool Loopback::land() {
  if (flights_.empty())
    return false;
  Result<uint64_t> reached = copies_->reached();
  if (!reached) {
    latch(reached.status()).ignore();
    wake();
    return false;
  }
  bool any = false;
  for (; !flights_.empty() && flights_.front().mark <= *reached; any = true) {
    for (const Packet &packet : flights_.front().packets)
      arrive(packet);
    flights_.pop_front();
  }
  return any;
}

/// Counts a packet that is there; of the last one of a request, sends the notice.
void Loopback::arrive(const Packet &packet) {
  Request &request = *packet.request;
  Link &link = links_.at(request.peer);
  std::lock_guard lock(mutex_);
  if (--request.packetsLeft > 0)
    return;
  // Notices to one peer keep their order: behind a waiting one, wait.
  if (!request.signal || (link.outbox.empty() && sendNotice(link, request)))
    return complete(request);
  if (failed())
    return;
  link.outbox.push_back(packet.request);
  ++outboxed_;
}

/// mutex_ held.
void Loopback::flushOutboxes() {
  for (auto &[peer, link] : links_)
    while (!link.outbox.empty() && sendNotice(link, *link.outbox.front())) {
      complete(*link.outbox.front());
      link.outbox.pop_front();
      --outboxed_;
    }
}

/// False: not now, or an error was latched. mutex_ held.
bool Loopback::sendNotice(Link &link, const Request &request) {
  Notice notice{kArrival, config().generation, request.signal->slot,
                request.signal->amount};
  while (::send(link.socket.get(), &notice, sizeof(notice), MSG_NOSIGNAL) < 0) {
    if (errno == EINTR)
      continue;
    if (errno != EAGAIN) {
      latch(errnoError(StatusCode::Unavailable,
                       str("rank ", link.peer,
                           " was lost or has shut down: sending to it"),
                       errno))
          .ignore();
      wake();
    }
    return false;
  }
  return true;
}

/// mutex_ held.
void Loopback::complete(const Request &request) {
  completed_.push_back({request.cookie, request.peer});
  --undelivered_;
  if (undelivered_ == 0)
    changed_.notify_all(); // shutdown waits for it
  wake();
}

} // namespace mk::rt
