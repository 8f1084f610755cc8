//===- Context.h - A rank of a job ------------------------------*- C++ -*-===//
//
// Everything that a rank shares among its kernels: its place in the mesh, the
// connection to the store, the symmetric heap and, if there are net axes, the
// transport and the proxy that drives it.
//
//===----------------------------------------------------------------------===//
#ifndef MKERNEL_RUNTIME_CONTEXT_H
#define MKERNEL_RUNTIME_CONTEXT_H

#include "mkernel/Runtime/Abort.h"
#include "mkernel/Runtime/HostHeap.h"
#include "mkernel/Runtime/Mesh.h"
#include "mkernel/Runtime/Proxy.h"
#include "mkernel/Runtime/Store.h"
#include "mkernel/Runtime/Transport.h"

#include <map>

namespace mk::rt {

class Device;
class DeviceNetwork;
class Job;
class Launches;

/// Where the kernels of a context run, and where symmetric memory is.
enum class DeviceKind {
  Host, // threads of this process; memory files
  Gpu,  // a GPU of its own for each rank; its memory
};

struct ContextOptions {
  /// Of a rank of a job that others started; `mesh` must fit it (Job::checkMesh).
  /// The job must outlive the context. One context at a time: a second one is refused until the
  /// first is closed. On GPUs a rank takes the GPU of its local rank, modulo those that
  /// it sees; `gpu` says otherwise. After one that has failed
  /// the next one waits for all ranks: each has to close its own first.
  static ContextOptions of(Job &job, Mesh mesh);

  Mesh mesh;
  uint32_t rank = 0;
  /// Where the job's store listens, its name and secret. A mesh of one rank
  /// needs none.
  std::string endpoint, job, token;
  /// A connection to use instead, which stays open, and a prefix for the
  /// context's names in the store, the same on all ranks and used once.
  std::shared_ptr<StoreClient> store;
  std::string scope;
  /// Number of the context in its job, the same on all ranks.
  uint64_t number = 0;
  /// Kernels for GPUs need Gpu, or a mesh of one rank.
  DeviceKind device = DeviceKind::Host;
  /// Of symmetric memory and signal slots, the same on all ranks. A GPU adds memory as it
  /// is needed, and has slots for what comes over a network only.
  uint64_t heapBytes = 64u << 20;
  uint32_t slots = 1u << 16;
  uint32_t maxGrid = 256;         // CTAs of the largest kernel
  std::string transport = "loopback";
  std::string transportOptions; // "delay=5ms,reorder=7"
  std::chrono::nanoseconds timeout = std::chrono::seconds(30); // to meet peers
  /// GPU of this rank, for kernels of GPU targets: its number as
  /// CUDA_VISIBLE_DEVICES leaves them. Negative: that of `localRank`, if there is one, else
  /// the one that is current on the thread that makes the context (with DeviceKind::Host:
  /// that loads the kernel), else the first.
  int gpu = -1;
  std::optional<uint32_t> localRank;
  /// Of this job at most, where there are fewer GPUs than ranks. The driver gives each process
  /// the whole GPU in turn, for a few milliseconds: kernels that wait for one another take
  /// turns, which is slow and shows whether they are right. Not under MPS, where kernels
  /// would need the GPU at the same time.
  uint32_t ranksPerGpu = 1;
  bool proxyPaused = false; // start with a proxy that does nothing (tests)
};

class Context;

/// Signal slots in a row, which are given back when it goes. Not after its context.
class SlotRange {
public:
  SlotRange() = default;
  SlotRange(SlotRange &&other) noexcept { *this = std::move(other); }
  SlotRange &operator=(SlotRange &&other) noexcept {
    std::swap(context_, other.context_);
    std::swap(begin_, other.begin_);
    return *this;
  }
  ~SlotRange();
  uint32_t begin() const { return begin_; }

private:
  friend class Context;
  SlotRange(Context &context, uint32_t begin) : context_(&context), begin_(begin) {}
  Context *context_ = nullptr;
  uint32_t begin_ = 0;
};

class Context {
public:
  /// Meets all other ranks; each of them must call it with the same mesh.
  static Result<std::unique_ptr<Context>> create(ContextOptions options);
  /// Closes in peace only after close(); else the other ranks see this rank as lost. A member of a
  /// job has half a second to tell them the cause itself (Job::fail).
  ~Context();
  Context(const Context &) = delete;
  Context &operator=(const Context &) = delete;

