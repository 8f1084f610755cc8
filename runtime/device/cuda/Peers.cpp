//===- Peers.cpp - What ranks of a bound kernel share ---------------------===//

#include "device/cuda/Peers.h"

#include "device/Device.h"
#include "device/cuda/Network.h"

#include <algorithm>
#include <cstring>

using namespace mk::rt;
using namespace mk::rt::cuda;

Status Peers::allocate(Context &context, std::shared_ptr<Gpu> gpu,
                       const Metadata &metadata, const JobPlan &plan) {
  gpu_ = std::move(gpu);
  const Driver &driver = gpu_->driver();
  Current current(*gpu_);
  auto *network = static_cast<GpuNetwork *>(context.network());
  network_ = network ? network->address() : 0;
  auto add = [&](uint64_t elements, std::string_view name) -> Status {
    uint64_t bytes = std::max<uint64_t>(elements, 1) * sizeof(uint32_t);
    MK_ASSIGN(HeapMemory words,
              HeapMemory::allocate(context.heap(), bytes,
                                   str("signal '", name, "'")));
    auto address = reinterpret_cast<uint64_t>(words.data());
    SharedSignal signal{address, 0, 0};
    if (network) {
      MK_ASSIGN(SlotRange slots, context.allocateSlots(elements, str("signal '", name, "'")));
      signal.slot = slots.begin();
      signal.net = network->word(signal.slot);
      slots_.push_back(std::move(slots));
      MK_TRY(network->clear(signal.slot, elements));
    }
    signals_.push_back(signal);
    shared_.push_back(std::move(words));
    // The memory may have been another kernel's.
    return driver.check(driver.memsetD8Async(address, 0, bytes, nullptr),
                        "cuMemsetD8Async");
  };
  const Plan &own = plan.plan(context.rank());
  for (size_t i = 0; i < metadata.signals.size(); ++i) {
    if (!metadata.signals[i].sys)
      signals_.push_back({});
    else
      MK_TRY(add(uint64_t(own.signals[i].elements), metadata.signals[i].name));
  }
  MK_TRY(add(context.world(), "ready"));
  MK_TRY(add(context.world(), "done"));
  return driver.check(driver.streamSynchronize(nullptr), "cuStreamSynchronize");
}

Status Peers::describe(Context &context, const Metadata &metadata,
                       const Metadata::Variant &variant, const JobPlan &plan,
                       std::span<const Tensor> args) {
  const Driver &driver = gpu_->driver();
  Current current(*gpu_);
  uint32_t world = context.world();
  const auto &maps = variant.peerMaps;
  std::vector<uint64_t> places;
  for (const Metadata::TensorMap &map : maps)
    places.push_back(args[map.arg].address);
  if (auto it = memory_.find(places); it != memory_.end()) {
    current_ = it->second.address();
    return Status::success();
  }
  Tables &t = tables_;
  t.heaps = maps.size() * world * MK_GPU_TENSOR_MAP_BYTES;
  t.rows = t.heaps + 8 * uint64_t(world);
  t.valid = t.rows + 8 * uint64_t(args.size()) * world;
  t.bytes = t.valid + 4 * uint64_t(maps.size()) * world;
  std::vector<TensorMapBytes> bytes(
      (t.bytes + sizeof(TensorMapBytes) - 1) / sizeof(TensorMapBytes));
  auto at = [&](uint64_t offset) {
    return reinterpret_cast<std::byte *>(bytes.data()) + offset;
  };
  auto put = [&](uint64_t offset, auto value) {
    std::memcpy(at(offset), &value, sizeof(value));
  };
  for (uint32_t r = 0; r < world; ++r) {
    put(t.heaps + 8 * r,
        reinterpret_cast<uint64_t>(context.heap().peerPointer(r, uint64_t(0))));
    for (size_t i = 0; i < args.size(); ++i) {
      const std::vector<int64_t> &sizes = plan.shard(i, r).sizes;
      put(t.rows + 8 * (i * world + r), sizes.empty() ? int64_t(1) : sizes[0]);
    }
  }
  for (size_t m = 0; m < maps.size(); ++m) {
    const Metadata::Arg &arg = metadata.args[maps[m].arg];
    for (uint32_t r = 0; r < world; ++r) {
      uint64_t number = m * world + r;
      Tensor remote = args[maps[m].arg];
      remote.sizes = plan.shard(maps[m].arg, r).sizes;
      remote.strides = tightStrides(remote.sizes);
      auto *local = reinterpret_cast<const void *>(remote.address);
      std::byte *address = context.heap().peerPointer(r, local);
      remote.address = reinterpret_cast<uint64_t>(address);
      bool valid = address && encodeTensorMap(driver, maps[m], remote, arg.name, bytes[number]);
      put(t.valid + 4 * number, uint32_t(valid));
    }
  }
  MK_ASSIGN(DeviceMemory memory,
            DeviceMemory::allocate(gpu_, t.bytes,
                                   str("what kernel '", metadata.kernel,
                                       "' knows of the memory of its peers")));
  MK_TRY(driver.check(driver.memcpyHtoDAsync(memory.address(), bytes.data(),
                                             t.bytes, nullptr),
                      "cuMemcpyHtoDAsync"));
  MK_TRY(driver.check(driver.streamSynchronize(nullptr),
                      "cuStreamSynchronize"));
  current_ = memory.address();
  memory_.emplace(std::move(places), std::move(memory));
  return Status::success();
}

void Peers::listSlots(std::vector<uint32_t> &first) const {
  for (const SlotRange &slots : slots_)
    first.push_back(slots.begin());
}

void Peers::fill(mk_gpu_launch &launch) const {
  uint64_t base = current_;
  launch.heaps = base + tables_.heaps;
  launch.rows = base + tables_.rows;
  launch.peer_maps = base + tables_.maps;
  launch.peer_maps_valid = base + tables_.valid;
  launch.network = network_;
}
