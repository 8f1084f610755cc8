//===- Nic.h - A NIC in software --------------------------------*- C++ -*-===//
//
// One Nic is an opened device: a thread that moves packets over abstract
// sockets. Srd.cpp and Rc.cpp are the two protocols, Nic.cpp what they share,
// the other files the verbs.
//
// Queue pairs are numbered so that the upper bits name the context: many
// processes open one device and share its address, as on a real NIC.
//
// Locks: Nic::mutex, then Cq::mutex. All of a Nic but its completion queues is
// guarded by the former.
//
//===----------------------------------------------------------------------===//
#ifndef MKERNEL_TEST_SOFTRDMA_NIC_H
#define MKERNEL_TEST_SOFTRDMA_NIC_H

#include "Knobs.h"

#include <atomic>
#include <chrono>
#include <deque>
#include <functional>
#include <map>
#include <mutex>
#include <queue>
#include <random>
#include <thread>

namespace soft {

using Clock = std::chrono::steady_clock;
struct Nic;
struct Qp;

constexpr int kQpBits = 12; // of 24, the others name the context

/// What programs make and have to give back, counted in the process.
enum class Object {
  Context, Domain, Region, CompletionQueue, Channel, QueuePair, Address
};
constexpr size_t kObjects = 7;
extern std::atomic<int> live[kObjects];
template <Object kind> struct Counted {
  Counted() { ++live[size_t(kind)]; }
  ~Counted() { --live[size_t(kind)]; }
};

struct Device : ibv_device {
  DeviceSpec spec;
  uint8_t index = 0;
};

/// What EFA's firmware reports; efa.ko and libefa name them so.
enum EfaStatus : uint32_t {
  kEfaOk = 0,
  kEfaFlushed = 1,
  kEfaLocalLkey = 5,
  kEfaRemoteAddress = 7,
  kEfaRemoteQpn = 9,
  kEfaRemoteRnr = 10,
  kEfaUnresponsive = 13,
  kEfaUnreachable = 15,
};
WcStatus fromEfa(uint32_t status);

struct Cqe {
  uint64_t wrId = 0;
  uint32_t status = 0, opcode = 0, vendor = 0, bytes = 0, imm = 0, flags = 0;
  Qp *qp = nullptr;
  uint32_t qpn = 0;
  uint32_t srcQp = 0, slid = 0; // of receives: who sent it, by address handle
  uint32_t retires = 0; // slots of the send queue that are free once polled
  bool receive = false, solicited = false;
};

struct Pd : ibv_pd, Counted<Object::Domain> {};

struct Channel : ibv_comp_channel, Counted<Object::Channel> {
  int writeEnd = -1;
};

struct Cq : ibv_cq_ex, Counted<Object::CompletionQueue> {
  std::mutex cqMutex;
  std::deque<Cqe> entries;
  size_t capacity = 0;
  bool broken = false; // has run over: takes no more
  Cqe current;
  bool armed = false, armedSolicited = false;
  uint32_t events = 0, acknowledged = 0;
};

struct Mr : ibv_mr, Counted<Object::Region> {
  uint64_t iova = 0;
  unsigned access = 0;
  void *mapped = nullptr; // of a dma-buf
};

struct Ah : ibv_ah, Counted<Object::Address> {
  ibv_gid gid;
};

struct Wqe {
  uint64_t wrId = 0, remote = 0, local = 0;
  uint32_t rkey = 0, lkey = 0, bytes = 0, imm = 0;
  bool hasImm = false, signaled = false, solicited = false;
  bool addressed = false, filled = false, isInline = false;
  std::vector<char> copy;                        // inline data
  ibv_gid dgid{};                                // SRD
  uint32_t dqpn = 0, qkey = 0;                   // SRD
  uint64_t first = 0, packets = 0;               // RC: packet numbers
  bool failUnsent = false, failWhenDone = false; // FAIL_NTH, RC
};

struct Receive {
  uint64_t wrId;
};

struct Qp : ibv_qp_ex, Counted<Object::QueuePair> {
  ibv_qp_cap cap{};
  bool srd = false, signalAll = false, unsolicited = false;
  uint32_t qkeyValue = 0;
  std::atomic<uint32_t> sqUsed{0}, rqUsed{0};
  std::deque<Receive> receives;
  // Between wr_start and wr_complete, which hold the lock as providers do.
  std::mutex batchMutex;
  std::vector<Wqe> batch;
  int batchError = 0;

