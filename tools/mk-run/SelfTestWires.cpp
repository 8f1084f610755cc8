//===- SelfTestWires.cpp - What carries the puts of --selftest ------------===//

#include "SelfTestWires.h"

#include <thread>

using namespace mk::run;
using namespace mk::rt;

std::string_view NetWire::remedy() const {
  return "look at the link between the two, or allow more time (--deadline)";
}

Result<std::unique_ptr<LinkWire>> LinkWire::open(Heap &heap, uint64_t offset) {
  std::unique_ptr<LinkWire> wire(new LinkWire(heap, offset));
  MK_ASSIGN(wire->writer_, heap.openCopies());
  MK_ASSIGN(wire->reader_, heap.openCopies());
  MK_TRY(wire->writer_->pin(reinterpret_cast<std::byte *>(&wire->host_), sizeof(wire->host_)));
  return wire;
}

Status LinkWire::begin(uint32_t peer, uint32_t round) {
  if (!heap_.peerPointer(peer, offset_))
    return error(StatusCode::Internal, "the memory of rank ", peer, " is not mapped");
  peer_ = peer;
  stamp_ = (uint64_t(round) + 1) << 32;
  raised_.fill(0);
  seen_.fill(0);
  for (uint64_t count = 0; count <= kMostCount; ++count)
    host_.words[count] = stamp_ | count;
  // Puts of this test are behind it, in the order of one stream.
  return writer_->fromHost(offset_ + kSlots * 8,
                           reinterpret_cast<const std::byte *>(host_.words.data()),
                           sizeof(host_.words));
}

Status LinkWire::post(const PutRequest &request) {
  for (const Fragment &f : request.fragments)
    MK_TRY(writer_->toPeer(request.peer, f.dst, f.src, f.bytes));
  if (request.signal)
    MK_TRY(raise(request.signal->slot));
  return writer_->mark().status();
}

Status LinkWire::raise(uint32_t slot) {
  uint64_t count = ++raised_[slot];
  if (count > kMostCount)
    return error(StatusCode::Internal, "signal ", slot, " is raised too often");
  uint64_t at = offset_ + slot * 8;
  if (!heap_.asHost())
    return writer_->toPeer(peer_, at, offset_ + (kSlots + count) * 8, 8);
  auto *word = reinterpret_cast<uint64_t *>(heap_.peerPointer(peer_, at));
  std::atomic_ref(*word).store(stamp_ | count, std::memory_order_release);
  return Status::success();
}

void LinkWire::add(uint32_t slot, uint64_t word, Completions &news) {
  if ((word & ~uint64_t(UINT32_MAX)) != stamp_)
    return;
  uint64_t count = word & UINT32_MAX;
  if (count > seen_[slot])
    news.arrivals.push_back({.peer = peer_, .slot = slot,
                             .amount = static_cast<uint32_t>(count - seen_[slot])});
  seen_[slot] = std::max(seen_[slot], count);
}

Status LinkWire::readSignals(Completions &news) {
  if (heap_.asHost()) {
    auto *words = reinterpret_cast<uint64_t *>(heap_.base() + offset_);
    for (uint32_t slot = 0; slot < kSlots; ++slot)
      add(slot, std::atomic_ref(words[slot]).load(std::memory_order_acquire), news);
    return Status::success();
  }
  if (reading_) {
    MK_ASSIGN(uint64_t reached, reader_->reached());
    if (reached < reading_)
      return Status::success();
    for (uint32_t slot = 0; slot < kSlots; ++slot)
      add(slot, host_.signals[slot], news);
  }
  MK_TRY(reader_->toHost(reinterpret_cast<std::byte *>(host_.signals.data()), offset_,
                         sizeof(host_.signals)));
  MK_ASSIGN(reading_, reader_->mark());
  return Status::success();
}

Status LinkWire::poll(Completions &news) {
  MK_ASSIGN(uint64_t reached, writer_->reached());
  for (; completed_ < reached; ++completed_)
    news.local.push_back({.peer = peer_});
  return readSignals(news);
}

void LinkWire::wait() { std::this_thread::yield(); }

std::string_view LinkWire::remedy() const {
  return heap_.asHost()
             ? "look whether that rank is stopped, or allow more time (--deadline)"
             : "look at the link between the two GPUs (nvidia-smi nvlink --status, nvidia-smi topo "
               "-p2p rw), or allow more time (--deadline)";
}

std::string LinkWire::describe() const {
  return heap_.asHost() ? "memory of this host, by loads and stores"
                        : "memory of GPUs, by the copy engine";
}
