//===- Variant.h - A variant of a bound kernel ------------------*- C++ -*-===//
//
// A package holds a kernel's code in variants (mkernel/ABI/Gpu.h). Each has what its CTAs share
// and what its peers raise for itself; arguments are those of the binding. It is made ready when
// bind or attach choose it, never by a launch: loading code allocates.
//
//===----------------------------------------------------------------------===//
#ifndef MKERNEL_RUNTIME_DEVICE_CUDA_VARIANT_H
#define MKERNEL_RUNTIME_DEVICE_CUDA_VARIANT_H

#include "device/cuda/Engines.h"
#include "device/cuda/Module.h"
#include "device/cuda/Packing.h"
#include "device/cuda/Params.h"
#include "device/cuda/Peers.h"

#include <functional>

namespace mk::rt::cuda {

/// Gives the code of a variant, by its number, and loads it at the first call.
using VariantCode = std::function<Result<std::shared_ptr<const Module>>(size_t)>;

class Variant {
public:
  Variant(const Metadata &metadata, const Metadata::Variant &about)
      : metadata_(metadata), about_(about) {}

  const Metadata::Variant &about() const { return about_; }

  /// Allocates the signals that other ranks raise. Collective on a mesh of several ranks.
  Status allocate(Context &context, std::shared_ptr<Gpu> gpu, const JobPlan &plan);
  /// Whether this rank's arguments are as it needs them, or are copied so in front of each launch: what
  /// that takes is made ready.
  bool takes(std::span<const Tensor> args);
  /// Loads its code and allocates what CTAs share, the first time; then describes the arguments
  /// in its parameters: those of the last takes(), copied as that said. `timeline`:
  /// ParamBlock::fill. `launch`: what is the same for all variants. `puts`: of roles of copy
  /// engines.
  Status prepare(Context &context, const JobPlan &plan, std::span<const EnginePut> puts,
                 const std::function<Result<std::shared_ptr<const Module>>()> &load,
                 const mk_gpu_launch &launch, uint64_t timeline);

  ParamBlock &params() { return params_; }
  const Peers &peers() const { return peers_; }
  FunctionHandle function() const { return module_->function(); }
  // What stands around each launch; a CUresult each. The context is current.
  int enqueueFront(StreamHandle stream) {
    int code = packing_.launch(stream);
    return code || !hasCopies() ? code
                                : engines_->enqueueFront(stream, params_.launch().deadline_ns);
  }
  int enqueueBehind(StreamHandle stream) const {
    return hasCopies() ? engines_->enqueueBehind(stream) : 0;
  }
  /// Whether copy engines take part in launches.
  bool hasCopies() const { return engines_ && engines_->copies(); }

private:
  Status prepareEngines(Context &context, const Plan &own, std::span<const EnginePut> puts);

  const Metadata &metadata_;
  const Metadata::Variant &about_;
  std::shared_ptr<Gpu> gpu_;
  std::shared_ptr<const Module> module_; // null: not ready yet
  Peers peers_;
  StateLayout layout_;
  DeviceMemory state_;
  ParamBlock params_;
  Packing packing_;
  std::unique_ptr<Engines> engines_; // null: no role of theirs
};

} // namespace mk::rt::cuda

#endif // MKERNEL_RUNTIME_DEVICE_CUDA_VARIANT_H
