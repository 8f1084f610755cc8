//===- Connect.cpp - Peers of the loopback transport ----------------------===//

#include "bootstrap/PeerSockets.h"
#include "transport/loopback/Loopback.h"

#include <cerrno>
#include <sys/epoll.h>

namespace mk::rt {

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

  MK_ASSIGN(std::vector<Fd> sockets,
            connectPeers(store, str("loopback/", config().scope), heap().rank(),
                         peers, deadline));
  for (size_t i = 0; i < peers.size(); ++i)
    MK_TRY(sendPacket(sockets[i].get(), "heap", heap().fd(), deadline,
                      str("the heap to rank ", peers[i])));
  for (size_t i = 0; i < peers.size(); ++i) {
    uint32_t peer = peers[i];
    MK_ASSIGN(rt::Packet packet, receivePacket(sockets[i].get(), 16, deadline,
                                               str("the heap of rank ", peer)));
    if (packet.bytes != "heap" || !packet.fd)
      return rt::error(StatusCode::Unavailable, "rank ", peer,
                       " was lost while the loopback transport connected");
    Link &link = links_[peer];
    link.peer = peer;
    link.socket = std::move(sockets[i]);
    MK_ASSIGN(link.heap, HeapMapping::map(packet.fd.get(), peer));
    setPeerWindow(peer, link.heap.dataOffset(), link.heap.bytes(),
                  link.heap.slots());
    event.data.ptr = &link;
    if (::epoll_ctl(epoll_.get(), EPOLL_CTL_ADD, link.socket.get(), &event) < 0)
      return errnoError(StatusCode::Internal, "epoll_ctl", errno);
  }
  wire_ = std::thread([this] { runWire(); });
  return {};
}

} // namespace mk::rt
