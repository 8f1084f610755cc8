//===- LocalOffer.cpp - How ranks of a host find their store --------------===//

#include "bootstrap/LocalOffer.h"
#include "core/Thread.h"

#include "mkernel/Runtime/Log.h"

#include <cassert>
#include <cerrno>
#include <poll.h>

namespace mk::rt {

namespace {
constexpr size_t kMaxOffer = 4096;
} // namespace

Result<std::unique_ptr<LocalOffer>> LocalOffer::start(std::string_view name,
                                                      std::string bytes) {
  assert(!bytes.empty() && bytes.size() <= kMaxOffer);
  std::unique_ptr<LocalOffer> offer(new LocalOffer());
  offer->bytes_ = std::move(bytes);
  MK_ASSIGN(offer->waker_, makeWaker());
  MK_ASSIGN(offer->listener_, listenLocal(name));
  MK_TRY(startThread(offer->thread_, "the store's local offer",
                     [raw = offer.get()] { raw->run(); }));
  return offer;
}

LocalOffer::~LocalOffer() {
  stop_ = true;
  wake(waker_);
  if (thread_.joinable())
    thread_.join();
}

void LocalOffer::run() {
  while (!stop_) {
    pollfd polls[2] = {{waker_.get(), POLLIN, 0}, {listener_.get(), POLLIN, 0}};
    if (::poll(polls, 2, -1) < 0 && errno != EINTR)
      return log::error("the offer of the store stops: poll failed");
    if (!polls[1].revents)
      continue;
    Result<Fd> peer = acceptLocal(listener_.get());
    if (!peer) {
      if (peer.status().code() == StatusCode::PermissionDenied)
        log::warn("refused a local connection: ", peer.status().message());
      else if (peer.status().code() != StatusCode::Again) // out of descriptors
        std::this_thread::sleep_for(std::chrono::milliseconds(10));
      continue;
    }
    // It fits the socket's buffer, so nobody can hold this up.
    sendPacket(peer->get(), bytes_, -1, Deadline::after({}), "the offer")
        .ignore();
  }
}

Result<std::string> takeLocalOffer(std::string_view name,
                                   const Deadline &deadline) {
  Backoff backoff(std::chrono::milliseconds(20));
  while (true) {
    Result<Fd> socket = connectLocal(name, deadline);
    if (!socket && socket.status().code() == StatusCode::PermissionDenied)
      return socket.status();
    if (socket) {
      MK_ASSIGN(Packet packet, receivePacket(socket->get(), kMaxOffer, deadline,
                                             "the address of the store"));
      if (!packet.bytes.empty())
        return std::move(packet.bytes);
    }
    if (deadline.passed())
      return error(StatusCode::DeadlineExceeded, "waited ", deadline.duration(),
                   " for rank 0 of this job on this host: check that it was "
                   "started, with the same variables and options as this rank");
    backoff.pause();
  }
}

} // namespace mk::rt
