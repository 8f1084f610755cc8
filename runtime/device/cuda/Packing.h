//===- Packing.h - Arguments that are copied for tensor maps ----*- C++ -*-===//
//
// Where no tensor map describes an argument that a kernel only reads (rows off multiples of 16 bytes,
// a base that is not aligned), each launch first copies it to where one does. That takes far less than
// copies of each tile by threads: all of it is read once, and written once.
//
//===----------------------------------------------------------------------===//
#ifndef MKERNEL_RUNTIME_DEVICE_CUDA_PACKING_H
#define MKERNEL_RUNTIME_DEVICE_CUDA_PACKING_H

#include "device/cuda/PackKernel.h"
#include "device/cuda/TensorMap.h"

#include <map>

namespace mk::rt::cuda {

/// The same elements with rows that begin at multiples of 128 bytes and no gaps but those, at address 0;
/// nothing if `tensor` cannot be copied so: its elements of a row are not side by side, it is empty or
/// too large, or has more than 5 dimensions.
std::optional<Tensor> packedLayout(const Tensor &tensor);

/// What copies `from` to the layout of `to`; no CTAs yet.
PackCopy describeCopy(const Tensor &from, const Tensor &to);

class Packing {
public:
  /// Makes ready what variant `about` needs, which may be to load the kernel and to allocate. False where
  /// that fails, why is logged. With MK_PACK=off all arguments stay as they are. The context is current.
  bool prepare(const std::shared_ptr<Gpu> &gpu, const Metadata &metadata,
               const Metadata::Variant &about, std::span<const Tensor> args);
  /// Arguments where the kernel finds them.
  const std::vector<Tensor> &args() const { return args_; }
  /// Enqueues the copies; a CUresult. The context is current.
  int launch(StreamHandle stream) const;

private:
  std::unique_ptr<PackKernel> kernel_; // loaded when it is needed
  /// Of an argument. It stays until the binding ends: captured launches name it.
  std::map<size_t, DeviceMemory> memory_;
  std::vector<Tensor> args_;
  std::vector<PackCopy> copies_; // of the arguments as they are now
};

} // namespace mk::rt::cuda

#endif // MKERNEL_RUNTIME_DEVICE_CUDA_PACKING_H
