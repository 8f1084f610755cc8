//===- Peers.h - What ranks of a bound kernel share -------------*- C++ -*-===//
//
// Signals that other ranks raise, in the symmetric heap, and the tables by which a
// kernel finds its peers' memory (mkernel/ABI/Gpu.h).
//
//===----------------------------------------------------------------------===//
#ifndef MKERNEL_RUNTIME_DEVICE_CUDA_PEERS_H
#define MKERNEL_RUNTIME_DEVICE_CUDA_PEERS_H

#include "device/cuda/Gpu.h"
#include "device/cuda/Params.h"
#include "device/cuda/TensorMap.h"
#include "mkernel/ABI/Gpu.h"
#include "mkernel/Runtime/Context.h"
#include "mkernel/Runtime/Plan.h"

#include <map>

namespace mk::rt::cuda {

class Peers {
public:
  Peers() = default;

  /// Allocates and zeroes the signals. Collective.
  Status allocate(Context &context, std::shared_ptr<Gpu> gpu,
                  const Metadata &metadata, const JobPlan &plan);
  /// Makes the tables, once the symmetric arguments of `args` have their places;
  /// those for earlier places stay, since launches may be under way or captured.
  Status describe(Context &context, const Metadata &metadata,
                  const Metadata::Variant &variant, const JobPlan &plan,
                  std::span<const Tensor> args);
  /// Sets the fields of a mesh of several ranks.
  void fill(mk_gpu_launch &launch) const;

  /// Each signal of scope sys, zeroes for others; then `ready` and `done`. Empty on a mesh
  /// of one rank.
  std::span<const SharedSignal> signals() const { return signals_; }
  /// Appends the first slots of each, where a network raises them.
  void listSlots(std::vector<uint32_t> &first) const;

private:
  struct Tables {
    uint64_t maps = 0, heaps = 0, rows = 0, valid = 0, bytes = 0; // offsets
  };

  std::shared_ptr<Gpu> gpu_;
  std::vector<SharedSignal> signals_;
  uint64_t network_ = 0; // mk_gpu_network
  std::vector<HeapMemory> shared_; // behind them
  std::vector<SlotRange> slots_;   // theirs in a network
  Tables tables_;
  std::map<std::vector<uint64_t>, DeviceMemory> memory_; // by places
  uint64_t current_ = 0;
};

} // namespace mk::rt::cuda

#endif // MKERNEL_RUNTIME_DEVICE_CUDA_PEERS_H
