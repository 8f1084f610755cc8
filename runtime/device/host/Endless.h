//===- Endless.h - CTAs that compute for ever -------------------*- C++ -*-===//
//
// Every wait of compiled code is bounded, but code between two calls of the runtime
// is not: a loop may never end. Such a CTA is known by the processor time that its
// thread takes without a call. Compiled code owns no resource besides its stack,
// so it can be left from a signal handler, as it is left by a call that cannot
// succeed; anything else that the thread may be in the middle of (the C library,
// the runtime) is let finish first.
//
//===----------------------------------------------------------------------===//
#ifndef MKERNEL_RUNTIME_DEVICE_HOST_ENDLESS_H
#define MKERNEL_RUNTIME_DEVICE_HOST_ENDLESS_H

#include <atomic>
#include <chrono>
#include <csetjmp>
#include <cstdint>
#include <pthread.h>

namespace mk::rt::host {

/// Where interrupted compiled code goes on, for the thread that sets it. Null: the
/// thread is not to be interrupted.
void setLanding(jmp_buf *landing);

/// Code that may be left: that of the loaded object which `symbol` is in.
struct CodeRange {
  uintptr_t begin = 0, end = 0;
  static CodeRange of(const void *symbol);
};

/// While one of these lives, threads can be interrupted. A real-time signal that the
/// process does not use is taken for it, and given back.
class Interrupter {
public:
  Interrupter();
  ~Interrupter();
  /// Has the thread land if it is in `code` now; nothing happens if it is not: to be
  /// called again.
  void interrupt(pthread_t thread, const CodeRange &code);

private:
  int signal_ = 0; // 0: none is free
};

/// The processor time of a thread since its last call of the runtime.
class Meter {
public:
  /// By the thread itself, in every call.
  void beat() {
    uint64_t before = beats_.load(std::memory_order_relaxed);
    beats_.store(before + 1, std::memory_order_release);
  }
  /// By the one that watches.
  std::chrono::nanoseconds since(pthread_t thread);

private:
  std::atomic<uint64_t> beats_{1};
  uint64_t seen_ = 0;
  std::chrono::nanoseconds base_{0};
};

} // namespace mk::rt::host

#endif // MKERNEL_RUNTIME_DEVICE_HOST_ENDLESS_H
