//===- Network.cpp - Command ring and counts of a GPU ---------------------===//

#include "device/cuda/Network.h"

#include "mkernel/ABI/Gpu.h"
#include "mkernel/Runtime/Env.h"
#include "mkernel/Runtime/Heap.h"

#include <algorithm>

using namespace mk::rt;
using namespace mk::rt::cuda;


Result<std::unique_ptr<GpuNetwork>>
GpuNetwork::create(std::shared_ptr<Gpu> gpu, Heap &heap, uint32_t channels) {
  std::unique_ptr<GpuNetwork> made(new GpuNetwork(gpu, heap));
  GpuNetwork &n = *made;
  Current current(*gpu);
  MK_ASSIGN(n.stream_, Stream::create(gpu));
  // What the GPU may be ahead of the proxy.
  MK_ASSIGN(uint64_t commands, env::getBytes("MK_COMMANDS", 4096));
  MK_ASSIGN(n.ringMemory_,
            PinnedMemory::allocate(gpu, CommandRing::bytesOf(commands)));
  MK_ASSIGN(n.ring_, CommandRing::create(commands, n.ringMemory_.host()));
  MK_ASSIGN(n.completedMemory_, PinnedMemory::allocate(gpu, 4 * uint64_t(channels)));
  n.completed_ = reinterpret_cast<uint32_t *>(n.completedMemory_.host());
  MK_ASSIGN(n.submitted_, DeviceMemory::allocate(gpu, 4 * uint64_t(channels),
                                                 "the counts of puts"));
  uint64_t slots = heap.slots();
  MK_ASSIGN(n.words_, DeviceMemory::allocate(gpu, 4 * slots,
                                             "the counts of arrivals over the network"));
  n.counts_.resize(slots);
  n.isChanged_.resize(slots);
  MK_ASSIGN(n.network_,
            DeviceMemory::allocate(gpu, sizeof(mk_gpu_network), "the command ring"));
  mk_gpu_network network = {};
  network.ring = n.ringMemory_.address();
  network.capacity = commands;
  network.submitted = n.submitted_.address();
  network.completed = n.completedMemory_.address();
  const Driver &driver = gpu->driver();
  MK_TRY(driver.check(driver.memcpyHtoDAsync(n.network_.address(), &network,
                                             sizeof(network), nullptr),
                      "cuMemcpyHtoDAsync"));
  MK_TRY(driver.check(driver.streamSynchronize(nullptr), "cuStreamSynchronize"));
  return made;
}

Status GpuNetwork::clear(uint32_t slot, uint64_t count) {
  const Driver &driver = gpu_->driver();
  Current current(*gpu_);
  {
    std::lock_guard lock(mutex_);
    std::fill_n(counts_.begin() + slot, count, 0);
  }
  // In the stream in which they are written.
  if (count)
    MK_TRY(driver.check(driver.memsetD8Async(word(slot), 0, 4 * count, stream_.handle()),
                        "cuMemsetD8Async"));
  return driver.check(driver.streamSynchronize(stream_.handle()), "cuStreamSynchronize");
}

void GpuNetwork::completed(uint32_t channel) {
  // Release: a CTA that acquires it knows the bytes to be at the peer.
  __atomic_fetch_add(&completed_[channel], 1, __ATOMIC_RELEASE);
}

void GpuNetwork::arrived(uint32_t slot, uint32_t amount) {
  std::lock_guard lock(mutex_);
  counts_[slot] += amount;
  if (isChanged_[slot])
    return;
  isChanged_[slot] = true;
  changed_.push_back(slot);
}

Status GpuNetwork::publish() {
  std::lock_guard lock(mutex_);
  if (changed_.empty())
    return Status::ok();
  // What a NIC wrote before it said so.
  MK_TRY(heap_.flushRemoteWrites());
  const Driver &driver = gpu_->driver();
  Current current(*gpu_);
  for (uint32_t slot : changed_) {
    isChanged_[slot] = false;
    MK_TRY(driver.check(
        driver.streamWriteValue32(stream_.handle(), word(slot), counts_[slot], 0),
        "telling the GPU what has arrived (cuStreamWriteValue32)"));
  }
  changed_.clear();
  return Status::ok();
}
