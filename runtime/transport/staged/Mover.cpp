//===- Mover.cpp - The thread that fills and empties chunks ---------------===//

#include "transport/staged/Staged.h"

#include <algorithm>
#include <cstring>

namespace mk::rt {

/// In front of a chunk's bytes, and behind it the fragments that they are.
struct Staged::Header {
  static constexpr uint64_t kMagic = 0x316b6e7568632e6b; // "k.chunk1"
  uint64_t magic = kMagic;
  uint64_t number = 0; // of the put, among those of the sender
  uint64_t total = 0;  // bytes of the put
  uint64_t bytes = 0;  // in this chunk
  uint32_t fragments = 0;
  uint32_t hasSignal = 0, slot = 0, amount = 0;
  uint32_t generation = 0;
  uint32_t at = 0; // where the bytes begin
};

namespace {
struct Part {
  uint64_t dst = 0, bytes = 0;
};
// Parts may take a quarter of a chunk.
constexpr uint64_t kParts = 4;
// Where bytes begin: copies like it.
constexpr uint64_t kAlign = 64;
uint64_t aligned(uint64_t at) { return (at + kAlign - 1) / kAlign * kAlign; }
} // namespace

void Staged::run() {
  while (!stop_) {
    bool any = false;
    if (Status moved = move(any); !moved) {
      latch(moved).ignore();
      wake();
      return;
    }
    if (any)
      continue;
    // Nobody says when a device has copied, or when there is room again.
    if (!filling_.empty() || !emptying_.empty())
      std::this_thread::yield();
    else if (!filled_.empty() || !emptied_.empty())
      std::this_thread::sleep_for(std::chrono::microseconds(20));
    else
      inner_->wait(std::chrono::milliseconds(10));
  }
}

Status Staged::move(bool &any) {
  MK_TRY(cutPuts(any));
  MK_TRY(sendFilled(any));
  MK_TRY(pollInner(any));
  MK_TRY(landEmptied(any));
  return giveBack(any);
}

//===----------------------------------------------------------------------===//
// Out
//===----------------------------------------------------------------------===//

Status Staged::cutPuts(bool &any) {
  Flight flight;
  for (auto &peer : peers_)
    while (!peer->free.empty()) {
      PutRef put;
      {
        std::lock_guard lock(mutex_);
        if (peer->queue.empty())
          break;
        put = peer->queue.front();
      }
      if (put->out == 0 && put->fragment == 0 && put->at == 0)
        put->number = ++puts_;
      uint32_t number = peer->free.back();
      peer->free.pop_back();
      Chunk chunk;
      MK_TRY(fill(*peer, put, number, chunk));
      flight.chunks.push_back(chunk);
      if (put->cut) {
        std::lock_guard lock(mutex_);
        peer->queue.pop_front();
      }
    }
  if (flight.chunks.empty())
    return {};
  any = true;
  MK_ASSIGN(flight.mark, toHost_->mark());
  filling_.push_back(std::move(flight));
  return {};
}

/// Begins to copy the next part of a put into a chunk.
Status Staged::fill(Peer &peer, const PutRef &ref, uint32_t number, Chunk &chunk) {
  Put &put = *ref;
  std::byte *memory = chunkOut(peer, number);
  const std::vector<Fragment> &fragments = put.request.fragments;
  // How many fragments the list has room for; then the bytes begin.
  uint64_t most = std::max<uint64_t>(options_.chunkBytes / kParts / sizeof(Part), 1);
  uint64_t listed = std::min<uint64_t>(most, fragments.size() - put.fragment);
  uint64_t begin = aligned(sizeof(Header) + listed * sizeof(Part)), end = begin;
  Header header;
  header.number = put.number;
  header.total = put.bytes;
  std::vector<Part> parts;
  while (put.fragment < fragments.size() && parts.size() < listed &&
         end < options_.chunkBytes) {
    const Fragment &f = fragments[put.fragment];
    uint64_t bytes = std::min(f.bytes - put.at, options_.chunkBytes - end);
    if (bytes > 0) {
      MK_TRY(toHost_->toHost(memory + end, f.src + put.at, bytes));
      parts.push_back({f.dst + put.at, bytes});
      end += bytes;
      put.at += bytes;
    }
    if (put.at == f.bytes) {
      ++put.fragment;
      put.at = 0;
    }
  }
  header.bytes = end - begin;
  header.fragments = static_cast<uint32_t>(parts.size());
  header.at = static_cast<uint32_t>(begin);
  if (put.request.signal) {
    header.hasSignal = 1;
    header.slot = put.request.signal->slot;
    header.amount = put.request.signal->amount;
  }
  header.generation = config().generation;
  std::memcpy(memory, &header, sizeof(header));
  if (!parts.empty()) // a signal alone has none
    std::memcpy(memory + sizeof(header), parts.data(), parts.size() * sizeof(Part));
  put.cut = put.fragment == fragments.size();
  ++put.out;
  peer.sent[number] = ref;
  chunk = {&peer, number, end};
  return {};
}

Status Staged::sendFilled(bool &any) {
  if (!filling_.empty()) {
    MK_ASSIGN(uint64_t reached, toHost_->reached());
    for (; !filling_.empty() && filling_.front().mark <= reached; any = true) {
      std::vector<Chunk> &chunks = filling_.front().chunks;
      filled_.insert(filled_.end(), chunks.begin(), chunks.end());
      filling_.pop_front();
    }
  }
  while (!filled_.empty()) {
    const Chunk &chunk = filled_.front();
    const Peer &peer = *chunk.peer;
    PutRequest request;
    request.peer = peer.rank;
    request.fragments = {{offsetOut(peer.index, chunk.number),
                          offsetIn(peer.theirs, chunk.number), chunk.bytes}};
    request.signal = SignalAdd{
        static_cast<uint32_t>(2 * peer.theirs * options_.chunks + chunk.number), 1};
    Status posted = inner_->post(request);
    if (posted.code() == StatusCode::Again)
      return {};
    MK_TRY(posted);
    any = true;
    PutRef put = peer.sent[chunk.number];
    filled_.pop_front();
    bool more = !put->cut;
    for (const Chunk &other : filled_)
      more |= other.peer->sent[other.number] == put;
    for (const Flight &flight : filling_)
      for (const Chunk &other : flight.chunks)
        more |= other.peer->sent[other.number] == put;
    if (!more) {
      std::lock_guard lock(mutex_);
      --uncut_;
    }
  }
  return {};
}

/// A chunk is this rank's again.
Status Staged::returned(Peer &peer, uint32_t chunk) {
  PutRef put = std::move(peer.sent[chunk]);
  peer.sent[chunk] = nullptr;
  if (!put)
    return rt::error(StatusCode::Internal, "rank ", peer.rank, " gives back chunk ", chunk,
                     ", which it was not sent");
  peer.free.push_back(chunk);
  if (--put->out > 0 || !put->cut)
    return {};
  std::lock_guard lock(mutex_);
  completed_.push_back({put->request.cookie, peer.rank});
  --posted_;
  changed_.notify_all();
  return {};
}

//===----------------------------------------------------------------------===//
// In
//===----------------------------------------------------------------------===//

Status Staged::pollInner(bool &any) {
  polled_.clear();
  Status polled = inner_->poll(polled_);
  any |= !polled_.empty();
  bool emptied = false;
  Flight flight;
  for (const Arrival &a : polled_.arrivals) {
    if (a.generation != config().generation)
      continue;
    uint64_t index = a.slot / (2 * options_.chunks);
    auto number = static_cast<uint32_t>(a.slot % (2 * options_.chunks));
    if (index >= peers_.size() || peers_[index]->rank != a.peer)
      return rt::error(StatusCode::Internal, "rank ", a.peer,
                       " names a chunk that is not its own");
    Peer &peer = *peers_[index];
    if (number >= options_.chunks) {
      MK_TRY(returned(peer, number - static_cast<uint32_t>(options_.chunks)));
      continue;
    }
    Chunk chunk{&peer, number, 0};
    MK_TRY(empty(chunk));
    flight.chunks.push_back(chunk);
    emptied = true;
  }
  if (emptied) {
    MK_ASSIGN(flight.mark, fromHost_->mark());
    emptying_.push_back(std::move(flight));
  }
  return polled;
}

/// Begins to copy a chunk to where it belongs.
Status Staged::empty(const Chunk &chunk) {
  const std::byte *memory = chunkIn(*chunk.peer, chunk.number);
  auto bad = [&](std::string_view what) {
    return rt::error(StatusCode::Internal, "a chunk of rank ", chunk.peer->rank, " ", what,
                     ": its memory was overwritten, or the ranks run other versions");
  };
  Header header;
  std::memcpy(&header, memory, sizeof(header));
  uint64_t at = header.at;
  if (header.magic != Header::kMagic || at < sizeof(header) ||
      at > options_.chunkBytes || header.bytes > options_.chunkBytes - at ||
      header.fragments > (at - sizeof(header)) / sizeof(Part))
    return bad("has no header");
  uint64_t left = header.bytes;
  for (uint32_t i = 0; i < header.fragments; ++i) {
    Part part;
    std::memcpy(&part, memory + sizeof(header) + i * sizeof(part), sizeof(part));
    if (part.bytes > left || part.dst < heap().dataOffset() ||
        part.dst > heap().backed() || part.bytes > heap().backed() - part.dst)
      return bad("leaves this rank's window");
    MK_TRY(fromHost_->fromHost(part.dst, memory + at, part.bytes));
    at += part.bytes;
    left -= part.bytes;
  }
  return left ? bad("has bytes that go nowhere") : Status::success();
}

Status Staged::landEmptied(bool &any) {
  if (emptying_.empty())
    return {};
  MK_ASSIGN(uint64_t reached, fromHost_->reached());
  for (; !emptying_.empty() && emptying_.front().mark <= reached; any = true) {
    for (const Chunk &chunk : emptying_.front().chunks)
      MK_TRY(landed(chunk));
    emptying_.pop_front();
  }
  return {};
}

Status Staged::landed(const Chunk &chunk) {
  Peer &peer = *chunk.peer;
  Header header;
  std::memcpy(&header, chunkIn(peer, chunk.number), sizeof(header));
  Incoming &put = peer.incoming[header.number];
  put.bytes += header.bytes;
  emptied_.push_back(chunk);
  if (put.bytes < header.total)
    return {};
  peer.incoming.erase(header.number);
  if (header.hasSignal)
    whole_.push_back({peer.rank, header.slot, header.amount,
                      static_cast<uint8_t>(header.generation)});
  return {};
}

/// Before an arrival is told: who has seen it may shut down, and the sender's put is
/// complete all the same.
Status Staged::giveBack(bool &any) {
  while (!emptied_.empty()) {
    const Chunk &chunk = emptied_.front();
    PutRequest request;
    request.peer = chunk.peer->rank;
    request.signal = SignalAdd{
        static_cast<uint32_t>((2 * chunk.peer->theirs + 1) * options_.chunks +
                              chunk.number),
        1};
    Status posted = inner_->post(request);
    if (posted.code() == StatusCode::Again)
      return {};
    MK_TRY(posted);
    any = true;
    emptied_.pop_front();
  }
  if (whole_.empty())
    return {};
  std::lock_guard lock(mutex_);
  arrivals_.insert(arrivals_.end(), whole_.begin(), whole_.end());
  whole_.clear();
  changed_.notify_all();
  return {};
}

} // namespace mk::rt
