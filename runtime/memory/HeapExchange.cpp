//===- HeapExchange.cpp - Mapping the heaps of link peers -----------------===//

#include "bootstrap/PeerSockets.h"
#include "memory/HeapSegment.h"

#include <algorithm>
#include <cstring>

namespace mk::rt {
namespace {

/// What travels with a segment's descriptor.
struct Message {
  static constexpr uint64_t kMagic = 0x3270616568206b6d; // "mk heap2"
  uint64_t magic = kMagic;
  uint64_t heapBytes = 0, offset = 0, bytes = 0;
  uint32_t slots = 0;
  uint32_t failed = 0;  // 1: no descriptor; `text` says why
  char text[512] = {}; // else the device

  void setText(std::string_view from) {
    std::memcpy(text, from.data(), std::min(from.size(), sizeof(text) - 1));
  }
};

} // namespace

Status Heap::exchange(StoreClient &store, std::span<const uint32_t> linkPeers,
                      Deadline deadline) {
  std::lock_guard lock(mutex_);
  if (exchanged_)
    return error(StatusCode::FailedPrecondition, "the heap of rank ", rank(),
                 " was exchanged before");
  exchanged_ = true;
  for (uint32_t peer : linkPeers) {
    if (peer >= world())
      return error(StatusCode::InvalidArgument, "link peer ", peer,
                   " of a world of ", world());
    if (peer != rank())
      peers_.push_back(peer);
  }
  MK_ASSIGN(sockets_, connectPeers(store, str("heap/", options_.scope), rank(),
                                   peers_, deadline));
  // All ranks have as many: sizes are compared with each.
  bool anyFailed = false;
  for (const Segment &segment : segments_)
    MK_TRY(share(segment, deadline, anyFailed));
  segments_.clear();
  return {};
}

Status Heap::grow(uint64_t end, std::string_view what) {
  MK_TRY(broken_);
  if (end <= backed_)
    return {};
  Segment segment;
  segment.offset = backed_;
  segment.bytes = std::min(segmentBytes(end - segment.offset), bytes_ - segment.offset);
  Result<Fd> fd = addSegment(segment.offset, segment.bytes);
  if (fd)
    segment.fd = std::move(*fd);
  else
    segment.status = fd.status().withContext(std::string(what));
  // Also a failure: peers wait for this segment. All hear of it, and none has the segment: the
  // ranks stay together, and may ask for less.
  bool anyFailed = !segment.status.isOk();
  Status why = segment.status;
  if (agreement_) {
    why = agreement_(why);
    anyFailed = !why.isOk();
    if (anyFailed && why.code() != StatusCode::ResourceExhausted)
      broken_ = why;
  }
  // Where ranks have agreed, and one has failed, link peers know.
  if (exchanged_ && !(agreement_ && anyFailed)) {
    Status shared = share(segment, Deadline::after(options_.timeout), anyFailed);
    if (why.isOk())
      why = shared;
    if (!shared.isOk() && !anyFailed)
      broken_ = shared;
  }
  if (anyFailed) {
    segment.fd.reset();
    dropSegment(segment.offset, segment.bytes);
    return why;
  }
  MK_TRY(broken_);
  if (listener_)
    broken_ = listener_(segment.offset, segment.bytes);
  MK_TRY(broken_);
  parts_.emplace_back(segment.offset, segment.bytes);
  backed_.store(segment.offset + segment.bytes, std::memory_order_release);
  if (!exchanged_)
    segments_.push_back(std::move(segment));
  return {};
}

Status Heap::share(const Segment &segment, Deadline deadline, bool &anyFailed) {
  Message own;
  own.heapBytes = bytes_;
  own.slots = slots();
  own.offset = segment.offset;
  own.bytes = segment.bytes;
  own.failed = !segment.status.isOk();
  own.setText(own.failed ? segment.status.message() : device());
  std::string_view bytes(reinterpret_cast<const char *>(&own), sizeof(own));
  // All send before any receives: one small packet always fits the socket.
  for (size_t i = 0; i < peers_.size(); ++i)
    MK_TRY(sendPacket(sockets_[i].get(), bytes, segment.fd.get(), deadline,
                      str("the heap to rank ", peers_[i])));
  std::vector<Packet> packets;
  std::vector<Message> messages;
  Status failed;
  for (size_t i = 0; i < peers_.size(); ++i) {
    uint32_t peer = peers_[i];
    MK_ASSIGN(Packet packet,
              receivePacket(sockets_[i].get(), sizeof(Message) + 1, deadline,
                            str("the heap of rank ", peer)));
    Message other;
    if (packet.bytes.empty())
      return error(StatusCode::Unavailable, "rank ", peer,
                   " was lost while heaps were exchanged");
    if (packet.bytes.size() != sizeof(other))
      return error(StatusCode::Unavailable, "rank ", peer,
                   " sent no description of its heap");
    std::memcpy(&other, packet.bytes.data(), sizeof(other));
    other.text[sizeof(other.text) - 1] = 0;
    if (other.magic != Message::kMagic)
      return error(StatusCode::Unavailable, "rank ", peer,
                   " sent no description of its heap");
    if (other.failed && failed.isOk())
      failed = error(StatusCode::ResourceExhausted, "rank ", peer, ": ", other.text);
    packets.push_back(std::move(packet));
    messages.push_back(other);
  }
  // All messages are read by now: whatever comes next finds the sockets empty.
  if (!failed.isOk() || own.failed) {
    anyFailed = true;
    return failed;
  }
  for (size_t i = 0; i < peers_.size(); ++i) {
    uint32_t peer = peers_[i];
    const Packet &packet = packets[i];
    const Message &other = messages[i];
    if (other.heapBytes != own.heapBytes || other.slots != own.slots)
      return error(StatusCode::InvalidArgument, "rank ", peer,
                   " has a heap of ", other.heapBytes, " bytes and ",
                   other.slots, " slots, rank ", rank(), " one of ",
                   own.heapBytes, " and ", own.slots,
                   ": give all ranks the same ContextOptions::heapBytes and "
                   "slots");
    if (other.offset != own.offset || other.bytes != own.bytes || !packet.fd)
      return error(StatusCode::InvalidArgument, "rank ", peer, " adds bytes ",
                   other.offset, " to ", other.offset + other.bytes,
                   " of its heap, rank ", rank(), " bytes ", own.offset, " to ",
                   own.offset + own.bytes,
                   ": allocate the same on all ranks, in the same order");
    MK_TRY(mapSegment(peer, packet.fd, other.offset, other.bytes, other.text));
  }
  return {};
}

} // namespace mk::rt
