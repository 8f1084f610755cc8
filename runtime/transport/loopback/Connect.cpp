//===- Connect.cpp - Peers of the loopback transport ----------------------===//

#include "bootstrap/PeerSockets.h"
#include "core/Thread.h"
#include "transport/loopback/Loopback.h"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <sys/epoll.h>

namespace mk::rt {
namespace {

/// What of a heap takes puts.
struct Window {
  uint64_t begin = 0, end = 0; // bytes from the heap's start
  uint64_t slots = 0;
};

/// What travels with the descriptor of a segment.
struct Segment {
  static constexpr uint64_t kMagic = 0x3167657320706c6b; // "klp seg1"
  uint64_t magic = kMagic, offset = 0, bytes = 0, failed = 0;
  char text[256] = {}; // the device, or why there is no descriptor
};

} // namespace

/// Gives the peers a segment of this rank's heap and maps theirs. All ranks add segments
/// alike.
Status Loopback::shareSegment(uint64_t offset, uint64_t bytes, Deadline deadline) {
  Segment own;
  own.offset = offset;
  own.bytes = bytes;
  Result<Fd> fd = copies_->exportSegment(offset, bytes);
  own.failed = !fd.isOk();
  std::string text = own.failed ? std::string(fd.status().message()) : copies_->device();
  std::memcpy(own.text, text.data(), std::min(text.size(), sizeof(own.text) - 1));
  std::string_view message(reinterpret_cast<const char *>(&own), sizeof(own));
  // All send before any receives: one small packet always fits the socket.
  for (auto &[peer, link] : links_)
    MK_TRY(sendPacket(link.segments.get(), message, fd ? fd->get() : -1, deadline,
                      str("the heap to rank ", peer)));
  for (auto &[peer, link] : links_) {
    MK_ASSIGN(rt::Packet packet, receivePacket(link.segments.get(), sizeof(Segment) + 1,
                                               deadline, str("the heap of rank ", peer)));
    Segment theirs;
    if (packet.bytes.size() != sizeof(theirs))
      return rt::error(StatusCode::Unavailable, "rank ", peer,
                       " was lost while the loopback transport shared its heap");
    std::memcpy(&theirs, packet.bytes.data(), sizeof(theirs));
    theirs.text[sizeof(theirs.text) - 1] = 0;
    if (theirs.magic != Segment::kMagic)
      return rt::error(StatusCode::Unavailable, "rank ", peer,
                       " sent no segment of its heap");
    if (theirs.failed)
      return rt::error(StatusCode::ResourceExhausted, "rank ", peer, ": ", theirs.text);
    if (theirs.offset != offset || theirs.bytes != bytes || !packet.fd)
      return rt::error(StatusCode::InvalidArgument, "rank ", peer, " adds bytes ",
                       theirs.offset, " to ", theirs.offset + theirs.bytes,
                       " of its heap, rank ", heap().rank(), " bytes ", offset, " to ",
                       offset + bytes,
                       ": allocate the same on all ranks, in the same order");
    if (fd)
      MK_TRY(copies_->mapSegment(peer, packet.fd, offset, bytes, theirs.text));
  }
  return fd.status();
}

Status Loopback::doConnect(StoreClient &store, std::span<const uint32_t> peers,
                           Deadline deadline) {
  MK_ASSIGN(copies_, heap().openCopies());
  epoll_.reset(::epoll_create1(EPOLL_CLOEXEC));
  if (!epoll_)
    return errnoError(StatusCode::ResourceExhausted, "epoll_create1", errno);
  MK_ASSIGN(waker_, makeWaker());
  epoll_event event{};
  event.events = EPOLLIN;
  event.data.ptr = nullptr;
  if (::epoll_ctl(epoll_.get(), EPOLL_CTL_ADD, waker_.get(), &event) < 0)
    return errnoError(StatusCode::Internal, "epoll_ctl", errno);

  Window own{heap().dataOffset(), heap().bytes(), heap().slots()};
  std::string_view window(reinterpret_cast<const char *>(&own), sizeof(own));
  MK_ASSIGN(std::vector<Fd> sockets,
            connectPeers(store, str("loopback/", config().scope), heap().rank(),
                         peers, deadline));
  MK_ASSIGN(std::vector<Fd> segments,
            connectPeers(store, str("loopback-heap/", config().scope), heap().rank(),
                         peers, deadline));
  for (size_t i = 0; i < peers.size(); ++i)
    MK_TRY(sendPacket(sockets[i].get(), window, -1, deadline,
                      str("the window to rank ", peers[i])));
  for (size_t i = 0; i < peers.size(); ++i) {
    uint32_t peer = peers[i];
    MK_ASSIGN(rt::Packet packet, receivePacket(sockets[i].get(), sizeof(Window), deadline,
                                               str("the window of rank ", peer)));
    Window theirs;
    if (packet.bytes.size() != sizeof(theirs))
      return rt::error(StatusCode::Unavailable, "rank ", peer,
                       " was lost while the loopback transport connected");
    Link &link = links_[peer];
    link.peer = peer;
    link.socket = std::move(sockets[i]);
    link.segments = std::move(segments[i]);
    std::memcpy(&theirs, packet.bytes.data(), sizeof(theirs));
    setPeerWindow(peer, theirs.begin, theirs.end,
                  static_cast<uint32_t>(theirs.slots));
    event.data.ptr = &link;
    if (::epoll_ctl(epoll_.get(), EPOLL_CTL_ADD, link.socket.get(), &event) < 0)
      return errnoError(StatusCode::Internal, "epoll_ctl", errno);
  }
  // Now with what is there, and later on with what is added.
  listens_ = true;
  std::chrono::nanoseconds limit = deadline.left();
  MK_TRY(heap().onSegment([this, limit](uint64_t offset, uint64_t bytes) {
    return shareSegment(offset, bytes, Deadline::after(limit));
  }));
  return startThread(wire_, "the loopback transport", [this] { runWire(); });
}

} // namespace mk::rt
