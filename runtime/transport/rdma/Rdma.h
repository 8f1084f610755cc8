//===- Rdma.h - Transports over NICs ----------------------------*- C++ -*-===//
//
// What RC and SRD share, which is nearly all. A put of one request carries its
// signal in the immediate. Of any other put the pieces are plain writes, and the
// signal goes out as a request of its own when all of them have completed here,
// which means that they are in the peer's memory: so a signal never passes data,
// whatever order the network has.
//
// Signals are counted: a receiver grants each path a window, and a sender waits
// when it is used up. Completion queues and receive queues hold a whole window,
// so that neither runs over while a proxy sleeps.
//
// Connect.cpp   NICs, queue pairs and memory are set up with all peers
// Post.cpp      puts are cut, divided over paths, and posted
// Poll.cpp      completions and signals are taken
// Events.cpp    waiting; events of devices, words of peers
// Failover.cpp  a path fails: what is proven delivered, what is sent again
// Shutdown.cpp  leaving, and failing
//
//===----------------------------------------------------------------------===//
#ifndef MKERNEL_RUNTIME_TRANSPORT_RDMA_RDMA_H
#define MKERNEL_RUNTIME_TRANSPORT_RDMA_RDMA_H

#include "transport/rdma/Control.h"
#include "transport/rdma/Immediate.h"
#include "transport/rdma/Memory.h"
#include "transport/rdma/Path.h"

#include <map>
#include <unordered_map>

namespace mk::rt::rdma {

class Rdma : public Transport {
public:
  ~Rdma() override;

  std::string_view name() const override {
    return kind_ == NicKind::Efa ? "efa" : "verbs";
  }
  void wait(std::chrono::microseconds limit) override;
  void wake() override;

  std::string path() const override;
  std::vector<std::string> nics() const override;
  bool registersMemory() const override { return true; }
  Status reaches(StoreClient &store, Deadline deadline) override;

  std::string stuck() const override;

  /// NICs, how memory is registered, paths; for reports and tests.
  std::string describe() const;

protected:
  Rdma(TransportConfig config, NicKind kind, Options options, Library library);

  // What RC and SRD do differently. Called while connecting.
  /// Makes `path.queue`, ready to receive, and fills in `path.local`.
  virtual Status openPath(Path &path) = 0;
  /// The peer's end is known: makes the path ready to send.
  virtual Status joinPath(Path &path, const NicEndpoint &remote) = 0;
  /// The path that a signal has come over; the completion queue is at it. Null:
  /// unknown.
  virtual Path *pathOfSignal(Nic &nic) = 0;

  Queue &newQueue(Nic &nic);
  Status createQueuePair(Queue &queue, ibv_qp_init_attr_ex &attr,
                         efadv_qp_init_attr *efaAttr, uint32_t receives);
  Status postReceives(Queue &queue, uint32_t count);
  Status modify(Queue &queue, ibv_qp_attr &attr, int mask,
                std::string_view what);
  static uint32_t randomKey();

  const Options &options() const { return options_; }
  const Library &library() const { return library_; }
  Nic &nicOf(const Path &path) { return *nics_[path.nic]; }
  /// Room for what may come in over a path of the NIC, and for all of them.
  uint32_t receivesOfPath(const Nic &nic) const {
    return loads_.at(&nic).window + kCreditReserve;
  }
  uint32_t receivesOfNic(const Nic &nic) const {
    return loads_.at(&nic).paths * receivesOfPath(nic);
  }

private:
  struct NicLoad {
    uint32_t paths = 0, window = 0, depth = 0;
  };
  struct PeerLink {
    RankEndpoint endpoint;
    Control::Link *control = nullptr;
    SegmentMap memory;
    ImmediateCode code;
    std::vector<Path *> paths;
    std::string stuck; // what the peer says of its own
  };
  struct Piece {
    Path *path;
    uint64_t src, dst;
    uint32_t bytes;
  };

  // Connect.cpp
  Status doConnect(StoreClient &store, std::span<const uint32_t> peers,
                   Deadline deadline) override;
  Status openNics(StoreClient &store, Deadline deadline);
  Status meetPeers(StoreClient &store, std::span<const uint32_t> peers,
                   Deadline deadline);
  Status makePaths(std::span<const uint32_t> peers);
  Status joinPaths(StoreClient &store, std::span<const uint32_t> peers,
                   Deadline deadline);
  Status watchFds();
  Status shareSegment(StoreClient &store, uint64_t offset, uint64_t bytes);
  std::string key(std::string_view what, uint32_t rank) const {
    return str("rdma/", config().scope, "/", what, "/", rank);
  }

