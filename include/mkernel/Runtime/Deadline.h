//===- Deadline.h - Bounded waiting -----------------------------*- C++ -*-===//
//
// Every wait of the runtime is bounded by a Deadline and waits with a Backoff:
// a job may run 32 ranks on two cores, where a spinning waiter keeps the thread
// that it waits for off the machine.
//
//===----------------------------------------------------------------------===//
#ifndef MKERNEL_RUNTIME_DEADLINE_H
#define MKERNEL_RUNTIME_DEADLINE_H

#include "mkernel/Runtime/Status.h"

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <string>

namespace mk::rt {

/// A point of the steady clock.
class Deadline {
public:
  using Clock = std::chrono::steady_clock;

  static Deadline after(std::chrono::nanoseconds d) {
    // Saturates instead of wrapping for "practically never".
    auto now = Clock::now();
    if (d > Clock::time_point::max() - now)
      return Deadline(Clock::time_point::max(), d);
    return Deadline(now + d, d);
  }
  static Deadline never() {
    return Deadline(Clock::time_point::max(), std::chrono::nanoseconds::max());
  }

  bool passed() const { return Clock::now() >= at_; }
  Clock::time_point time() const { return at_; }
  /// Time left, not below zero.
  std::chrono::nanoseconds left() const {
    if (at_ == Clock::time_point::max())
      return std::chrono::nanoseconds::max();
    return std::max(std::chrono::nanoseconds(0),
                    std::chrono::nanoseconds(at_ - Clock::now()));
  }
  /// For poll(2): milliseconds rounded up, at most `cap`.
  int pollMillis(int cap = 1000) const {
    auto ns = left();
    if (ns >= std::chrono::milliseconds(cap))
      return cap;
    return static_cast<int>((ns.count() + 999999) / 1000000);
  }
  /// The duration it was made from, for messages: "1.5 s".
  std::string duration() const;

private:
  Deadline(Clock::time_point at, std::chrono::nanoseconds span)
      : at_(at), span_(span) {}
  Clock::time_point at_;
  std::chrono::nanoseconds span_;
};

/// `d` and `more`, or the longest that there is: as Deadline::after saturates.
inline std::chrono::nanoseconds addTime(std::chrono::nanoseconds d, std::chrono::nanoseconds more) {
  return d > std::chrono::nanoseconds::max() - more ? std::chrono::nanoseconds::max() : d + more;
}

/// InvalidArgument if `d`, which is the option `what`, is negative.
Status checkTime(std::string_view what, std::chrono::nanoseconds d);

/// Escalating pause of a polling loop: a few yields, then sleeps that double up
/// to `maxSleep`. reset() when the loop made progress.
class Backoff {
public:
  explicit Backoff(
      std::chrono::microseconds maxSleep = std::chrono::microseconds(500))
      : maxSleep_(maxSleep) {}
  void pause();
  void reset() { round_ = 0; }

private:
  std::chrono::microseconds maxSleep_;
  uint32_t round_ = 0;
};

} // namespace mk::rt

#endif // MKERNEL_RUNTIME_DEADLINE_H
