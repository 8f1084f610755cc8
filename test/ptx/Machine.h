//===- Machine.h - GPUs that run a kernel, one step at a time ---*- C++ -*-===//
//
// All warps of all CTAs of all ranks, in one thread: whose turn it is, how long
// copies take and what is seen late is chance, by a seed. The same seed does
// the same again.
//
//===----------------------------------------------------------------------===//
#ifndef MKERNEL_TEST_PTX_MACHINE_H
#define MKERNEL_TEST_PTX_MACHINE_H

#include "History.h"
#include "Program.h"

#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <queue>

namespace mk::ptx {

class Machine;
struct Cta;

/// Memory that the kernel of a rank can address.
struct Region {
  uint64_t address = 0, bytes = 0;
  uint8_t *data = nullptr; // here; two ranks share it where this is the same
  bool host = false;       // pinned memory, which the rank's proxy reads and writes
};

/// By a copy engine, beside a launch.
struct EngineCopy {
  uint8_t *to = nullptr;
  const uint8_t *from = nullptr;
  uint64_t bytes = 0;
};

struct Launch {
  std::shared_ptr<const Program> program;
  std::vector<Region> memory; // by address
  std::vector<uint8_t> params;
  uint32_t ctas = 1, threads = 1, sharedBytes = 0;
  std::vector<EngineCopy> copies; // beside it, in this order
};

/// What a rank does next: a launch, or bytes that the host writes, or reads and
/// compares.
struct Stage {
  std::shared_ptr<const Launch> launch;
  uint8_t *at = nullptr;
  std::vector<uint8_t> data;
  bool reads = false;
};

/// A copy or a product that a thread waits for.
struct Pending {
  bool read = false, done = false;
};
using Group = std::vector<std::shared_ptr<Pending>>;
struct Groups {
  Group open;
  std::deque<Group> closed;
  void commit() {
    closed.push_back(std::move(open));
    open.clear();
  }
  /// Whether all groups but the last `but` are through.
  bool passed(size_t but, bool readOnly);
};

struct MBarrier {
  uint32_t expected = 0, pending = 0, phase = 0;
  int64_t bytes = 0;
  uint32_t address = 0;   // in shared memory
  View arriving, arrived; // of this phase, of all phases before
};

struct NamedBarrier {
  uint32_t arrived = 0, expected = 0; // threads
  std::vector<Warp *> waiting;
  View view;
  bool any = false; // of what the threads of a reducing barrier bring
  std::vector<std::pair<Warp *, const Operand *>> results; // predicates that take it
};

/// A wgmma that may still read its operands.
struct Product {
  uint64_t time = 0;
  std::vector<uint32_t> sectors; // of shared memory
};

class Warp {
public:
  Warp(Cta &cta, uint32_t number);

  /// Executes one instruction of some lanes.
  void step();

  template <typename T> T *registerOf(const Operand &o) {
    return reinterpret_cast<T *>(words + o.index);
  }
  /// The value of an operand as wide as its register; not widened.
  uint64_t value(const Operand &o, uint32_t lane) const;
  uint64_t address(const Operand &o, uint32_t lane) const;
  void set(const Operand &o, uint32_t lane, uint64_t value);
  bool predicate(const Operand &o, uint32_t lane) const {
    return words[o.index] >> lane & 1;
  }
  /// Sleeps for a random time of at most `most`.
  void sleep(uint32_t most);
  /// The instruction is executed again later.
  void again() {
    stay = true;
    sleep(200);
  }
  void check(const Instr &instr);
  /// What a message that is sent now carries.
  View released() const;

  Cta &cta;
  Machine &machine;
  uint32_t number; // in the CTA
  uint32_t live = ~0u;
  struct Part { // lanes at one place
    uint32_t pc, lanes;
  };
  std::vector<Part> parts;
  uint64_t wakeAt = 0, polledAt = 0;
  bool blocked = false; // by a barrier
  bool stay = false;
  const Instr *now = nullptr;

  View view;
  // At the last fence of a scope or a wider one, for relaxed stores behind it.
  View fenced[4];
  bool hasFenced[4] = {};
  View acquirable; // what relaxed loads met

  Groups bulk[32], copies[32];
  // Products by group: open, then committed.
  std::vector<Product> products;
  std::deque<std::vector<Product>> committed;
  uint64_t commits = 0, retired = 0;
  std::vector<uint64_t> inFlight; // by register: the group that writes it
  uint64_t clusterPhase = 0;

  uint32_t *words = nullptr;

private:
  std::unique_ptr<uint32_t, void (*)(void *)> storage_;
};

struct Rank;

struct Cta {
  Cta(Machine &machine, Rank &rank, uint32_t index, uint32_t id);
  uint8_t *at(uint32_t address, uint32_t bytes); // throws
  /// The CTA of the cluster in whose window an address is; leaves the offset.
  Cta &window(uint32_t &address);
  void writeShared(uint32_t address, const void *from, uint32_t bytes,
                   bool async);
  /// Through the async proxy, by who knows of generic writes up to `view`.
  void readShared(uint32_t address, void *to, uint32_t bytes, uint64_t view);
  MBarrier &barrier(uint32_t address); // throws
  /// Completes the phase if nothing is missing.
  void settle(MBarrier &barrier);
  bool hasEnded() const;

