//===- Socket.cpp - Descriptors, packets, waiting on them -----------------===//

#include "core/Socket.h"

#include <cerrno>
#include <cstring>
#include <poll.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

namespace mk::rt {
namespace {

constexpr int kLocalType = SOCK_SEQPACKET | SOCK_CLOEXEC | SOCK_NONBLOCK;

Result<socklen_t> localAddress(std::string_view name, sockaddr_un &address) {
  address = {};
  address.sun_family = AF_UNIX;
  if (name.empty() || name.size() + 1 > sizeof(address.sun_path))
    return error(StatusCode::InvalidArgument, "the local socket name '", name,
                 "' is empty or longer than ", sizeof(address.sun_path) - 1,
                 " bytes");
  memcpy(address.sun_path + 1, name.data(), name.size());
  return static_cast<socklen_t>(offsetof(sockaddr_un, sun_path) + 1 +
                                name.size());
}

Status checkUser(int fd) {
  ucred peer{};
  socklen_t size = sizeof(peer);
  if (getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &peer, &size) < 0)
    return errnoError(StatusCode::Unavailable, "getsockopt(SO_PEERCRED)",
                      errno);
  if (peer.uid != geteuid())
    return error(StatusCode::PermissionDenied, "process ", peer.pid,
                 " of user ", peer.uid,
                 " is at the other end of a local socket of user ", geteuid(),
                 "; run all ranks of a node as one user");
  return {};
}

} // namespace

void Fd::reset(int fd) {
  if (fd_ >= 0)
    ::close(fd_);
  fd_ = fd;
}

Result<Fd> makeWaker() {
  Fd fd(eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK));
  if (!fd)
    return errnoError(StatusCode::ResourceExhausted, "eventfd", errno);
  return fd;
}

void wake(const Fd &waker) {
  uint64_t one = 1;
  // Fails only when the counter is full, and then the sleeper wakes anyway.
  [[maybe_unused]] auto n = ::write(waker.get(), &one, sizeof(one));
}

void clearWaker(const Fd &waker) {
  uint64_t count;
  [[maybe_unused]] auto n = ::read(waker.get(), &count, sizeof(count));
}

Status waitReady(int fd, short events, const Deadline &deadline,
                 std::string_view what) {
  while (true) {
    pollfd p{fd, events, 0};
    int n = ::poll(&p, 1, deadline.pollMillis());
    if (n > 0)
      return {};
    if (n < 0 && errno != EINTR)
      return errnoError(StatusCode::Internal, "poll", errno);
    if (deadline.passed())
      return error(StatusCode::DeadlineExceeded, "waited ", deadline.duration(),
                   " for ", what);
  }
}

Result<Fd> listenLocal(std::string_view name) {
  sockaddr_un address;
  MK_ASSIGN(socklen_t size, localAddress(name, address));
  Fd fd(::socket(AF_UNIX, kLocalType, 0));
  if (!fd)
    return errnoError(StatusCode::ResourceExhausted, "socket(AF_UNIX)", errno);
  if (::bind(fd.get(), reinterpret_cast<sockaddr *>(&address), size) < 0)
    return errnoError(StatusCode::Unavailable, str("bind to '@", name, "'"),
                      errno);
  if (::listen(fd.get(), SOMAXCONN) < 0)
    return errnoError(StatusCode::Unavailable, "listen", errno);
  return fd;
}

Result<Fd> connectLocal(std::string_view name, const Deadline &deadline) {
  sockaddr_un address;
  MK_ASSIGN(socklen_t size, localAddress(name, address));
  Fd fd(::socket(AF_UNIX, kLocalType, 0));
  if (!fd)
    return errnoError(StatusCode::ResourceExhausted, "socket(AF_UNIX)", errno);
  Backoff backoff;
  while (::connect(fd.get(), reinterpret_cast<sockaddr *>(&address), size) <
         0) {
    // EAGAIN: the listener's backlog is full. It cannot be polled for.
    if (errno != EAGAIN && errno != EINTR)
      return errnoError(StatusCode::Unavailable,
                        str("connect to local socket '@", name, "'"), errno);
    if (deadline.passed())
      return error(StatusCode::DeadlineExceeded, "waited ", deadline.duration(),
                   " to connect to local socket '@", name, "'");
    backoff.pause();
  }
  MK_TRY(checkUser(fd.get()));
  return fd;
}

