//===- StoreClient.cpp - A rank's connection to the store -----------------===//

#include "bootstrap/Handshake.h"
#include "core/Thread.h"
#include "bootstrap/StoreClientImpl.h"

#include <cerrno>
#include <poll.h>
#include <sys/socket.h>

namespace mk::rt {

using store::Type;
using store::Writer;

StoreClient::StoreClient(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}

Result<std::unique_ptr<StoreClient>>
StoreClient::connect(StoreClientOptions options, Deadline deadline) {
  MK_TRY(store::checkToken(options.token));
  if (options.job.size() > store::kMaxKey)
    return error(StatusCode::InvalidArgument, "a job name of ",
                 options.job.size(), " bytes is too long: use at most ",
                 store::kMaxKey);
  auto impl = std::make_unique<Impl>(std::move(options));
  MK_ASSIGN(impl->waker, makeWaker());
  Backoff backoff(std::chrono::milliseconds(20));
  while (true) {
    impl->in = store::FrameBuffer();
    MK_TRY(impl->dial(deadline));
    Status status = impl->handshake(deadline);
    if (status)
      break;
    // Sent away to make room, before it had said who it is: once more.
    if (status.code() != StatusCode::Again || deadline.passed())
      return status;
    backoff.pause();
  }
  Impl *raw = impl.get();
  MK_TRY(startThread(impl->thread, "the store's client", [raw] { raw->run(); }));
  return std::unique_ptr<StoreClient>(new StoreClient(std::move(impl)));
}

StoreClient::~StoreClient() {
  onAbort(nullptr);
  impl_->stop = true;
  wake(impl_->waker);
  impl_->thread.join();
}

int32_t StoreClient::rank() const { return impl_->options.rank; }

void StoreClient::Impl::run() {
  char buffer[64 << 10];
  heard = std::chrono::steady_clock::now();
  Deadline next = Deadline::after(interval());
  while (!stop) {
    auto frame = in.next(options.maxMessage);
    if (!frame)
      return fail(frame.status().withContext("the store sent"));
    if (*frame) {
      dispatch(std::move(**frame));
      continue;
    }
    pollfd polls[2] = {{waker.get(), POLLIN, 0}, {socket.get(), POLLIN, 0}};
    bool beats = options.silence.count() > 0;
    int limit = beats ? next.pollMillis(1000) : -1;
    {
      std::lock_guard lock(mutex);
      if (soon)
        limit = soonAt.pollMillis(beats ? limit : 1000);
    }
    if (::poll(polls, 2, limit) < 0 && errno != EINTR)
      return fail(errnoError(StatusCode::Internal, "poll", errno));
    if (beats && next.passed()) {
      next = Deadline::after(interval());
      // What has come lies in the socket if this thread has slept.
      if (Status alive = polls[1].revents ? Status() : beat(); !alive)
        return fail(alive);
    }
    if (polls[0].revents)
      clearWaker(waker);
    publishSoon(/*now=*/false);
    if (!polls[1].revents)
      continue;
    ssize_t n = ::recv(socket.get(), buffer, sizeof(buffer), 0);
    if (n < 0 && (errno == EAGAIN || errno == EINTR))
      continue;
    if (n <= 0)
      return fail(error(StatusCode::Unavailable, "the store at ",
                        options.endpoint,
                        " closed the connection: ", options.keeper,
                        " is gone"));
    heard = std::chrono::steady_clock::now();
    in.append(buffer, static_cast<size_t>(n));
  }
}

Status StoreClient::Impl::beat() {
  auto silence = std::chrono::steady_clock::now() - heard.load();
  if (silence > options.silence)
    return error(StatusCode::Unavailable, "the store at ", options.endpoint,
                 " was lost: nothing has come from it for ",
                 Deadline::after(silence).duration(), ": the machine of ", options.keeper,
                 ", its process or the way to it stands still");
  // Not behind a request that the store does not read.
  std::string frame = store::encodeFrame(Type::Alive, 0, "");
  std::unique_lock lock(sendMutex, std::try_to_lock);
  if (!lock)
    return {};
  ssize_t n = ::send(socket.get(), frame.data(), frame.size(), MSG_NOSIGNAL);
  if (n > 0 && static_cast<size_t>(n) < frame.size())
    return error(StatusCode::Unavailable, "the store at ", options.endpoint,
                 " was lost: it reads nothing");
  return {};
}

std::string StoreClient::silent() const {
  auto silence = std::chrono::steady_clock::now() - impl_->heard.load();
  if (impl_->options.silence.count() == 0 || silence < 3 * impl_->interval())
    return {};
  return str("nothing has come from the store at ", impl_->options.endpoint, " for ",
             Deadline::after(silence).duration());
}

void StoreClient::Impl::dispatch(store::Frame frame) {
  store::Reader reader(frame.payload);
  switch (frame.type) {
  case Type::Reply:
  case Type::Failed: {
    Result<std::string> answer = std::string();
    if (frame.type == Type::Reply) {
      answer = std::move(frame.payload);
    } else {
      auto code = static_cast<StatusCode>(reader.u32());
      answer = error(code == StatusCode::Ok ? StatusCode::Internal : code,
                     reader.bytes());
    }
    std::lock_guard lock(mutex);
    // Here, before anything that comes behind the reply: the next abort may.
    if (frame.type == Type::Reply && frame.id == recovery)
      abortRecord.reset();
    // Absent: its caller's deadline has passed.
    if (auto it = pending.find(frame.id); it != pending.end())
      it->second = std::move(answer);
    changed.notify_all();
    return;
  }
  case Type::Aborted:
    if (auto record = AbortRecord::decode(frame.payload))
      announce(std::move(*record));
    return;
  case Type::Refuse:
    reader.u32();
    return fail(error(StatusCode::PermissionDenied,
                      "the store disconnected this rank: ", reader.bytes()));
  default:
    return; // of a later version: nothing that this one has to know
  }
}

void StoreClient::Impl::fail(Status why) {
  bool peaceful;
  {
    std::lock_guard lock(mutex);
    if (!lost)
      return;
    lost = why;
    peaceful = saidGoodbye || stop;
    changed.notify_all();
  }
  if (!peaceful)
    announce(AbortRecord::now(-1, "store", why.message()));
}

void StoreClient::Impl::announce(AbortRecord record) {
  std::lock_guard calls(callMutex);
  {
    std::lock_guard lock(mutex);
    if (abortRecord)
      return;
    abortRecord = record;
    changed.notify_all();
  }
  if (callback)
    callback(record);
}

Status StoreClient::Impl::send(Type type, uint32_t id, std::string_view payload,
                               const Deadline &deadline) {
  std::string frame = store::encodeFrame(type, id, payload);
  std::lock_guard lock(sendMutex);
  size_t sent = 0;
  while (sent < frame.size()) {
    ssize_t n = ::send(socket.get(), frame.data() + sent, frame.size() - sent,
                       MSG_NOSIGNAL);
    if (n >= 0) {
      sent += static_cast<size_t>(n);
      continue;
    }
    if (errno == EINTR)
      continue;
    if (errno != EAGAIN)
      return errnoError(StatusCode::Unavailable, "sending to the store", errno);
    Status ready =
        waitReady(socket.get(), POLLOUT, deadline, "the store to read");
    if (!ready) {
      // Half a frame is out: nothing sensible can follow it.
      if (sent > 0)
        ::shutdown(socket.get(), SHUT_RDWR);
      return ready;
    }
  }
  return {};
}

Result<std::string> StoreClient::Impl::request(Type type,
                                               std::string_view payload,
                                               const Deadline &deadline,
                                               std::string_view what) {
  if (payload.size() + store::kHeaderBytes > options.maxMessage)
    return error(StatusCode::InvalidArgument, what, " has ", payload.size(),
                 " bytes, a store message at most ", options.maxMessage,
                 ": split the value");
  uint32_t id;
  auto over = [&]() -> Status { // mutex held
    if (saidGoodbye && type != Type::Goodbye)
      return error(StatusCode::FailedPrecondition, what,
                   " after goodbye to the store");
    if (!lost)
      return lost.withContext(what);
    if (abortRecord && type != Type::Goodbye && type != Type::Recover)
      return abortRecord->toStatus();
    return {};
  };
  {
    std::lock_guard lock(mutex);
    MK_TRY(over());
    id = nextId++;
    if (nextId == 0)
      nextId = 1;
    if (type == Type::Recover)
      recovery = id;
    pending[id];
  }
  Status sent = send(type, id, payload, deadline);
  std::unique_lock lock(mutex);
  while (sent) {
    if (auto &answer = pending[id]) {
      Result<std::string> result = std::move(*answer);
      pending.erase(id);
      return result;
    }
    if (sent = over(); !sent)
      break;
    if (deadline.passed()) {
      sent = error(StatusCode::DeadlineExceeded, "waited ", deadline.duration(),
                   " for ", what, " (rank ", options.rank, ")");
      break;
    }
    // In slices: a condition variable overflows on the last time point.
    changed.wait_for(lock, std::min<std::chrono::nanoseconds>(
                               deadline.left(), std::chrono::seconds(1)));
  }
  pending.erase(id);
  bool cancel = sent.code() == StatusCode::DeadlineExceeded &&
                (type == Type::Get || type == Type::Barrier ||
                 type == Type::Recover);
  lock.unlock();
  if (cancel)
    send(Type::Cancel, 0, Writer().u32(id).take(),
         Deadline::after(std::chrono::seconds(1)))
        .ignore();
  return sent;
}

Status StoreClient::set(std::string_view key, std::string_view value,
                        Deadline deadline) {
  return impl_
      ->request(Type::Set, Writer().bytes(key).bytes(value).take(), deadline,
                str("set of '", key, "'"))
      .status();
}

Result<std::string> StoreClient::get(std::string_view key, Deadline deadline) {
  return impl_->request(Type::Get, Writer().bytes(key).take(), deadline,
                        str("key '", key, "'"));
}

Result<int64_t> StoreClient::add(std::string_view key, int64_t delta,
                                 Deadline deadline) {
  MK_ASSIGN(std::string reply,
            impl_->request(Type::Add, Writer().bytes(key).i64(delta).take(),
                           deadline, str("add to '", key, "'")));
  return store::Reader(reply).i64();
}

Status StoreClient::barrier(std::string_view name, uint32_t n,
                            Deadline deadline) {
  return impl_
      ->request(Type::Barrier, Writer().bytes(name).u32(n).take(), deadline,
                str("barrier '", name, "' of ", n))
      .status();
}

Result<std::vector<std::string>>
StoreClient::allGather(std::string_view name, uint32_t index,
                       std::string_view value, uint32_t n, Deadline deadline) {
  if (index >= n)
    return error(StatusCode::OutOfRange, "all-gather '", name, "': index ",
                 index, " of ", n);
  auto key = [&](uint32_t i) { return str("gather/", name, "/", i); };
  MK_TRY(set(key(index), value, deadline));
  std::vector<std::string> values(n);
  for (uint32_t i = 0; i < n; ++i) {
    auto value = get(key(i), deadline);
    if (!value && value.status().code() == StatusCode::DeadlineExceeded)
      return error(StatusCode::DeadlineExceeded, "waited ", deadline.duration(), " for rank ", i,
                   ", which has not come to it");
    MK_ASSIGN(values[i], std::move(value));
  }
  return values;
}

bool StoreClient::Impl::publishSoon(bool now) {
  std::optional<AbortRecord> record;
  {
    std::lock_guard lock(mutex);
    if (!soon || !(now || soonAt.passed()))
      return false;
    record.swap(soon);
    if (abortRecord)
      return false;
  }
  send(Type::Abort, 0, record->encode(), Deadline::after(std::chrono::seconds(2))).ignore();
  return true;
}

void StoreClient::publishAbortSoon(AbortRecord record) {
  {
    std::lock_guard lock(impl_->mutex);
    impl_->soon = std::move(record);
    impl_->soonAt = Deadline::after(std::chrono::milliseconds(500));
  }
  wake(impl_->waker);
}

bool StoreClient::publishPending() { return impl_->publishSoon(/*now=*/true); }

Status StoreClient::publishAbort(const AbortRecord &record) {
  {
    std::lock_guard lock(impl_->mutex);
    impl_->soon.reset();
  }
  return impl_->send(Type::Abort, 0, record.encode(),
                     Deadline::after(std::chrono::seconds(2)));
}

std::optional<AbortRecord> StoreClient::aborted() const {
  std::lock_guard lock(impl_->mutex);
  return impl_->abortRecord;
}

Result<uint32_t> StoreClient::recover(uint32_t n, Deadline deadline) {
  MK_ASSIGN(std::string reply,
            impl_->request(Type::Recover, Writer().u32(n).take(), deadline,
                           str("all ", n, " ranks to begin anew")));
  return store::Reader(reply).u32();
}

bool StoreClient::hasServed() const {
  std::lock_guard lock(impl_->mutex);
  return impl_->served;
}

void StoreClient::onAbort(std::function<void(const AbortRecord &)> callback) {
  std::lock_guard calls(impl_->callMutex);
  if (!callback && impl_->callback) {
    std::lock_guard lock(impl_->mutex);
    impl_->served = true;
  }
  impl_->callback = std::move(callback);
  auto record = aborted();
  if (impl_->callback && record)
    impl_->callback(*record);
}

Status StoreClient::goodbye(Deadline deadline) {
  {
    std::lock_guard lock(impl_->mutex);
    if (impl_->saidGoodbye)
      return {};
    impl_->saidGoodbye = true;
  }
  return impl_->request(Type::Goodbye, "", deadline, "goodbye to the store")
      .status();
}

} // namespace mk::rt
