//===- Params.h - The parameter block and what it points to -----*- C++ -*-===//
//
// The byte layouts of mkernel/ABI/Gpu.h, without any call of the driver.
//
//===----------------------------------------------------------------------===//
#ifndef MKERNEL_RUNTIME_DEVICE_CUDA_PARAMS_H
#define MKERNEL_RUNTIME_DEVICE_CUDA_PARAMS_H

#include "device/cuda/TensorMap.h"
#include "mkernel/ABI/GpuParams.h"
#include "mkernel/Runtime/Plan.h"

#include <cstddef>
#include <cstring>

namespace mk::rt::cuda {

/// Where a bound kernel's objects lie in its one block of device memory; byte
/// offsets. All of it is zero before the first launch.
struct StateLayout {
  struct Signal {
    uint64_t values = 0, bases = 0;
  };
  struct Queue {
    uint64_t records = 0, ready = 0, tail = 0;
  };
  uint64_t control = 0;
  /// What the kernel zeroes after each launch: tickets, counters, tails. Those
  /// that CTAs contend for have a line of the cache each.
  uint64_t zero = 0, zeroWords = 0;
  std::vector<uint64_t> tickets, counters;
  std::vector<Queue> queues;
  std::vector<Signal> signals;
  uint64_t workspace = 0; // 0: none
  uint64_t zeroes = 0; // 16 bytes that stay zero
  uint64_t bytes = 0;

  /// ResourceExhausted when an object is too large to count in 32 bits.
  static Result<StateLayout> create(const Metadata &metadata,
                                    const Metadata::Variant &variant, const Plan &plan);
};

/// A signal that other ranks raise; see mkernel/ABI/Gpu.h.
struct SharedSignal {
  uint64_t values = 0; // 0: not shared
  uint64_t net = 0;    // 0: nothing arrives over a network
  uint32_t slot = 0;
};

/// The parameter block, aligned as the driver wants tensor maps.
class ParamBlock {
public:
  ParamBlock() = default;
  ParamBlock(const Metadata &metadata, const Metadata::Variant &variant);

  /// In the block, so that a launch can change it.
  mk_gpu_launch &launch();
  TensorMapBytes &tensorMap(size_t i) { return memory_[i]; }
  void *data() { return memory_.data(); }

  /// Writes everything behind mk_gpu_launch. `state` is the device address of
  /// the layout's start; `shared`: Peers::signals; `timeline`: the address of the tracks of
  /// a kernel that records times.
  void fill(const Metadata &metadata, std::span<const int64_t> dims,
            std::span<const Tensor> args, const Plan &plan,
            const StateLayout &layout, uint64_t state,
            std::span<const SharedSignal> shared = {}, uint64_t timeline = 0);

private:
  std::byte *bytes() { return reinterpret_cast<std::byte *>(memory_.data()); }
  void put(int64_t at, std::span<const int64_t> words);
  void putWord(int64_t at, uint64_t word) { std::memcpy(bytes() + at, &word, sizeof(word)); }
  void putSignal(int64_t at, const SharedSignal &signal, uint64_t bases);

  std::vector<TensorMapBytes> memory_; // in units of its alignment
  abi::GpuParamLayout layout_;
  uint32_t grid_ = 1; // CTAs of the variant
};

} // namespace mk::rt::cuda

#endif // MKERNEL_RUNTIME_DEVICE_CUDA_PARAMS_H