  // Post.cpp
  Status doPost(const PutRequest &request) override;
  Status cut(PeerLink &peer, const PutRequest &request);
  Status cutPart(PeerLink &peer, Path &path, Fragment part);
  Path *choosePath(PeerLink &peer, uint64_t bytes);
  uint32_t newWork(Work work);
  void freeWork(uint32_t work);
  void enqueue(Path &path, uint32_t work);
  void settle(uint32_t work);
  void raiseSignal(uint32_t put);
  void flushPath(Path &path);
  void flushAll();
  void build(Path &path, uint32_t work, bool signaled);

  // Poll.cpp
  void doPoll(Completions &completions) override;
  void round(Completions &completions);
  void drainNic(Nic &nic, Completions &completions);
  void takeSignal(Nic &nic, Completions &completions);
  void sendCompleted(uint64_t id, Completions &completions);
  void sendFailed(Nic &nic, uint64_t id, Completions &completions);
  void retire(Path &path, uint32_t work);
  void completeWork(uint32_t work, Completions &completions);
  void finishPut(uint32_t put, Completions &completions);
  void repostReceives();
  void checkAges(Clock::time_point now);
  void checkSilence(Clock::time_point now);
  std::string silent(Clock::time_point now) const;
  /// How often a peer is told that this rank is there.
  std::chrono::nanoseconds beat() const {
    return std::min<std::chrono::nanoseconds>(options_.deadline / 8, std::chrono::seconds(1));
  }
  void tellStuck(Clock::time_point now);
  std::string stuckFor(std::chrono::nanoseconds age, Clock::time_point now) const;

  // Events.cpp
  void serviceEvents(int timeoutMillis);
  bool channelEvent(Nic &nic); // false: there is none
  void asyncEvents(Nic &nic);
  void controlEvent(Control::Link &link);
  void controlMessage(Control::Link &link, const ControlMessage &message);

  // Failover.cpp
  void pathFailed(Path &path, Status cause);
  void pathDown(Path &path, Status cause);
  void moveWaiting(Path &path);
  void recoverPaths(Completions &completions);
  void recover(Path &path, Completions &completions);
  bool otherPath(const Path &path);

  // Shutdown.cpp
  void doShutdown(Deadline deadline) override;
  void stop(Status why);
  void moveToError(Queue &queue);
  void closeAll();

  NicKind kind_;
  Options options_;
  Library library_;

  // Fixed once connected; destroyed in closeAll's order.
  std::vector<std::unique_ptr<Nic>> nics_;
  std::map<const Nic *, NicLoad> loads_;
  std::deque<Queue> queues_;
  std::deque<Path> paths_;
  std::map<uint32_t, PeerLink> peers_;
  std::unique_ptr<Memory> memory_;
  StoreClient *store_ = nullptr; // while segments may be added
  std::chrono::nanoseconds timeout_{};
  uint32_t segments_ = 0;
  Fd epoll_, waker_;

  mutable std::mutex mutex_; // guards what follows, and queues, paths and NICs
  Control control_;
  Clock::time_point nextBeat_{};
  std::vector<Put> puts_;
  std::vector<uint32_t> freePuts_;
  std::vector<Work> works_;
  std::vector<uint32_t> freeWorks_;
  std::deque<uint32_t> homeless_; // works whose path has gone
  uint64_t openPuts_ = 0, waiting_ = 0; // puts; works not posted
  // To be seen to after a poll; null: of all.
  std::vector<std::pair<Path *, Status>> failures_;
  std::vector<Piece> pieces_;
  std::vector<uint32_t> batch_;
  Completions stash_; // taken while waiting or connecting
  bool stopped_ = false, connected_ = false;
  uint32_t down_ = 0; // paths that are out of use and not recovered
  Clock::time_point nextService_{}, nextAges_{};
};

/// wr_id: a mark, of a work its serial and number, of a receive its queue.
constexpr uint64_t kWorkMark = uint64_t(0x6d57) << 48,
                   kReceiveMark = uint64_t(0x6d52) << 48,
                   kMarkMask = uint64_t(0xffff) << 48;

} // namespace mk::rt::rdma

#endif // MKERNEL_RUNTIME_TRANSPORT_RDMA_RDMA_H
