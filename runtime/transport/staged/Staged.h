//===- Staged.h - A network through memory of the host ----------*- C++ -*-===//
//
// For memory that a network cannot reach: wraps another transport, whose heap is pinned
// memory of the host with some chunks for each peer. A put is cut into chunks, each of
// which is one put of the inner transport with a header in front of its bytes. The sender's
// device copies the bytes into a chunk, the receiver's device out of it; chunks arrive in
// any order, and the put's signal is raised when the bytes of all of them are in the
// receiver's memory.
//
// Chunk i of the sender belongs to chunk i of the receiver. When the receiver has emptied
// it, it gives both back by raising a signal of the inner transport: all given back means
// that the put is complete.
//
//===----------------------------------------------------------------------===//
#ifndef MKERNEL_RUNTIME_TRANSPORT_STAGED_STAGED_H
#define MKERNEL_RUNTIME_TRANSPORT_STAGED_STAGED_H

#include "mkernel/Runtime/HeapCopies.h"
#include "mkernel/Runtime/HostHeap.h"
#include "mkernel/Runtime/Transport.h"

#include <condition_variable>
#include <deque>
#include <functional>
#include <map>
#include <thread>

namespace mk::rt {

struct StagedOptions {
  uint64_t chunkBytes = 256 << 10; // with the header
  uint64_t chunks = 16;            // to each peer, and as many from it
};

class Staged final : public Transport {
public:
  /// Makes the inner transport, on the heap of the config.
  using MakeInner = std::function<Result<std::unique_ptr<Transport>>(TransportConfig)>;

  Staged(TransportConfig config, StagedOptions options, MakeInner makeInner);
  ~Staged() override;

  std::string_view name() const override { return "staged"; }
  std::string path() const override;
  std::vector<std::string> nics() const override {
    return inner_ ? inner_->nics() : std::vector<std::string>();
  }
  void wait(std::chrono::microseconds limit) override;
  void wake() override;
  std::string stuck() const override { return inner_ ? inner_->stuck() : std::string(); }

  /// Null before connect(). For tests.
  Transport *inner() { return inner_.get(); }
  /// Whether everything posted is with the inner transport. For tests.
  bool handedOver() const;

private:
  struct Header;
  struct Put {
    PutRequest request;
    uint64_t number = 0, bytes = 0;
    size_t fragment = 0; // that goes out next, from `at` on
    uint64_t at = 0;
    uint64_t out = 0;    // chunks that have not come back
    bool cut = false;    // all of it is in chunks
  };
  using PutRef = std::shared_ptr<Put>;
  /// What has come of a peer's put.
  struct Incoming {
    uint64_t bytes = 0; // in this rank's memory
  };
  struct Peer {
    uint32_t rank = 0;
    uint64_t index = 0;  // of its chunks here
    uint64_t theirs = 0; // of this rank's chunks there
    std::vector<uint32_t> free;
    std::vector<PutRef> sent; // by chunk; null where it is free
    std::deque<PutRef> queue; // guarded by mutex_
    std::map<uint64_t, Incoming> incoming; // by number of the put
  };
  /// A chunk on its way out or in.
  struct Chunk {
    Peer *peer = nullptr;
    uint32_t number = 0;
    uint64_t bytes = 0; // with the header
  };
  struct Flight {
    uint64_t mark = 0;
    std::vector<Chunk> chunks;
  };

  // Connect.cpp
  Status doConnect(StoreClient &store, std::span<const uint32_t> peers,
                   Deadline deadline) override;
  // Staged.cpp
  Status doPost(const PutRequest &request) override;
  void doPoll(Completions &completions) override;
  void doShutdown(Deadline deadline) override;
  void stopMover();
  // Mover.cpp; all by its thread.
  void run();
  Status move(bool &any);
  Status cutPuts(bool &any);
  Status fill(Peer &peer, const PutRef &put, uint32_t chunk, Chunk &out);
  Status sendFilled(bool &any);
  Status pollInner(bool &any);
  Status empty(const Chunk &chunk);
  Status landEmptied(bool &any);
  Status landed(const Chunk &chunk);
  Status giveBack(bool &any);
  Status returned(Peer &peer, uint32_t chunk);

  std::byte *chunkOut(const Peer &peer, uint32_t number) const;
  std::byte *chunkIn(const Peer &peer, uint32_t number) const;
  /// Offsets in the inner heap; `index` is that of a peer, here or there.
  uint64_t offsetOut(uint64_t index, uint32_t number) const;
  uint64_t offsetIn(uint64_t index, uint32_t number) const;

  StagedOptions options_;
  MakeInner makeInner_;
  std::unique_ptr<HostHeap> bounce_;
  std::unique_ptr<Transport> inner_;
  std::unique_ptr<HeapCopies> toHost_, fromHost_; // behind bounce_: they pin it
  std::vector<std::unique_ptr<Peer>> peers_;      // by index
  std::vector<Peer *> byRank_;
  std::thread mover_;
  std::atomic<bool> stop_{false};

  // Of the mover.
  uint64_t puts_ = 0;
  std::deque<Flight> filling_, emptying_;
  std::deque<Chunk> filled_;  // to be posted
  std::deque<Chunk> emptied_; // to be given back
  std::deque<Arrival> whole_; // to be told once what was emptied is given back
  Completions polled_;

  mutable std::mutex mutex_; // guards the following and queues
  std::condition_variable changed_;
  std::vector<LocalCompletion> completed_;
  std::vector<Arrival> arrivals_;
  uint64_t posted_ = 0; // puts that are not complete
  uint64_t uncut_ = 0;  // that are not with the inner transport
  bool woken_ = false;
};

} // namespace mk::rt

#endif // MKERNEL_RUNTIME_TRANSPORT_STAGED_STAGED_H
