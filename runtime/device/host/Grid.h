//===- Grid.h - One rank's launches of one kernel ---------------*- C++ -*-===//
//
// A CTA is a thread. The grid owns what its CTAs share: signals, counters,
// queues, tickets, and the protocol that opens and closes a launch with the
// peers.
//
//===----------------------------------------------------------------------===//
#ifndef MKERNEL_RUNTIME_DEVICE_HOST_GRID_H
#define MKERNEL_RUNTIME_DEVICE_HOST_GRID_H

#include "device/SteadyClock.h"
#include "device/host/Deadlock.h"
#include "device/host/Endless.h"
#include "mkernel/ABI/Launch.h"
#include "mkernel/Runtime/Kernel.h"

#include <atomic>
#include <condition_variable>
#include <memory>
#include <vector>

namespace mk::rt::host {

class Cta;

/// Values of signal elements count up for ever; an element's arrivals of this
/// launch are its value less its base, in wrap-around arithmetic.
struct SignalArray {
  bool sys = false;      // in the heap, peers can raise it; else local
  SlotRange slots;       // of the heap
  int64_t elements = 0;  //
  int64_t arrivals = -1; // of each element in a launch, -1: dynamic
  std::unique_ptr<std::atomic<uint64_t>[]> local;
  std::vector<uint64_t> base; // by element
  std::vector<uint64_t> start; // before the first launch
};

struct QueueState {
  uint32_t width = 1;   // words of a record
  int64_t capacity = 0; // records
  std::vector<int64_t> records;
  /// Epoch in which an entry was published, so that nothing is cleared.
  std::unique_ptr<std::atomic<uint64_t>[]> published;
  std::atomic<int64_t> reserved{0};
};

struct CounterArray {
  int64_t elements = 0;
  std::unique_ptr<std::atomic<int64_t>[]> values;
};

class Grid {
public:
  Grid(Context &context, const Metadata &metadata, const Payload &payload,
       const JobPlan &plan);
  ~Grid();

  /// Allocates slots and records the values that signals start from. No peer
  /// may raise them before every rank has done this.
  Status prepare();
  Status launch(const LaunchOptions &options,
                const std::vector<std::byte *> &data);

  uint64_t epoch() const { return epoch_; }
  /// As of DeviceBinding.
  std::vector<uint32_t> slots() const;
  const LaunchStats &stats() const { return stats_; }
  Timeline timeline() const;

  // What follows is for the CTAs.

  Context &context;
  const Metadata &metadata;
  const Payload &payload;
  const JobPlan &plan;
  std::vector<SignalArray> signals;
  std::vector<QueueState> queues;
  std::vector<CounterArray> counters;
  std::vector<std::atomic<int64_t>> tickets; // by loop
  std::chrono::nanoseconds deadline{}, computeDeadline{};
  std::chrono::microseconds maxSleep{};
  uint64_t seed = 0;
  bool recording = false; // what CTAs do
  bool timing = false;    // when they do it
  mk_launch launchData{};

  HostHeap &heap() const { return *context.heap().asHost(); }
  uint32_t rank() const { return context.rank(); }
  uint32_t world() const { return context.world(); }
  /// Index that CTA `linear` has in `role` when it comes as a helper.
  uint32_t helperIndex(uint32_t role, uint32_t linear) const;
  /// Whether several CTAs may come to a role.
  bool isShared(uint32_t role) const;
  /// Role that CTA `linear` starts in, and its index there.
  uint32_t firstRole(uint32_t linear, uint32_t &index) const;

  std::atomic<uint64_t> &signalWord(const SignalArray &s, int64_t index) const {
    return s.sys ? heap().signal(s.slots.begin() + uint32_t(index)) : s.local[index];
  }
  /// This rank's memory of argument `i` in this launch.
  const std::byte *argument(size_t i) const { return arguments_[i]; }
  /// "signal 'ready'[3]".
  std::string signalName(uint32_t signal, int64_t index) const;

  /// Whether `peer` has opened this launch.
  bool peerReady(uint32_t peer) const {
    auto value = heap().signal(readySlots_.begin() + peer).load(std::memory_order_acquire);
    return static_cast<int64_t>(value - readyBase_[peer] - epoch_) >= 0;
  }
  /// Counts a CTA in at the barrier behind mk_prepare; the last one tells the
  /// peers that they may write.
  Status arrivePrepared();
  bool prepared() const { return preparedAll_.load(std::memory_order_acquire); }

  DeadlockMonitor monitor;
  /// A CTA's thread has nothing left to do.
  void ctaEnded(uint32_t linear);

private:
  Status tellPeers(uint32_t slotBase);
  Status waitForPeers();
  Status advanceBases();
  Status runCtas();
  /// Waits until all threads of CTAs are done, and looks for deadlocks.
  void awaitCtas(uint32_t started);
  void checkDeadlock(bool idle);
  /// Looks for CTAs that compute for ever, and unwinds those that do not react to
  /// an abort.
  void checkEndless();
  void collect();

  uint64_t epoch_ = 0;
  uint64_t kernel_ = 0, number_ = 0; // in the context: which one, which launch
  SlotRange readySlots_, doneSlots_; // one for each rank, which raises it
  std::vector<uint64_t> readyBase_, doneBase_;
  std::atomic<uint32_t> preparedCount_{0};
  std::atomic<bool> preparedAll_{false};
  std::vector<std::unique_ptr<Cta>> ctas_;
  std::mutex endedMutex_;
  std::condition_variable endedChanged_;
  uint32_t ended_ = 0; // of this launch's CTAs
  std::optional<Deadline> grace_;         // of an abort
  std::optional<Interrupter> interrupter_; // until all threads are joined
  std::vector<int64_t> coords_, descriptorWords_;
  std::vector<void *> descriptors_;
  std::vector<std::byte *> arguments_;
  LaunchStats stats_;
  Timeline::Track closing_; // how the rank waits for its peers at the end
};

} // namespace mk::rt::host

#endif // MKERNEL_RUNTIME_DEVICE_HOST_GRID_H
