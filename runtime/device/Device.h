//===- Device.h - What a target does for a kernel ---------------*- C++ -*-===//
//
// The one place where targets differ at run time. A DeviceCode is a package's
// code made ready for a context's device; each binding of the kernel has a
// DeviceBinding, which owns its memory and launches it.
//
//===----------------------------------------------------------------------===//
#ifndef MKERNEL_RUNTIME_DEVICE_DEVICE_H
#define MKERNEL_RUNTIME_DEVICE_DEVICE_H

#include "device/Network.h"
#include "mkernel/Runtime/Kernel.h"

namespace mk::rt {

class DeviceBinding {
public:
  virtual ~DeviceBinding() = default;

  /// Memory that peers reach. Collective, and each rank has bound before: what fails on one is told
  /// to all that wait for it.
  virtual Status share() { return Status::success(); }
  /// Makes code for the arguments ready, behind share(). Collective.
  virtual Status choose() { return Status::success(); }

  /// Address of an argument as the device knows it.
  virtual std::byte *data(size_t arg) const = 0;
  /// The same for the host's own loads and stores; null where it has to use
  /// upload() and download().
  virtual std::byte *hostData(size_t arg) const = 0;
  /// Where its signals are that peers raise by number: the first slots of each.
  virtual std::vector<uint32_t> slots() const = 0;
  /// `arg` and `data` are checked by the caller: aligned, of a symmetric argument in
  /// the heap, where all ranks have it.
  /// `strides`: none (row-major and tight) or one for each dimension, elements.
  virtual Status attach(size_t arg, std::byte *data,
                        std::span<const int64_t> strides) = 0;
  /// Before attach() of a symmetric argument, on all ranks: waits for launches that
  /// may use memory of its own, which goes then.
  virtual Status settle(size_t) { return Status::success(); }
  virtual Status upload(size_t arg, const void *from, void *stream) = 0;
  virtual Status download(size_t arg, void *to, void *stream) = 0;

  virtual Status fill(size_t arg, std::byte value, void *stream) = 0;
  virtual Status fillRandom(size_t arg, const RandomValues &values,
                            void *stream) = 0;

  virtual Status launch(const LaunchOptions &options) = 0;
  virtual Status synchronize(void *stream) = 0;
  /// Makes time() ready, which is collective: what can fail on this rank alone.
  virtual Status prepareTiming(const LaunchOptions &) { return Status::success(); }
  /// Milliseconds of a launch, of `launches` in a row on options.stream, which waits for the
  /// last. What caches of a GPU know of one launch the next one does not find there. Collective.
  virtual Result<double> time(const LaunchOptions &options, int launches) = 0;
  virtual Result<std::unique_ptr<LaunchGraph>>
  capture(const LaunchOptions &options) = 0;

  virtual uint64_t epoch() const = 0;
  virtual const LaunchStats &stats() const = 0;
  /// Of a kernel that records it.
  virtual Result<Timeline> timeline() = 0;
};

class DeviceCode {
public:
  virtual ~DeviceCode() = default;
  /// Allocates memory of this rank; the binding's share() and choose() follow. `metadata` and
  /// `plan` outlive it.
  virtual Result<std::unique_ptr<DeviceBinding>>
  bind(const Metadata &metadata, const JobPlan &plan) = 0;
  /// What times are of: the name of a GPU; "" of the CPU that the code is for.
  virtual std::string model() const { return {}; }
};

class Device {
public:
  virtual ~Device() = default;
  virtual DeviceKind kind() const = 0;
  /// Waits for everything that this process has enqueued on it.
  virtual Status synchronize() { return Status::success(); }
  /// PCI address of a GPU; "" for others, and where it is unknown.
  virtual std::string pciAddress() const { return {}; }
  /// Symmetric memory of this rank, not exchanged yet.
  virtual Result<std::unique_ptr<Heap>>
  createHeap(const HeapOptions &options) = 0;
  /// How its kernels meet the proxy; null: by Proxy::submit and signals of a HostHeap.
  /// `heap` is one of createHeap(), `channels` the CTAs of the largest grid.
  virtual Result<std::unique_ptr<DeviceNetwork>> openNetwork(Heap &, uint32_t) {
    return std::unique_ptr<DeviceNetwork>();
  }
  /// Makes the code of a package for this kind of device ready. `payload` lives
  /// as long as the result.
  virtual Result<std::shared_ptr<DeviceCode>>
  load(Context &context, const Metadata &metadata,
       std::shared_ptr<const Payload> payload) = 0;
};

namespace host {
std::unique_ptr<Device> open();
}
namespace cuda {
/// `ordinal`: ContextOptions::gpu.
Result<std::unique_ptr<Device>> open(int ordinal);
}

/// Lines for agreeOnLines: the package and the dimensions, those of rank r being `dimsOf(r)`.
std::string describeSizes(const Metadata &metadata, const Digest &digest,
                          const std::function<std::vector<int64_t>(uint32_t)> &dimsOf,
                          uint32_t world);

/// Whether the context has, or can open, a device for the target of the package.
Status checkDevice(Context &context, const Metadata &metadata);

/// Code for the target of the package, on the context's device or, for a GPU
/// and a mesh of one rank, on one that is opened for it.
Result<std::shared_ptr<DeviceCode>>
loadDeviceCode(Context &context, const Metadata &metadata,
               std::shared_ptr<const Payload> payload);

/// "mk.put (file.mlir:12:5)"; "an op" where nothing is known of it.
std::string siteText(const Metadata &metadata, int64_t site);

/// Elements that an op names and that do not exist; see mkernel/ABI/Site.h.
struct Outside {
  int64_t site = 0, named = 0, number = -1;
  int64_t dim = 0, index = 0, size = 1; // of one dimension
  int64_t extent = 0;
  int64_t rank = 0; // of an argument: whose
};
std::string outsideText(const Metadata &metadata, const Outside &outside);

/// ", at kernel.mlir:106:11": where the role waits for it, in all places; nothing if the package
/// does not say.
std::string placesText(std::span<const Metadata::Wait> waits, uint32_t role);

/// "signal 'ready'[3, 0]" for the row-major element `index`; no brackets for an
/// object without dimensions.
std::string elementName(std::string_view what, std::string_view name,
                        std::span<const int64_t> extents, int64_t index);

/// Row-major strides of a tight array, in elements.
std::vector<int64_t> tightStrides(std::span<const int64_t> sizes);

} // namespace mk::rt

#endif // MKERNEL_RUNTIME_DEVICE_DEVICE_H
