//===- Connect.cpp - Peers of the staging transport -----------------------===//

#include "core/Thread.h"
#include "mkernel/ABI/Command.h"
#include "mkernel/Runtime/Store.h"
#include "transport/staged/Staged.h"

#include <algorithm>
#include <cstring>

namespace mk::rt {
namespace {

/// What a rank tells a peer.
struct Place {
  uint64_t chunkBytes = 0, chunks = 0;
  uint64_t index = 0;          // of the peer's chunks
  uint64_t begin = 0, end = 0; // of the heap that takes puts
  uint64_t slots = 0;
  char device[128] = {};
};

} // namespace

uint64_t Staged::offsetOut(uint64_t index, uint32_t number) const {
  return bounce_->dataOffset() +
         (2 * index * options_.chunks + number) * options_.chunkBytes;
}

uint64_t Staged::offsetIn(uint64_t index, uint32_t number) const {
  return offsetOut(index, number) + options_.chunks * options_.chunkBytes;
}

std::byte *Staged::chunkOut(const Peer &peer, uint32_t number) const {
  return bounce_->base() + offsetOut(peer.index, number);
}

std::byte *Staged::chunkIn(const Peer &peer, uint32_t number) const {
  return bounce_->base() + offsetIn(peer.index, number);
}

Status Staged::doConnect(StoreClient &store, std::span<const uint32_t> peers,
                         Deadline deadline) {
  std::string scope = str(config().scope, ".staged");
  uint64_t slots = 2 * options_.chunks * peers.size();
  if (slots > MK_COMMAND_MAX_SLOTS)
    return rt::error(StatusCode::InvalidArgument, options_.chunks, " chunks for each of ",
                     peers.size(), " peers: use fewer (chunks=COUNT)");
  HeapOptions memory;
  memory.rank = heap().rank();
  memory.world = heap().world();
  memory.scope = scope;
  memory.slots = static_cast<uint32_t>(slots);
  // Behind the slots, which begin on the second page and end on a page of their own.
  memory.bytes = HostHeap::kSignalOffset + 8 * slots + 4096 + slots * options_.chunkBytes;
  MK_ASSIGN(bounce_, HostHeap::create(memory));
  MK_ASSIGN(toHost_, heap().openCopies());
  MK_ASSIGN(fromHost_, heap().openCopies());
  MK_TRY(toHost_->pin(bounce_->base(), bounce_->bytes()));

  TransportConfig inner;
  inner.heap = bounce_.get();
  inner.generation = config().generation;
  inner.gpu = config().gpu;
  inner.scope = scope;
  MK_ASSIGN(inner_, makeInner_(inner));
  MK_TRY(inner_->connect(store, peers, deadline));

  auto keyOf = [&](uint32_t from, uint32_t to) {
    return str("staged/", scope, "/", from, "/", to);
  };
  byRank_.resize(heap().world());
  for (uint32_t rank : peers) {
    auto peer = std::make_unique<Peer>();
    peer->rank = rank;
    peer->index = peers_.size();
    peer->sent.resize(options_.chunks);
    for (uint64_t i = options_.chunks; i-- > 0;)
      peer->free.push_back(static_cast<uint32_t>(i));
    Place own{options_.chunkBytes, options_.chunks, peer->index,
              heap().dataOffset(), heap().bytes(),  heap().slots(), {}};
    std::string device = toHost_->device();
    std::memcpy(own.device, device.data(), std::min(device.size(), sizeof(own.device) - 1));
    std::string_view text(reinterpret_cast<const char *>(&own), sizeof(own));
    MK_TRY(store.set(keyOf(heap().rank(), rank), text, deadline));
    byRank_[rank] = peer.get();
    peers_.push_back(std::move(peer));
  }
  for (auto &peer : peers_) {
    MK_ASSIGN(std::string text, store.get(keyOf(peer->rank, heap().rank()), deadline));
    Place theirs;
    if (text.size() != sizeof(theirs))
      return rt::error(StatusCode::Internal, "rank ", peer->rank,
                       " does not say where its chunks are");
    std::memcpy(&theirs, text.data(), sizeof(theirs));
    if (theirs.chunkBytes != options_.chunkBytes || theirs.chunks != options_.chunks)
      return rt::error(StatusCode::InvalidArgument, "rank ", peer->rank, " has ",
                       theirs.chunks, " chunks of ", theirs.chunkBytes, " bytes, rank ",
                       heap().rank(), " ", options_.chunks, " of ", options_.chunkBytes,
                       ": give all ranks the same chunk= and chunks=");
    theirs.device[sizeof(theirs.device) - 1] = 0;
    MK_TRY(toHost_->checkPeer(peer->rank, theirs.device));
    peer->theirs = theirs.index;
    setPeerWindow(peer->rank, theirs.begin, theirs.end,
                  static_cast<uint32_t>(theirs.slots));
  }
  return startThread(mover_, "the staging transport", [this] { run(); });
}

} // namespace mk::rt
