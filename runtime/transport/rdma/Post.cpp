//===- Post.cpp - From puts to requests of the NICs -----------------------===//

#include "transport/rdma/Rdma.h"

#include "mkernel/Runtime/Log.h"

#include <algorithm>
#include <arpa/inet.h>
#include <cerrno>
#include <cstring>

namespace mk::rt::rdma {
namespace {
// Bounds of what is accepted; a poster beyond them is told to poll first.
constexpr uint64_t kMaxPuts = 4096, kMaxWaiting = 64 << 10;
constexpr uint64_t kPieceAlignment = 4096; // of stripes, bytes
constexpr uint64_t kSignalWeight = 64;     // of a signal when paths are chosen, bytes
} // namespace

Status Rdma::doPost(const PutRequest &request) {
  std::lock_guard lock(mutex_);
  if (stopped_)
    return Transport::error();
  if (openPuts_ >= kMaxPuts || waiting_ >= kMaxWaiting)
    return rt::error(StatusCode::Again, "the ", name(), " send queue is full");
  if (request.signal && request.signal->amount > kMaxAmount)
    return rt::error(StatusCode::InvalidArgument, "a signal of ",
                     request.signal->amount, ": at most ", kMaxAmount,
                     " can be added at once");
  PeerLink &peer = peers_.at(request.peer);
  pieces_.clear();
  MK_TRY(cut(peer, request));

  Put put{request.peer, request.cookie, request.signal,
          static_cast<uint32_t>(pieces_.size())};
  if (pieces_.empty() && !put.signal) {
    stash_.local.push_back({request.cookie, request.peer});
    wake();
    return {};
  }
  uint32_t number;
  if (freePuts_.empty()) {
    number = static_cast<uint32_t>(puts_.size());
    puts_.emplace_back();
  } else {
    number = freePuts_.back();
    freePuts_.pop_back();
  }
  ++openPuts_;
  bool whole = pieces_.size() == 1 && put.signal &&
               peer.code.fits(put.signal->amount);
  puts_[number] = put;
  if (pieces_.empty())
    raiseSignal(number);
  for (const Piece &piece : pieces_) {
    Work work;
    work.put = number;
    work.src = piece.src;
    work.dst = piece.dst;
    work.bytes = piece.bytes;
    if (whole) {
      work.kind = Work::WriteSignal;
      work.immediate = peer.code.put(config().generation, put.signal->slot,
                                     put.signal->amount);
      puts_[number].signal.reset();
    }
    enqueue(*piece.path, newWork(work));
  }
  for (Path *path : peer.paths)
    flushPath(*path);
  return {};
}

/// By what each path had so far in proportion to its share. Null: none is up.
Path *Rdma::choosePath(PeerLink &peer, uint64_t bytes) {
  Path *best = nullptr;
  auto after = [&](const Path &path) {
    return path.sent + double(bytes) / path.share;
  };
  for (Path *path : peer.paths)
    if (path->up && (!best || after(*path) < after(*best)))
      best = path;
  return best;
}

/// A put into pieces_, each of which is one request.
Status Rdma::cut(PeerLink &peer, const PutRequest &request) {
  for (const Fragment &f : request.fragments) {
    if (f.bytes == 0)
      continue;
    double shares = 0;
    size_t up = 0;
    for (const Path *path : peer.paths)
      if (path->up) {
        shares += path->share;
        ++up;
      }
    if (up == 0)
      return rt::error(StatusCode::Again, "no path to rank ", request.peer,
                       " is up until another is given up");
    if (up == 1 || f.bytes < options_.stripe) {
      MK_TRY(cutPart(peer, *choosePath(peer, f.bytes), f));
      continue;
    }
    uint64_t at = 0;
    double passed = 0;
    for (Path *path : peer.paths) {
      if (!path->up)
        continue;
      passed += path->share;
      bool last = --up == 0;
      uint64_t end = last ? f.bytes
                          : std::min(f.bytes, uint64_t(double(f.bytes) * passed / shares) /
                                                  kPieceAlignment * kPieceAlignment);
      if (end > at)
        MK_TRY(cutPart(peer, *path, {f.src + at, f.dst + at, end - at}));
      at = std::max(at, end);
    }
  }
  return {};
}

/// What goes over one path, by the largest request and the memory's parts.
Status Rdma::cutPart(PeerLink &peer, Path &path, Fragment part) {
  const Nic &nic = nicOf(path);
  uint64_t largest = kind_ == NicKind::Efa ? nic.efa.max_rdma_size
                                           : nic.portAttr.max_msg_sz;
  largest = largest ? std::min(largest, options_.request) : options_.request;
  path.sent += double(part.bytes) / path.share;
  while (part.bytes > 0) {
    const Segment *from = memory_ ? memory_->segments().find(part.src) : nullptr;
    const Segment *to = peer.memory.find(part.dst);
    if (!from || !to)
      return rt::error(StatusCode::OutOfRange, "a put to rank ", path.peer,
                       from ? " writes" : " reads", " at offset ",
                       from ? part.dst : part.src,
                       ", where no memory is registered");
    uint64_t bytes = std::min(
        {part.bytes, largest, from->offset + from->bytes - part.src,
         to->offset + to->bytes - part.dst});
    pieces_.push_back({&path, part.src, part.dst, static_cast<uint32_t>(bytes)});
    part.src += bytes;
    part.dst += bytes;
    part.bytes -= bytes;
  }
  return {};
}

uint32_t Rdma::newWork(Work work) {
  uint32_t number;
  if (freeWorks_.empty()) {
    number = static_cast<uint32_t>(works_.size());
    works_.emplace_back();
  } else {
    number = freeWorks_.back();
    freeWorks_.pop_back();
  }
  work.serial = static_cast<uint16_t>(works_[number].serial + 1);
  work.used = true;
  works_[number] = work;
  return number;
}

void Rdma::freeWork(uint32_t work) {
  works_[work].used = false;
  freeWorks_.push_back(work);
}

void Rdma::enqueue(Path &path, uint32_t work) {
  works_[work].path = &path;
  if (path.idle())
    path.progress = Clock::now();
  (works_[work].signals() ? path.signals : path.writes).push_back(work);
  ++waiting_;
}

/// A path for a work that has none; none: it waits.
void Rdma::settle(uint32_t number) {
  const Work &work = works_[number];
  uint64_t weight = std::max<uint64_t>(work.bytes, kSignalWeight);
  Path *path = choosePath(peers_.at(puts_[work.put].peer), weight);
  if (!path) {
    homeless_.push_back(number);
    return;
  }
  path->sent += double(weight) / path->share;
  enqueue(*path, number);
}

/// All bytes of the put are in the peer's memory.
void Rdma::raiseSignal(uint32_t put) {
  SignalAdd signal = *puts_[put].signal;
  puts_[put].signal.reset();
  puts_[put].left = 1;
  Work work;
  work.kind = Work::Signal;
  work.put = put;
  work.immediate = ImmediateCode::signal(config().generation, signal.slot);
  work.bytes = ImmediateCode::signalBytes(signal.amount);
  settle(newWork(work));
}

void Rdma::build(Path &path, uint32_t number, bool signaled) {
  const Work &work = works_[number];
  const PeerLink &peer = peers_.at(path.peer);
  const NicEndpoint &remote = peer.endpoint.nics[path.remoteNic];
  const Nic &nic = nicOf(path);
  uint32_t remoteKey = remote.sinkKey, localKey = nic.source->lkey;
  uint64_t to = remote.sinkAddress;
  uint64_t from = reinterpret_cast<uint64_t>(nic.sourceMemory.get());
  if (work.kind == Work::Write || work.kind == Work::WriteSignal) {
    const Segment &source = *memory_->segments().find(work.src);
    const Segment &target = *peer.memory.find(work.dst);
    localKey = source.localKeys[path.nic];
    from = source.address + (work.src - source.offset);
    remoteKey = target.remoteKeys[path.remoteNic];
    to = target.address + (work.dst - target.offset);
  }
  ibv_qp_ex *ex = path.queue->ex;
  ex->wr_id = kWorkMark | uint64_t(work.serial) << 32 | number;
  ex->wr_flags = signaled ? IBV_SEND_SIGNALED : 0;
  if (work.kind == Work::Write)
    ibv_wr_rdma_write(ex, remoteKey, to);
  else
    ibv_wr_rdma_write_imm(ex, remoteKey, to, htonl(work.immediate));
  ibv_wr_set_sge(ex, localKey, from, work.bytes);
  if (path.ah)
    ibv_wr_set_ud_addr(ex, path.ah, path.remote.qpn, path.remote.qkey);
}

/// Posts what the queue has room and the window credit for, as one batch.
void Rdma::flushPath(Path &path) {
  Queue &queue = *path.queue;
  if (!path.up || queue.broken || stopped_)
    return;
  batch_.clear();
  size_t room = queue.depth - queue.inFlight;
  uint32_t credits = std::min<uint32_t>(path.creditsToSend, static_cast<uint32_t>(room));
  for (uint32_t i = 0; i < credits; ++i) {
    Work work;
    work.kind = Work::Credit;
    work.path = &path;
    work.immediate = ImmediateCode::credit(config().generation);
    work.bytes = 1;
    batch_.push_back(newWork(work));
  }
  auto add = [&](std::deque<uint32_t> &from, size_t limit) {
    size_t n = std::min({from.size(), room - batch_.size(), limit});
    batch_.insert(batch_.end(), from.begin(), from.begin() + static_cast<ptrdiff_t>(n));
    return n;
  };
  size_t writes = add(path.writes, SIZE_MAX);
  size_t signals = add(path.signals, path.credits);
  if (batch_.empty())
    return;

  ibv_wr_start(queue.ex);
  uint32_t since = queue.sinceSignaled;
  for (size_t i = 0; i < batch_.size(); ++i) {
    // In order, a completion stands for those before it. The last has one always:
    // nobody else would tell that the batch is there.
    bool signaled = !queue.ordered || i + 1 == batch_.size() ||
                    ++since >= std::max(queue.depth / 4, 1u);
    if (signaled)
      since = 0;
    build(path, batch_[i], signaled);
  }
  if (int err = ibv_wr_complete(queue.ex)) {
    // Nothing was posted.
    for (uint32_t i = 0; i < credits; ++i)
      freeWork(batch_[i]);
    // The device is behind with its queue: the next poll tries again.
    if (err == ENOMEM)
      return;
    // It may have said why, and in better words.
    asyncEvents(*queue.nic);
    pathFailed(path, rt::error(StatusCode::Unavailable, "posting to rank ",
                                 path.peer, " on NIC ", queue.nic->name(),
                                 " failed: ", std::strerror(err)));
    return;
  }
  queue.sinceSignaled = since;
  if (path.inFlight == 0)
    path.progress = Clock::now();
  queue.inFlight += static_cast<uint32_t>(batch_.size());
  path.inFlight += static_cast<uint32_t>(batch_.size());
  if (queue.ordered)
    queue.order.insert(queue.order.end(), batch_.begin(), batch_.end());
  path.creditsToSend -= credits;
  path.credits -= static_cast<uint32_t>(signals);
  path.writes.erase(path.writes.begin(), path.writes.begin() + static_cast<ptrdiff_t>(writes));
  path.signals.erase(path.signals.begin(), path.signals.begin() + static_cast<ptrdiff_t>(signals));
  waiting_ -= writes + signals;
}

void Rdma::flushAll() {
  // Once each: those that find no path come back.
  for (size_t n = homeless_.size(); n > 0; --n) {
    uint32_t work = homeless_.front();
    homeless_.pop_front();
    settle(work);
  }
  for (Path &path : paths_)
    if (!path.writes.empty() || !path.signals.empty() || path.creditsToSend)
      flushPath(path);
}

} // namespace mk::rt::rdma
