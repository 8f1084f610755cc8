//===- Shutdown.cpp - Leaving, and failing --------------------------------===//

#include "transport/rdma/Rdma.h"

#include <algorithm>

namespace mk::rt::rdma {

Rdma::~Rdma() { closeAll(); }

/// Once: keeps the cause, ends all traffic, tells the peers. mutex_ held.
void Rdma::stop(Status why) {
  Status cause = latch(std::move(why));
  if (std::exchange(stopped_, true))
    return;
  for (Queue &queue : queues_)
    moveToError(queue);
  control_.broadcast({ControlMessage::Failed, 0, 0, cause.message()});
  wake();
}

void Rdma::moveToError(Queue &queue) {
  if (!queue.qp || std::exchange(queue.broken, true))
    return;
  ibv_qp_attr attr{};
  attr.qp_state = IBV_QPS_ERR;
  // It fails where the device is dead, which brings nothing in either.
  library_.modify_qp(queue.qp, &attr, IBV_QP_STATE);
}

void Rdma::doShutdown(Deadline deadline) {
  heap().onSegment({}).ignore();
  Completions unread;
  Backoff backoff;
  auto drained = [&] {
    return openPuts_ == 0 &&
           std::all_of(paths_.begin(), paths_.end(), [](const Path &path) {
             return !path.up || path.idle();
           });
  };
  while (true) {
    {
      std::lock_guard lock(mutex_);
      round(unread);
      if (failed() || drained())
        break;
      if (deadline.passed()) {
        stop(rt::error(StatusCode::DeadlineExceeded, name(), ": ", openPuts_,
                       " requests were still in flight ", deadline.duration(),
                       " after shutdown began"));
        break;
      }
    }
    unread.clear();
    backoff.pause();
  }
  if (failed())
    return closeAll();
  {
    std::lock_guard lock(mutex_);
    control_.broadcast({ControlMessage::Goodbye, 0, 0, {}});
  }
  // What peers have under way is acknowledged by queue pairs that exist.
  Deadline linger = Deadline::after(
      std::min<std::chrono::nanoseconds>(deadline.left(), options_.linger));
  backoff.reset();
  while (!linger.passed()) {
    {
      std::lock_guard lock(mutex_);
      round(unread);
      const auto &links = control_.links();
      if (failed() || std::all_of(links.begin(), links.end(), [](const auto &link) {
            return link.goodbye || !link.open;
          }))
        break;
    }
    unread.clear();
    backoff.pause();
  }
  closeAll();
}

void Rdma::closeAll() {
  if (memory_)
    heap().onSegment({}).ignore();
  std::lock_guard lock(mutex_);
  connected_ = false;
  for (Path &path : paths_)
    if (path.ah)
      library_.destroy_ah(std::exchange(path.ah, nullptr));
  for (Queue &queue : queues_)
    if (queue.qp)
      library_.destroy_qp(std::exchange(queue.qp, nullptr));
  memory_.reset();
  // A completion queue goes when all that was told of it is acknowledged.
  for (const auto &nic : nics_)
    while (channelEvent(*nic))
      continue;
  nics_.clear();
  for (Control::Link &link : control_.links()) {
    link.open = false;
    link.socket.reset();
  }
}

} // namespace mk::rt::rdma
