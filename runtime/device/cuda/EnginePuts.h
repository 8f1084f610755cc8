//===- EnginePuts.h - What roles of copy engines put ------------*- C++ -*-===//
#ifndef MKERNEL_RUNTIME_DEVICE_CUDA_ENGINEPUTS_H
#define MKERNEL_RUNTIME_DEVICE_CUDA_ENGINEPUTS_H

#include "device/cuda/TensorMap.h"
#include "mkernel/Runtime/Context.h"
#include "mkernel/Runtime/Payload.h"
#include "mkernel/Runtime/Plan.h"

namespace mk::rt::cuda {

/// One put, and its arrival.
struct EnginePut {
  /// Rows of `bytes` bytes; addresses are this device's, pitches in bytes.
  struct Copy {
    uint64_t to = 0, from = 0, bytes = 0, rows = 1, toPitch = 0, fromPitch = 0;
  };
  std::vector<Copy> copies; // none of a region of nothing
  uint32_t peer = 0;
  int32_t signal = -1; // -1: none
  uint64_t element = 0;
  uint32_t number = 0; // of the element's arrivals in a launch, from 1
};

/// Runs the roles of copy engines, which copies nothing, and gives their puts in order. `args`:
/// this rank's arguments, where they are now. InvalidArgument with the op and the reason where one
/// is not possible, or where a signal that they raise gets other arrivals as well.
Result<std::vector<EnginePut>> listEnginePuts(Context &context, const Payload &payload,
                                              const Metadata &metadata, const JobPlan &plan,
                                              std::span<const Tensor> args);

} // namespace mk::rt::cuda

#endif // MKERNEL_RUNTIME_DEVICE_CUDA_ENGINEPUTS_H
