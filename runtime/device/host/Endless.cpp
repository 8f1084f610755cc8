//===- Endless.cpp - CTAs that compute for ever ---------------------------===//

#include "device/host/Endless.h"

#include <csignal>
#include <ctime>
#include <link.h>
#include <mutex>
#include <ucontext.h>

namespace mk::rt::host {

namespace {

thread_local jmp_buf *landing = nullptr;
// What the handler may leave. One launch at a time interrupts.
std::atomic<uintptr_t> codeBegin{0}, codeEnd{0};
std::mutex oneAtATime;
int signalUsed = 0, users = 0;
struct sigaction before;

uintptr_t interruptedAt(const void *context) {
  [[maybe_unused]] const auto *c = static_cast<const ucontext_t *>(context);
#if defined(__x86_64__)
  return static_cast<uintptr_t>(c->uc_mcontext.gregs[REG_RIP]);
#elif defined(__aarch64__)
  return static_cast<uintptr_t>(c->uc_mcontext.pc);
#else
  return 0;
#endif
}

void handle(int, siginfo_t *, void *context) {
  uintptr_t at = interruptedAt(context);
  if (landing && at >= codeBegin.load(std::memory_order_relaxed) &&
      at < codeEnd.load(std::memory_order_relaxed))
    _longjmp(*landing, 1);
}

} // namespace

void setLanding(jmp_buf *buffer) { landing = buffer; }

CodeRange CodeRange::of(const void *symbol) {
  struct Search {
    uintptr_t address;
    CodeRange found;
  } search{reinterpret_cast<uintptr_t>(symbol), {}};
  dl_iterate_phdr(
      [](dl_phdr_info *info, size_t, void *data) {
        auto &s = *static_cast<Search *>(data);
        for (int i = 0; i < info->dlpi_phnum; ++i) {
          const ElfW(Phdr) &header = info->dlpi_phdr[i];
          uintptr_t begin = info->dlpi_addr + header.p_vaddr;
          uintptr_t end = begin + header.p_memsz;
          if (header.p_type != PT_LOAD || !(header.p_flags & PF_X) ||
              s.address < begin || s.address >= end)
            continue;
          s.found = {begin, end};
          return 1;
        }
        return 0;
      },
      &search);
  return search.found;
}

Interrupter::Interrupter() {
  std::lock_guard lock(oneAtATime);
  for (int s = SIGRTMAX; users == 0 && s > SIGRTMIN; --s) {
    struct sigaction now;
    if (sigaction(s, nullptr, &now) != 0 || now.sa_handler != SIG_DFL)
      continue;
    struct sigaction action = {};
    action.sa_sigaction = handle;
    action.sa_flags = SA_SIGINFO | SA_NODEFER | SA_RESTART;
    if (sigaction(s, &action, &before) != 0)
      continue;
    signalUsed = s;
    break;
  }
  signal_ = signalUsed;
  ++users;
}

Interrupter::~Interrupter() {
  std::lock_guard lock(oneAtATime);
  if (--users > 0 || !signalUsed)
    return;
  sigaction(signalUsed, &before, nullptr);
  signalUsed = 0;
}

void Interrupter::interrupt(pthread_t thread, const CodeRange &code) {
  if (!signal_)
    return;
  std::lock_guard lock(oneAtATime);
  codeBegin.store(code.begin, std::memory_order_relaxed);
  codeEnd.store(code.end, std::memory_order_relaxed);
  pthread_kill(thread, signal_);
}

std::chrono::nanoseconds Meter::since(pthread_t thread) {
  clockid_t clock;
  timespec time;
  uint64_t beats = beats_.load(std::memory_order_acquire);
  if (pthread_getcpuclockid(thread, &clock) != 0 ||
      clock_gettime(clock, &time) != 0)
    return {};
  auto now = std::chrono::seconds(time.tv_sec) +
             std::chrono::nanoseconds(time.tv_nsec);
  if (beats != seen_) {
    seen_ = beats;
    base_ = now;
  }
  return now - base_;
}

} // namespace mk::rt::host
