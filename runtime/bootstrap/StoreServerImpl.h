//===- StoreServerImpl.h - State of the store's server ----------*- C++ -*-===//
#ifndef MKERNEL_RUNTIME_BOOTSTRAP_STORESERVERIMPL_H
#define MKERNEL_RUNTIME_BOOTSTRAP_STORESERVERIMPL_H

#include "bootstrap/Frame.h"
#include "bootstrap/Handshake.h"
#include "core/Socket.h"
#include "mkernel/Runtime/Store.h"

#include <atomic>
#include <list>
#include <map>
#include <mutex>
#include <thread>
#include <unordered_map>

namespace mk::rt {

struct StoreServer::Impl {
  /// One socket. Everything below is touched by the server's thread only,
  /// unless said.
  struct Connection {
    enum class State {
      Handshake, // challenge sent, hello awaited
      Ready,
      Closing, // a refusal is on its way out; what comes in is thrown away
      Dead,    // to be removed
    };
    Fd fd;
    std::string from; // "127.0.0.1:50000"
    State state = State::Handshake;
    int32_t rank = kObserver;
    bool goodbye = false;
    std::string nonce;
    std::string out; // bytes not yet accepted by the socket
    // Why to drop it. Sending only notes that: its callers are iterating over
    // waiters, which dropping changes.
    const char *broken = nullptr;
    store::FrameBuffer in;
    Deadline deadline = Deadline::never(); // of handshake and closing; of silence
    Deadline patience = Deadline::never(); // until it may have to make room
    bool admitted = false;
  };
  struct Waiter {
    Connection *connection;
    uint32_t id;
  };
  struct Barrier {
    uint32_t n = 0;
    std::vector<Waiter> waiters;
  };

  explicit Impl(StoreServerOptions o) : options(std::move(o)) {}

  void run();

  // Connections.
  void accept();
  /// Sends away who has waited longest without a proof of the secret; false when
  /// nobody waits, or all are too new for that.
  bool makeRoom(bool patiently);
  /// Closes a connection that was refused before it was admitted, beyond `keep`.
  bool closeRefused(size_t keep);
  void outOfDescriptors();
  void read(Connection &c);
  void write(Connection &c);
  void send(Connection &c, store::Type type, uint32_t id,
            std::string_view payload);
  void refuse(Connection &c, const Status &why);
  void drop(Connection &c, std::string_view cause);
  void lose(Connection &c, std::string_view cause);
  void expire();
  void fallSilent(Connection &c);
  /// Until which something has to come from a rank that was admitted.
  Deadline silenceOf(const Connection &c) const {
    return options.silence.count() > 0 && c.rank >= 0 && !c.goodbye
               ? Deadline::after(options.silence)
               : Deadline::never();
  }

  // Messages.
  void handle(Connection &c, const store::Frame &frame);
  void admit(Connection &c, const store::Frame &frame);
  void request(Connection &c, const store::Frame &frame);
  void barrier(Connection &c, uint32_t id, std::string_view name, uint32_t n);
  void recover(Connection &c, uint32_t id, uint32_t n);
  /// Those who wait to begin anew wait in vain.
  void refuseRecovery(std::string_view why);
  void forget(Connection &c, uint32_t id);
  void malformed(Connection &c, std::string_view what);

  void setAborted(AbortRecord record);

  StoreServerOptions options;
  Fd listener, waker;
  uint16_t port = 0;
  std::thread thread;
  std::atomic<bool> stop{false}, deaf{false};
  std::atomic<uint32_t> connected{0}, connecting{0};

  std::list<Connection> connections; // in the order in which they came
  std::optional<Deadline> pause;     // until which nobody is accepted
  std::unordered_map<std::string, std::string> values;
  std::unordered_map<std::string, int64_t> counters;
  std::map<std::string, std::vector<Waiter>> waiting;
  std::map<std::string, Barrier> barriers;
  std::vector<Waiter> recovering;
  uint32_t recoveries = 0;

  mutable std::mutex mutex; // guards the following, used by any thread
  std::optional<AbortRecord> abortRecord;
  std::vector<AbortRecord> abortQueue; // from abort(), for the thread
  std::vector<std::string> refusals;
  std::vector<bool> arrived; // by rank
};

} // namespace mk::rt

#endif // MKERNEL_RUNTIME_BOOTSTRAP_STORESERVERIMPL_H
