//===- StoreLoop.cpp - Connections of the store's server ------------------===//
//
// One thread, non-blocking sockets. Nothing that a peer does or fails to do
// holds up the others: what it sends is limited in size, what it does not read
// is limited too, and before it is admitted it has a deadline. Those that are not
// admitted yet are limited in number: the one that has been silent longest makes
// room for the next, which a rank among them is told, so that it comes again.
//
//===----------------------------------------------------------------------===//

#include "bootstrap/StoreServerImpl.h"
#include "mkernel/Runtime/Log.h"

#include <algorithm>
#include <cerrno>
#include <netdb.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <sys/socket.h>

namespace mk::rt {

using store::Type;
using store::Writer;

namespace {
// Connections that are not admitted, besides one for each rank.
constexpr size_t kMaxStrangers = 64;
// What a rank takes to answer the challenge, unless the machine is busy.
constexpr std::chrono::milliseconds kPatience{100};
constexpr size_t kMaxRefusalsKept = 100;
// Bytes that a client may leave unread, over one message.
constexpr size_t kOutSlack = 64u << 20;
} // namespace

void StoreServer::Impl::run() {
  std::vector<pollfd> polls;
  while (!stop) {
    if (deaf)
      listener.reset(); // poll ignores it from now on
    polls.clear();
    polls.push_back({waker.get(), POLLIN, 0});
    if (pause && pause->passed())
      pause.reset();
    Deadline next = pause ? *pause : Deadline::never();
    polls.push_back({pause ? -1 : listener.get(), POLLIN, 0});
    for (Connection &c : connections) {
      short events = POLLIN;
      if (!c.out.empty())
        events |= POLLOUT;
      polls.push_back({c.fd.get(), events, 0});
      if (c.deadline.time() < next.time())
        next = c.deadline;
    }
    int n = ::poll(polls.data(), polls.size(), next.pollMillis(60000));
    if (n < 0 && errno != EINTR) {
      log::error("the store stops: poll failed with error ", errno);
      return;
    }
    if (n > 0) {
      if (polls[0].revents)
        clearWaker(waker);
      // Accepting appends connections; handle those of this poll first.
      size_t i = 2;
      for (auto it = connections.begin(); i < polls.size(); ++it, ++i) {
        if (polls[i].revents & POLLOUT)
          write(*it);
        if (polls[i].revents & (POLLIN | POLLHUP | POLLERR) &&
            it->state != Connection::State::Dead)
          read(*it);
      }
      if (polls[1].revents)
        accept();
    }
    std::vector<AbortRecord> records;
    {
      std::lock_guard lock(mutex);
      records.swap(abortQueue);
    }
    for (AbortRecord &record : records)
      setAborted(std::move(record));
    expire();
    connections.remove_if(
        [](const Connection &c) { return c.state == Connection::State::Dead; });
    connecting = std::count_if(
        connections.begin(), connections.end(), [](const Connection &c) {
          return c.state == Connection::State::Handshake;
        });
  }
}

bool StoreServer::Impl::makeRoom(bool patiently) {
  auto first = std::find_if(
      connections.begin(), connections.end(), [](const Connection &c) {
        return c.state == Connection::State::Handshake;
      });
  if (first == connections.end())
    return false;
  if (patiently && !first->patience.passed()) {
    pause = first->patience;
    return false;
  }
  refuse(*first, error(StatusCode::Again,
                       "too many connections wait to say hello, and this one "
                       "has waited longest"));
  --connecting;
  return true;
}

bool StoreServer::Impl::closeRefused(size_t keep) {
  auto refused = [](const Connection &c) {
    return c.state == Connection::State::Closing && !c.admitted;
  };
  if (size_t(std::count_if(connections.begin(), connections.end(), refused)) <=
      keep)
    return false;
  auto first = std::find_if(connections.begin(), connections.end(), refused);
  first->state = Connection::State::Dead;
  first->fd.reset();
  return true;
}

void StoreServer::Impl::outOfDescriptors() {
  // Who is refused keeps its descriptor until it has its answer.
  if (closeRefused(0) || (makeRoom(/*patiently=*/false) && closeRefused(0)))
    return;
  pause = Deadline::after(kPatience); // leaves the caller in the backlog
  size_t left = 0;
  {
    std::lock_guard lock(mutex);
    if (abortRecord)
      return;
    left = std::count(arrived.begin(), arrived.end(), false);
  }
  if (left)
    setAborted(AbortRecord::now(
        -1, "store",
        str("no descriptors are left for the connections of ", left,
            left == 1 ? " rank" : " ranks", ": allow more (ulimit -n)")));
}

void StoreServer::Impl::accept() {
  while (true) {
    size_t most = kMaxStrangers + options.world;
    closeRefused(most);
    if (connecting >= most && !makeRoom(/*patiently=*/true))
      return;
    sockaddr_storage address{};
    socklen_t size = sizeof(address);
    Fd fd(::accept4(listener.get(), reinterpret_cast<sockaddr *>(&address),
                    &size, SOCK_CLOEXEC | SOCK_NONBLOCK));
    if (!fd) {
      if (errno == EMFILE || errno == ENFILE)
        outOfDescriptors();
      return;
    }
    ++connecting;
    int one = 1;
    ::setsockopt(fd.get(), IPPROTO_TCP, TCP_NODELAY, &one, sizeof(one));
    // Notices a machine that vanished without closing its connections.
    ::setsockopt(fd.get(), SOL_SOCKET, SO_KEEPALIVE, &one, sizeof(one));
    char host[64] = "?", service[16] = "?";
    ::getnameinfo(reinterpret_cast<sockaddr *>(&address), size, host,
                  sizeof(host), service, sizeof(service),
                  NI_NUMERICHOST | NI_NUMERICSERV);
    Connection &c = connections.emplace_back();
    c.fd = std::move(fd);
    c.from = str(static_cast<const char *>(host), ":",
                 static_cast<const char *>(service));
    c.nonce = randomBytes(store::kNonceBytes);
    c.deadline = Deadline::after(options.handshakeTimeout);
    c.patience = Deadline::after(kPatience);
    send(c, Type::Challenge, 0,
         Writer().bytes(store::kMagic).bytes(c.nonce).take());
  }
}

void StoreServer::Impl::read(Connection &c) {
  char buffer[64 << 10];
  // A bounded share of each round, so that one busy client starves nobody.
  for (int round = 0; round < 16; ++round) {
    ssize_t n = ::recv(c.fd.get(), buffer, sizeof(buffer), 0);
    if (n < 0 && (errno == EAGAIN || errno == EINTR))
      return;
    if (n <= 0)
      return drop(c, n == 0 ? "closed its connection" : "lost its connection");
    if (c.state == Connection::State::Closing)
      continue;
    if (c.state == Connection::State::Ready)
      c.deadline = silenceOf(c);
    c.in.append(buffer, static_cast<size_t>(n));
    while (c.state == Connection::State::Handshake ||
           c.state == Connection::State::Ready) {
      bool admitted = c.state == Connection::State::Ready;
      auto frame =
          c.in.next(admitted ? options.maxMessage : store::kHandshakeLimit);
      if (!frame) {
        refuse(c, frame.status().withContext(
                      admitted ? str("rank ", c.rank)
                               : std::string("this is no mKernel client")));
        break;
      }
      if (!*frame)
        break;
      handle(c, **frame);
    }
  }
}

void StoreServer::Impl::write(Connection &c) {
  size_t sent = 0;
  while (sent < c.out.size()) {
    ssize_t n = ::send(c.fd.get(), c.out.data() + sent, c.out.size() - sent,
                       MSG_NOSIGNAL);
    if (n < 0 && errno == EINTR)
      continue;
    if (n < 0 && errno != EAGAIN)
      c.broken = "lost its connection";
    if (n < 0)
      break;
    sent += static_cast<size_t>(n);
  }
  c.out.erase(0, sent);
  if (!c.out.empty())
    return;
  // Half-close only: closing with unread input would reset the connection, and
  // the peer would lose the message that says why.
  if (c.state == Connection::State::Closing)
    ::shutdown(c.fd.get(), SHUT_WR);
}

void StoreServer::Impl::send(Connection &c, Type type, uint32_t id,
                             std::string_view payload) {
  if (c.state == Connection::State::Dead ||
      c.state == Connection::State::Closing || c.broken)
    return;
  if (c.out.size() > options.maxMessage + kOutSlack) {
    c.broken = "does not read what it asked for";
    return;
  }
  c.out += store::encodeFrame(type, id, payload);
  write(c);
}

void StoreServer::Impl::refuse(Connection &c, const Status &why) {
  std::string message = str("refused ", c.from, ": ", why.message());
  // Of those that make room there may be many.
  if (why.code() == StatusCode::Again)
    log::info("store: ", message);
  else
    log::warn("store: ", message);
  {
    std::lock_guard lock(mutex);
    if (refusals.size() < kMaxRefusalsKept)
      refusals.push_back(std::move(message));
  }
  bool admitted = c.state == Connection::State::Ready;
  send(c, Type::Refuse, 0,
       Writer()
           .u32(static_cast<uint32_t>(why.code()))
           .bytes(why.message())
           .take());
  if (admitted) {
    forget(c, 0);
    if (c.rank >= 0 && !c.goodbye) {
      --connected;
      c.goodbye = true; // reported here, not again as lost
      setAborted(AbortRecord::now(c.rank, "store", why.message()));
    }
  }
  c.state = Connection::State::Closing;
  c.deadline = Deadline::after(std::chrono::seconds(1));
  write(c);
}

void StoreServer::Impl::drop(Connection &c, std::string_view cause) {
  if (c.state == Connection::State::Ready)
    return lose(c, str("its process ", cause, " without saying goodbye; see that rank's own "
                                              "output for the cause"));
  if (c.state == Connection::State::Handshake) {
    std::lock_guard lock(mutex);
    if (refusals.size() < kMaxRefusalsKept)
      refusals.push_back(str(c.from, " ", cause, " before it said hello"));
  }
  c.state = Connection::State::Dead;
}

/// One that was admitted.
void StoreServer::Impl::lose(Connection &c, std::string_view cause) {
  c.state = Connection::State::Dead;
  forget(c, 0);
  if (c.rank < 0 || c.goodbye)
    return;
  --connected;
  refuseRecovery(str("rank ", c.rank, " was lost"));
  setAborted(AbortRecord::now(c.rank, "store", str("rank ", c.rank, " was lost: ", cause)));
}

/// Nothing has come for too long: its machine, its process or the way to it stands still.
void StoreServer::Impl::fallSilent(Connection &c) {
  read(c); // this thread may have slept, too
  if (c.state == Connection::State::Ready && c.deadline.passed())
    lose(c, str("nothing has come from it for ", c.deadline.duration(),
                ": its machine, its process or the way to it stands still"));
}

void StoreServer::Impl::expire() {
  for (Connection &c : connections) {
    if (c.broken && c.state != Connection::State::Dead)
      drop(c, c.broken);
    if (!c.deadline.passed())
      continue;
    if (c.state == Connection::State::Handshake)
      refuse(c, error(StatusCode::DeadlineExceeded, "no hello within ",
                      c.deadline.duration()));
    else if (c.state == Connection::State::Closing)
      c.state = Connection::State::Dead;
    else if (c.state == Connection::State::Ready)
      fallSilent(c);
  }
}

} // namespace mk::rt
