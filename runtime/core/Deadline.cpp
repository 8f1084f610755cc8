//===- Deadline.cpp - Bounded waiting -------------------------------------===//

#include "mkernel/Runtime/Deadline.h"

#include <cstdio>
#include <sched.h>
#include <thread>

namespace mk::rt {

std::string Deadline::duration() const {
  if (at_ == Clock::time_point::max())
    return "for ever";
  double s = std::chrono::duration<double>(span_).count();
  char buffer[32];
  if (s >= 1)
    snprintf(buffer, sizeof(buffer), "%.3g s", s);
  else
    snprintf(buffer, sizeof(buffer), "%.3g ms", s * 1e3);
  return buffer;
}

Status checkTime(std::string_view what, std::chrono::nanoseconds d) {
  if (d.count() >= 0)
    return Status::success();
  return error(StatusCode::InvalidArgument, what, " is ", d.count(),
               " ns: a time must not be negative; leave it at its default, or give one from 0 on");
}

void Backoff::pause() {
  // A yield is enough when the waited-for thread is about to run. After that a
  // short sleep is cheaper on a crowded machine: who yields queues up behind
  // every runnable thread, who sleeps is preferred on waking.
  constexpr uint32_t yields = 16;
  if (round_++ < yields) {
    sched_yield();
    return;
  }
  auto sleep = std::chrono::microseconds(10u << std::min(round_ - yields, 10u));
  std::this_thread::sleep_for(std::min(sleep, maxSleep_));
}

} // namespace mk::rt
