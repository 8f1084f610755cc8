//===- Kernel.h - Binding and launching compiled kernels --------*- C++ -*-===//
//
//   MK_ASSIGN(Package package, Package::read("kernel.mkpkg"));
//   MK_ASSIGN(auto context, Context::create(options));
//   MK_ASSIGN(auto kernel, Kernel::load(*context, package));
//   MK_ASSIGN(auto bound, kernel->bind({{"M", {1024}}, {"N", {512}}}));
//   MK_TRY(bound->attach("b", weights));
//   for (...) {
//     MK_TRY(bound->upload("a", values));
//     MK_TRY(bound->launch({}));
//     MK_TRY(bound->synchronize());
//   }
//
// One thread of a process uses a context and its kernels.
//
// A package can hold several versions of a kernel, each for sizes of its own (Versions.h). bind()
// takes the one that is for the sizes given; what is bound stays with it, and has a plan, code,
// a control block and signals of its own. A version's code is loaded when it is bound first. Where
// a version has several candidates, bind() takes the first, which is the compiler's choice, and
// bindFastest() the one that is measured to be the fastest (Fastest.h).
//
// On a GPU a launch is enqueued on a stream and nothing waits for it but
// synchronize(). Streams are passed as `void *` (a CUstream or cudaStream_t).
// Null is the default stream in its legacy sense, as for a program that is
// compiled without options: ordered with all blocking streams of the process;
// the handles CU_STREAM_PER_THREAD and CU_STREAM_LEGACY may be passed, too.
// Launches and copies of one bound kernel must be ordered, by using one stream
// or by events between several.
//
//===----------------------------------------------------------------------===//
#ifndef MKERNEL_RUNTIME_KERNEL_H
#define MKERNEL_RUNTIME_KERNEL_H

#include "mkernel/Runtime/Context.h"
#include "mkernel/Runtime/Fastest.h"
#include "mkernel/Runtime/Plan.h"
#include "mkernel/Runtime/Random.h"
#include "mkernel/Runtime/Timeline.h"

#include <map>

namespace mk::rt {

struct LaunchOptions {
  /// Of every single wait of the launch. Times must not be negative.
  std::chrono::nanoseconds deadline = std::chrono::seconds(30);
  /// Host target: processor time that a CTA may take between two calls of the runtime
  /// (an item, a wait, a put ...). A longer loop is taken for one that never ends,
  /// and the CTA is unwound with a report. 0: ten times the deadline.
  std::chrono::nanoseconds computeDeadline{0};
  /// Host target. Not 0: link puts are executed late and in a random order that this seeds,
  /// and CTAs start in a random order, at random times. Results must not
  /// depend on it.
  uint64_t seed = 0;
  /// Host target: appends what each CTA does (mkernel/Check/Log.h). Loads and stores
  /// are known only of kernels that were compiled to record them.
  std::string *record = nullptr;
  /// Where a GPU's launch is enqueued. It may be capturing.
  void *stream = nullptr;
  /// GPU: events around the launch, for LaunchStats::deviceMs. Not on a stream that
  /// captures; capture() passes it on to each launch of the graph.
  bool timed = false;
};

/// What one launch did on this rank. What nobody measured is empty or 0.
struct LaunchStats {
  struct Peer {
    uint64_t bytes = 0; // put or stored to that rank
    uint64_t puts = 0;  // puts and remote stores, each counted once
  };
  struct Role {
    double ms = 0;        // longest of its CTAs
    double blockedMs = 0; // sum over its CTAs
    uint64_t waits = 0;   // that did not find what they waited for at once
  };
  std::vector<Peer> peers; // by rank; own rank: local puts; empty on a GPU
  std::vector<Role> roles; // empty on a GPU
  /// From the call of launch() until every peer has closed it; on a GPU until
  /// synchronize() returned.
  double wallMs = 0;
  /// GPU: of the last timed launch, from its turn in the stream to its end, once
  /// synchronize() has returned. Has what it waited for peers in it.
  double deviceMs = 0;
};

class DeviceBinding;
class DeviceCode;

/// A launch that can be repeated: on a GPU a CUDA graph with one node, whose
/// parameters are those at the time of capture; data may change in place, epochs
/// count on by themselves. On the host a plain launch each time. Goes before its
/// BoundKernel.
class LaunchGraph {
public:
  virtual ~LaunchGraph() = default;
  /// As BoundKernel::launch, on `stream`.
  virtual Status launch(void *stream = nullptr) = 0;
};

/// A kernel with dimensions and memory. Create and destroy in the same order on
/// all ranks.
class BoundKernel {
public:
  ~BoundKernel();
  BoundKernel(const BoundKernel &) = delete;
  BoundKernel &operator=(const BoundKernel &) = delete;

