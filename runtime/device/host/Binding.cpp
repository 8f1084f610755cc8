//===- Binding.cpp - The host target behind the device interface ----------===//

#include "device/Device.h"
#include "device/host/Grid.h"

#include <cstring>
#include <functional>
#include <new>

using namespace mk::rt;

namespace {

/// A replay is a launch: nothing has to be recorded for the host.
class HostGraph : public LaunchGraph {
public:
  HostGraph(DeviceBinding &binding, const LaunchOptions &options)
      : binding_(binding), options_(options) {}
  Status launch(void *) override { return binding_.launch(options_); }

private:
  DeviceBinding &binding_;
  LaunchOptions options_;
};

class HostBinding : public DeviceBinding {
public:
  HostBinding(Context &context, const Metadata &metadata,
              const Payload &payload, const JobPlan &plan)
      : context_(context), metadata_(metadata), plan_(plan),
        grid_(context, metadata, payload, plan) {}

  Status allocate() {
    data_.resize(metadata_.args.size());
    owned_.resize(metadata_.args.size());
    shared_.resize(metadata_.args.size());
    for (size_t i = 0; i < metadata_.args.size(); ++i) {
      if (metadata_.args[i].symmetric) {
        MK_ASSIGN(shared_[i],
                  HeapMemory::allocate(
                      context_.heap(), plan_.symmetricBytes(i),
                      str("argument '", metadata_.args[i].name, "'")));
        data_[i] = shared_[i].data();
        continue;
      }
      // Room to align: rows are read with vector loads.
      constexpr size_t align = 64;
      try {
        owned_[i].resize(bytes(i) + align);
      } catch (const std::bad_alloc &) {
        return error(StatusCode::ResourceExhausted, "kernel '", metadata_.kernel, "': argument '",
                     metadata_.args[i].name, "' of ",
                     shapeText(plan_.shard(i, context_.rank()).sizes), " elements takes ", bytes(i),
                     " bytes on rank ", context_.rank(),
                     ", and there is no memory for that: give smaller sizes, or raise the limit of "
                     "memory (ulimit -v)");
      }
      auto address = reinterpret_cast<uintptr_t>(owned_[i].data());
      data_[i] = owned_[i].data() + (align - address % align) % align;
    }
    return grid_.prepare();
  }

  std::byte *data(size_t arg) const override { return data_[arg]; }
  std::byte *hostData(size_t arg) const override { return data_[arg]; }
  std::vector<uint32_t> slots() const override { return grid_.slots(); }

  Status attach(size_t arg, std::byte *data,
                std::span<const int64_t> strides) override {
    const std::vector<int64_t> &sizes =
        plan_.shard(arg, context_.rank()).sizes;
    std::vector<int64_t> tight = tightStrides(sizes);
    if (!strides.empty() && !std::equal(strides.begin(), strides.end(),
                                        tight.begin(), tight.end()))
      return error(StatusCode::InvalidArgument, "argument '",
                   metadata_.args[arg].name, "' of ", shapeText(sizes),
                   " elements: the host target takes row-major, tight memory "
                   "only: copy it");
    data_[arg] = data;
    // What it has of its own may be given to it again.
    const std::vector<std::byte> &own = owned_[arg];
    if (std::less<>()(data, own.data()) || std::less<>()(own.data() + own.size(), data))
      owned_[arg] = {};
    if (data != shared_[arg].data())
      shared_[arg].reset();
    return Status::success();
  }
  // What these give would not be a launch's results once one has failed.
  Status upload(size_t arg, const void *from, void *) override {
    MK_TRY(context_.abort().status());
    if (bytes(arg))
      std::memcpy(data_[arg], from, bytes(arg));
    return Status::success();
  }
  Status download(size_t arg, void *to, void *) override {
    MK_TRY(context_.abort().status());
    if (bytes(arg))
      std::memcpy(to, data_[arg], bytes(arg));
    return Status::success();
  }

  Status fill(size_t arg, std::byte value, void *) override {
    MK_TRY(context_.abort().status());
    if (bytes(arg))
      std::memset(data_[arg], int(value), bytes(arg));
    return Status::success();
  }
  Status fillRandom(size_t arg, const RandomValues &values, void *) override {
    MK_TRY(context_.abort().status());
    values.fill(ShardLayout::of(plan_.shard(arg, context_.rank())), data_[arg]);
    return Status::success();
  }

  Status launch(const LaunchOptions &options) override {
    return grid_.launch(options, data_);
  }
  Status synchronize(void *) override { return context_.abort().status(); }
  Result<double> time(const LaunchOptions &options, int launches) override {
    auto begin = std::chrono::steady_clock::now();
    for (int i = 0; i < launches; ++i)
      MK_TRY(launch(options));
    std::chrono::duration<double, std::milli> all = std::chrono::steady_clock::now() - begin;
    return all.count() / launches;
  }
  Result<std::unique_ptr<LaunchGraph>>
  capture(const LaunchOptions &options) override {
    MK_TRY(context_.abort().status());
    return std::unique_ptr<LaunchGraph>(new HostGraph(*this, options));
  }
  uint64_t epoch() const override { return grid_.epoch(); }
  const LaunchStats &stats() const override { return grid_.stats(); }
  Result<Timeline> timeline() override { return grid_.timeline(); }

private:
  uint64_t bytes(size_t arg) const {
    return plan_.shard(arg, context_.rank()).elements() *
           byteSize(metadata_.args[arg].type);
  }

  Context &context_;
  const Metadata &metadata_;
  const JobPlan &plan_;
  host::Grid grid_;
  std::vector<std::byte *> data_;
  // Of arguments: what is not symmetric, and what is; empty where attached.
  std::vector<std::vector<std::byte>> owned_;
  std::vector<HeapMemory> shared_;
};

class HostCode : public DeviceCode {
public:
  HostCode(Context &context, std::shared_ptr<const Payload> payload)
      : context_(context), payload_(std::move(payload)) {}

  Result<std::unique_ptr<DeviceBinding>> bind(const Metadata &metadata,
                                              const JobPlan &plan) override {
    auto binding =
        std::make_unique<HostBinding>(context_, metadata, *payload_, plan);
    MK_TRY(binding->allocate());
    return std::unique_ptr<DeviceBinding>(std::move(binding));
  }

private:
  Context &context_;
  std::shared_ptr<const Payload> payload_;
};

class HostDevice : public Device {
public:
  DeviceKind kind() const override { return DeviceKind::Host; }
  Result<std::unique_ptr<Heap>>
  createHeap(const HeapOptions &options) override {
    MK_ASSIGN(std::unique_ptr<HostHeap> heap, HostHeap::create(options));
    return std::unique_ptr<Heap>(std::move(heap));
  }
  Result<std::shared_ptr<DeviceCode>>
  load(Context &context, const Metadata &,
       std::shared_ptr<const Payload> payload) override {
    return std::shared_ptr<DeviceCode>(
        new HostCode(context, std::move(payload)));
  }
};

} // namespace

std::unique_ptr<Device> host::open() { return std::make_unique<HostDevice>(); }
