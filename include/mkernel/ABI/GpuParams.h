//===- GpuParams.h - Where a GPU kernel's parameters lie -------*- C++ -*-===//
//
// The one computation of the layout that Gpu.h describes, for the compiler, which reads
// the block, the runtime, which fills it, and tests. C++ only.
//
//===----------------------------------------------------------------------===//
#ifndef MKERNEL_ABI_GPUPARAMS_H
#define MKERNEL_ABI_GPUPARAMS_H

#include "mkernel/ABI/Gpu.h"

#include <cstddef>
#include <cstdint>
#include <vector>

namespace mkernel::abi {

/// What decides where parameters lie.
struct GpuParamCounts {
  size_t tensorMaps = 0, dims = 0, queues = 0, loops = 0;
  std::vector<size_t> argRanks, signalRanks, counterRanks;
  bool peers = false;    // a mesh of several ranks
  bool timeline = false; // times are recorded
};

/// Offsets in bytes from the beginning of the block.
struct GpuParamLayout {
  int64_t launch = 0, dims = 0, bytes = 0;
  /// Of the words of each; see the constants below.
  std::vector<int64_t> args, signals, counters, queues, loops;
  /// Signals of the launch itself; 0 on a mesh of one rank.
  int64_t ready = 0, done = 0;
  int64_t timeline = 0; // 0: no times are recorded
};

// Bytes from the beginning of an argument, whose strides stand behind its sizes.
inline constexpr int64_t kArgSizes = 8;
// Of a signal array; its extents stand behind.
inline constexpr int64_t kSignalBases = 8, kSignalNet = 16, kSignalSlot = 24,
                         kSignalBytes = 32;
// Of a counter array; its extents stand behind.
inline constexpr int64_t kCounterBytes = 8;
// Of a queue.
inline constexpr int64_t kQueueReady = 8, kQueueTail = 16, kQueueCapacity = 24,
                         kQueueBytes = 32;

inline GpuParamLayout layOutGpuParams(const GpuParamCounts &counts) {
  GpuParamLayout layout;
  auto take = [&](int64_t bytes) {
    int64_t offset = layout.bytes;
    layout.bytes += bytes;
    return offset;
  };
  take(int64_t(counts.tensorMaps) * MK_GPU_TENSOR_MAP_BYTES);
  layout.launch = take(sizeof(mk_gpu_launch));
  layout.dims = take(8 * int64_t(counts.dims));
  for (size_t rank : counts.argRanks)
    layout.args.push_back(take(kArgSizes + 16 * int64_t(rank)));
  for (size_t rank : counts.signalRanks)
    layout.signals.push_back(take(kSignalBytes + 8 * int64_t(rank)));
  for (size_t rank : counts.counterRanks)
    layout.counters.push_back(take(kCounterBytes + 8 * int64_t(rank)));
  for (size_t i = 0; i != counts.queues; ++i)
    layout.queues.push_back(take(kQueueBytes));
  for (size_t i = 0; i != counts.loops; ++i)
    layout.loops.push_back(take(8));
  if (counts.peers) {
    layout.ready = take(kSignalBytes);
    layout.done = take(kSignalBytes);
  }
  if (counts.timeline)
    layout.timeline = take(8);
  return layout;
}

} // namespace mkernel::abi

#endif // MKERNEL_ABI_GPUPARAMS_H
