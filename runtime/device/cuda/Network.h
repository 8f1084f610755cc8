//===- Network.h - Command ring and counts of a GPU -------------*- C++ -*-===//
//
// The command ring lies in pinned memory that the GPU writes. What arrives over the network
// and which puts are complete is counted in words of this GPU's memory, one for each signal
// slot and for each CTA: the count is kept by the proxy, and each change of it is a write in
// a stream of the proxy's own, behind the payload.
//
// The proxy needs the driver while kernels wait for it. A thread that enqueues more than the
// driver has room for waits inside the driver, which then serves nobody else: that many
// launches are never enqueued.
//
//===----------------------------------------------------------------------===//
#ifndef MKERNEL_RUNTIME_DEVICE_CUDA_NETWORK_H
#define MKERNEL_RUNTIME_DEVICE_CUDA_NETWORK_H

#include "device/Network.h"
#include "device/cuda/Stream.h"

#include <deque>
#include <mutex>

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

  /// Before a launch: waits until there is room for one more, or `abort` is raised.
  Status awaitRoom(StreamHandle stream, const AbortWord &abort);
  /// Before a launch on `stream`: it begins when the last one has ended, which may be on
  /// another stream. A command says which CTA has written it and not of which kernel, so that
  /// puts of two kernels that run at once would be taken for one. Not while `stream` is being
  /// captured: what a graph of the program's own runs, the program orders.
  Status order(StreamHandle stream);
  /// Behind a launch on `stream`, unless it is being captured.
  Status launched(StreamHandle stream);

private:
  GpuNetwork(std::shared_ptr<Gpu> gpu, Heap &heap) : gpu_(std::move(gpu)), heap_(heap) {}

public:
  ~GpuNetwork() override;

private:
  void add(uint64_t word, uint32_t amount);
  bool isCapturing(StreamHandle stream) const;

  void arrived(uint32_t slot, uint32_t amount) override;
  void completed(uint32_t channel) override;
  Status publish() override;

  std::shared_ptr<Gpu> gpu_;
  Heap &heap_;
  Stream stream_;
  PinnedMemory ringMemory_;
  DeviceMemory network_, submitted_, words_;
  std::unique_ptr<CommandRing> ring_;
  uint64_t slots_ = 0; // words of slots; those of CTAs follow

  std::mutex mutex_;              // guards the following: kernels are bound meanwhile
  std::vector<uint32_t> counts_;  // of words
  std::vector<uint64_t> changed_; // words
  std::vector<bool> isChanged_;   // by word

  std::mutex launchMutex_; // guards the following
  std::deque<EventHandle> pending_; // each behind kLaunches launches
  std::vector<EventHandle> free_;
  uint32_t since_ = 0; // launches behind the last of them
  EventHandle last_ = nullptr; // behind the last launch
  StreamHandle lastStream_ = nullptr;
};

} // namespace mk::rt::cuda

#endif // MKERNEL_RUNTIME_DEVICE_CUDA_NETWORK_H