Result<Fd> acceptLocal(int listener) {
  Fd fd(::accept4(listener, nullptr, nullptr, SOCK_CLOEXEC | SOCK_NONBLOCK));
  if (!fd) {
    if (errno == EAGAIN || errno == EINTR || errno == ECONNABORTED)
      return error(StatusCode::Again, "no connection is waiting");
    return errnoError(StatusCode::Unavailable, "accept", errno);
  }
  MK_TRY(checkUser(fd.get()));
  return fd;
}

Status sendPacket(int fd, std::string_view bytes, int passed,
                  const Deadline &deadline, std::string_view what) {
  assert(!bytes.empty() && "an empty packet reads as a closed connection");
  iovec io{const_cast<char *>(bytes.data()), bytes.size()};
  alignas(cmsghdr) char control[CMSG_SPACE(sizeof(int))] = {};
  msghdr message{};
  message.msg_iov = &io;
  message.msg_iovlen = 1;
  if (passed >= 0) {
    message.msg_control = control;
    message.msg_controllen = sizeof(control);
    cmsghdr *header = CMSG_FIRSTHDR(&message);
    header->cmsg_level = SOL_SOCKET;
    header->cmsg_type = SCM_RIGHTS;
    header->cmsg_len = CMSG_LEN(sizeof(int));
    memcpy(CMSG_DATA(header), &passed, sizeof(int));
  }
  while (::sendmsg(fd, &message, MSG_NOSIGNAL) < 0) {
    if (errno == EINTR)
      continue;
    if (errno != EAGAIN)
      return errnoError(StatusCode::Unavailable, str("sending ", what), errno);
    MK_TRY(waitReady(fd, POLLOUT, deadline, str("room to send ", what)));
  }
  return {};
}

Result<Packet> receivePacket(int fd, size_t maxBytes, const Deadline &deadline,
                             std::string_view what) {
  Packet packet;
  packet.bytes.resize(maxBytes);
  iovec io{packet.bytes.data(), maxBytes};
  alignas(cmsghdr) char control[CMSG_SPACE(sizeof(int))];
  msghdr message{};
  message.msg_iov = &io;
  message.msg_iovlen = 1;
  message.msg_control = control;
  message.msg_controllen = sizeof(control);
  ssize_t n;
  while ((n = ::recvmsg(fd, &message, MSG_CMSG_CLOEXEC)) < 0) {
    if (errno == EINTR)
      continue;
    // The other side closed with our bytes unread. What it had sent is still
    // to be received, then comes its end.
    if (errno == ECONNRESET)
      continue;
    if (errno != EAGAIN)
      return errnoError(StatusCode::Unavailable, str("receiving ", what),
                        errno);
    MK_TRY(waitReady(fd, POLLIN, deadline, what));
    message.msg_controllen = sizeof(control);
  }
  packet.bytes.resize(static_cast<size_t>(n));
  if (n > 0)
    for (cmsghdr *c = CMSG_FIRSTHDR(&message); c; c = CMSG_NXTHDR(&message, c))
      if (c->cmsg_level == SOL_SOCKET && c->cmsg_type == SCM_RIGHTS &&
          c->cmsg_len == CMSG_LEN(sizeof(int))) {
        int passed;
        memcpy(&passed, CMSG_DATA(c), sizeof(int));
        packet.fd.reset(passed);
      }
  return packet;
}

} // namespace mk::rt