  /// Waits for all ranks, delivers what is in flight, leaves the job. After an
  /// abort: waits for the own kernels to end, which they do, leaves and returns Aborted with
  /// the first cause. A new context may be made then.
  Status close();
  /// FailedPrecondition once it is closed: nothing can be bound or launched any more.
  Status checkOpen() const;

  uint32_t rank() const { return options_.rank; }
  uint32_t world() const { return options_.mesh.size(); }
  const Mesh &mesh() const { return options_.mesh; }
  const ContextOptions &options() const { return options_; }
  Device &device() { return *device_; }
  Heap &heap() { return *heap_; }
  /// Null in a mesh of one rank.
  StoreClient *store() { return store_.get(); }
  /// What arrives over a network with another one is of a context before this, and dropped.
  uint8_t generation() const { return uint8_t(options_.number); }
  /// Null without net peers.
  Proxy *proxy() { return proxy_.get(); }
  Transport *transport() { return transport_.get(); }
  /// Null without net peers, and where kernels are threads of this process.
  DeviceNetwork *network() { return network_.get(); }
  /// Raised on every rank when one fails; final for this context.
  AbortWord &abort() { return abort_; }

  /// Symmetric memory of the program's own, zeroed: `bytes` at the same offset on
  /// every rank, aligned to Heap::kAlignment. Kernels share it by
  /// BoundKernel::attach. Freed by free(), or with the context. The address is the
  /// device's. Collective: all ranks allocate, free, bind and destroy kernels in the
  /// same order. InvalidArgument names two ranks whose sizes differ; whatever goes
  /// wrong on one rank is an error of all, and nothing is allocated. `what` is for
  /// messages.
  Result<std::byte *> allocate(uint64_t bytes,
                               std::string_view what = "the program's memory");
  /// Gives memory of allocate() back, once everything that all ranks have enqueued
  /// has ended. Collective.
  Status free(void *memory);
  /// Where this device addresses what `rank` has at the place of `memory`, an
  /// address in symmetric memory of this rank (allocate(), the data of a symmetric
  /// argument). FailedPrecondition across a net axis, where nothing is mapped.
  Result<std::byte *> addressAt(uint32_t rank, const void *memory) const;

  /// Everybody's `value`, in rank order. Collective, in the same order on all
  /// ranks; `what` is for messages.
  Result<std::vector<std::string>> allGather(std::string_view what,
                                             std::string_view value);

  /// What this rank has launched, beside what other ranks have.
  Launches &launches() { return *launches_; }

  /// The first gap of `n` signal slots. As of Heap::allocate: all ranks allocate and give back in
  /// the same order, and get the same.
  Result<SlotRange> allocateSlots(uint64_t n, std::string_view what);
  uint32_t slotsUsed() const { return slotsUsed_; }

  /// Channel of the proxy that is no CTA's: the launch itself.
  uint16_t launchChannel() const {
    return static_cast<uint16_t>(options_.maxGrid);
  }

private:
  friend class SlotRange;
  Context();
  Status build();
  void freeSlots(uint32_t begin);
  Status claim();
  void release();
  Status checkOpen(std::string_view what) const;
  Status shareLaunches(HeapOptions options);
  Status findPath(TransportConfig config);
  Result<std::vector<uint32_t>> proxyCpus() const;
  Deadline deadline() const { return Deadline::after(options_.timeout); }

  // Declared in the order in which they come up; destroyed in reverse.
  ContextOptions options_;
  AbortWord abort_;
  std::shared_ptr<StoreClient> store_;
  std::unique_ptr<Device> device_;
  std::unique_ptr<Heap> heap_;
  std::map<std::byte *, HeapMemory> allocated_; // by the program
  std::unique_ptr<HostHeap> lists_; // of launches, where the heap is a GPU's
  std::unique_ptr<Launches> launches_;
  std::unique_ptr<Transport> transport_;
  std::unique_ptr<DeviceNetwork> network_;
  std::unique_ptr<Proxy> proxy_;
  std::map<uint32_t, uint32_t> slots_; // that are taken: first and number
  uint32_t slotsUsed_ = 0;
  uint64_t gathers_ = 0;
  bool built_ = false, closed_ = false;
  bool connected_ = false; // to aborts of the store
  bool claimed_ = false; // the job's connection, which has one context at a time
};

} // namespace mk::rt

#endif // MKERNEL_RUNTIME_CONTEXT_H
