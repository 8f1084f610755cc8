//===- RandomKernel.h - Random values made by a GPU -------------*- C++ -*-===//
//
// The function of mkernel/Runtime/Random.h as a kernel, to the same bits: integer
// arithmetic, and one rounding.
//
//===----------------------------------------------------------------------===//
#ifndef MKERNEL_RUNTIME_DEVICE_CUDA_RANDOMKERNEL_H
#define MKERNEL_RUNTIME_DEVICE_CUDA_RANDOMKERNEL_H

#include "device/cuda/OwnKernel.h"
#include "mkernel/Runtime/Random.h"

namespace mk::rt::cuda {

/// The kernel's parameter; the PTX text has the offsets.
struct RandomParams {
  static constexpr uint32_t kMaxDims = 8;
  uint64_t to = 0, elements = 0;
  uint64_t first = 0, key = 0; // of ShardLayout, RandomValues
  int64_t low = 0;
  uint64_t count = 0;
  uint32_t type = 0, numDims = 0; // mk_type
  ShardLayout::Dim dims[kMaxDims] = {};
};

class RandomKernel {
public:
  /// Has the driver compile the kernel.
  static Result<std::unique_ptr<RandomKernel>> load(std::shared_ptr<Gpu> device);

  /// Whether the shard has few enough dimensions.
  static bool takes(const ShardLayout &layout) {
    return layout.dims.size() <= RandomParams::kMaxDims;
  }
  /// Enqueues; a CUresult. The context is current.
  int launch(const RandomValues &values, const ShardLayout &layout, uint64_t to,
             StreamHandle stream) const;

private:
  explicit RandomKernel(std::unique_ptr<OwnKernel> kernel) : kernel_(std::move(kernel)) {}
  std::unique_ptr<OwnKernel> kernel_;
};

} // namespace mk::rt::cuda

#endif // MKERNEL_RUNTIME_DEVICE_CUDA_RANDOMKERNEL_H
