//===- Binding.h - A bound kernel on a GPU ----------------------*- C++ -*-===//
//
// Owns the arguments' memory, the objects that CTAs share and the parameter
// block. All of it is made when the kernel is bound: a launch writes the deadline
// into the block and enqueues, nothing else, so that it can be captured.
//
//===----------------------------------------------------------------------===//
#ifndef MKERNEL_RUNTIME_DEVICE_CUDA_BINDING_H
#define MKERNEL_RUNTIME_DEVICE_CUDA_BINDING_H

#include "device/Device.h"
#include "device/cuda/RandomKernel.h"
#include "device/cuda/SweepKernel.h"
#include "device/cuda/Timeline.h"
#include "device/cuda/Variant.h"

#include <functional>

namespace mk::rt::cuda {

class Binding : public DeviceBinding {
public:
  /// `payload` has the roles of copy engines.
  Binding(Context &context, std::shared_ptr<Gpu> device, VariantCode code,
          std::shared_ptr<const Payload> payload, const Metadata &metadata, const JobPlan &plan);
  ~Binding() override;

  /// What is this rank's alone; share() and choose() follow.
  Status allocate();
  Status share() override;
  /// Takes the first variant that the arguments of all ranks allow.
  Status choose() override;

  std::byte *data(size_t arg) const override {
    return reinterpret_cast<std::byte *>(tensors_[arg].address);
  }
  std::byte *hostData(size_t) const override { return nullptr; }
  std::vector<uint32_t> slots() const override;
  Status attach(size_t arg, std::byte *data,
                std::span<const int64_t> strides) override;
  Status settle(size_t arg) override;
  Status upload(size_t arg, const void *from, void *stream) override;
  Status download(size_t arg, void *to, void *stream) override;
  Status fill(size_t arg, std::byte value, void *stream) override;
  Status fillRandom(size_t arg, const RandomValues &values, void *stream) override;
  Status launch(const LaunchOptions &options) override;
  Status synchronize(void *stream) override;
  Status prepareTiming(const LaunchOptions &options) override;
  Result<double> time(const LaunchOptions &options, int launches) override;
  Result<std::unique_ptr<LaunchGraph>>
  capture(const LaunchOptions &options) override;
  uint64_t epoch() const override { return epoch_; }
  const LaunchStats &stats() const override { return stats_; }
  Result<Timeline> timeline() override;

  // For the graph of a launch.
  const Gpu &device() const { return *device_; }
  /// Ok for a call that succeeded. A failure that the GPU does not survive is
  /// raised and reported, any other is returned as "`what`: ...".
  Status check(int code, std::string_view what);
  Status enqueue(const LaunchOptions &options);
  /// Counts the launch on `stream` that `start` makes, between events if it is timed.
  Status begin(StreamHandle stream, bool timed,
               const std::function<Status()> &start);

private:
  bool isCapturing(StreamHandle stream) const;
  Status launchAsGraph(const LaunchOptions &options);
  uint64_t bytes(size_t arg) const;
  /// Whether the argument lies in the context's heap. A context that was made for the host has its
  /// heap there.
  bool isShared(size_t arg) const;
  /// Whether the memory has all elements of the argument, and an output's lie apart.
  Status checkReach(size_t arg, const std::byte *data, std::span<const int64_t> strides) const;
  Status checkTight(size_t arg, std::string_view what) const;
  /// Raises the job's abort word and returns its cause.
  Status fail(int code, std::string_view what);
  /// What the kernel has reported, if it has.
  std::optional<AbortRecord> readReport() const;
  /// Whether that rank has begun a launch of this kernel and not said that it has ended.
  bool isIn(uint32_t rank) const;

  Context &context_;
  std::shared_ptr<Gpu> device_;
  VariantCode code_;
  std::shared_ptr<const Payload> payload_;
  const Metadata &metadata_;
  const JobPlan &plan_;
  const Plan &own_;
  std::vector<Tensor> tensors_;       // arguments as attached
  std::vector<DeviceMemory> owned_;   // empty where attached or in the heap
  std::vector<HeapMemory> shared_;    // in the heap; empty where attached
  std::vector<Variant> variants_;
  size_t chosen_ = 0;   // of them
  PinnedMemory pinned_; // mk_gpu_report, then the job's abort word
  mk_gpu_report *report_ = nullptr;
  std::atomic<uint32_t> *jobAbort_ = nullptr;
  mk_gpu_launch launch_ = {}; // what all variants are told
  uint64_t epoch_ = 0;
  uint64_t kernel_ = 0; // in the context
  std::chrono::nanoseconds deadline_{};
  Deadline::Clock::time_point begin_;
  Stopwatch watch_;
  std::unique_ptr<RandomKernel> random_; // loaded when it is needed
  std::optional<SweepKernel> sweep_;     // of prepareTiming(), and the clock behind it
  Stopwatch timing_;
  bool fillsOnHost_ = false; // the driver does not take it: slower, the same values
  bool watching_ = false; // a timed launch is under way
  // Of a kernel with roles of copy engines: its launches, from the second one on.
  std::unique_ptr<LaunchGraph> graph_;
  std::chrono::nanoseconds graphDeadline_{};
  bool launched_ = false, graphTimed_ = false;
  LaunchStats stats_;
  TimelineTracks tracks_; // of kernels that record times
  int64_t ended_ = 0;     // when synchronize() last returned
};

} // namespace mk::rt::cuda

#endif // MKERNEL_RUNTIME_DEVICE_CUDA_BINDING_H
