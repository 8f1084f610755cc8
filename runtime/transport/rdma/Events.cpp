//===- Events.cpp - Waiting; events of devices, words of peers ------------===//

#include "transport/rdma/Rdma.h"

#include "mkernel/Runtime/Log.h"

#include <algorithm>
#include <cerrno>
#include <sys/epoll.h>

namespace mk::rt::rdma {
namespace {

// What a descriptor is for: a kind above, a number below.
constexpr uint64_t kWakerTag = 0, kChannelTag = 1, kAsyncTag = 2, kControlTag = 3;
// Ages are looked at while waiting, too.
constexpr std::chrono::microseconds kLongestWait = std::chrono::milliseconds(100);
constexpr unsigned kEventsToAcknowledge = 256;

Status watchFd(const Fd &epoll, int fd, uint64_t tag, size_t number) {
  epoll_event event{};
  event.events = EPOLLIN;
  event.data.u64 = tag << 32 | number;
  if (::epoll_ctl(epoll.get(), EPOLL_CTL_ADD, fd, &event) < 0)
    return errnoError(StatusCode::Internal, "epoll_ctl", errno);
  return {};
}

} // namespace

Status Rdma::watchFds() {
  epoll_.reset(::epoll_create1(EPOLL_CLOEXEC));
  if (!epoll_)
    return errnoError(StatusCode::ResourceExhausted, "epoll_create1", errno);
  MK_TRY(watchFd(epoll_, waker_.get(), kWakerTag, 0));
  for (size_t i = 0; i < nics_.size(); ++i) {
    MK_TRY(watchFd(epoll_, nics_[i]->channel->fd, kChannelTag, i));
    MK_TRY(watchFd(epoll_, nics_[i]->context->async_fd, kAsyncTag, i));
  }
  for (size_t i = 0; i < control_.links().size(); ++i)
    MK_TRY(watchFd(epoll_, control_.links()[i].socket.get(), kControlTag, i));
  return {};
}

void Rdma::wait(std::chrono::microseconds limit) {
  {
    std::lock_guard lock(mutex_);
    if (!connected_ || !stash_.empty())
      return;
    for (const auto &nic : nics_)
      if (nic->cq && !nic->armed) {
        // Of any entry, not of solicited ones only.
        ibv_cq *cq = reinterpret_cast<ibv_cq *>(nic->cq);
        nic->armed = nic->context->ops.req_notify_cq(cq, 0) == 0;
      }
    // What came before the queues were armed tells nobody.
    round(stash_);
    if (!stash_.empty() || failed())
      return;
  }
  epoll_event event;
  int millis = static_cast<int>((std::min(limit, kLongestWait).count() + 999) / 1000);
  int n = ::epoll_wait(epoll_.get(), &event, 1, millis);
  clearWaker(waker_);
  if (n <= 0)
    return;
  std::lock_guard lock(mutex_);
  serviceEvents(0);
}

void Rdma::wake() {
  if (waker_)
    rt::wake(waker_);
}

/// mutex_ held.
void Rdma::serviceEvents(int timeoutMillis) {
  epoll_event events[64];
  int n = ::epoll_wait(epoll_.get(), events, 64, timeoutMillis);
  for (int i = 0; i < n; ++i) {
    size_t number = static_cast<uint32_t>(events[i].data.u64);
    switch (events[i].data.u64 >> 32) {
    case kChannelTag:
      channelEvent(*nics_[number]);
      break;
    case kAsyncTag:
      asyncEvents(*nics_[number]);
      break;
    case kControlTag:
      controlEvent(control_.links()[number]);
      break;
    }
  }
  for (Control::Link &link : control_.links())
    if (!link.out.empty())
      control_.flush(link);
}

bool Rdma::channelEvent(Nic &nic) {
  ibv_cq *cq = nullptr;
  void *context = nullptr;
  if (library_.get_cq_event(nic.channel, &cq, &context))
    return false;
  nic.armed = false;
  // Acknowledging takes a lock: not each alone.
  if (++nic.events >= kEventsToAcknowledge) {
    library_.ack_cq_events(cq, nic.events);
    nic.events = 0;
  }
  return true;
}

void Rdma::asyncEvents(Nic &nic) {
  ibv_async_event event;
  while (library_.get_async_event(nic.context, &event) == 0) {
    ibv_event_type type = event.event_type;
    const ibv_qp *qp = event.element.qp;
    library_.ack_async_event(&event);
    Status cause = rt::error(StatusCode::Unavailable, "NIC ", nic.name(),
                             " reports: ", library_.event_type_str(type));
    auto fail = [&](auto &&concerned) {
      for (Path &path : paths_)
        if (&nicOf(path) == &nic && concerned(path))
          pathFailed(path, cause);
    };
    switch (type) {
    case IBV_EVENT_QP_FATAL:
    case IBV_EVENT_QP_REQ_ERR:
    case IBV_EVENT_QP_ACCESS_ERR:
    case IBV_EVENT_PATH_MIG_ERR:
      fail([&](const Path &path) { return path.queue->qp == qp; });
      break;
    case IBV_EVENT_PORT_ERR:
    case IBV_EVENT_DEVICE_FATAL:
      fail([](const Path &) { return true; });
      break;
    case IBV_EVENT_CQ_ERR:
      // It holds all that can be under way (makePaths()).
      stop(rt::error(StatusCode::Unavailable, "NIC ", nic.name(), " reports: ",
                     library_.event_type_str(type), ": its completion queue of ",
                     nic.cq ? nic.cq->cqe : 0,
                     " entries has failed or run over, and completions are lost: is it "
                     "a defect of the NIC's library, smaller options depth and signals help"));
      break;
    default: // the others are no errors, or of things that are not used
      log::info(cause.message());
      break;
    }
  }
}

void Rdma::controlEvent(Control::Link &link) {
  if (!link.open)
    return;
  bool open = control_.receive(link, [&](const ControlMessage &message) {
    controlMessage(link, message);
  });
  if (open)
    return;
  ::epoll_ctl(epoll_.get(), EPOLL_CTL_DEL, link.socket.get(), nullptr);
  if (!link.goodbye)
    stop(rt::error(StatusCode::Unavailable, "rank ", link.peer,
                   " was lost: its connection to rank ", heap().rank(),
                   " ended without goodbye"));
}

void Rdma::controlMessage(Control::Link &link, const ControlMessage &message) {
  switch (message.kind) {
  case ControlMessage::Goodbye:
  case ControlMessage::Alive:
    break;
  case ControlMessage::Failed:
    stop(rt::error(StatusCode::Unavailable, "rank ", link.peer,
                   " has failed: ", message.text));
    break;
  case ControlMessage::Stuck:
    peers_.at(link.peer).stuck = message.text;
    break;
  case ControlMessage::PathDown: {
    PeerLink &peer = peers_.at(link.peer);
    if (message.path < peer.paths.size()) {
      Path &path = *peer.paths[message.path];
      path.delivered = message.count;
      pathFailed(path, rt::error(StatusCode::Unavailable, "rank ", link.peer,
                                 " does not use its NIC ",
                                 peer.endpoint.nics[path.remoteNic].name,
                                 " any more: ", message.text));
      break;
    }
    [[fallthrough]];
  }
  default:
    stop(rt::error(StatusCode::Internal, "rank ", link.peer,
                   " sent a malformed message of kind ", message.kind));
  }
}

} // namespace mk::rt::rdma