  Machine &machine;
  Rank &rank;
  uint32_t index, id;
  std::vector<uint8_t> shared;
  std::vector<uint64_t> written; // by sector: when last
  std::vector<uint64_t> stored;  // by sector: when last by a generic write
  History history;               // of generic writes
  std::map<uint32_t, MBarrier> barriers;
  NamedBarrier named[16];
  std::vector<std::unique_ptr<Warp>> warps;
  std::vector<Cta *> cluster;
  uint32_t clusterRank = 0;
  struct ClusterBarrier {
    uint32_t arrived = 0;
    uint64_t phase = 0;
    View view;
  };
  std::shared_ptr<ClusterBarrier> clusterBarrier;
};

struct Rank {
  uint32_t number = 0, firstCta = 0;
  const std::vector<Stage> *stages = nullptr;
  size_t next = 0;      // stage
  uint64_t startAt = 0; // when it begins, at the earliest
  const Launch *launch = nullptr;
  const Program *program = nullptr;
  std::vector<std::unique_ptr<Cta>> ctas, ended;
  uint32_t live = 0;     // warps
  uint32_t inFlight = 0; // stores
  View view;             // what the launches so far have seen
  View told;             // what the commands for the proxy carry
  uint16_t network = 0;  // stands for the proxy among CTAs
  size_t lastRegion = 0;
  std::deque<EngineCopy> copies; // beside the launch, still to be done
  /// Where `bytes` bytes lie; throws where the kernel may not go.
  uint8_t *at(uint64_t address, uint64_t bytes);
};

/// Who takes part in an order.
enum Scope : int { kCta = 1, kGpu = 2, kSys = 3 };

/// What the value of a word carries to who acquires it.
struct Message {
  struct Part {
    int scope;
    uint32_t rank, cta;
    View view;
  };
  std::vector<Part> parts;
};

struct Style {
  uint32_t burst = 32;  // steps of a warp in a row, at most
  uint32_t quick = 50;  // percent of copies that are
  uint32_t slow = 3000; // steps of the others
  uint32_t stale = 40;  // percent of reads that may see old values
  static Style of(uint64_t seed);
};

class Machine {
public:
  /// `ranks` says what each rank does, and outlives this.
  Machine(const std::vector<std::vector<Stage>> &ranks, uint64_t seed);
  ~Machine();

  /// Does all of it; a rank may be several stages ahead of another. Throws
  /// Error for what no right kernel does, waiting for ever included.
  void run();

  uint64_t steps() const { return steps_; }
  /// Bytes that the host has read, and how many of them were other ones.
  uint64_t compared = 0, wrong = 0;
  uint64_t stepLimit = 0; // 0: none
  /// What a test wants to know: the end of a phase.
  std::function<void(Cta &, const MBarrier &)> onPhase;
  /// The same: a rank's launch begins.
  std::function<void(uint32_t rank, const Launch &)> onBegin;
  bool isOf(uint32_t rank, uint32_t cta) const;

  /// How often the clock may jump by `jump` where all warps poll for what nobody brings, before
  /// that is an error. 0: deadlines are never what ends a launch.
  uint32_t patience = 0;
  uint64_t jump = 2 << 20;
  /// The clock of kernels, in nanoseconds: what a step takes, and jumps.
  uint64_t clock() const { return now * stepTime + skipped_; }
  uint64_t stepTime = 1;

  /// Where there is a network: lets the proxies act; whether they have. Called now and then,
  /// and with `wait` when nothing else can go on.
  std::function<bool(bool wait)> outside;
  // What proxies do, in memory of this process.
  void networkRead(uint32_t rank, const uint8_t *from, void *to, uint64_t bytes);
  void networkWrite(uint32_t rank, uint8_t *to, const void *from, uint64_t bytes);
  /// A word that kernels acquire, behind what was written before.
  void networkPublish(uint32_t rank, uint8_t *to, uint32_t value);

  // For the instructions.
  /// What was stored to memory of the host may be read by the proxy.
  void tellHost(Warp &warp, const uint8_t *word);
  void at(uint64_t delay, std::function<void()> what);
  uint64_t copyTime();
  void changed() { lastChange = now; }
  void acquire(Warp &warp, const uint8_t *word, int scope, bool keep);
  void release(Warp &warp, const uint8_t *word, int scope, bool releases,
               bool chain);
  bool readsStale() { return random.chance(style.stale); }

  uint64_t now = 0, lastChange = 0;
  Random random;
  Style style;
  History global;
  std::unordered_map<const uint8_t *, Message> messages;
  std::vector<uint64_t> executed; // by instruction

private:
  friend class Warp;
  [[noreturn]] void deadlock();
  /// The next one of a rank.
  void copyNext(Rank &rank);
  /// The next one of some rank; whether there was one.
  bool copyBeside();
  bool hasCopies() const;
  void begin(Rank &rank);
  void start(Rank &rank, const Launch &launch);
  void checkEnded(const Rank &rank) const;
  void end(Warp &warp);
  Warp *pick();

  std::vector<std::unique_ptr<Rank>> ranks_;
  std::vector<Warp *> live_;
  struct Event {
    uint64_t time, order;
    std::function<void()> what;
    bool operator<(const Event &other) const {
      return std::tie(time, order) > std::tie(other.time, other.order);
    }
  };
  std::priority_queue<Event> events_;
  uint64_t nextOrder_ = 0, steps_ = 0;
  size_t stages_ = 0; // that have not begun
  uint64_t skipped_ = 0; // by the clock
};

} // namespace mk::ptx

#endif // MKERNEL_TEST_PTX_MACHINE_H
