//===- Cta.cpp - Threads, roles and unwinding -----------------------------===//

#include "device/host/Cta.h"

#include "device/Launches.h"
#include "mkernel/ABI/Gpu.h"
#include "mkernel/ABI/Package.h"

#include <algorithm>
#include <cerrno>
#include <sys/mman.h>
#include <thread>
#include <unistd.h>

using namespace mk::rt;
using namespace mk::rt::host;

// What the runtime's own calls need above the kernel's frames; sanitizers and
// the dynamic linker's lazy binding are the hungriest.
static constexpr size_t kStackSlack = 1 << 20;

Cta::Cta(Grid &grid, uint32_t linear)
    : RoleCalls(grid.metadata, grid.plan, grid.rank(), grid.world()), grid_(grid), linear_(linear) {
  size_t page = sysconf(_SC_PAGESIZE);
  size_t bytes = grid.metadata.stackBytes + kStackSlack;
  stackBytes_ = (bytes + page - 1) / page * page + page;
  void *memory =
      mmap(nullptr, stackBytes_, PROT_READ | PROT_WRITE,
           MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_STACK, -1, 0);
  if (memory == MAP_FAILED)
    return;
  stack_ = static_cast<std::byte *>(memory);
  mprotect(stack_, page, PROT_NONE);
}

Cta::~Cta() {
  if (stack_)
    munmap(stack_, stackBytes_);
}

void Cta::reset() {
  roleTimes.assign(grid_.metadata.roles.size(), {});
  peers.assign(grid_.world(), {});
  visited_.assign(grid_.metadata.roles.size(), false);
  readySeen_.assign(grid_.world(), false);
  pending_.clear();
  log = {};
  track = {};
  track.cta = linear_;
  itemBegin_ = 0;
  ended_ = false;
  loop_ = ticketLoop_ = -1;
  draw_ = -1;
  heldBack_ = {};
  std::fill(item_, item_ + 4, -1);
  // Nearby seeds of this generator give nearby first numbers.
  uint64_t mixed =
      (grid_.seed * 0x9e3779b97f4a7c15u) ^
      (grid_.epoch() * 0xbf58476d1ce4e5b9u) ^
      ((uint64_t(grid_.rank()) << 16 | linear_) * 0x94d049bb133111ebu);
  random_.seed(static_cast<uint32_t>(mixed >> 32) ^ uint32_t(mixed));
  random_.discard(4);
}

Status Cta::start() {
  if (!stack_)
    return error(StatusCode::ResourceExhausted, "no memory for the stack of ",
                 stackBytes_, " bytes of CTA ", linear_);
  pthread_attr_t attributes;
  pthread_attr_init(&attributes);
  size_t page = sysconf(_SC_PAGESIZE);
  pthread_attr_setstack(&attributes, stack_ + page, stackBytes_ - page);
  int err = pthread_create(&thread_, &attributes, &trampoline, this);
  pthread_attr_destroy(&attributes);
  if (err)
    return errnoError(StatusCode::ResourceExhausted,
                      str("starting the thread of CTA ", linear_, " of ",
                          grid_.metadata.grid),
                      err);
  started_ = true;
  return Status::success();
}

void Cta::checkEndless(std::chrono::nanoseconds limit) {
  if (!started_ || ended_.load(std::memory_order_acquire) ||
      meter_.since(thread_) < limit)
    return;
  fail("compute",
       str("has computed for ", Deadline::after(limit).duration(),
           " of processor time without a call of the runtime (an item, a wait, "
           "a put ...): a loop that does not end? If it is only slow, allow more "
           "(--compute-deadline, LaunchOptions::computeDeadline)"));
}

void Cta::interrupt(Interrupter &interrupter, const CodeRange &code) {
  if (started_ && !ended_.load(std::memory_order_acquire))
    interrupter.interrupt(thread_, code);
}

void Cta::join() {
  if (started_)
    pthread_join(thread_, nullptr);
  started_ = false;
}

void Cta::unwind() { _longjmp(jump_, 1); }

void *Cta::trampoline(void *self) {
  // Nothing in this frame or in run() and runRole() has a destructor.
  Cta *cta = static_cast<Cta *>(self);
  cta->beat();
  if (_setjmp(cta->jump_) == 0) {
    setLanding(&cta->jump_);
    cta->run();
  }
  setLanding(nullptr);
  cta->ended_.store(true, std::memory_order_release);
  cta->grid_.ctaEnded(cta->linear_);
  return nullptr;
}

