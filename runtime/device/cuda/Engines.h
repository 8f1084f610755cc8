//===- Engines.h - Copies by copy engines beside a kernel -------*- C++ -*-===//
//
// What a launch of a kernel with roles of copy engines enqueues around it (mkernel/ABI/Gpu.h): the
// kernel that opens the launch in front; copies, in a stream of their own; and behind the kernel
// that its stream waits for them. All of it can be captured. Copies have the order in which the
// roles put: one engine fills a GPU's links, and with several at work, one for each peer, all links
// are shared by all and what is needed first comes late.
//
// Within a GPU the driver copies by a kernel, for which there is no room beside one that has all
// SMs. What a rank puts to itself is therefore copied in front of the kernel, in its stream.
//
//===----------------------------------------------------------------------===//
#ifndef MKERNEL_RUNTIME_DEVICE_CUDA_ENGINES_H
#define MKERNEL_RUNTIME_DEVICE_CUDA_ENGINES_H

#include "device/cuda/EnginePuts.h"
#include "device/cuda/OpenKernel.h"
#include "device/cuda/Params.h"
#include "device/cuda/Stream.h"

namespace mk::rt::cuda {

class Engines {
public:
  /// Whether a kernel has roles of copy engines.
  static bool areNeeded(const Metadata &metadata);
  static Result<std::unique_ptr<Engines>> create(std::shared_ptr<Gpu> gpu);
  ~Engines();
  Engines(const Engines &) = delete;
  Engines &operator=(const Engines &) = delete;

  /// What launches from now on copy. `values`: where this rank has the elements of each signal;
  /// `ready`: of that signal, 0 without peers; `launch`: as the kernel is told. What launches
  /// before, which may be under way or captured, have been given stays.
  Status prepare(Context &context, const Metadata &metadata, const Plan &plan,
                 std::span<const EnginePut> puts, std::span<const uint64_t> values, uint64_t ready,
                 const mk_gpu_launch &launch);

  /// Whether launches copy anything. Else nothing stands around them.
  bool copies() const { return !steps_.empty(); }

  // A CUresult each. The context is current.
  int enqueueFront(StreamHandle stream, uint64_t deadline) const;
  int enqueueBehind(StreamHandle stream) const;

private:
  struct Step { // what one put copies, and its arrival
    std::vector<EnginePut::Copy> copies;
    uint64_t to = 0, from = 0; // of the arrival's word; 0: none
    bool isOwn = false;        // to this rank
  };

  explicit Engines(std::shared_ptr<Gpu> gpu) : gpu_(std::move(gpu)) {}
  Status createEvent(EventHandle &event) const;
  int enqueue(const Step &step, StreamHandle stream) const;

  std::shared_ptr<Gpu> gpu_;
  std::unique_ptr<OpenKernel> open_;
  OpenParams params_;
  DeviceMemory memory_; // of words
  uint64_t copiedWord_ = 0; // address of mk_gpu_control::copied
  Stream stream_;
  std::vector<Step> steps_;
  EventHandle opened_ = nullptr, copied_ = nullptr;
};

} // namespace mk::rt::cuda

#endif // MKERNEL_RUNTIME_DEVICE_CUDA_ENGINES_H
