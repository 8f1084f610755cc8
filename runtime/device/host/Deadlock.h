//===- Deadlock.h - When no CTA of any rank can go on -----------*- C++ -*-===//
//
// A job is deadlocked when every CTA of every rank waits, the wait of each has
// failed since the last of them stopped, and nothing is under way that could
// end one. Each rank looks at itself; rank 0 puts the views together.
//
// A rank is *passive* while all of its CTAs are blocked or have ended, and its
// proxy has nothing in flight. It then publishes, every 50 ms, an entry: how often
// a CTA of it has woken up (`wakes`), how often in a row it published with the same
// `wakes` (`count`; between two of these every wait has been tried again), and
// the signals that it sent across the network and that arrived here, since the
// context began. Rank 0 reads all entries again and again:
//
//   1. all are passive, and as many signals arrived as were sent;
//   2. read after that: the same wakes. So all ranks were passive at once, at the
//      end of 1, and nothing was in flight then. Remembers the counts;
//   3. read after that: the same wakes, all counts larger by 2. So every wait
//      was tried after the end of 1 and failed: nobody can wake anybody.
//
// Entries also say which kernel a rank runs as which launch of the context. All ranks
// take part in every launch, so two ranks whose launches of one number are of different
// kernels will never meet.
//
//===----------------------------------------------------------------------===//
#ifndef MKERNEL_RUNTIME_DEVICE_HOST_DEADLOCK_H
#define MKERNEL_RUNTIME_DEVICE_HOST_DEADLOCK_H

#include "mkernel/Runtime/Context.h"

#include <chrono>

namespace mk::rt::host {

class DeadlockMonitor {
public:
  static constexpr std::chrono::milliseconds kPeriod{50};

  /// `ctas` on this rank.
  DeadlockMonitor(Context &context, std::string kernel, uint32_t ctas);

  /// Makes the entry of this rank. Collective: peers may read it after the next
  /// barrier.
  Status open();
  /// Before the CTAs of launch `epoch` start, which is launch `number` of the
  /// context. `kernel` tells apart the kernels of a context, the same on all ranks.
  void beginLaunch(uint64_t kernel, uint64_t epoch, uint64_t number);

  // CTAs.

  /// Read before a wait is tried.
  uint64_t sweep() const { return sweep_.load(); }
  /// The wait was tried after sweep() returned `sweep`, and failed. `describe`
  /// says who waits for what.
  template <typename Describe>
  void blocked(uint32_t cta, uint64_t sweep, Describe &&describe) {
    if (ctas_[cta].state.load(std::memory_order_relaxed) != sweep)
      note(cta, sweep, describe());
  }
  /// Goes on. Before anything that others may see.
  void woke(uint32_t cta);
  void ended(uint32_t cta) { ctas_[cta].state.store(kEnded); }

  // The thread of the launch.

  /// Looks, at most once in a period. `idle`: all CTAs have ended, and a wait for
  /// peers has failed since the last call. True: a deadlock, with a report.
  bool step(bool idle, std::string &report);
  /// The thread's own wait has ended.
  void launchWoke() { wakes_.fetch_add(1); }

private:
  // State of a CTA; else the sweep in which its wait failed.
  static constexpr uint64_t kRuns = 0, kEnded = ~uint64_t(0);
  struct CtaState {
    std::atomic<uint64_t> state{kRuns};
    std::mutex mutex; // guards text
    std::string text;
  };
  struct Entry {
    uint64_t kernel = 0, epoch = 0, wakes = 0, count = 0, sent = 0, arrived = 0,
             number = 0;
    std::string name, text; // of the kernel; of its CTAs
    bool sameRun(const Entry &other) const {
      return kernel == other.kernel && epoch == other.epoch &&
             wakes == other.wakes;
    }
  };

  void note(uint32_t cta, uint64_t sweep, std::string text);
  /// Whether this rank is passive, and with what.
  bool look(bool idle, Entry &entry);
  std::string describeCtas(bool idle);
  Status publish(const Entry &entry, std::chrono::nanoseconds limit);
  /// All entries, if all of them are of this launch and have not woken up since
  /// the last collection that counts. `report`: that a rank runs another kernel in
  /// this launch of the context.
  bool collect(std::vector<Entry> &entries, std::string &report);
  bool decide(std::string &report);

  Context &context_;
  std::string kernel_;
  std::vector<CtaState> ctas_;
  std::atomic<uint64_t> wakes_{1}, sweep_{1};
  Entry own_;
  bool wasPassive_ = false;
  std::chrono::steady_clock::time_point next_{};
  int stage_ = 0;
  std::vector<Entry> seen_; // of the last collection that counts
};

} // namespace mk::rt::host

#endif // MKERNEL_RUNTIME_DEVICE_HOST_DEADLOCK_H
