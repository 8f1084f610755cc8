//===- Transport.cpp - What all transports share --------------------------===//

#include "mkernel/Runtime/Transport.h"
#include "mkernel/Runtime/Heap.h"
#include "mkernel/Runtime/Log.h"

namespace mk::rt {

Transport::Transport(TransportConfig config)
    : config_(std::move(config)), peers_(new Peer[config_.heap->world()]) {}

Transport::~Transport() = default;

Status Transport::connect(StoreClient &store, std::span<const uint32_t> peers,
                          Deadline deadline) {
  if (state_ != State::Created)
    return rt::error(StatusCode::FailedPrecondition, name(),
                     " transport: connect was called before");
  for (uint32_t peer : peers)
    if (peer >= heap().world() || peer == heap().rank())
      return rt::error(StatusCode::InvalidArgument, name(),
                       " transport of rank ", heap().rank(), ": ", peer,
                       " is no other rank of ", heap().world());
  MK_TRY(doConnect(store, peers, deadline));
  state_ = State::Connected;
  return {};
}

namespace {
bool isWithin(uint64_t at, uint64_t n, uint64_t begin, uint64_t end) {
  return at >= begin && at <= end && n <= end - at;
}
/// By the one thread that writes it.
void addOwn(std::atomic<uint64_t> &count, uint64_t n) {
  count.store(count.load(std::memory_order_relaxed) + n, std::memory_order_relaxed);
}
uint64_t bytesOf(const PutRequest &request) {
  uint64_t bytes = 0;
  for (const Fragment &f : request.fragments)
    bytes += f.bytes;
  return bytes;
}
} // namespace

inline bool Transport::isInside(const PutRequest &request) const {
  if (request.peer >= heap().world())
    return false;
  const Peer &peer = peers_[request.peer];
  for (const Fragment &f : request.fragments)
    if (!isWithin(f.src, f.bytes, heap().dataOffset(), heap().bytes()) ||
        !isWithin(f.dst, f.bytes, peer.begin, peer.end))
      return false;
  return peer.connected && (!request.signal || request.signal->slot < peer.slots);
}

Status Transport::explain(const PutRequest &request) const {
  if (request.peer >= heap().world() || !peers_[request.peer].connected)
    return rt::error(StatusCode::InvalidArgument, name(), " transport of rank ",
                     heap().rank(), ": rank ", request.peer,
                     " is not connected (it is no peer across a net axis)");
  const Peer &peer = peers_[request.peer];
  for (const Fragment &f : request.fragments) {
    if (!isWithin(f.src, f.bytes, heap().dataOffset(), heap().bytes()))
      return rt::error(StatusCode::OutOfRange, "a put to rank ", request.peer,
                       " reads [", f.src, ", +", f.bytes,
                       "), outside this rank's window [", heap().dataOffset(),
                       ", ", heap().bytes(), ")");
    if (!isWithin(f.dst, f.bytes, peer.begin, peer.end))
      return rt::error(StatusCode::OutOfRange, "a put to rank ", request.peer,
                       " writes [", f.dst, ", +", f.bytes,
                       "), outside that rank's window [", peer.begin, ", ",
                       peer.end, ")");
  }
  if (request.signal && request.signal->slot >= peer.slots)
    return rt::error(StatusCode::OutOfRange, "a put raises signal slot ",
                     request.signal->slot, " of rank ", request.peer,
                     ", which has ", peer.slots);
  return rt::error(StatusCode::Internal, "a put to rank ", request.peer,
                   " is refused for no reason that is known");
}

Status Transport::post(const PutRequest &request) {
  if (state_ != State::Connected)
    return rt::error(StatusCode::FailedPrecondition, name(),
                     " transport: post needs a connected transport");
  if (failed())
    return error();
  if (!isInside(request)) [[unlikely]]
    return explain(request);
  Peer &peer = peers_[request.peer];
  // Before the request can complete.
  peer.requests.fetch_add(1, std::memory_order_relaxed);
  if (Status posted = doPost(request); !posted) {
    peer.requests.fetch_sub(1, std::memory_order_relaxed);
    return posted.code() == StatusCode::Again ? posted : latch(posted);
  }
  peer.bytes.fetch_add(bytesOf(request), std::memory_order_relaxed);
  return {};
}

size_t Transport::postAll(std::span<const PutRequest *const> requests, Status &why) {
  if (state_ != State::Connected || failed()) [[unlikely]] {
    why = post(*requests[0]); // says why not
    return why.isOk();
  }
  for (size_t i = 0; i < requests.size(); ++i) {
    const PutRequest &request = *requests[i];
    if (!isInside(request)) [[unlikely]] {
      why = explain(request);
      return i;
    }
    Peer &peer = peers_[request.peer];
    addOwn(peer.ownRequests, 1);
    if (Status posted = doPost(request); !posted) [[unlikely]] {
      peer.ownRequests.store(peer.ownRequests.load(std::memory_order_relaxed) - 1,
                             std::memory_order_relaxed);
      why = posted.code() == StatusCode::Again ? posted : latch(posted);
      return i;
    }
    addOwn(peer.ownBytes, bytesOf(request));
  }
  return requests.size();
}

Status Transport::poll(Completions &completions) {
  if (state_ == State::Created)
    return rt::error(StatusCode::FailedPrecondition, name(),
                     " transport: poll needs a connected transport");
  if (state_ == State::Closed)
    return error();
  size_t local = completions.local.size();
  size_t arrivals = completions.arrivals.size();
  doPoll(completions);
  // One thread polls, and adds to these. Release: who sees it knows that the request is at
  // the peer.
  for (size_t i = local; i < completions.local.size(); ++i) {
    auto &completed = peers_[completions.local[i].peer].completed;
    completed.store(completed.load(std::memory_order_relaxed) + 1, std::memory_order_release);
  }
  for (size_t i = arrivals; i < completions.arrivals.size(); ++i) {
    const Arrival &a = completions.arrivals[i];
    peers_[a.peer].arrivals.fetch_add(1, std::memory_order_relaxed);
    if (a.slot < heap().slots())
      continue;
    latch(rt::error(StatusCode::OutOfRange, "rank ", a.peer,
                    " raised signal slot ", a.slot, " of rank ", heap().rank(),
                    ", which has ", heap().slots()))
        .ignore();
    completions.arrivals.erase(completions.arrivals.begin() +
                               static_cast<ptrdiff_t>(i--));
  }
  return error();
}

uint64_t Transport::inFlight() const {
  uint64_t sum = 0;
  for (uint32_t r = 0; r < heap().world(); ++r) {
    // In this order: what completes in between was posted.
    uint64_t completed = peers_[r].completed.load(std::memory_order_acquire);
    sum += peers_[r].requests.load(std::memory_order_relaxed) +
           peers_[r].ownRequests.load(std::memory_order_relaxed) - completed;
  }
  return sum;
}

std::string Transport::stuck() const {
  uint64_t open = inFlight();
  return open ? str(open, " requests to other ranks have not completed") : std::string();
}

Status Transport::error() const {
  if (!failed())
    return {};
  std::lock_guard lock(errorMutex_);
  return error_;
}

Status Transport::latch(Status status) {
  std::lock_guard lock(errorMutex_);
  if (error_.isOk()) {
    error_ = status;
    failed_.store(true, std::memory_order_release);
    log::debug(name(), " transport: ", status.toString());
  }
  return error_;
}

void Transport::setPeerWindow(uint32_t peer, uint64_t begin, uint64_t end,
                              uint32_t slots) {
  Peer &p = peers_[peer];
  p.begin = begin;
  p.end = end;
  p.slots = slots;
  p.connected = true;
}

PeerStats Transport::stats(uint32_t peer) const {
  if (peer >= heap().world())
    return {};
  const Peer &p = peers_[peer];
  return {p.bytes + p.ownBytes, p.requests + p.ownRequests, p.completed, p.arrivals};
}

Status Transport::shutdown(Deadline deadline) {
  State was = state_.exchange(State::Closed);
  if (was == State::Connected)
    doShutdown(deadline);
  return error();
}

} // namespace mk::rt
