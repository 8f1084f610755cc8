//===- StoreServer.cpp - Requests of the store ----------------------------===//

#include "bootstrap/StoreServerImpl.h"
#include "core/Thread.h"
#include "mkernel/Runtime/Log.h"

#include <algorithm>
#include <cstring>
#include <netdb.h>
#include <sys/socket.h>
#include <utility>

namespace mk::rt {

using store::Reader;
using store::Type;
using store::Writer;

StoreServer::StoreServer(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}

Result<std::unique_ptr<StoreServer>>
StoreServer::start(StoreServerOptions options) {
  MK_TRY(store::checkToken(options.token));
  if (options.world < 1 || options.maxMessage < store::kHandshakeLimit)
    return error(StatusCode::InvalidArgument,
                 "a store needs at least one rank and messages of ",
                 store::kHandshakeLimit, " bytes");
  auto impl = std::make_unique<Impl>(std::move(options));
  const StoreServerOptions &o = impl->options;

  addrinfo hints{}, *found = nullptr;
  hints.ai_family = AF_UNSPEC;
  hints.ai_socktype = SOCK_STREAM;
  hints.ai_flags = AI_NUMERICHOST | AI_NUMERICSERV | AI_PASSIVE;
  int rc = getaddrinfo(o.address.c_str(), std::to_string(o.port).c_str(),
                       &hints, &found);
  if (rc != 0)
    return error(StatusCode::InvalidArgument, "'", o.address,
                 "' is no numeric address of an interface: ", gai_strerror(rc));
  std::unique_ptr<addrinfo, decltype(&freeaddrinfo)> owner(found, freeaddrinfo);
  impl->listener.reset(::socket(found->ai_family,
                                SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
  if (!impl->listener)
    return errnoError(StatusCode::ResourceExhausted, "socket", errno);
  int one = 1;
  int fd = impl->listener.get();
  ::setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &one, sizeof(one));
  if (::bind(fd, found->ai_addr, found->ai_addrlen) < 0)
    return errnoError(StatusCode::Unavailable,
                      str("bind of the store to ", o.address, ":", o.port),
                      errno);
  if (::listen(fd, SOMAXCONN) < 0)
    return errnoError(StatusCode::Unavailable, "listen", errno);
  sockaddr_storage bound{};
  socklen_t size = sizeof(bound);
  char service[16];
  if (::getsockname(fd, reinterpret_cast<sockaddr *>(&bound), &size) < 0 ||
      ::getnameinfo(reinterpret_cast<sockaddr *>(&bound), size, nullptr, 0,
                    service, sizeof(service), NI_NUMERICSERV) != 0)
    return errnoError(StatusCode::Internal, "getsockname", errno);
  impl->port = static_cast<uint16_t>(atoi(service));
  MK_ASSIGN(impl->waker, makeWaker());
  impl->arrived.resize(o.world);
  Impl *raw = impl.get();
  MK_TRY(startThread(impl->thread, "the store", [raw] { raw->run(); }));
  return std::unique_ptr<StoreServer>(new StoreServer(std::move(impl)));
}

StoreServer::~StoreServer() {
  impl_->stop = true;
  wake(impl_->waker);
  impl_->thread.join();
}

uint16_t StoreServer::port() const { return impl_->port; }

std::string StoreServer::endpoint() const {
  const std::string &a = impl_->options.address;
  bool v6 = a.find(':') != std::string::npos;
  return str(v6 ? "[" : "", a, v6 ? "]:" : ":", impl_->port);
}

void StoreServer::abort(AbortRecord record) {
  {
    std::lock_guard lock(impl_->mutex);
    impl_->abortQueue.push_back(std::move(record));
  }
  wake(impl_->waker);
}

std::optional<AbortRecord> StoreServer::aborted() const {
  std::lock_guard lock(impl_->mutex);
  if (!impl_->abortRecord && !impl_->abortQueue.empty())
    return impl_->abortQueue.front();
  return impl_->abortRecord;
}

uint32_t StoreServer::connected() const {
  // Those are told why the job has failed as soon as they are admitted.
  return impl_->connected + (aborted() ? impl_->connecting.load() : 0);
}

std::vector<uint32_t> StoreServer::missing() const {
  std::lock_guard lock(impl_->mutex);
  std::vector<uint32_t> ranks;
  for (uint32_t r = 0; r < impl_->arrived.size(); ++r)
    if (!impl_->arrived[r])
      ranks.push_back(r);
  return ranks;
}

void StoreServer::stopListening() {
  impl_->deaf = true;
  wake(impl_->waker);
}

std::vector<std::string> StoreServer::refusals() const {
  std::lock_guard lock(impl_->mutex);
  return impl_->refusals;
}

void StoreServer::Impl::handle(Connection &c, const store::Frame &frame) {
  if (c.state == Connection::State::Handshake)
    admit(c, frame);
  else if (c.state == Connection::State::Ready)
    request(c, frame);
}

void StoreServer::Impl::admit(Connection &c, const store::Frame &frame) {
  auto hello = frame.type == Type::Hello ? store::decodeHello(frame.payload)
                                         : std::nullopt;
  if (!hello)
    return refuse(c, error(StatusCode::PermissionDenied,
                           "this is no mKernel client (malformed hello)"));
  Status verdict = store::judge(*hello, c.nonce, options.token, options.job,
                                options.abi, options.world);
  if (verdict && hello->rank >= 0)
    for (const Connection &other : connections)
      if (other.rank == hello->rank && !other.goodbye &&
          other.state == Connection::State::Ready)
        verdict = error(StatusCode::PermissionDenied, "rank ", hello->rank,
                        " is connected already from ", other.from,
                        ": two processes were started with the same rank");
  if (!verdict)
    return refuse(c, verdict);
  c.rank = hello->rank;
  c.state = Connection::State::Ready;
  c.admitted = true;
  c.deadline = silenceOf(c);
  if (c.rank >= 0)
    ++connected;
  Digest proof = store::serverProof(options.token, c.nonce, *hello);
  send(c, Type::Welcome, 0,
       {reinterpret_cast<const char *>(proof.data()), proof.size()});
  std::optional<AbortRecord> record;
  {
    std::lock_guard lock(mutex);
    record = abortRecord;
    if (c.rank >= 0)
      arrived[c.rank] = true;
  }
  if (record)
    send(c, Type::Aborted, 0, record->encode());
}

void StoreServer::Impl::request(Connection &c, const store::Frame &frame) {
  Reader in(frame.payload);
  switch (frame.type) {
  case Type::Set: {
    std::string key(in.bytes()), value(in.bytes());
    if (!in.done() || key.size() > store::kMaxKey)
      return malformed(c, "set");
    if (auto it = waiting.find(key); it != waiting.end()) {
      for (const Waiter &w : it->second)
        send(*w.connection, Type::Reply, w.id, value);
      waiting.erase(it);
    }
    values[std::move(key)] = std::move(value);
    return send(c, Type::Reply, frame.id, "");
  }
  case Type::Get: {
    std::string key(in.bytes());
    if (!in.done() || key.size() > store::kMaxKey)
      return malformed(c, "get");
    if (auto it = values.find(key); it != values.end())
      return send(c, Type::Reply, frame.id, it->second);
    waiting[key].push_back({&c, frame.id});
    return;
  }
  case Type::Add: {
    std::string key(in.bytes());
    int64_t delta = in.i64();
    if (!in.done() || key.size() > store::kMaxKey)
      return malformed(c, "add");
    // Wraps like the signals do, instead of being undefined.
    int64_t &value = counters[key];
    value = static_cast<int64_t>(static_cast<uint64_t>(value) +
                                 static_cast<uint64_t>(delta));
    return send(c, Type::Reply, frame.id, Writer().i64(value).take());
  }
  case Type::Barrier: {
    std::string name(in.bytes());
    uint32_t n = in.u32();
    if (!in.done() || name.size() > store::kMaxKey || n == 0)
      return malformed(c, "barrier");
    return barrier(c, frame.id, name, n);
  }
  case Type::Recover: {
    uint32_t n = in.u32();
    if (!in.done() || n == 0)
      return malformed(c, "recover");
    return recover(c, frame.id, n);
  }
  case Type::Alive:
    return send(c, Type::Alive, 0, "");
  case Type::Cancel:
    return forget(c, in.u32());
  case Type::Goodbye:
    if (!c.goodbye && c.rank >= 0)
      --connected;
    c.goodbye = true;
    c.deadline = Deadline::never();
    return send(c, Type::Reply, frame.id, "");
  case Type::Abort: {
    auto record = AbortRecord::decode(frame.payload);
    if (!record)
      return malformed(c, "abort");
    // A rank speaks for itself, whatever the record says.
    record->rank = c.rank;
    return setAborted(std::move(*record));
  }
  default:
    return malformed(c, "unknown");
  }
}

void StoreServer::Impl::barrier(Connection &c, uint32_t id,
                                std::string_view name, uint32_t n) {
  auto it = barriers.try_emplace(std::string(name)).first;
  Barrier &b = it->second;
  if (b.waiters.empty())
    b.n = n;
  if (b.n != n) {
    Status status =
        error(StatusCode::InvalidArgument, "barrier '", name, "' is for ", b.n,
              " clients by those waiting and ", n, " by rank ", c.rank);
    return send(c, Type::Failed, id,
                Writer()
                    .u32(static_cast<uint32_t>(status.code()))
                    .bytes(status.message())
                    .take());
  }
  b.waiters.push_back({&c, id});
  if (b.waiters.size() < n)
    return;
  for (const Waiter &w : b.waiters)
    send(*w.connection, Type::Reply, w.id, "");
  barriers.erase(it);
}

void StoreServer::Impl::recover(Connection &c, uint32_t id, uint32_t n) {
  recovering.push_back({&c, id});
  if (connected < n)
    return refuseRecovery(str("only ", connected.load(), " of ", n, " ranks are left"));
  if (recovering.size() < n)
    return;
  {
    std::lock_guard lock(mutex);
    abortRecord.reset();
  }
  // Who waited there has been told of the abort.
  waiting.clear();
  barriers.clear();
  log::info("all ranks begin anew after an abort");
  std::string reply = Writer().u32(++recoveries).take();
  for (const Waiter &w : std::exchange(recovering, {}))
    send(*w.connection, Type::Reply, w.id, reply);
}

void StoreServer::Impl::refuseRecovery(std::string_view why) {
  Status status = error(StatusCode::Unavailable, "the job cannot go on after an abort: ", why);
  std::string reply = Writer()
                          .u32(static_cast<uint32_t>(status.code()))
                          .bytes(status.message())
                          .take();
  for (const Waiter &w : std::exchange(recovering, {}))
    send(*w.connection, Type::Failed, w.id, reply);
}

/// Forgets one waiting request of a connection, or all of them (id 0).
void StoreServer::Impl::forget(Connection &c, uint32_t id) {
  auto mine = [&](const Waiter &w) {
    return w.connection == &c && (id == 0 || w.id == id);
  };
  std::erase_if(recovering, mine);
  for (auto it = waiting.begin(); it != waiting.end();) {
    std::erase_if(it->second, mine);
    it = it->second.empty() ? waiting.erase(it) : std::next(it);
  }
  for (auto it = barriers.begin(); it != barriers.end();) {
    std::erase_if(it->second.waiters, mine);
    it = it->second.waiters.empty() ? barriers.erase(it) : std::next(it);
  }
}

void StoreServer::Impl::malformed(Connection &c, std::string_view what) {
  refuse(c, error(StatusCode::InvalidArgument, "rank ", c.rank,
                  " sent a malformed '", what, "' request to the store"));
}

void StoreServer::Impl::setAborted(AbortRecord record) {
  std::string encoded = record.encode();
  {
    std::lock_guard lock(mutex);
    if (abortRecord)
      return;
    abortRecord = record;
  }
  log::info("job aborted: ", record.toString());
  for (Connection &c : connections)
    if (c.state == Connection::State::Ready)
      send(c, Type::Aborted, 0, encoded);
  if (options.onAbort)
    options.onAbort(record);
}

} // namespace mk::rt
