//===- Loopback.cpp - A network inside one host ---------------------------===//

#include "transport/loopback/Loopback.h"

#include <cerrno>
#include <cstring>
#include <sys/epoll.h>
#include <sys/socket.h>

namespace mk::rt {
namespace {
// Bounds of the send queue; a poster beyond them is told to poll first.
constexpr uint64_t kMaxRequests = 4096;
constexpr size_t kMaxPackets = 256 << 10;
} // namespace

Loopback::Loopback(TransportConfig config, LoopbackOptions options)
    : Transport(std::move(config)), options_(options), onGpu_(!heap().asHost()),
      random_(options.reorder.value_or(1)), paused_(options.pause) {
  // Without some spread in time a fast wire would have nothing to reorder.
  if (options_.reorder && options_.jitter.count() == 0)
    options_.jitter = std::chrono::microseconds(100);
  // A copy engine takes some microseconds to begin.
  if (!options_.mtu)
    options_.mtu = onGpu_ ? 1 << 20 : 64 << 10;
}

Loopback::~Loopback() {
  if (listens_)
    heap().onSegment({}).ignore();
  stopWire();
}

std::string Loopback::path() const {
  return onGpu_ ? "by the copy engine" : "by the CPU";
}

Status Loopback::doPost(const PutRequest &put) {
  auto request = std::make_shared<Request>();
  request->peer = put.peer;
  request->signal = put.signal;
  request->cookie = put.cookie;
  auto now = Clock::now();
  std::lock_guard lock(mutex_);
  // A request of more packets than the bound is taken when nothing else is.
  if (undelivered_ >= kMaxRequests ||
      held_.size() + ready_.size() >= kMaxPackets)
    return rt::error(StatusCode::Again, "the loopback send queue is full");
  request->fails = ++requests_ == options_.fail;
  for (const Fragment &f : put.fragments)
    for (uint64_t at = 0; at < f.bytes; at += options_.mtu)
      enqueue(request,
              {f.src + at, f.dst + at, std::min(options_.mtu, f.bytes - at)},
              now);
  if (request->packetsLeft == 0)
    enqueue(request, {}, now);
  ++undelivered_;
  changed_.notify_all();
  return {};
}

void Loopback::doPoll(Completions &completions) {
  epoll_event events[64];
  int n = ::epoll_wait(epoll_.get(), events, 64, 0);
  for (int i = 0; i < n; ++i)
    if (auto *link = static_cast<Link *>(events[i].data.ptr))
      receive(*link, completions);
  std::lock_guard lock(mutex_);
  completions.local.insert(completions.local.end(), completed_.begin(),
                           completed_.end());
  completed_.clear();
}

void Loopback::receive(Link &link, Completions &completions) {
  // A share of each poll, so that one busy peer starves nobody.
  for (int i = 0; i < 256 && link.open; ++i) {
    Notice notice;
    ssize_t n = ::recv(link.socket.get(), &notice, sizeof(notice), MSG_TRUNC);
    // ECONNRESET: it closed with notices of ours unread; its own still come.
    if (n < 0 && (errno == EINTR || errno == ECONNRESET))
      continue;
    if (n < 0 && errno == EAGAIN)
      return;
    if (n <= 0) {
      link.open = false;
      ::epoll_ctl(epoll_.get(), EPOLL_CTL_DEL, link.socket.get(), nullptr);
      if (!link.goodbye)
        latch(rt::error(StatusCode::Unavailable, "rank ", link.peer,
                        " was lost: its connection to rank ", heap().rank(),
                        " ended without goodbye"))
            .ignore();
    } else if (n == sizeof(notice) && notice.kind == kGoodbye) {
      link.goodbye = true;
    } else if (n == sizeof(notice) && notice.kind == kArrival) {
      completions.arrivals.push_back({link.peer, notice.slot, notice.amount,
                                      static_cast<uint8_t>(notice.generation)});
    } else {
      link.open = false;
      ::epoll_ctl(epoll_.get(), EPOLL_CTL_DEL, link.socket.get(), nullptr);
      latch(rt::error(StatusCode::Internal, "rank ", link.peer,
                      " sent a malformed notice of ", n, " bytes"))
          .ignore();
    }
  }
}

void Loopback::wait(std::chrono::microseconds limit) {
  {
    std::lock_guard lock(mutex_);
    if (!completed_.empty())
      return;
  }
  epoll_event event;
  int millis = static_cast<int>((limit.count() + 999) / 1000);
  ::epoll_wait(epoll_.get(), &event, 1, millis);
  clearWaker(waker_);
}

void Loopback::wake() { rt::wake(waker_); }

void Loopback::pause(bool paused) {
  std::lock_guard lock(mutex_);
  paused_ = paused;
  // The pause was delay enough. Their order is now that of their keys, which
  // depends on the seed alone.
  if (!paused) {
    ready_.insert(held_.begin(), held_.end());
    held_.clear();
  }
  changed_.notify_all();
}

bool Loopback::deliverPacket(uint64_t number) {
  std::optional<Packet> found;
  {
    std::lock_guard lock(mutex_);
    auto take = [&](auto &packets) {
      for (auto it = packets.begin(); it != packets.end(); ++it)
        if (it->number == number) {
          found = *it;
          packets.erase(it);
          return;
        }
    };
    take(held_);
    if (!found)
      take(ready_);
  }
  if (!found)
    return false;
  auto flight = start({std::move(*found)});
  while (flight) {
    Result<uint64_t> reached = copies_->reached();
    if (!reached || *reached >= flight->mark)
      break;
    std::this_thread::yield();
  }
  if (flight)
    arrive(flight->packets[0]);
  return true;
}

void Loopback::doShutdown(Deadline deadline) {
  {
    std::unique_lock lock(mutex_);
    while (undelivered_ > 0 && !failed() && !deadline.passed())
      changed_.wait_for(lock, std::min<std::chrono::nanoseconds>(
                                  deadline.left(), std::chrono::seconds(1)));
    if (undelivered_ > 0 && !failed())
      latch(rt::error(StatusCode::DeadlineExceeded, "loopback: ", undelivered_,
                      " requests were still in flight ", deadline.duration(),
                      " after shutdown began"))
          .ignore();
  }
  stopWire();
  // After an error there is no peaceful end: let the peers notice.
  bool peaceful = !failed();
  for (auto &[peer, link] : links_) {
    Notice notice{kGoodbye, config().generation, 0, 0};
    if (peaceful)
      sendPacket(link.socket.get(),
                 {reinterpret_cast<const char *>(&notice), sizeof(notice)}, -1,
                 deadline, "goodbye")
          .ignore(); // it may be gone already, which is fine
    link.socket.reset();
  }
}

void Loopback::stopWire() {
  {
    std::lock_guard lock(mutex_);
    stop_ = true;
    changed_.notify_all();
  }
  if (wire_.joinable())
    wire_.join();
}

} // namespace mk::rt
