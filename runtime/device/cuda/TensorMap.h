//===- TensorMap.h - Descriptors for the tensor memory unit -----*- C++ -*-===//
#ifndef MKERNEL_RUNTIME_DEVICE_CUDA_TENSORMAP_H
#define MKERNEL_RUNTIME_DEVICE_CUDA_TENSORMAP_H

#include "device/cuda/Driver.h"
#include "mkernel/Runtime/Package.h"

namespace mk::rt::cuda {

/// A rank's part of an argument in device memory.
struct Tensor {
  uint64_t address = 0;
  ElementType type = ElementType::f32;
  std::vector<int64_t> sizes, strides; // in elements, innermost last
};

/// Why the tensor memory unit cannot address `tensor`; empty when it can. These
/// are the conditions of mkernel/ABI/Gpu.h, with the strides of dimensions that
/// have one element left out of account: nothing is ever added up there.
std::string tensorMapObstacle(const Tensor &tensor);

/// An error that names the argument if a kernel cannot say, in 32 bits, where in
/// `tensor` a tile lies.
Status checkExtents(const Tensor &tensor, std::string_view argument);

/// Fills in `out`, and returns whether the kernel may use it. False with zeroes
/// when there is an obstacle, or when the driver refuses for a reason of its own,
/// which is logged.
bool encodeTensorMap(const Driver &driver, const Metadata::TensorMap &map,
                     const Tensor &tensor, std::string_view argument,
                     TensorMapBytes &out);

} // namespace mk::rt::cuda

#endif // MKERNEL_RUNTIME_DEVICE_CUDA_TENSORMAP_H