  /// Of its version.
  const Metadata &metadata() const { return metadata_; }
  const JobPlan &plan() const { return plan_; }
  const Payload &payload() const { return *payload_; }
  /// Which of the package's Metadata::versions it is, from 0; 0 of a package without.
  size_t version() const { return version_; }

  static constexpr uint64_t kSharedAlignment = 16; // bytes, see attach()

  /// Argument by index (JobPlan and Metadata use the same) or by name; kNoArgument if there is none
  /// of this name. What returns a Status is InvalidArgument for an argument that is not there, the
  /// rest must not be asked for one.
  size_t index(std::string_view name) const;
  static constexpr size_t kNoArgument = SIZE_MAX;
  /// This rank's part, row-major, strides tight unless attached with others:
  /// its address on the device. On a GPU that is device memory.
  std::byte *data(size_t arg) const;
  std::byte *data(std::string_view name) const { return data(index(name)); }
  /// The same where the host may load and store by itself; null on a GPU, where
  /// upload() and download() are needed.
  std::byte *hostData(size_t arg) const;
  const Shard &shard(size_t arg) const;
  const Shard &shard(std::string_view name) const { return shard(index(name)); }
  uint64_t bytes(size_t arg) const; // of this rank's part

  /// Uses the caller's memory for an argument; it must live until the last launch.
  /// A captured launch keeps what was attached before. What the argument had of its
  /// own is given back.
  ///
  /// Not symmetric: any address that the device reaches, aligned to its element. On
  /// a GPU `strides`, one for each dimension, are in elements and not negative; none
  /// means row-major and tight, which is all that the host target takes. There it chooses the
  /// variant of the kernel that the arguments of all ranks allow: collective on a mesh of several.
  ///
  /// Symmetric: a place in symmetric memory of the context (Context::allocate, the
  /// data of another kernel's symmetric argument), kSharedAlignment aligned in its
  /// allocation, with as many bytes as the largest part of all ranks; so kernels
  /// share buffers. Row-major and tight, not in another argument of this kernel.
  /// Collective; InvalidArgument names the ranks and both offsets where they differ.
  Status attach(size_t arg, void *data, std::span<const int64_t> strides = {});
  Status attach(std::string_view name, void *data,
                std::span<const int64_t> strides = {}) {
    MK_ASSIGN(size_t arg, find(name));
    return attach(arg, data, strides);
  }

  /// Copies bytes(arg) bytes, row-major and tight, to or from the argument.
  /// Ordered after what `stream` has so far; returns when it is done. The
  /// download reports a failed launch as synchronize() does.
  Status upload(size_t arg, const void *from, void *stream = nullptr);
  Status upload(std::string_view name, const void *from,
                void *stream = nullptr) {
    MK_ASSIGN(size_t arg, find(name));
    return upload(arg, from, stream);
  }
  Status download(size_t arg, void *to, void *stream = nullptr);
  Status download(std::string_view name, void *to, void *stream = nullptr) {
    MK_ASSIGN(size_t arg, find(name));
    return download(arg, to, stream);
  }

  /// Every byte of the argument, which is tight, becomes `value`; or each element what
  /// `values`, of its type, give it. On a GPU the GPU does that, in the order of
  /// `stream`, and nothing waits for it.
  Status fill(size_t arg, std::byte value, void *stream = nullptr);
  Status fillRandom(size_t arg, const RandomValues &values,
                    void *stream = nullptr);

  /// Host: runs one launch and returns when this rank's results are complete
  /// and all peers have closed it, too. GPU: enqueues one on options.stream and
  /// returns. Collective. After a failure the context is aborted, and so is
  /// every later launch.
  Status launch(const LaunchOptions &options);
  /// Waits until everything on `stream` is done. Aborted, with the report of the
  /// wait that failed, when a launch did not succeed; a GPU that has run into
  /// that serves this process no longer.
  Status synchronize(void *stream = nullptr);
  /// The launch as a graph, which is not executed yet. options.stream is not
  /// used.
  Result<std::unique_ptr<LaunchGraph>> capture(const LaunchOptions &options);

