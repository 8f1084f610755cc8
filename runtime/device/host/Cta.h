//===- Cta.h - One CTA of a host launch -------------------------*- C++ -*-===//
//
// The calls of compiled code land here. When one cannot succeed the abort word is raised.
//
//===----------------------------------------------------------------------===//
#ifndef MKERNEL_RUNTIME_DEVICE_HOST_CTA_H
#define MKERNEL_RUNTIME_DEVICE_HOST_CTA_H

#include "device/Device.h"
#include "device/host/Endless.h"
#include "device/host/Grid.h"
#include "device/host/RoleCalls.h"
#include "mkernel/Check/Log.h"

#include <csetjmp>
#include <functional>
#include <pthread.h>
#include <random>

namespace mk::rt::host {

/// A put or store that is not executed yet.
struct Pending {
  Region region;
  uint32_t peer = 0;
  int32_t signal = MK_NO_SIGNAL;
  int64_t index = 0;
  int32_t flags = 0;
  bool isStore = false;
  std::vector<std::byte> tile; // of a store: its own copy
};

class Cta final : public RoleCalls {
public:
  Cta(Grid &grid, uint32_t linear);
  ~Cta() override;

  Status start();
  void join();
  /// Back to the trampoline. Never returns.
  [[noreturn]] void unwind() override;
  /// Before each launch.
  void reset();
  /// Every call of compiled code says so.
  void beat() override { meter_.beat(); }

  // For the thread of the launch, while this runs.
  /// Raises the abort word if this has computed for longer without a call.
  void checkEndless(std::chrono::nanoseconds limit);
  /// Unwinds this if it is in compiled code at the moment.
  void interrupt(Interrupter &interrupter, const CodeRange &code);

  // Entry points; see mkernel/ABI/HostCalls.h.
  bool put(Region region, int64_t peer, int32_t signal, int64_t index,
           int32_t flags) override {
    return transfer(std::move(region), peer, signal, index, flags, false);
  }
  bool store(Region region, int64_t peer, int32_t signal, int64_t index,
             int32_t flags) override {
    return transfer(std::move(region), peer, signal, index, flags, true);
  }
  bool raiseSignal(int32_t signal, int64_t index, int64_t peer, int64_t amount,
                   int32_t flags) override;
  bool wait(int32_t signal, int64_t index, int64_t count) override;
  bool settle() override;
  bool fence() override;
  bool count(int32_t counter, int64_t index, int64_t amount, int64_t &before) override;
  bool push(int32_t queue, const int64_t *record, int32_t site) override;
  bool pop(int32_t queue, int64_t entry, int64_t *record) override;
  bool ticket(int32_t loop, int64_t &value) override;
  void setItem(int32_t loop, int64_t i0, int64_t i1, int64_t i2, int64_t i3) override;
  void setLine(int32_t line) override;
  /// An own load or store; `at` in one of the arguments, sizes in elements.
  void noteAccess(const void *at, int ndims, const int64_t *sizes, bool write) override;

  /// Raises the abort word; false.
  bool fail(const char *what, const std::string &text) override;

  struct RoleTime {
    std::chrono::nanoseconds time{0}, blocked{0};
    uint64_t waits = 0;
  };
  std::vector<RoleTime> roleTimes;
  std::vector<LaunchStats::Peer> peers;
  /// What this CTA did in this launch, if the grid records it.
  check::RankLog::Cta log;
  /// When, if the kernel was compiled for that.
  Timeline::Track track;

private:
  static void *trampoline(void *self);
  void run();
  void runRole(uint32_t role, uint32_t index);

  /// What a wait is for: a mk_gpu_wait_kind, and what a timeline says of it.
  struct Awaited {
    int32_t kind;
    int64_t value = 0;
    int32_t object = -1;
  };
  /// Waits, boundedly, until done(); describe() says for what.
  bool waitFor(const Awaited &what, const std::function<bool()> &done,
               const std::function<std::string()> &describe);
  /// A span of the timeline ends now; a mk_timeline_kind.
  void span(int32_t kind, int64_t begin, int64_t value, int32_t object = -1);
  void openItem();
  void closeItem();
  /// Whether the region stays within the peer's part of the argument it starts in.
  bool checkArgument(const Region &region, uint32_t peer);
  bool checkRegion(const Region &region, uint32_t peer);
  bool awaitReady(uint32_t peer);
  /// Until no put of this CTA is on its way; `what` wants it.
  bool awaitPuts(const char *what);
  bool execute(Pending &pending);
  bool executeNet(Pending &pending);
  bool submit(const Command &command);
  bool transfer(Region region, int64_t peer, int32_t signal, int64_t index,
                int32_t flags, bool isStore);
  /// Whether it is one of the CTA's own accesses: a store that names no rank.
  bool isOwnStore(const Pending &pending) const {
    return pending.isStore && pending.peer == grid_.rank() && !(pending.flags & MK_PUT_REMOTE);
  }
  bool deferOrExecute(Pending pending);
  bool flush(bool storesOnly = false);
  bool raise(uint32_t peer, int32_t signal, int64_t index, uint64_t amount,
             bool strong);
  std::string where() const;
  /// The item of the last ticket begins.
  void enterItem();
  /// A new event of the log; null unless there is one.
  check::Event *note(check::Event::Kind kind);
  void noteTransfer(const Pending &pending);
  void noteObject(check::Event::Kind kind, int32_t object, int64_t element,
                  int64_t amount, int64_t order = -1);
  /// The argument that an address is in, and the box that starts there, whose
  /// last `ndims` dimensions have these sizes.
  std::optional<std::pair<int32_t, check::Box>>
  boxAt(const std::byte *at, int ndims, const int64_t *sizes) const;
  /// At random, for a moment, if the launch has a seed or is recorded: others may come first.
  void holdBack();
  bool chance(uint32_t oneIn) { return random_() % oneIn == 0; }

  Grid &grid_;
  uint32_t linear_;
  mk_cta cta_{};
  jmp_buf jump_;
  pthread_t thread_{};
  bool started_ = false;
  std::atomic<bool> ended_{false};
  Meter meter_;
  std::byte *stack_ = nullptr;
  size_t stackBytes_ = 0;

  std::vector<bool> visited_; // by role
  int32_t line_ = 0;
  bool preparing_ = false;
  int32_t loop_ = -1;
  int64_t item_[4] = {-1, -1, -1, -1};
  int64_t itemBegin_ = 0; // 0: in none that has a span
  // The last ticket, and the item it is for (Event::draw), if others could have drawn it.
  int32_t ticketLoop_ = -1;
  int64_t ticket_ = 0, draw_ = -1;
  std::vector<bool> readySeen_; // by peer
  std::vector<Pending> pending_;
  std::minstd_rand random_;
  std::chrono::microseconds heldBack_{0};
};

} // namespace mk::rt::host

#endif // MKERNEL_RUNTIME_DEVICE_HOST_CTA_H
