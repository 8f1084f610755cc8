//===- SteadyClock.h - The clock that timelines are in ----------*- C++ -*-===//
#ifndef MKERNEL_RUNTIME_DEVICE_STEADYCLOCK_H
#define MKERNEL_RUNTIME_DEVICE_STEADYCLOCK_H

#include <chrono>
#include <cstdint>

namespace mk::rt {

/// Nanoseconds of the host's steady clock.
inline int64_t steadyNow() {
  return std::chrono::duration_cast<std::chrono::nanoseconds>(
             std::chrono::steady_clock::now().time_since_epoch())
      .count();
}

} // namespace mk::rt

#endif // MKERNEL_RUNTIME_DEVICE_STEADYCLOCK_H
