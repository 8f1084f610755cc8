//===- StoreClientImpl.h - State of a store's client ------------*- C++ -*-===//
#ifndef MKERNEL_RUNTIME_BOOTSTRAP_STORECLIENTIMPL_H
#define MKERNEL_RUNTIME_BOOTSTRAP_STORECLIENTIMPL_H

#include "bootstrap/Frame.h"
#include "core/Socket.h"
#include "mkernel/Runtime/Store.h"

#include <atomic>
#include <condition_variable>
#include <map>
#include <mutex>
#include <thread>

namespace mk::rt {

/// A thread reads the socket; callers write requests and sleep until their
/// reply, an abort, or the loss of the connection.
struct StoreClient::Impl {
  explicit Impl(StoreClientOptions o) : options(std::move(o)) {}

  // Connecting (StoreConnect.cpp); single-threaded.
  Status dial(const Deadline &deadline);
  Status handshake(const Deadline &deadline);
  Status refused(const store::Frame &frame);
  Result<store::Frame> readFrame(const Deadline &deadline);

  // Afterwards.
  void run();
  /// Tells the store that this rank is there; an error when the store has been silent too long.
  Status beat();
  /// Publishes what it is time for, with `now` in any case.
  bool publishSoon(bool now);
  void dispatch(store::Frame frame);
  void fail(Status why);
  void announce(AbortRecord record);
  Status send(store::Type type, uint32_t id, std::string_view payload,
              const Deadline &deadline);
  Result<std::string> request(store::Type type, std::string_view payload,
                              const Deadline &deadline, std::string_view what);

  StoreClientOptions options;
  Fd socket, waker;
  store::FrameBuffer in; // reader thread
  std::chrono::nanoseconds interval() const {
    return std::min<std::chrono::nanoseconds>(options.silence / 8, std::chrono::seconds(1));
  }
  std::atomic<std::chrono::steady_clock::time_point> heard{};
  std::thread thread;
  std::atomic<bool> stop{false};

  std::mutex sendMutex; // one frame at a time

  mutable std::mutex mutex;
  std::condition_variable changed;
  uint32_t nextId = 1;
  std::map<uint32_t, std::optional<Result<std::string>>> pending;
  std::optional<AbortRecord> abortRecord;
  bool served = false;
  uint32_t recovery = 0; // id of the request that ends the abort; 0: there is none
  Status lost; // why the connection ended
  bool saidGoodbye = false;
  std::optional<AbortRecord> soon; // to publish at `soonAt`
  Deadline soonAt = Deadline::never();

  std::recursive_mutex callMutex; // held during the callback
  std::function<void(const AbortRecord &)> callback;
};

} // namespace mk::rt

#endif // MKERNEL_RUNTIME_BOOTSTRAP_STORECLIENTIMPL_H
