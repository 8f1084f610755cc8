//===- Store.h - The key-value store that starts a job ----------*- C++ -*-===//
//
// The launcher, or rank 0 of a job that others start (mkernel/Runtime/Job.h),
// runs a StoreServer, every rank a StoreClient. Peers find each
// other's endpoints through it, meet in barriers and learn of aborts. Keys and
// values are bytes.
//
// A connection is admitted by an HMAC-SHA256 challenge over both sides' nonces,
// job, rank and ABI hash, keyed by the job's token; the server proves that it
// knows the token as well. Every message has a size limit, every wait a
// deadline. Traffic is not encrypted.
//
//===----------------------------------------------------------------------===//
#ifndef MKERNEL_RUNTIME_STORE_H
#define MKERNEL_RUNTIME_STORE_H

#include "mkernel/Runtime/Abort.h"
#include "mkernel/Runtime/Deadline.h"
#include "mkernel/Runtime/Digest.h"

#include <functional>
#include <memory>
#include <vector>

namespace mk::rt {

/// Rank of a client that is no rank (a tool); its loss is no abort.
inline constexpr int32_t kObserver = -1;

struct StoreServerOptions {
  std::string address = "127.0.0.1"; // numeric; the one interface bound
  uint16_t port = 0;                 // 0: the system chooses
  std::string job;                   // name of the job, part of the challenge
  std::string token;                 // at least 16 characters
  uint32_t world = 1;                // ranks 0..world-1 are admitted, each once
  Digest abi = abiHash();
  uint32_t maxMessage = 16u << 20; // bytes of one message
  std::chrono::milliseconds handshakeTimeout{5000};
  /// A rank of which nothing comes for so long is lost; zero: it is not while its connection
  /// is there. That of the clients should be the same.
  std::chrono::nanoseconds silence{0};
  /// Called on the server's thread with the first abort record.
  std::function<void(const AbortRecord &)> onAbort;
};

/// The store; one thread. Its destructor disconnects everybody.
class StoreServer {
public:
  static Result<std::unique_ptr<StoreServer>> start(StoreServerOptions options);
  ~StoreServer();
  StoreServer(const StoreServer &) = delete;
  StoreServer &operator=(const StoreServer &) = delete;

  /// "127.0.0.1:40123", what clients connect to.
  std::string endpoint() const;
  uint16_t port() const;

  /// Records an abort (the first one counts) and tells every client.
  void abort(AbortRecord record);
  /// The first abort: published by a rank, a lost rank, or abort().
  std::optional<AbortRecord> aborted() const;

  /// Ranks connected now; when the job has failed also who waits to be let in.
  uint32_t connected() const;
  /// Ranks that have not been here yet.
  std::vector<uint32_t> missing() const;
  /// Lets nobody in any more; who comes finds the port closed.
  void stopListening();
  /// Messages about refused connections, for reports and tests.
  std::vector<std::string> refusals() const;

private:
  struct Impl;
  explicit StoreServer(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl_;
};

struct StoreClientOptions {
  std::string endpoint; // "host:port"
  std::string job;
  std::string token;
  int32_t rank = kObserver;
  Digest abi = abiHash();
  uint32_t maxMessage = 16u << 20; // bytes
  std::string keeper = "the launcher"; // who runs the store, for messages
  /// A store of which nothing comes for so long is lost; zero: it is not while its connection
  /// is there.
  std::chrono::nanoseconds silence{0};
};

/// A rank's connection. All calls may come from any thread. A call fails with
/// DeadlineExceeded, with Aborted (carrying the record) once the job was
/// aborted, or with Unavailable when the store is gone.
class StoreClient {
public:
  /// Retries until the deadline while nobody listens on the port.
  static Result<std::unique_ptr<StoreClient>>
  connect(StoreClientOptions options, Deadline deadline);
  /// Without goodbye() before it, the server reports the rank as lost.
  ~StoreClient();
  StoreClient(const StoreClient &) = delete;
  StoreClient &operator=(const StoreClient &) = delete;

  int32_t rank() const;
  /// Numeric address of this end of the connection, by which others may reach
  /// this host.
  Result<std::string> localAddress() const;

  /// Sets or overwrites.
  Status set(std::string_view key, std::string_view value, Deadline deadline);
  /// Waits until the key exists.
  Result<std::string> get(std::string_view key, Deadline deadline);
  /// Adds to the integer at `key` (absent: 0); the value after. A key used
  /// with add holds an int64 and is no key for set/get.
  Result<int64_t> add(std::string_view key, int64_t delta, Deadline deadline);
  /// Returns when `n` clients have come to the barrier `name`. Reusable: the
  /// next n arrivals are the next round.
  Status barrier(std::string_view name, uint32_t n, Deadline deadline);
  /// Everybody's values in order of `index` (0..n-1). A name may be used once
  /// by each index.
  Result<std::vector<std::string>> allGather(std::string_view name,
                                             uint32_t index,
                                             std::string_view value, uint32_t n,
                                             Deadline deadline);

  /// Tells every rank. Works after an abort, too (the first one counts). Does
  /// not wait for an answer.
  Status publishAbort(const AbortRecord &record);
  /// The same in a moment, unless the job is aborted before that: for a rank that may be about to
  /// say why.
  void publishAbortSoon(AbortRecord record);
  /// At once, if that is still to come; whether it was.
  bool publishPending();
  /// The job's first abort, including "rank N was lost" and the loss of the
  /// store itself. Does not block.
  std::optional<AbortRecord> aborted() const;
  /// "nothing has come from the store ... for 4 s", or empty: for reports of waits.
  std::string silent() const;
  /// After an abort: waits until all `n` ranks have come here, each of which has
  /// ended what the abort was about; then there is none any more. The result counts
  /// the aborts that are over. Unavailable when a rank was lost.
  Result<uint32_t> recover(uint32_t n, Deadline deadline);
  /// Whether somebody has listened to aborts of this connection and has left since: a context.
  bool hasServed() const;
  /// Called once, on the client's own thread, when the job is aborted; at once
  /// on this thread if it already is. Null removes it and waits for a running
  /// call.
  void onAbort(std::function<void(const AbortRecord &)> callback);

  /// Leaves in peace: later loss of the connection is no abort. Idempotent.
  Status goodbye(Deadline deadline);

private:
  struct Impl;
  explicit StoreClient(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl_;
};

/// Connects abort word and store: what is raised here is published, what others
/// publish is raised here. Undo with disconnectAbort before either dies.
void connectAbort(AbortWord &word, StoreClient &store);
void disconnectAbort(AbortWord &word, StoreClient &store);

} // namespace mk::rt

#endif // MKERNEL_RUNTIME_STORE_H