void Cta::run() {
  if (grid_.seed && chance(2))
    std::this_thread::sleep_for(std::chrono::microseconds(random_() % 300));
  uint32_t index;
  uint32_t role = grid_.firstRole(linear_, index);
  track.begin = steadyNow();
  cta_.launch = &grid_.launchData;
  cta_.linear = linear_;
  cta_.state = static_cast<RoleCalls *>(this);
  if (grid_.payload.prepare) {
    cta_.index = linear_;
    cta_.count = grid_.metadata.grid;
    cta_.role = role;
    preparing_ = true;
    grid_.payload.prepare(&cta_);
    preparing_ = false;
    if (!flush())
      return;
    note(check::Event::Barrier);
    if (Status status = grid_.arrivePrepared(); !status.isOk()) {
      fail("prepare", status.message());
      return;
    }
    if (!grid_.prepared() &&
        !waitFor({MK_WAIT_GRID}, [this] { return grid_.prepared(); },
                 [] { return std::string("all CTAs to finish preparing"); }))
      return;
  }
  while (true) {
    visited_[role] = true;
    runRole(role, index);
    track.end = steadyNow();
    int32_t then = grid_.metadata.roles[role].then;
    if (then < 0 || visited_[then])
      return;
    role = static_cast<uint32_t>(then);
    index = grid_.helperIndex(role, linear_);
  }
}

void Cta::runRole(uint32_t role, uint32_t index) {
  cta_.role = role;
  cta_.index = index;
  cta_.count = grid_.metadata.roles[role].ctas;
  loop_ = -1;
  ticketLoop_ = -1;
  beat();
  auto begin = Deadline::Clock::now();
  grid_.payload.roles[role](&cta_);
  closeItem();
  draw_ = -1;
  // The role ends when its puts are at their peers.
  note(check::Event::RoleEnd);
  bool settled = awaitPuts("the end of the role");
  roleTimes[role].time += Deadline::Clock::now() - begin;
  span(MK_TIMELINE_ROLE, begin.time_since_epoch().count(), 0);
  if (!settled)
    unwind();
}

std::string Cta::where() const {
  std::string text =
      str("role '", grid_.metadata.roles[cta_.role].name, "', CTA ", linear_);
  if (loop_ < 0)
    return text;
  text += str(", item (");
  for (int i = 0; i < 4 && (i == 0 || item_[i] >= 0); ++i)
    text += str(i ? ", " : "", item_[i]);
  return text + str(") of loop ", loop_);
}

bool Cta::fail(const char *what, const std::string &text) {
  AbortWord &abort = grid_.context.abort();
  if (!abort.raised())
    abort.raise(AbortRecord::now(
        static_cast<int32_t>(grid_.rank()), what,
        str("kernel '", grid_.metadata.kernel, "', ", where(), ": ", text)));
  return false;
}

void Cta::setItem(int32_t loop, int64_t i0, int64_t i1, int64_t i2,
                  int64_t i3) {
  closeItem();
  loop_ = loop;
  if (loop == ticketLoop_)
    enterItem();
  item_[0] = i0, item_[1] = i1, item_[2] = i2, item_[3] = i3;
  openItem();
  beat(); // behind what a report says
}

bool Cta::waitFor(const Awaited &what, const std::function<bool()> &done,
                  const std::function<std::string()> &describe) {
  auto begin = Deadline::Clock::now();
  DeadlockMonitor &monitor = grid_.monitor;
  AbortWord &abort = grid_.context.abort();
  Backoff backoff(grid_.maxSleep);
  bool ok = false;
  for (uint32_t round = 0;; ++round) {
    uint64_t sweep = monitor.sweep();
    if (done()) {
      ok = true;
      break;
    }
    if (abort.raised())
      break;
    if (round < 64) {
#if defined(__x86_64__)
      __builtin_ia32_pause();
#endif
      continue;
    }
    monitor.blocked(linear_, sweep,
                    [&] { return where() + ": waits for " + describe(); });
    if (Deadline::Clock::now() - begin >= grid_.deadline) {
      fail("wait", str("waited ", Deadline::after(grid_.deadline).duration(),
                       " for ", describe(), grid_.context.launches().explain()));
      break;
    }
    backoff.pause();
  }
  monitor.woke(linear_);
  RoleTime &time = roleTimes[cta_.role];
  time.blocked += Deadline::Clock::now() - begin;
  ++time.waits;
  span(MK_TIMELINE_WAIT + what.kind, begin.time_since_epoch().count(), what.value,
       what.object);
  return ok;
}
