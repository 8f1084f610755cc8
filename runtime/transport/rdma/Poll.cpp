//===- Poll.cpp - Completions and signals ---------------------------------===//

#include "transport/rdma/Rdma.h"

#include <algorithm>
#include <arpa/inet.h>
#include <cerrno>
#include <cstring>
#include <utility>

namespace mk::rt::rdma {
namespace {
// Of one NIC in one round, so that a busy one starves nobody.
constexpr unsigned kMaxEntries = 1024;
constexpr auto kServiceInterval = std::chrono::milliseconds(1);
// Without progress on a path that has requests: peers are told.
constexpr std::chrono::nanoseconds kStuck = std::chrono::milliseconds(400);
} // namespace

void Rdma::doPoll(Completions &completions) {
  std::lock_guard lock(mutex_);
  auto append = [](auto &to, auto &from) {
    to.insert(to.end(), from.begin(), from.end());
  };
  append(completions.local, stash_.local);
  append(completions.arrivals, stash_.arrivals);
  stash_.clear();
  round(completions);
}

/// mutex_ held.
void Rdma::round(Completions &completions) {
  for (const auto &nic : nics_)
    if (nic->cq)
      drainNic(*nic, completions);
  // A device that failed may have said so, in better words.
  if (!failures_.empty())
    for (const auto &nic : nics_)
      asyncEvents(*nic);
  // Not while a completion queue is being read, which providers lock.
  for (auto &[path, cause] : std::exchange(failures_, {}))
    path ? pathFailed(*path, cause) : stop(cause);
  if (down_)
    recoverPaths(completions);
  repostReceives();
  if (!stopped_)
    flushAll();
  Clock::time_point now = Clock::now();
  if (now >= nextService_) {
    nextService_ = now + kServiceInterval;
    serviceEvents(0);
  }
  if (now >= nextAges_) {
    nextAges_ = now + std::min(options_.deadline / 16, kStuck / 4);
    checkAges(now);
    checkSilence(now);
    if (!stopped_)
      tellStuck(now);
  }
  // What the base class latched stops this end, too.
  if (failed() && !stopped_)
    stop(Transport::error());
}

void Rdma::drainNic(Nic &nic, Completions &completions) {
  // One entry at a time: where next_poll() finds none, some providers (rxe of
  // rdma-core 44) have already done what end_poll() does once more, and an entry
  // is lost.
  int code = 0;
  for (unsigned left = kMaxEntries; left > 0; --left) {
    ibv_poll_cq_attr attr{};
    code = nic.cq->start_poll(nic.cq, &attr);
    if (code != 0)
      break;
    // Of a failed one only wr_id, status, queue pair and vendor error are valid.
    if (nic.cq->status != IBV_WC_SUCCESS)
      sendFailed(nic, nic.cq->wr_id, completions);
    else if (nic.cq->read_opcode(nic.cq) == IBV_WC_RECV_RDMA_WITH_IMM)
      takeSignal(nic, completions); // wr_id of unsolicited ones says nothing
    else
      sendCompleted(nic.cq->wr_id, completions);
    nic.cq->end_poll(nic.cq);
  }
  if (code != 0 && code != ENOENT)
    stop(rt::error(StatusCode::Unavailable, "the completion queue of NIC ",
                   nic.name(), " cannot be read: ", std::strerror(code)));
}

void Rdma::takeSignal(Nic &nic, Completions &completions) {
  Path *path = pathOfSignal(nic);
  if (!path) {
    latch(rt::error(StatusCode::Internal, "a signal came in on NIC ",
                    nic.name(), " from an unknown queue pair"))
        .ignore();
    return;
  }
  if (path->queue->postsReceives)
    ++path->queue->receivesOwed;
  // RC: the peer was told how many this end has had; it sends the rest again.
  if (!path->up && path->queue->ordered)
    return;
  ++path->immediatesTaken;
  PeerLink &peer = peers_.at(path->peer);
  Immediate signal = peer.code.decode(ntohl(nic.cq->read_imm_data(nic.cq)),
                                      nic.cq->read_byte_len(nic.cq));
  path->progress = Clock::now();
  if (signal.credit) {
    if (signal.generation == config().generation)
      path->credits += path->quantum();
    return;
  }
  completions.arrivals.push_back(
      {path->peer, signal.slot, signal.amount, signal.generation});
  if (++path->owed < path->ownQuantum())
    return;
  path->owed -= path->ownQuantum();
  // Who has said goodbye sends no more.
  if (path->up && !(peer.control && peer.control->goodbye))
    ++path->creditsToSend;
}

/// The work of a wr_id; nothing when its number has been used again since.
static std::optional<uint32_t> workOf(uint64_t id,
                                      const std::vector<Work> &works) {
  uint32_t number = static_cast<uint32_t>(id);
  if ((id & kMarkMask) != kWorkMark || number >= works.size() ||
      !works[number].used || works[number].serial != uint16_t(id >> 32))
    return std::nullopt;
  return number;
}

/// Takes a posted work out of its queue.
void Rdma::retire(Path &path, uint32_t work) {
  Queue &queue = *path.queue;
  if (queue.ordered && !queue.order.empty() && queue.order.front() == work)
    queue.order.pop_front();
  --queue.inFlight;
  --path.inFlight;
  path.progress = Clock::now();
}

void Rdma::sendCompleted(uint64_t id, Completions &completions) {
  auto number = workOf(id, works_);
  if (!number || !works_[*number].path)
    return; // of a path that was given up
  Path &path = *works_[*number].path;
  if (path.queue->ordered)
    while (!path.queue->order.empty() && path.queue->order.front() != *number) {
      uint32_t before = path.queue->order.front();
      retire(path, before);
      completeWork(before, completions);
    }
  retire(path, *number);
  completeWork(*number, completions);
}

/// Delivered at the peer.
void Rdma::completeWork(uint32_t number, Completions &completions) {
  Work work = works_[number];
  freeWork(number);
  if (work.kind != Work::Write && work.path)
    ++work.path->immediatesDone;
  if (work.kind == Work::Credit)
    return;
  Put &put = puts_[work.put];
  if (--put.left == 0)
    finishPut(work.put, completions);
}

void Rdma::finishPut(uint32_t number, Completions &completions) {
  Put &put = puts_[number];
  if (put.signal)
    return raiseSignal(number);
  completions.local.push_back({put.cookie, put.peer});
  freePuts_.push_back(number);
  --openPuts_;
}

void Rdma::sendFailed(Nic &nic, uint64_t id, Completions &completions) {
  ibv_wc_status status = nic.cq->status;
  uint32_t vendorError = nic.cq->read_vendor_err(nic.cq);
  if ((id & kMarkMask) == kReceiveMark) {
    // Flushed with a queue pair whose failure is reported by a request or event.
    Queue &queue = queues_[static_cast<uint32_t>(id)];
    if (queue.broken || status == IBV_WC_WR_FLUSH_ERR)
      return;
    for (Path &path : paths_)
      if (path.queue == &queue)
        failures_.emplace_back(&path, rt::error(StatusCode::Unavailable,
                                                "a receive from rank ", path.peer,
                                                " failed on ",
                                                nic.failure(status, vendorError)));
    return;
  }
  auto number = workOf(id, works_);
  if (!number || !works_[*number].path) {
    if ((id & kMarkMask) != kWorkMark)
      latch(rt::error(StatusCode::Internal, "an unknown request failed on ",
                      nic.failure(status, vendorError)))
          .ignore();
    return;
  }
  Work &work = works_[*number];
  Path &path = *work.path;
  bool ordered = path.queue->ordered;
  if (ordered && (!path.up || path.failing))
    return; // flushed; what becomes of it is decided in recover()
  Status cause = rt::error(
      StatusCode::Unavailable, "a request to rank ", path.peer, " of ",
      work.bytes, " bytes failed on ", nic.failure(status, vendorError));
  if (ordered) {
    // Those before it have completed. It stays in its queue, as do those behind it.
    path.failing = true;
    while (!path.queue->order.empty() && path.queue->order.front() != *number) {
      uint32_t before = path.queue->order.front();
      retire(path, before);
      completeWork(before, completions);
    }
    failures_.emplace_back(&path, cause);
    return;
  }
  // SRD: nothing is known of this one. Bytes alone may be written again; a signal
  // that may be there already may not.
  retire(path, *number);
  PeerLink &peer = peers_.at(path.peer);
  if (work.kind == Work::Credit) {
    freeWork(*number);
    if (!(peer.control && peer.control->goodbye))
      failures_.emplace_back(&path, cause);
    return;
  }
  if (work.kind == Work::Write && otherPath(path)) {
    work.path = nullptr;
    homeless_.push_back(*number);
    failures_.emplace_back(&path, cause);
    return;
  }
  failures_.emplace_back(nullptr, cause);
}

void Rdma::repostReceives() {
  for (Queue &queue : queues_)
    if (queue.receivesOwed && !queue.broken) {
      uint32_t count = std::exchange(queue.receivesOwed, 0);
      if (Status posted = postReceives(queue, count); !posted) {
        // The device may have said why, and in better words.
        asyncEvents(*queue.nic);
        if (!queue.broken)
          stop(posted);
      }
    }
}

/// Of paths that have had no progress for so long. mutex_ held.
std::string Rdma::stuckFor(std::chrono::nanoseconds limit, Clock::time_point now) const {
  constexpr int kMost = 3; // paths that are named
  std::string text;
  int paths = 0;
  for (const Path &path : paths_) {
    auto age = now - path.progress;
    if (!path.up || path.idle() || age < limit || ++paths > kMost)
      continue;
    text += str(text.empty() ? "" : ", ", "rank ", path.peer,
                path.inFlight == 0 && path.credits == 0 ? " has taken no signal"
                                                        : " has acknowledged nothing",
                " for ", Deadline::after(age).duration(), " (NIC ",
                nics_[path.nic]->name(), ", ", path.inFlight, " requests under way, ",
                path.writes.size() + path.signals.size(), " waiting)");
  }
  return paths > kMost ? str(text, ", and so on for ", paths - kMost, " more paths") : text;
}

std::string Rdma::stuck() const {
  std::lock_guard lock(mutex_);
  std::string text = stuckFor(kStuck / 2, Clock::now());
  if (std::string lost = silent(Clock::now()); !lost.empty())
    text += str(text.empty() ? "" : "; ", lost);
  for (const auto &[peer, link] : peers_)
    if (!link.stuck.empty())
      text += str(text.empty() ? "" : "; ", "rank ", peer, " says: ", link.stuck);
  return text;
}

/// Peers wait for what stands still here, and may be the first to give up: they are
/// to know why.
void Rdma::tellStuck(Clock::time_point now) {
  bool changed = false;
  for (Path &path : paths_) {
    bool stuck = path.up && !path.idle() && now - path.progress >= kStuck;
    changed |= std::exchange(path.stuck, stuck) != stuck;
  }
  if (changed)
    control_.broadcast({ControlMessage::Stuck, 0, 0, stuckFor(kStuck, now)});
}

/// Peers of which nothing comes, not even that they are there. mutex_ held.
std::string Rdma::silent(Clock::time_point now) const {
  std::string ranks;
  Clock::duration least = Clock::duration::max();
  for (const auto &[peer, link] : peers_) {
    const Control::Link *control = link.control;
    if (!control || !control->open || control->goodbye || now - control->heard < 3 * beat())
      continue;
    ranks += str(ranks.empty() ? "" : ", ", peer);
    least = std::min(least, now - control->heard);
  }
  return ranks.empty() ? ranks
                       : str("nothing has come from rank(s) ", ranks, " for ",
                             Deadline::after(least).duration(),
                             ": their machine, their process or the way to them stands still");
}

/// A peer to which nothing is under way can be lost as well: the kernel here may wait for it. Where something
/// is, its path says what stands still (checkAges()), whichever of the two began first.
void Rdma::checkSilence(Clock::time_point now) {
  if (stopped_)
    return;
  if (now >= nextBeat_) {
    nextBeat_ = now + beat();
    control_.broadcast({ControlMessage::Alive, 0, 0, {}});
  }
  for (Control::Link &link : control_.links()) {
    auto silence = [&] { return link.open && !link.goodbye ? now - link.heard : Clock::duration(0); };
    auto busy = [&](const Path &path) { return path.peer == link.peer && path.up && !path.idle(); };
    if (silence() <= options_.deadline || std::ranges::any_of(paths_, busy))
      continue;
    controlEvent(link); // this thread may have slept, too
    if (silence() > options_.deadline && !stopped_)
      stop(rt::error(StatusCode::Unavailable, "rank ", link.peer,
                     " was lost: nothing has come from it for ",
                     Deadline::after(options_.deadline).duration(),
                     ", not over its socket either: its machine, its process or the way to it "
                     "stands still; option deadline=TIME"));
    if (stopped_)
      return;
  }
}

/// A request that never completes is an error as well.
void Rdma::checkAges(Clock::time_point now) {
  if (stopped_)
    return;
  for (Path &path : paths_) {
    if (path.up && !path.idle() && now - path.progress > options_.deadline) {
      bool starved = path.inFlight == 0 && path.credits == 0;
      return stop(rt::error(
          StatusCode::DeadlineExceeded, "rank ", path.peer,
          starved ? " has taken no signal" : " has acknowledged nothing", " for ",
          Deadline::after(options_.deadline).duration(), " (NIC ",
          nicOf(path).name(), ", ", path.inFlight, " requests under way, ",
          path.writes.size() + path.signals.size(),
          " waiting): the network is stuck or that rank is; option deadline=TIME"));
    }
    if (!path.up && !path.recovered && now - path.downSince > options_.deadline)
      return stop(path.cause);
  }
}

} // namespace mk::rt::rdma
