//===- Network.cpp - Command ring and counts of a GPU ---------------------===//

#include "device/cuda/Network.h"

#include "mkernel/ABI/Gpu.h"
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
  MK_ASSIGN(uint64_t commands, CommandRing::capacityAsked(CommandRing::kOfGpu));
  MK_ASSIGN(n.ringMemory_,
            PinnedMemory::allocate(gpu, CommandRing::bytesOf(commands)));
  MK_ASSIGN(n.ring_, CommandRing::create(commands, n.ringMemory_.host()));
  MK_ASSIGN(n.submitted_, DeviceMemory::allocate(gpu, 4 * uint64_t(channels),
                                                 "the counts of puts"));
  n.slots_ = heap.slots();
  uint64_t words = n.slots_ + channels;
  MK_ASSIGN(n.words_, DeviceMemory::allocate(gpu, 4 * words,
                                             "the counts of arrivals over the network"));
  n.counts_.resize(words);
  n.isChanged_.resize(words);
  MK_ASSIGN(n.network_,
            DeviceMemory::allocate(gpu, sizeof(mk_gpu_network), "the command ring"));
  mk_gpu_network network = {};
  network.ring = n.ringMemory_.address();
  network.capacity = commands;
  network.submitted = n.submitted_.address();
  network.completed = n.words_.address() + 4 * n.slots_;
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

void GpuNetwork::add(uint64_t word, uint32_t amount) {
  std::lock_guard lock(mutex_);
  counts_[word] += amount;
  if (isChanged_[word])
    return;
  isChanged_[word] = true;
  changed_.push_back(word);
}

void GpuNetwork::completed(uint32_t channel) { add(slots_ + channel, 1); }

void GpuNetwork::arrived(uint32_t slot, uint32_t amount) { add(slot, amount); }

Status GpuNetwork::publish() {
  std::lock_guard lock(mutex_);
  if (changed_.empty())
    return Status::success();
  // What a NIC wrote before it said so.
  if (std::ranges::any_of(changed_, [&](uint64_t word) { return word < slots_; }))
    MK_TRY(heap_.flushRemoteWrites());
  const Driver &driver = gpu_->driver();
  Current current(*gpu_);
  for (uint64_t word : changed_) {
    isChanged_[word] = false;
    MK_TRY(driver.check(driver.streamWriteValue32(stream_.handle(),
                                                  words_.address() + 4 * word,
                                                  counts_[word], 0),
                        "telling the GPU what has arrived (cuStreamWriteValue32)"));
  }
  changed_.clear();
  return Status::success();
}

//===----------------------------------------------------------------------===//
// Launches
//===----------------------------------------------------------------------===//

// The driver takes about a thousand operations. A program may have some of its own between
// launches.
static constexpr uint32_t kLaunches = 16;
static constexpr size_t kPending = 4;

GpuNetwork::~GpuNetwork() {
  Current current(*gpu_);
  for (EventHandle event : pending_)
    gpu_->driver().eventDestroy(event);
  for (EventHandle event : free_)
    gpu_->driver().eventDestroy(event);
  if (last_)
    gpu_->driver().eventDestroy(last_);
}

// The default stream cannot capture, and must not be asked while others do. Where the driver
// does not say, it is taken to capture.
bool GpuNetwork::isCapturing(StreamHandle stream) const {
  int capturing = 0;
  return reinterpret_cast<uintptr_t>(stream) > kLegacyStream &&
         (gpu_->driver().streamIsCapturing(stream, &capturing) != kSuccess || capturing);
}

Status GpuNetwork::order(StreamHandle stream) {
  const Driver &driver = gpu_->driver();
  std::lock_guard lock(launchMutex_);
  if (!last_ || stream == lastStream_ || isCapturing(stream))
    return Status::success();
  return driver.check(driver.streamWaitEvent(stream, last_, 0), "cuStreamWaitEvent");
}

// By asking again and again: a call that waits would keep the driver to itself.
Status GpuNetwork::awaitRoom(StreamHandle stream, const AbortWord &abort) {
  const Driver &driver = gpu_->driver();
  Current current(*gpu_);
  // What is captured takes no room, and asking for an event ends the capture.
  if (isCapturing(stream))
    return Status::success();
  Backoff backoff(std::chrono::microseconds(50));
  std::lock_guard lock(launchMutex_);
  while (!pending_.empty()) {
    int code = driver.eventQuery(pending_.front());
    if (code == kNotReady) {
      if (pending_.size() < kPending)
        return Status::success();
      MK_TRY(abort.status());
      backoff.pause();
      continue;
    }
    MK_TRY(driver.check(code, "cuEventQuery"));
    free_.push_back(pending_.front());
    pending_.pop_front();
  }
  return Status::success();
}

Status GpuNetwork::launched(StreamHandle stream) {
  const Driver &driver = gpu_->driver();
  std::lock_guard lock(launchMutex_);
  ++since_;
  if (isCapturing(stream))
    return Status::success();
  if (!last_)
    MK_TRY(driver.check(driver.eventCreate(&last_, kEventDisableTiming), "cuEventCreate"));
  MK_TRY(driver.check(driver.eventRecord(last_, stream), "cuEventRecord"));
  lastStream_ = stream;
  if (since_ < kLaunches)
    return Status::success();
  if (free_.empty()) {
    EventHandle fresh = nullptr;
    MK_TRY(driver.check(driver.eventCreate(&fresh, kEventDisableTiming), "cuEventCreate"));
    free_.push_back(fresh);
  }
  MK_TRY(driver.check(driver.eventRecord(free_.back(), stream), "cuEventRecord"));
  pending_.push_back(free_.back());
  free_.pop_back();
  since_ = 0;
  return Status::success();
}
