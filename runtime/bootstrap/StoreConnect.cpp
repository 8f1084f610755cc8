//===- StoreConnect.cpp - Being admitted to the store ---------------------===//

#include "bootstrap/Handshake.h"
#include "bootstrap/StoreClientImpl.h"
#include "mkernel/Runtime/Env.h"

#include <cerrno>
#include <cstring>
#include <netdb.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <sys/socket.h>

namespace mk::rt {

using store::Type;

namespace {

/// "host:port" or "[v6]:port".
Status splitEndpoint(std::string_view endpoint, std::string &host,
                     std::string &port) {
  size_t colon = endpoint.rfind(':');
  if (colon == std::string_view::npos || colon == 0 ||
      colon + 1 == endpoint.size())
    return error(StatusCode::InvalidArgument, "'", endpoint,
                 "' is no endpoint of a store: write host:port");
  host = endpoint.substr(0, colon);
  port = endpoint.substr(colon + 1);
  if (host.front() == '[' && host.back() == ']')
    host = host.substr(1, host.size() - 2);
  auto number = env::parseInt(port);
  if (!number || *number < 1 || *number > 65535)
    return error(StatusCode::InvalidArgument, "'", endpoint, "' is no endpoint of a store: '", port,
                 "' is no port; write host:port, with a port from 1 to 65535");
  return {};
}

/// What to do about a store that cannot be reached.
std::string remedy(const StoreClientOptions &options) {
  return str(": check that ", options.keeper,
             " runs and that this is its address (ContextOptions::endpoint, "
             "MASTER_ADDR, MK_STORE)");
}

/// Connects `fd`; Again when nobody listens (yet).
Status connectTo(int fd, const addrinfo &to, const Deadline &deadline,
                 std::string_view endpoint) {
  int err = 0;
  if (::connect(fd, to.ai_addr, to.ai_addrlen) < 0)
    err = errno;
  if (err == EINPROGRESS) {
    MK_TRY(waitReady(fd, POLLOUT, deadline,
                     str("a connection to the store at ", endpoint)));
    socklen_t size = sizeof(err);
    if (::getsockopt(fd, SOL_SOCKET, SO_ERROR, &err, &size) < 0)
      err = errno;
  }
  if (err == 0)
    return {};
  StatusCode code =
      err == ECONNREFUSED ? StatusCode::Again : StatusCode::Unavailable;
  return errnoError(code, str("connecting to the store at ", endpoint), err);
}

} // namespace

Status StoreClient::Impl::dial(const Deadline &deadline) {
  std::string host, port;
  MK_TRY(splitEndpoint(options.endpoint, host, port));
  addrinfo hints{}, *found = nullptr;
  hints.ai_family = AF_UNSPEC;
  hints.ai_socktype = SOCK_STREAM;
  int rc = getaddrinfo(host.c_str(), port.c_str(), &hints, &found);
  if (rc != 0)
    return error(StatusCode::Unavailable, "the store's address ",
                 options.endpoint, " cannot be resolved (", gai_strerror(rc),
                 ")", remedy(options));
  std::unique_ptr<addrinfo, decltype(&freeaddrinfo)> owner(found, freeaddrinfo);
  // A rank may be started before its launcher listens.
  Backoff backoff(std::chrono::milliseconds(20));
  while (true) {
    Status last;
    for (addrinfo *a = found; a; a = a->ai_next) {
      socket.reset(::socket(a->ai_family,
                            SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
      if (!socket)
        return errnoError(StatusCode::ResourceExhausted, "socket", errno);
      last = connectTo(socket.get(), *a, deadline, options.endpoint);
      if (last)
        break;
    }
    if (last) {
      int one = 1;
      ::setsockopt(socket.get(), IPPROTO_TCP, TCP_NODELAY, &one, sizeof(one));
      ::setsockopt(socket.get(), SOL_SOCKET, SO_KEEPALIVE, &one, sizeof(one));
      return {};
    }
    if (last.code() != StatusCode::Again)
      return Status(last.code(), last.message() + remedy(options));
    if (deadline.passed())
      return error(StatusCode::DeadlineExceeded, "nobody listened at ",
                   options.endpoint, " for ", deadline.duration(),
                   remedy(options));
    backoff.pause();
  }
}

Result<store::Frame> StoreClient::Impl::readFrame(const Deadline &deadline) {
  char buffer[4096];
  while (true) {
    auto frame = in.next(options.maxMessage);
    if (!frame)
      return error(StatusCode::Unavailable, options.endpoint,
                   " is no mKernel store: it sent ", frame.status().message());
    if (*frame)
      return std::move(**frame);
    MK_TRY(waitReady(socket.get(), POLLIN, deadline,
                     str("an answer of the store at ", options.endpoint)));
    ssize_t n = ::recv(socket.get(), buffer, sizeof(buffer), 0);
    if (n < 0 && (errno == EAGAIN || errno == EINTR))
      continue;
    if (n <= 0)
      return error(StatusCode::Unavailable, "the store at ", options.endpoint,
                   " closed the connection before it admitted rank ",
                   options.rank, ": ", options.keeper,
                   " has ended; see its own output for the cause");
    in.append(buffer, static_cast<size_t>(n));
  }
}

Status StoreClient::Impl::refused(const store::Frame &frame) {
  store::Reader refusal(frame.payload);
  bool busy = refusal.u32() == static_cast<uint32_t>(StatusCode::Again);
  return error(busy ? StatusCode::Again : StatusCode::PermissionDenied,
               "the store at ", options.endpoint, " refused rank ",
               options.rank, ": ", refusal.bytes());
}

Status StoreClient::Impl::handshake(const Deadline &deadline) {
  MK_ASSIGN(store::Frame challenge, readFrame(deadline));
  if (challenge.type == Type::Refuse)
    return refused(challenge);
  store::Reader reader(challenge.payload);
  std::string magic(reader.bytes()), nonce(reader.bytes());
  if (challenge.type != Type::Challenge || !reader.done() ||
      magic != store::kMagic || nonce.size() != store::kNonceBytes)
    return error(StatusCode::Unavailable, options.endpoint,
                 " is no mKernel store of this version");

  store::Hello hello;
  hello.rank = options.rank;
  hello.job = options.job;
  hello.abi = options.abi;
  hello.nonce = randomBytes(store::kNonceBytes);
  hello.proof = store::clientProof(options.token, nonce, hello);
  MK_TRY(send(Type::Hello, 0, store::encodeHello(hello), deadline));

  MK_ASSIGN(store::Frame answer, readFrame(deadline));
  if (answer.type == Type::Refuse)
    return refused(answer);
  Digest proof{};
  if (answer.type != Type::Welcome || answer.payload.size() != proof.size())
    return error(StatusCode::Unavailable, options.endpoint,
                 " is no mKernel store of this version");
  memcpy(proof.data(), answer.payload.data(), proof.size());
  if (!equalDigests(proof, store::serverProof(options.token, nonce, hello)))
    return error(StatusCode::PermissionDenied, "the store at ",
                 options.endpoint,
                 " does not know the job token: it belongs to somebody else");
  return {};
}

Result<std::string> StoreClient::localAddress() const {
  sockaddr_storage own{};
  socklen_t size = sizeof(own);
  char host[NI_MAXHOST];
  auto *address = reinterpret_cast<sockaddr *>(&own);
  if (::getsockname(impl_->socket.get(), address, &size) < 0)
    return errnoError(StatusCode::Unavailable,
                      "the own address of the connection to the store", errno);
  if (int rc = getnameinfo(address, size, host, sizeof(host), nullptr, 0,
                           NI_NUMERICHOST))
    return error(StatusCode::Unavailable,
                 "the own address of the connection to the store: ",
                 gai_strerror(rc));
  return std::string(host);
}

} // namespace mk::rt
