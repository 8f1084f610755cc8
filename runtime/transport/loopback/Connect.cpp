//===- Connect.cpp - Peers of the loopback transport ----------------------===//

#include "bootstrap/PeerSockets.h"
#include "core/Thread.h"
#include "transport/loopback/Loopback.h"

#include <cerrno>
#include <cstring>
#include <sys/epoll.h>

namespace mk::rt {
namespace {

/// What travels with the descriptor of a heap: the part that takes puts.
struct Window {
  uint64_t begin = 0, end = 0; // bytes from the heap's start
  uint64_t slots = 0;
};

} // namespace

Status Loopback::doConnect(StoreClient &store, std::span<const uint32_t> peers,
                           Deadline deadline) {
  epoll_.reset(::epoll_create1(EPOLL_CLOEXEC));
  if (!epoll_)
    return errnoError(StatusCode::ResourceExhausted, "epoll_create1", errno);
  MK_ASSIGN(waker_, makeWaker());
  epoll_event event{};
  event.events = EPOLLIN;
  event.data.ptr = nullptr;
  if (::epoll_ctl(epoll_.get(), EPOLL_CTL_ADD, waker_.get(), &event) < 0)
    return errnoError(StatusCode::Internal, "epoll_ctl", errno);

  Window own{memory().dataOffset(), memory().bytes(), memory().slots()};
  std::string_view window(reinterpret_cast<const char *>(&own), sizeof(own));
  MK_ASSIGN(std::vector<Fd> sockets,
            connectPeers(store, str("loopback/", config().scope), heap().rank(),
                         peers, deadline));
  for (size_t i = 0; i < peers.size(); ++i)
    MK_TRY(sendPacket(sockets[i].get(), window, memory().fd(), deadline,
                      str("the heap to rank ", peers[i])));
  for (size_t i = 0; i < peers.size(); ++i) {
    uint32_t peer = peers[i];
    MK_ASSIGN(rt::Packet packet, receivePacket(sockets[i].get(), sizeof(Window), deadline,
                                               str("the heap of rank ", peer)));
    Window theirs;
    if (packet.bytes.size() != sizeof(theirs) || !packet.fd)
      return rt::error(StatusCode::Unavailable, "rank ", peer,
                       " was lost while the loopback transport connected");
    Link &link = links_[peer];
    link.peer = peer;
    link.socket = std::move(sockets[i]);
    std::memcpy(&theirs, packet.bytes.data(), sizeof(theirs));
    MK_ASSIGN(link.heap,
              HeapMapping::map(packet.fd.get(), theirs.end, peer));
    setPeerWindow(peer, theirs.begin, theirs.end,
                  static_cast<uint32_t>(theirs.slots));
    event.data.ptr = &link;
    if (::epoll_ctl(epoll_.get(), EPOLL_CTL_ADD, link.socket.get(), &event) < 0)
      return errnoError(StatusCode::Internal, "epoll_ctl", errno);
  }
  return startThread(wire_, "the loopback transport", [this] { runWire(); });
}

} // namespace mk::rt
