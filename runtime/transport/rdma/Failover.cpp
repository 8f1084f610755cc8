//===- Failover.cpp - A path fails ----------------------------------------===//
//
// RC delivers in order. A rank that gives a path up moves its queue pair to the
// error state, after which nothing comes in any more, and tells the peer how many
// immediates it has had over it. The peer does the same. So each knows of every
// request that it had under way whether it counts: those up to the last immediate
// that was taken are delivered, later ones are sent again over other paths. Bytes
// that did arrive are written twice, which nobody sees, since the put is not
// signalled yet.
//
// SRD has no order: of a request that failed nothing is known. Bytes alone are
// sent again over another path, a signal is not, and its put's failure is final.
//
//===----------------------------------------------------------------------===//

#include "transport/rdma/Rdma.h"

#include "mkernel/Runtime/Log.h"

namespace mk::rt::rdma {

bool Rdma::otherPath(const Path &path) {
  for (const Path *other : peers_.at(path.peer).paths)
    if (other != &path && other->up)
      return true;
  return false;
}

void Rdma::pathFailed(Path &path, Status cause) {
  if (stopped_ || !path.up)
    return;
  PeerLink &peer = peers_.at(path.peer);
  if (peer.control && peer.control->goodbye) {
    // Nothing but credits goes to a peer that has left; nobody needs those.
    bool credits = path.writes.empty() && path.signals.empty();
    for (uint32_t number : path.queue->order)
      credits &= works_[number].kind == Work::Credit;
    if (credits) {
      path.up = false;
      path.recovered = true;
      return;
    }
  }
  if (!otherPath(path))
    return stop(std::move(cause));
  log::warn(name(), " transport of rank ", heap().rank(), ": goes on without NIC ",
            nicOf(path).name(), " to rank ", path.peer, ": ", cause.message());
  pathDown(path, std::move(cause));
}

void Rdma::pathDown(Path &path, Status cause) {
  path.up = false;
  path.downSince = Clock::now();
  path.creditsToSend = 0;
  // First of all: what is taken now is what the peer is told.
  if (path.queue->ordered)
    moveToError(*path.queue);
  if (Control::Link *link = peers_.at(path.peer).control)
    control_.send(*link, {ControlMessage::PathDown, path.index,
                          path.immediatesTaken, cause.message()});
  path.cause = std::move(cause);
  moveWaiting(path);
  // SRD: what is under way there completes or fails by itself.
  path.recovered = !path.queue->ordered;
  if (!path.recovered)
    ++down_;
}

/// Works that were not posted.
void Rdma::moveWaiting(Path &path) {
  for (auto *works : {&path.writes, &path.signals}) {
    for (uint32_t number : *works) {
      works_[number].path = nullptr;
      homeless_.push_back(number);
      --waiting_;
    }
    works->clear();
  }
}

void Rdma::recoverPaths(Completions &completions) {
  for (Path &path : paths_)
    if (!path.up && !path.recovered && path.delivered && !stopped_)
      recover(path, completions);
}

/// The peer has said what it has had.
void Rdma::recover(Path &path, Completions &completions) {
  Queue &queue = *path.queue;
  uint64_t delivered = *path.delivered, number = path.immediatesDone;
  size_t proven = 0; // works at the front of the queue
  for (size_t i = 0; i < queue.order.size(); ++i)
    if (works_[queue.order[i]].kind != Work::Write && ++number <= delivered)
      proven = i + 1;
  std::deque<uint32_t> order;
  order.swap(queue.order);
  queue.inFlight = path.inFlight = 0;
  for (size_t i = 0; i < order.size(); ++i) {
    Work &work = works_[order[i]];
    if (i < proven) {
      completeWork(order[i], completions);
    } else if (work.kind == Work::Credit) {
      freeWork(order[i]);
    } else {
      work.path = nullptr;
      // Late completions of the old path are not this one's.
      homeless_.push_back(newWork(work));
      freeWork(order[i]);
    }
  }
  path.recovered = true;
  --down_;
}

} // namespace mk::rt::rdma
