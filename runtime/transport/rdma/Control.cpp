//===- Control.cpp - Sockets beside the queue pairs -----------------------===//

#include "transport/rdma/Control.h"

#include "mkernel/Runtime/Digest.h"
#include "mkernel/Runtime/Log.h"
#include "mkernel/Runtime/Store.h"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <netdb.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <sys/socket.h>

namespace mk::rt::rdma {
namespace {

constexpr size_t kNonce = 16, kSecret = 32;
constexpr size_t kMaxText = 2000;
constexpr size_t kMaxUnsent = 1 << 20;

struct ControlHello {
  uint32_t magic = 0x6d6b4331;
  uint32_t rank = 0;
  char nonce[kNonce] = {};
  uint8_t proof[32] = {};
};
static_assert(sizeof(ControlHello) == 56);

struct ControlHead {
  uint32_t kind, path;
  uint64_t count;
  uint32_t textBytes, zero;
};
static_assert(sizeof(ControlHead) == 24);

/// The nonce keeps hellos of one rank apart; a repeated one is refused because
/// its rank is here already.
Digest proofOf(std::string_view secret, const ControlHello &hello,
               std::string_view scope) {
  std::string text = str("mkernel control ", scope, " ", hello.rank, " ");
  text.append(hello.nonce, kNonce);
  return hmacSha256(secret, text);
}

using AddressList = std::unique_ptr<addrinfo, decltype(&freeaddrinfo)>;

Result<AddressList> resolveNumeric(const std::string &host,
                                   const std::string &port) {
  addrinfo hints{}, *found = nullptr;
  hints.ai_family = AF_UNSPEC;
  hints.ai_socktype = SOCK_STREAM;
  hints.ai_flags = AI_NUMERICHOST | AI_NUMERICSERV;
  if (int rc = getaddrinfo(host.c_str(), port.c_str(), &hints, &found))
    return error(StatusCode::InvalidArgument, "'", host,
                 "' is no numeric address (", gai_strerror(rc),
                 "; option address=IP)");
  return AddressList(found, freeaddrinfo);
}

void setOptions(int fd) {
  int one = 1;
  ::setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &one, sizeof(one));
  ::setsockopt(fd, SOL_SOCKET, SO_KEEPALIVE, &one, sizeof(one));
  // A host that lost its power sends no end of the connection.
  int idle = 10, interval = 5, count = 4;
  ::setsockopt(fd, IPPROTO_TCP, TCP_KEEPIDLE, &idle, sizeof(idle));
  ::setsockopt(fd, IPPROTO_TCP, TCP_KEEPINTVL, &interval, sizeof(interval));
  ::setsockopt(fd, IPPROTO_TCP, TCP_KEEPCNT, &count, sizeof(count));
}

Result<Fd> dialControl(const Control::Address &peer, const Deadline &deadline) {
  size_t colon = peer.endpoint.rfind(':');
  if (colon == std::string::npos)
    return error(StatusCode::Unavailable, "rank ", peer.rank,
                 " published no address of a control socket");
  MK_ASSIGN(AddressList list, resolveNumeric(peer.endpoint.substr(0, colon),
                                             peer.endpoint.substr(colon + 1)));
  Fd fd(::socket(list->ai_family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
  if (!fd)
    return errnoError(StatusCode::ResourceExhausted, "socket", errno);
  int err = ::connect(fd.get(), list->ai_addr, list->ai_addrlen) < 0 ? errno : 0;
  std::string what = str("the control socket of rank ", peer.rank, " at ",
                         peer.endpoint);
  if (err == EINPROGRESS) {
    MK_TRY(waitReady(fd.get(), POLLOUT, deadline, what));
    socklen_t size = sizeof(err);
    if (::getsockopt(fd.get(), SOL_SOCKET, SO_ERROR, &err, &size) < 0)
      err = errno;
  }
  if (err)
    return errnoError(StatusCode::Unavailable,
                      str("connecting to ", what,
                          " (a firewall, or not its address: option address=IP)"),
                      err);
  setOptions(fd.get());
  return fd;
}

Status sendAll(int fd, const void *data, size_t n, const Deadline &deadline,
               std::string_view what) {
  auto *at = static_cast<const char *>(data);
  while (n > 0) {
    ssize_t sent = ::send(fd, at, n, MSG_NOSIGNAL);
    if (sent > 0) {
      at += sent;
      n -= static_cast<size_t>(sent);
    } else if (errno == EAGAIN) {
      MK_TRY(waitReady(fd, POLLOUT, deadline, what));
    } else if (errno != EINTR) {
      return errnoError(StatusCode::Unavailable, what, errno);
    }
  }
  return {};
}

Status receiveAll(int fd, void *data, size_t n, const Deadline &deadline,
                  std::string_view what) {
  auto *at = static_cast<char *>(data);
  while (n > 0) {
    ssize_t got = ::recv(fd, at, n, 0);
    if (got > 0) {
      at += got;
      n -= static_cast<size_t>(got);
    } else if (got < 0 && errno == EAGAIN) {
      MK_TRY(waitReady(fd, POLLIN, deadline, what));
    } else if (got == 0 || errno != EINTR) {
      return error(StatusCode::Unavailable, "the connection ended before ", what);
    }
  }
  return {};
}

} // namespace

Status Control::listen(const std::string &address) {
  MK_ASSIGN(AddressList list, resolveNumeric(address, "0"));
  listener_.reset(::socket(list->ai_family,
                           SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
  sockaddr_storage bound{};
  socklen_t size = sizeof(bound);
  if (!listener_ ||
      ::bind(listener_.get(), list->ai_addr, list->ai_addrlen) < 0 ||
      ::listen(listener_.get(), SOMAXCONN) < 0 ||
      ::getsockname(listener_.get(), reinterpret_cast<sockaddr *>(&bound), &size) < 0)
    return errnoError(StatusCode::Unavailable,
                      str("listening at ", address,
                          " for peers (option address=IP: an address of this host)"),
                      errno);
  char port[16] = "";
  getnameinfo(reinterpret_cast<sockaddr *>(&bound), size, nullptr, 0, port,
              sizeof(port), NI_NUMERICSERV);
  endpoint_ = str(address, ":", port);
  secret_ = randomBytes(kSecret);
  return {};
}

Result<size_t> Control::admit(Fd socket, std::string_view scope,
                              std::span<const Address> peers) {
  // Short: the hello is sent right after the connection is made, and a stranger
  // must not hold up the job.
  ControlHello hello;
  MK_TRY(receiveAll(socket.get(), &hello, sizeof(hello),
                    Deadline::after(std::chrono::seconds(2)), "a hello"));
  Digest got{};
  std::memcpy(got.data(), hello.proof, got.size());
  if (hello.magic != ControlHello().magic ||
      !equalDigests(got, proofOf(secret_, hello, scope)))
    return error(StatusCode::PermissionDenied, "it does not know the secret");
  for (size_t i = 0; i < peers.size(); ++i)
    if (peers[i].rank == hello.rank && !links_[i].socket) {
      setOptions(socket.get());
      links_[i].socket = std::move(socket);
      return i;
    }
  return error(StatusCode::PermissionDenied, "rank ", hello.rank,
               " is not expected");
}

Status Control::connect(StoreClient &store, std::string_view scope,
                        uint32_t rank, std::span<const Address> peers,
                        Deadline deadline) {
  links_.resize(peers.size());
  size_t toAccept = 0;
  for (size_t i = 0; i < peers.size(); ++i) {
    links_[i].peer = peers[i].rank;
    if (peers[i].rank < rank) {
      ++toAccept;
      continue;
    }
    MK_ASSIGN(links_[i].socket, dialControl(peers[i], deadline));
    ControlHello hello;
    hello.rank = rank;
    std::string nonce = randomBytes(kNonce);
    std::memcpy(hello.nonce, nonce.data(), kNonce);
    Digest proof = proofOf(peers[i].secret, hello, scope);
    std::memcpy(hello.proof, proof.data(), proof.size());
    MK_TRY(sendAll(links_[i].socket.get(), &hello, sizeof(hello), deadline,
                   str("a hello to rank ", peers[i].rank)));
  }
  while (toAccept > 0) {
    Deadline slice = Deadline::after(std::min<std::chrono::nanoseconds>(
        deadline.left(), std::chrono::milliseconds(100)));
    Status ready = waitReady(listener_.get(), POLLIN, slice, "a connection");
    if (auto record = store.aborted())
      return record->toStatus();
    if (deadline.passed()) {
      std::string missing;
      for (const Link &link : links_)
        if (!link.socket)
          missing += str(missing.empty() ? "" : ", ", link.peer);
      return error(StatusCode::DeadlineExceeded, "waited ", deadline.duration(),
                   " at ", endpoint_, " for connections of rank(s) ", missing,
                   ": is there a firewall between them?");
    }
    if (!ready)
      continue;
    Fd socket(::accept4(listener_.get(), nullptr, nullptr,
                        SOCK_CLOEXEC | SOCK_NONBLOCK));
    if (!socket)
      continue; // it went away again
    Result<size_t> admitted = admit(std::move(socket), scope, peers);
    if (admitted)
      --toAccept;
    else
      log::warn("refused a connection at ", endpoint_, ": ",
                admitted.status().message());
  }
  listener_.reset();
  for (Link &link : links_)
    link.heard = std::chrono::steady_clock::now();
  return {};
}

void Control::send(Link &link, const ControlMessage &message) {
  if (!link.open || !link.socket)
    return;
  std::string_view text = message.text;
  text = text.substr(0, kMaxText);
  ControlHead head{message.kind, message.path, message.count,
                   static_cast<uint32_t>(text.size()), 0};
  link.out.append(reinterpret_cast<const char *>(&head), sizeof(head));
  link.out.append(text);
  flush(link);
}

void Control::broadcast(const ControlMessage &message) {
  for (Link &link : links_)
    send(link, message);
}

void Control::flush(Link &link) {
  while (link.open && link.socket && !link.out.empty()) {
    ssize_t n = ::send(link.socket.get(), link.out.data(), link.out.size(),
                       MSG_NOSIGNAL);
    if (n < 0 && errno == EINTR)
      continue;
    if (n < 0) {
      // A peer that is gone is noticed where its end is read.
      if (errno != EAGAIN || link.out.size() > kMaxUnsent)
        link.out.clear();
      return;
    }
    link.out.erase(0, static_cast<size_t>(n));
  }
}

bool Control::receive(
    Link &link, const std::function<void(const ControlMessage &)> &handle) {
  char buffer[4096];
  bool ended = false;
  while (link.open && !ended) {
    ssize_t n = ::recv(link.socket.get(), buffer, sizeof(buffer), 0);
    if (n < 0 && errno == EINTR)
      continue;
    if (n < 0 && errno == EAGAIN)
      break;
    ended = n <= 0;
    if (!ended) {
      link.heard = std::chrono::steady_clock::now();
      link.in.append(buffer, static_cast<size_t>(n));
    }
    ControlHead head;
    while (link.in.size() >= sizeof(head)) {
      std::memcpy(&head, link.in.data(), sizeof(head));
      if (head.textBytes > kMaxText) {
        ended = true;
        break;
      }
      if (link.in.size() < sizeof(head) + head.textBytes)
        break;
      ControlMessage message{head.kind, head.path, head.count,
                             link.in.substr(sizeof(head), head.textBytes)};
      link.in.erase(0, sizeof(head) + head.textBytes);
      if (message.kind == ControlMessage::Goodbye)
        link.goodbye = true;
      handle(message);
    }
  }
  if (ended)
    link.open = false;
  return !ended;
}

} // namespace mk::rt::rdma
