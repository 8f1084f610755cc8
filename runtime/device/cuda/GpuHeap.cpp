//===- GpuHeap.cpp - Symmetric memory of a GPU ----------------------------===//

#include "device/cuda/GpuHeap.h"

#include "core/Socket.h"
#include "mkernel/Runtime/Log.h"

#include <algorithm>

using namespace mk::rt;
using namespace mk::rt::cuda;

// Segments are not smaller: each is a round of all ranks.
static constexpr uint64_t kSegment = uint64_t(32) << 20;

GpuHeap::GpuHeap(std::shared_ptr<Gpu> gpu, HeapOptions options)
    : Heap(std::move(options), kBytes, /*dataOffset=*/0), gpu_(std::move(gpu)) {
}

/// Memory of `gpu` that other processes may map.
static MemoryProperties propertiesOf(const Gpu &gpu) {
  MemoryProperties p;
  p.device = gpu.handle();
  p.gpuDirectRdma = gpu.attribute(kGpuDirectRdmaWithVmm) > 0;
  return p;
}

Result<std::unique_ptr<Heap>> GpuHeap::create(std::shared_ptr<Gpu> gpu,
                                              HeapOptions options) {
  if (options.rank >= options.world)
    return error(StatusCode::InvalidArgument, "a heap for rank ", options.rank,
                 " of ", options.world);
  for (int needed : {int(kVirtualMemory), int(kPosixDescriptors)})
    if (gpu->attribute(needed) <= 0)
      return error(StatusCode::FailedPrecondition, gpu->name(),
                   " cannot share memory with other processes by descriptors "
                   "(no virtual memory management)");
  options.slots = 0; // signals of GPUs are words of their own
  std::unique_ptr<GpuHeap> heap(new GpuHeap(std::move(gpu), options));
  const Driver &driver = heap->gpu_->driver();
  Current current(*heap->gpu_);
  MemoryProperties properties = propertiesOf(*heap->gpu_);
  size_t granularity = 0;
  MK_TRY(driver.check(driver.memGetGranularity(&granularity, &properties,
                                               kRecommendedGranularity),
                      "cuMemGetAllocationGranularity"));
  heap->granularity_ = std::max<uint64_t>(granularity, 1);
  MK_TRY(heap->reserve(options.rank));
  return std::unique_ptr<Heap>(std::move(heap));
}

GpuHeap::~GpuHeap() {
  const Driver &driver = gpu_->driver();
  Current current(*gpu_);
  for (const Mapping &mapping : mappings_) {
    driver.memUnmap(mapping.address, mapping.bytes);
    driver.memRelease(mapping.memory);
  }
  for (uint64_t range : ranges_)
    driver.memAddressFree(range, kBytes);
}

Status GpuHeap::reserve(uint32_t rank) {
  uint64_t range = 0;
  MK_TRY(gpu_->driver().check(
      gpu_->driver().memAddressReserve(&range, kBytes, granularity_, 0, 0),
      str("reserving ", kBytes, " addresses for the symmetric memory of rank ",
          rank)));
  ranges_.push_back(range);
  setBase(rank, reinterpret_cast<std::byte *>(range));
  return Status::ok();
}

Status GpuHeap::map(uint32_t rank, uint64_t memory, uint64_t offset,
                    uint64_t bytes, std::string_view what) {
  const Driver &driver = gpu_->driver();
  uint64_t address = reinterpret_cast<uint64_t>(peerPointer(rank, offset));
  if (int code = driver.memMap(address, bytes, 0, memory, 0)) {
    driver.memRelease(memory);
    return driver.check(code, str("mapping ", what));
  }
  mappings_.push_back({address, bytes, memory});
  MemoryAccess access;
  access.device = gpu_->handle();
  return driver.check(driver.memSetAccess(address, bytes, &access, 1), what);
}

uint64_t GpuHeap::segmentBytes(uint64_t missing) const {
  uint64_t bytes = std::max(missing, kSegment);
  return (bytes + granularity_ - 1) / granularity_ * granularity_;
}

std::string GpuHeap::device() const {
  return str(gpu_->info().uuid, " (", gpu_->info().name, ")");
}

Result<Fd> GpuHeap::addSegment(uint64_t offset, uint64_t bytes) {
  const Driver &driver = gpu_->driver();
  Current current(*gpu_);
  MemoryProperties properties = propertiesOf(*gpu_);
  uint64_t memory = 0;
  int code = driver.memCreate(&memory, bytes, &properties, 0);
  if (code) {
    Status status = driver.check(
        code, str(bytes, " bytes of symmetric memory on ", gpu_->name(),
                  ", which has ", gpu_->info().memoryBytes));
    return code == kOutOfMemory
               ? error(status.code(), status.message(),
                       ": use smaller sizes, or free memory that others hold")
               : status;
  }
  MK_TRY(map(rank(), memory, offset, bytes,
             str("memory of ", gpu_->name(), " for itself")));
  // Peers may write as soon as they have mapped it.
  MK_TRY(clear(base() + offset, bytes));
  if (world() == 1)
    return Fd();
  int fd = -1;
  MK_TRY(driver.check(
      driver.memExport(&fd, memory, kPosixDescriptor, 0),
      str("a descriptor of memory of ", gpu_->name(), " for its peers")));
  return Fd(fd);
}

Status GpuHeap::clear(std::byte *begin, uint64_t bytes) {
  const Driver &driver = gpu_->driver();
  Current current(*gpu_);
  if (bytes)
    MK_TRY(driver.check(driver.memsetD8Async(reinterpret_cast<uint64_t>(begin),
                                             0, bytes, nullptr),
                        "cuMemsetD8Async"));
  return driver.check(driver.streamSynchronize(nullptr), "cuStreamSynchronize");
}

Status GpuHeap::mapSegment(uint32_t peer, const Fd &segment, uint64_t offset,
                           uint64_t bytes, std::string_view device) {
  if (device == this->device())
    return error(StatusCode::InvalidArgument, "ranks ", rank(), " and ", peer,
                 " both use ", device,
                 ": kernels of ranks wait for one another, so each rank needs a "
                 "GPU of its own (ContextOptions::gpu, or CUDA_VISIBLE_DEVICES of "
                 "each process)");
  const Driver &driver = gpu_->driver();
  Current current(*gpu_);
  if (!reachable(peer))
    MK_TRY(reserve(peer));
  std::string what = str("memory of rank ", peer, " on ", device);
  uint64_t memory = 0;
  MK_TRY(driver.check(
      driver.memImport(&memory,
                       reinterpret_cast<void *>(uintptr_t(segment.get())),
                       kPosixDescriptor),
      str("importing ", what)));
  Status status = map(peer, memory, offset, bytes, what);
  if (status.isOk())
    return status;
  return error(StatusCode::FailedPrecondition, this->device(), " of rank ",
               rank(), " does not reach ", what, " (", status.message(),
               "): ranks along a link axis need GPUs that are connected by NVLink, or "
               "by PCIe with peer access (nvidia-smi topo -p2p rw); put them "
               "along a net axis, or choose other GPUs");
}