  // RC, as requester.
  ibv_qp_attr attr{};
  uint32_t gidType = 0;
  ibv_gid dgid{};
  std::deque<Wqe> sq;
  uint32_t silent = 0; // completed without a CQE
  uint64_t endPacket = 0, nextPacket = 0, unacked = 0;
  int tries = 0, rnrTries = 0;
  Clock::time_point progress, notBefore;
  bool ticking = false;
  // As responder.
  uint64_t expected = 0;
  bool nakSent = false;
};

enum class PacketType : uint8_t {
  Data,
  Ack,
  RcAck,
  RcNakSequence,
  RcNakRnr,
  RcNakError
};

struct Packet {
  uint32_t magic = 0x534f4654;
  PacketType type = PacketType::Data;
  uint8_t rc = 0, hasImm = 0, solicited = 0, last = 0, waitsForReceive = 0;
  uint64_t number = 0; // SRD: the message; RC: the packet
  ibv_gid sgid{};
  uint32_t sqpn = 0, dqpn = 0, qkey = 0, rkey = 0, gidType = 0, psn = 0;
  uint64_t route = 0; // the receiver's endpoint
  uint64_t remote = 0;
  uint32_t total = 0, offset = 0, bytes = 0, imm = 0, status = 0;
};

/// An SRD message that is under way.
struct Message {
  Wqe wqe;
  Qp *qp;
  Clock::time_point deadline;
  bool ignoreAcks = false;
  uint32_t failWith = kEfaUnresponsive;
};

struct Event {
  Clock::time_point time;
  uint64_t order;
  uint32_t rcQpn = 0; // not 0: this queue pair may send
  Packet packet;
  uint64_t data = 0;       // number of the data packet, for softrdma_deliver
  std::vector<char> early; // BREAK=early-read
  bool operator<(const Event &o) const {
    return time != o.time ? time > o.time : order > o.order;
  }
};

struct Link {
  int fd;
  std::deque<std::vector<char>> waiting;
};

struct Nic : Counted<Object::Context> {
  verbs_context verbs{};
  const Device *device = nullptr;
  Knobs knobs;
  std::mutex mutex;
  std::mt19937_64 random;
  std::atomic<bool> stop{false};
  std::thread thread;
  int listener = -1, wakeup = -1, asyncWrite = -1, token = -1;
  uint32_t contextId = 0, nextQpn = 1, nextKey = 0;
  std::map<uint32_t, Qp *> qps;
  std::map<uint32_t, Mr *> mrs;
  std::map<uint64_t, Link> links;
  std::vector<int> inbound;
  std::priority_queue<Event> events;
  std::vector<Event> held; // while paused
  bool paused = false;
  uint64_t eventOrder = 0, dataPackets = 0, posted = 0, completes = 0;
  bool dead = false, portDown = false, logged = false;
  std::atomic<uint64_t> registered{0};
  std::vector<Cq *> overrun; // since the thread looked
  // The fullest that a completion queue has been, and what it holds.
  std::atomic<size_t> cqPeak{0}, cqCapacity{0};
  std::map<uint64_t, Message> messages;
  uint64_t nextMessage = 1;
  struct Arriving {
    uint32_t bytes = 0;
    bool refused = false, raised = false;
  };
  std::map<std::pair<uint64_t, uint64_t>, Arriving> arriving; // by sender
  std::map<uint64_t, bool> answered;                          // by peer
  struct Waiting {
    Packet packet;
    Qp *qp;
  };
  std::vector<Waiting> waitingForReceive;
  std::atomic<uint64_t> sent{0}, handled{0};

