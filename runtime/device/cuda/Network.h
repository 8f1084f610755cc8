//===- Network.h - Command ring and counts of a GPU -------------*- C++ -*-===//
//
// The command ring lies in pinned memory that the GPU writes, and so do the counts of
// complete puts, which it reads. What arrives over the network is counted here, in words of
// this GPU's memory, one for each signal slot: the count is kept by the proxy, and each
// change of it is a write in a stream of the proxy's own, behind the payload.
//
//===----------------------------------------------------------------------===//
#ifndef MKERNEL_RUNTIME_DEVICE_CUDA_NETWORK_H
#define MKERNEL_RUNTIME_DEVICE_CUDA_NETWORK_H

#include "device/Network.h"
#include "device/cuda/Stream.h"

namespace mk::rt::cuda {

class GpuNetwork final : public DeviceNetwork, private ProxySink {
public:
  /// `channels`: CTAs of the largest grid. `heap` is that of the GPU.
  static Result<std::unique_ptr<GpuNetwork>> create(std::shared_ptr<Gpu> gpu, Heap &heap,
                                                    uint32_t channels);

  CommandRing &ring() override { return *ring_; }
  ProxySink &sink() override { return *this; }

  /// mk_gpu_network, as kernels address it.
  uint64_t address() const { return network_.address(); }
  /// The word in which arrivals of a slot are counted.
  uint64_t word(uint32_t slot) const { return words_.address() + 4 * uint64_t(slot); }
  /// Lets slots count from 0 again: nobody raises them now.
  Status clear(uint32_t slot, uint64_t count);

private:
  GpuNetwork(std::shared_ptr<Gpu> gpu, Heap &heap) : gpu_(std::move(gpu)), heap_(heap) {}

  void arrived(uint32_t slot, uint32_t amount) override;
  void completed(uint32_t channel) override;
  Status publish() override;

  std::shared_ptr<Gpu> gpu_;
  Heap &heap_;
  Stream stream_;
  PinnedMemory ringMemory_, completedMemory_;
  DeviceMemory network_, submitted_, words_;
  std::unique_ptr<CommandRing> ring_;
  uint32_t *completed_ = nullptr; // by channel

  std::mutex mutex_;             // guards the following: kernels are bound meanwhile
  std::vector<uint32_t> counts_; // by slot
  std::vector<uint32_t> changed_; // slots
  std::vector<bool> isChanged_;   // by slot
};

} // namespace mk::rt::cuda

#endif // MKERNEL_RUNTIME_DEVICE_CUDA_NETWORK_H
