//===- Fastest.h - Which of several candidates is the fastest ---*- C++ -*-===//
//
// Where the compiler's cost model cannot tell which parameters are the best for given sizes, a
// package holds several candidates of a version (jit::Options::candidates). A program has them
// measured on its own GPUs:
//
//   MK_ASSIGN(auto gemm, kernel->bindFastest({{"M", {1024}}}));
//
// What was found is known to the Kernel and is kept on disk, so that all of a model's layers and
// the next start of the program measure nothing.
//
//===----------------------------------------------------------------------===//
#ifndef MKERNEL_RUNTIME_FASTEST_H
#define MKERNEL_RUNTIME_FASTEST_H

#include "mkernel/Runtime/DiskCache.h"

#include <chrono>
#include <functional>
#include <optional>

namespace mk::rt {

class BoundKernel;

struct MeasureOptions {
  /// Where a GPU's launches are enqueued. It must not capture.
  void *stream = nullptr;
  /// Gives the arguments of a binding that is to be measured their values or memory, before its
  /// first launch. Called for each candidate twice, on all ranks; what it attaches is written by
  /// these launches as by any other. Absent: inputs of floating point get random values and
  /// integers stay 0, which is wrong where work follows from them.
  std::function<Status(BoundKernel &)> prepare;
  /// As in LaunchOptions.
  std::chrono::nanoseconds deadline = std::chrono::seconds(30);
  std::chrono::nanoseconds computeDeadline{0};
  /// Where rank 0 keeps what was found, beside packages. Absent: DiskCache::standard();
  /// DiskCache("") keeps nothing, and looks for nothing.
  std::optional<DiskCache> cache;
};

struct CandidateTime {
  size_t version = 0; // BoundKernel::version()
  /// Of a launch, on the slowest rank, milliseconds: the median of several rows of launches. On a
  /// GPU without what its L2 cache would know of the launch before.
  double ms = 0;
};

} // namespace mk::rt

#endif // MKERNEL_RUNTIME_FASTEST_H