  /// Calls of launch() so far.
  uint64_t epoch() const;
  const LaunchStats &stats() const;
  /// What CTAs did in the last launch, and when; a GPU's has ended. FailedPrecondition if the
  /// kernel was compiled without records of it (jit::Options::timeline).
  Result<Timeline> timeline() const;

private:
  friend class Kernel;
  /// InvalidArgument names those that there are.
  Result<size_t> find(std::string_view name) const;
  Status checkArg(size_t arg) const;
  Status checkMemory(size_t arg, const void *memory) const;
  BoundKernel(Context &context, std::shared_ptr<const Payload> payload,
              std::shared_ptr<DeviceCode> code, Metadata metadata, size_t version);
  /// `whole`: of the package, with its digest.
  Status bind(std::span<const DimValue> dims, const Metadata &whole, const Digest &digest);
  std::string describePlan(const Metadata &whole, const Digest &digest) const;
  std::string describePlaces() const;
  Status checkShared(size_t arg, std::byte *data,
                     std::span<const int64_t> strides) const;
  /// Compares with what other ranks say; `remedy` is for who differs. Collective.
  Status agree(const std::string &text, std::string_view remedy,
               const Status &status = Status::success());

  Context &context_;
  std::shared_ptr<const Payload> payload_;
  std::shared_ptr<DeviceCode> code_;
  Metadata metadata_;
  size_t version_ = 0;
  JobPlan plan_;
  std::unique_ptr<DeviceBinding> device_;
};

/// A package loaded for a context.
class Kernel {
public:
  static Result<std::unique_ptr<Kernel>> load(Context &context,
                                              const Package &package);

  /// Of the package: where it has versions, what they have in common.
  const Metadata &metadata() const { return metadata_; }

  /// Fixes dimensions, by which it chooses the version, and allocates memory. Collective. All
  /// ranks must agree on uniform dimensions, the version, signals and shapes; what differs is
  /// named.
  Result<std::unique_ptr<BoundKernel>> bind(std::span<const DimValue> dims);
  Result<std::unique_ptr<BoundKernel>>
  bind(std::initializer_list<DimValue> dims) {
    return bind(std::span(dims.begin(), dims.size()));
  }

  /// The same with a version that the caller chooses, the same on all ranks: one of the
  /// package's Metadata::versions, and 0 of a package without. It must be for these dimensions:
  /// a candidate of the version that bind() would take.
  Result<std::unique_ptr<BoundKernel>> bindVersion(std::span<const DimValue> dims, size_t version);

  /// The candidate that takes the least time with these dimensions, for bindVersion(): known
  /// since an earlier call, or from the disk of rank 0, or found by binding each and running
  /// some dozens of launches of it. Of a version without others that one, and nothing is
  /// measured. `times` has what was measured, now or then, in the order of versions; it is empty if
  /// there was nothing to compare. Collective: all ranks give the same dimensions, and call it
  /// beside bind() in the same order.
  Result<size_t> findFastest(std::span<const DimValue> dims, const MeasureOptions &options = {},
                             std::vector<CandidateTime> *times = nullptr);
  /// bindVersion() of that. The binding is new: what MeasureOptions::prepare attached is not in
  /// it.
  Result<std::unique_ptr<BoundKernel>> bindFastest(std::span<const DimValue> dims,
                                                   const MeasureOptions &options = {},
                                                   std::vector<CandidateTime> *times = nullptr);
  Result<std::unique_ptr<BoundKernel>> bindFastest(std::initializer_list<DimValue> dims,
                                                   const MeasureOptions &options = {},
                                                   std::vector<CandidateTime> *times = nullptr) {
    return bindFastest(std::span(dims.begin(), dims.size()), options, times);
  }

private:
  struct Version {
    std::shared_ptr<const Payload> payload;
    std::shared_ptr<DeviceCode> code;
  };
  Kernel(Context &context) : context_(context) {}
  Status measure(BoundKernel &bound, const MeasureOptions &options, std::vector<double> &ms);
  Result<Digest> keyOfTimes(std::span<const std::vector<int64_t>> dims, size_t first);
  Result<std::vector<CandidateTime>> measureAll(std::span<const DimValue> dims, size_t first,
                                                size_t count, const MeasureOptions &options);
  Result<size_t> choose(std::span<const DimValue> dims) const;
  Status loadVersion(size_t i);

  Context &context_;
  Metadata metadata_;
  Digest digest_{};
  std::shared_ptr<const Payload> selector_; // null: there is one version
  std::vector<Package> packages_;           // of versions; else empty
  std::vector<Version> versions_;           // null: not bound yet
  std::map<std::vector<std::vector<int64_t>>, std::vector<CandidateTime>> fastest_; // by dimensions
};

} // namespace mk::rt

#endif // MKERNEL_RUNTIME_KERNEL_H
