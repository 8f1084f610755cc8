//===- Parallel.h - Loops on all processors ---------------------*- C++ -*-===//
#ifndef MKERNEL_RUNTIME_CORE_PARALLEL_H
#define MKERNEL_RUNTIME_CORE_PARALLEL_H

#include <cstdint>
#include <functional>

namespace mk::rt {

/// Calls run(begin, end) for parts of [0, n), at most one thread for each processor and
/// for each `grain` of it, and returns when all have been done. Threads that the
/// system refuses are done without. `run` must not throw.
void parallelFor(uint64_t n, uint64_t grain,
                 const std::function<void(uint64_t, uint64_t)> &run);

} // namespace mk::rt

#endif // MKERNEL_RUNTIME_CORE_PARALLEL_H
