//===- HeapExchange.cpp - Mapping the heaps of link peers -----------------===//

#include "bootstrap/PeerSockets.h"
#include "mkernel/Runtime/Heap.h"

namespace mk::rt {

Status Heap::exchange(StoreClient &store, std::span<const uint32_t> linkPeers,
                      Deadline deadline) {
  if (exchanged_)
    return error(StatusCode::FailedPrecondition, "the heap of rank ", rank(),
                 " was exchanged before");
  exchanged_ = true;
  std::vector<uint32_t> peers;
  for (uint32_t peer : linkPeers) {
    if (peer >= world())
      return error(StatusCode::InvalidArgument, "link peer ", peer,
                   " of a world of ", world());
    if (peer != rank())
      peers.push_back(peer);
  }
  MK_ASSIGN(std::vector<Fd> sockets,
            connectPeers(store, str("heap/", options_.scope), rank(), peers,
                         deadline));
  // All send before any receives: one small packet always fits the socket.
  for (size_t i = 0; i < peers.size(); ++i)
    MK_TRY(sendPacket(sockets[i].get(), "heap", fd_, deadline,
                      str("the heap to rank ", peers[i])));
  for (size_t i = 0; i < peers.size(); ++i) {
    uint32_t peer = peers[i];
    MK_ASSIGN(Packet packet, receivePacket(sockets[i].get(), 16, deadline,
                                           str("the heap of rank ", peer)));
    if (packet.bytes != "heap" || !packet.fd)
      return error(StatusCode::Unavailable, "rank ", peer,
                   " was lost while heaps were exchanged");
    MK_ASSIGN(peers_[peer], HeapMapping::map(packet.fd.get(), peer));
    if (peers_[peer].bytes() != bytes() || peers_[peer].slots() != slots())
      return error(StatusCode::InvalidArgument, "rank ", peer,
                   " has a heap of ", peers_[peer].bytes(), " bytes and ",
                   peers_[peer].slots(), " slots, rank ", rank(), " one of ",
                   bytes(), " and ", slots(),
                   ": give all ranks the same ContextOptions::heapBytes and "
                   "slots");
    bases_[peer] = peers_[peer].base();
  }
  return {};
}

} // namespace mk::rt
