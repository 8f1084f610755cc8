//===- Copies.cpp - Copies from and to the memory of a GPU ----------------===//

#include "device/cuda/Copies.h"

#include "core/Socket.h"

#include <algorithm>
#include <utility>

using namespace mk::rt;
using namespace mk::rt::cuda;

//===----------------------------------------------------------------------===//
// Streams
//===----------------------------------------------------------------------===//

Result<Stream> Stream::create(std::shared_ptr<Gpu> gpu) {
  const Driver &driver = gpu->driver();
  Current current(*gpu);
  Stream stream;
  int lowest = 0, highest = 0;
  MK_TRY(driver.check(driver.streamPriorities(&lowest, &highest),
                      "cuCtxGetStreamPriorityRange"));
  MK_TRY(driver.check(
      driver.streamCreatePrioritized(&stream.handle_, kStreamNonBlocking, highest),
      "cuStreamCreateWithPriority"));
  stream.gpu_ = std::move(gpu);
  return stream;
}

Stream &Stream::operator=(Stream &&other) noexcept {
  std::swap(gpu_, other.gpu_);
  std::swap(handle_, other.handle_);
  return *this;
}

Stream::~Stream() {
  if (!gpu_)
    return;
  Current current(*gpu_);
  gpu_->driver().streamSynchronize(handle_);
  gpu_->driver().streamDestroy(handle_);
}

//===----------------------------------------------------------------------===//
// Copies
//===----------------------------------------------------------------------===//

GpuCopies::GpuCopies(std::shared_ptr<Gpu> gpu, GpuHeap &heap)
    : gpu_(gpu), heap_(heap), peers_(std::move(gpu), heap.world()) {}

Result<std::unique_ptr<HeapCopies>> GpuCopies::create(std::shared_ptr<Gpu> gpu,
                                                      GpuHeap &heap) {
  std::unique_ptr<GpuCopies> copies(new GpuCopies(gpu, heap));
  MK_ASSIGN(copies->stream_, Stream::create(gpu));
  return std::unique_ptr<HeapCopies>(std::move(copies));
}

GpuCopies::~GpuCopies() {
  const Driver &driver = gpu_->driver();
  Current current(*gpu_);
  // Before what it copies from and to goes.
  stream_ = Stream();
  for (std::byte *memory : pinned_)
    driver.memHostUnregister(memory);
  for (EventHandle event : marks_)
    driver.eventDestroy(event);
  for (EventHandle event : free_)
    driver.eventDestroy(event);
}

uint64_t GpuCopies::here(uint64_t offset) const {
  return reinterpret_cast<uint64_t>(heap_.base()) + offset;
}

Result<Fd> GpuCopies::exportSegment(uint64_t offset, uint64_t bytes) {
  return heap_.exportSegment(offset, bytes);
}

Status GpuCopies::mapSegment(uint32_t peer, const Fd &segment, uint64_t offset,
                             uint64_t bytes, std::string_view device) {
  MK_TRY(checkPeer(peer, device));
  Current current(*gpu_);
  std::string what = str("memory of rank ", peer, " on ", device);
  Status status = peers_.import(peer, segment, offset, bytes, what);
  if (status.isOk())
    return status;
  return error(StatusCode::FailedPrecondition, heap_.deviceName(), " of rank ",
               heap_.rank(), " does not reach ", what, " (", status.message(),
               "), which the emulated network copies to: connect the GPUs by NVLink, or by "
               "PCIe with peer access (nvidia-smi topo -p2p rw), or let it go through memory "
               "of the host (--loopback path=staged)");
}

Status GpuCopies::checkPeer(uint32_t peer, std::string_view device) const {
  return heap_.checkPeer(peer, device);
}

std::string GpuCopies::device() const { return heap_.deviceName(); }

Status GpuCopies::pin(std::byte *memory, uint64_t bytes) {
  const Driver &driver = gpu_->driver();
  Current current(*gpu_);
  MK_TRY(driver.check(
      driver.memHostRegister(memory, bytes, kHostAllocPortable),
      str("cuMemHostRegister of ", bytes,
          " bytes (is the limit of locked memory, ulimit -l, too low?)")));
  pinned_.push_back(memory);
  return Status::success();
}

Status GpuCopies::toPeer(uint32_t peer, uint64_t dst, uint64_t src, uint64_t bytes) {
  const Driver &driver = gpu_->driver();
  Current current(*gpu_);
  uint64_t base = peers_.base(peer);
  if (!base)
    base = reinterpret_cast<uint64_t>(heap_.peerPointer(peer, uint64_t(0)));
  return driver.check(driver.memcpyDtoDAsync(base + dst, here(src), bytes,
                                             stream_.handle()),
                      "cuMemcpyDtoDAsync");
}

Status GpuCopies::toHost(std::byte *to, uint64_t src, uint64_t bytes) {
  const Driver &driver = gpu_->driver();
  Current current(*gpu_);
  return driver.check(driver.memcpyDtoHAsync(to, here(src), bytes, stream_.handle()),
                      "cuMemcpyDtoHAsync");
}

Status GpuCopies::fromHost(uint64_t dst, const std::byte *from, uint64_t bytes) {
  const Driver &driver = gpu_->driver();
  Current current(*gpu_);
  return driver.check(driver.memcpyHtoDAsync(here(dst), from, bytes, stream_.handle()),
                      "cuMemcpyHtoDAsync");
}

Result<uint64_t> GpuCopies::mark() {
  const Driver &driver = gpu_->driver();
  Current current(*gpu_);
  if (free_.empty()) {
    EventHandle fresh = nullptr;
    MK_TRY(driver.check(driver.eventCreate(&fresh, kEventDisableTiming), "cuEventCreate"));
    free_.push_back(fresh);
  }
  MK_TRY(driver.check(driver.eventRecord(free_.back(), stream_.handle()), "cuEventRecord"));
  marks_.push_back(free_.back());
  free_.pop_back();
  return ++marked_;
}

Result<uint64_t> GpuCopies::reached() {
  const Driver &driver = gpu_->driver();
  Current current(*gpu_);
  while (!marks_.empty()) {
    int code = driver.eventQuery(marks_.front());
    if (code == kNotReady)
      break;
    MK_TRY(driver.check(code, "copying for the network"));
    free_.push_back(marks_.front());
    marks_.pop_front();
    ++reached_;
  }
  return reached_;
}
