//===- Kernel.h - Binding and launching compiled kernels --------*- C++ -*-===//
//
//   MK_ASSIGN(Package package, Package::read("kernel.mkpkg"));
//   MK_ASSIGN(auto context, Context::create(options));
//   MK_ASSIGN(auto kernel, Kernel::load(*context, package));
//   MK_ASSIGN(auto bound, kernel->bind({{"M", {1024}}, {"N", {512}}}));
//   fill(bound->data("a"), bound->shard("a"));
//   MK_TRY(bound->attach("b", weights));
//   for (...)
//     MK_TRY(bound->launch({}));
//
// One thread of a process uses a context and its kernels.
//
//===----------------------------------------------------------------------===//
#ifndef MKERNEL_RUNTIME_KERNEL_H
#define MKERNEL_RUNTIME_KERNEL_H

#include "mkernel/Runtime/Context.h"
#include "mkernel/Runtime/Plan.h"

namespace mk::rt {

struct LaunchOptions {
  /// Of every single wait of the launch.
  std::chrono::nanoseconds deadline = std::chrono::seconds(30);
  /// Not 0: link puts are executed late and in a random order that this seeds,
  /// and CTAs start in a random order, at random times. Results must not
  /// depend on it.
  uint64_t seed = 0;
};

/// What one launch did on this rank.
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
  std::vector<Peer> peers; // by rank; own rank: local puts
  std::vector<Role> roles;
  double wallMs = 0; // from the launch until every peer has closed it
};

namespace host {
class Grid;
}

/// A kernel with dimensions and memory. Create and destroy in the same order on
/// all ranks.
class BoundKernel {
public:
  ~BoundKernel();
  BoundKernel(const BoundKernel &) = delete;
  BoundKernel &operator=(const BoundKernel &) = delete;

  const Metadata &metadata() const { return metadata_; }
  const JobPlan &plan() const { return plan_; }

  /// Argument by index (JobPlan and Metadata use the same) or by name; the
  /// name must exist.
  size_t index(std::string_view name) const;
  /// This rank's part: row-major, strides tight.
  std::byte *data(size_t arg) const { return data_[arg]; }
  std::byte *data(std::string_view name) const { return data(index(name)); }
  const Shard &shard(size_t arg) const;
  const Shard &shard(std::string_view name) const { return shard(index(name)); }
  uint64_t bytes(size_t arg) const; // of this rank's part

  /// Uses the caller's memory for an argument that is not symmetric. It must
  /// be aligned to its element and live until the last launch.
  Status attach(size_t arg, void *data);
  Status attach(std::string_view name, void *data) {
    return attach(index(name), data);
  }

  /// Runs one launch and returns when this rank's results are complete and all
  /// peers have closed it, too. Collective. After a failure the context is
  /// aborted, and so is every later launch.
  Status launch(const LaunchOptions &options);
  /// Launches so far.
  uint64_t epoch() const;
  const LaunchStats &stats() const;

private:
  friend class Kernel;
  BoundKernel(Context &context, std::shared_ptr<const Payload> payload,
              Metadata metadata);
  Status bind(std::span<const DimValue> dims, const Digest &digest);
  Status agree(const Digest &digest);

  Context &context_;
  std::shared_ptr<const Payload> payload_;
  Metadata metadata_;
  JobPlan plan_;
  std::vector<std::byte *> data_;
  std::vector<std::vector<std::byte>> owned_; // of arguments not symmetric
  std::unique_ptr<host::Grid> grid_;
  uint64_t heapBegin_ = 0, heapEnd_ = 0;
  uint32_t slotBegin_ = 0, slotEnd_ = 0;
};

/// A package loaded for a context.
class Kernel {
public:
  static Result<std::unique_ptr<Kernel>> load(Context &context,
                                              const Package &package);

  const Metadata &metadata() const { return metadata_; }
  const Payload &payload() const { return *payload_; }

  /// Fixes dimensions and allocates memory. Collective. All ranks must agree
  /// on uniform dimensions, signals and shapes; what differs is named.
  Result<std::unique_ptr<BoundKernel>> bind(std::span<const DimValue> dims);
  Result<std::unique_ptr<BoundKernel>>
  bind(std::initializer_list<DimValue> dims) {
    return bind(std::span(dims.begin(), dims.size()));
  }

private:
  Kernel(Context &context) : context_(context) {}
  Context &context_;
  Metadata metadata_;
  Digest digest_{};
  std::shared_ptr<const Payload> payload_;
};

} // namespace mk::rt

#endif // MKERNEL_RUNTIME_KERNEL_H