  ibv_context *context() { return &verbs.context; }
  static Nic *of(ibv_context *context) {
    return reinterpret_cast<Nic *>(reinterpret_cast<char *>(context) -
                                   offsetof(verbs_context, context));
  }

  bool open();
  void close();
  void run();
  void wake();
  ibv_gid gid(uint32_t index) const;
  uint32_t gidType(uint32_t index) const;

  // Nic.cpp. The lock is held.
  std::chrono::nanoseconds jitter();
  void schedule(Event event, std::chrono::nanoseconds after);
  /// Hands a packet to the wire now.
  void transmit(const Packet &packet, const void *payload);
  void reply(const Packet &to, PacketType type, uint32_t status,
             uint64_t number);
  Mr *local(const Wqe &wqe, const Qp *qp);
  Mr *remote(const Packet &packet, const Qp *qp);
  void write(Mr *mr, const Packet &packet, const char *payload);
  void raise(Qp *qp, const Packet &packet);
  bool lose() { return knobs.loss > 0 && draw() < knobs.loss; }
  double draw() { return double(random() >> 11) / double(1ull << 53); }
  /// Counts a posted request and does what the knobs say about it.
  void countPosted();
  void note(const Qp *qp, const Wqe &wqe, uint32_t status);
  void event(uint32_t type, void *element);
  void setPaused(bool on);
  bool deliver(uint64_t packet);
  size_t pending();

  // Srd.cpp
  void postSrd(Qp *qp, std::vector<Wqe> &batch);
  void sendSrd(Event &event);
  void receiveSrd(const Packet &packet, const char *payload);
  void acknowledgeSrd(const Packet &packet);
  void finishSrd(uint64_t message, uint32_t status);
  void expireSrd(Clock::time_point now);
  void flushSrd(Qp *qp);
  void receivePosted(Qp *qp);

  // Rc.cpp
  void postRc(Qp *qp, std::vector<Wqe> &batch);
  void tickRc(Qp *qp);
  void kickRc(Qp *qp, std::chrono::nanoseconds after);
  void receiveRc(const Packet &packet, const char *payload);
  void acknowledgeRc(const Packet &packet);
  void failRc(Qp *qp, WcStatus status);
  void enterError(Qp *qp);
  void failOverrun();
  void expireRc(Clock::time_point now);

private:
  void acceptAll();
  void receiveAll();
  void handle(const Packet &packet, const char *payload);
  void flushLinks();
  Clock::time_point nextDeadline(Clock::time_point now);
  Link *link(uint64_t to);
};

// Completions.cpp
void push(Cq *cq, const Cqe &cqe);
Cq *createCq(ibv_context *, uint32_t depth, void *, ibv_comp_channel *);
void purge(Cq *cq, const Qp *qp);
int pollCq(ibv_cq *, int, ibv_wc *);
int requestNotify(ibv_cq *, int solicitedOnly);

// Posting.cpp
void fillPostingOps(Qp *qp, uint64_t sendOps);
int postReceive(ibv_qp *, ibv_recv_wr *, ibv_recv_wr **);

// QueuePairs.cpp
ibv_qp *createQp(ibv_context *, ibv_qp_init_attr_ex *, bool srd,
                 uint16_t flags);

/// Where the context that a queue pair belongs to listens.
uint64_t endpoint(const ibv_gid &gid, uint32_t qpn);
/// A copy that TSan does not see: what a NIC writes and reads is not ordered
/// with the program but by completions, which it does see.
void dma(void *to, const void *from, size_t bytes);
/// All contexts of this process, in the order in which they were opened.
std::vector<Nic *> allNics();

inline Qp *asQp(ibv_qp *qp) {
  return static_cast<Qp *>(static_cast<ibv_qp_ex *>(qp));
}
inline Cq *asCq(ibv_cq *cq) {
  return static_cast<Cq *>(static_cast<ibv_cq_ex *>(cq));
}

} // namespace soft

#endif // MKERNEL_TEST_SOFTRDMA_NIC_H
