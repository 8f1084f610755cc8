//===- GpuHeap.cpp - Symmetric memory of a GPU ----------------------------===//

#include "device/cuda/GpuHeap.h"

#include "core/Socket.h"
#include "device/cuda/Copies.h"
#include "mkernel/ABI/Command.h"
#include "mkernel/Runtime/Log.h"

#include <algorithm>

using namespace mk::rt;
using namespace mk::rt::cuda;

// Segments are not smaller: each is a round of all ranks.
static constexpr uint64_t kSegment = uint64_t(32) << 20;

//===----------------------------------------------------------------------===//
// Ranges of addresses
//===----------------------------------------------------------------------===//

MappedRanges::MappedRanges(std::shared_ptr<Gpu> gpu, uint32_t world)
    : gpu_(std::move(gpu)), bases_(world) {}

MappedRanges::~MappedRanges() {
  const Driver &driver = gpu_->driver();
  Current current(*gpu_);
  for (const Mapping &mapping : mappings_) {
    driver.memUnmap(mapping.address, mapping.bytes);
    driver.memRelease(mapping.memory);
  }
  for (uint64_t base : bases_)
    if (base)
      driver.memAddressFree(base, kBytes);
}

Status MappedRanges::reserve(uint32_t rank, uint64_t alignment) {
  return gpu_->driver().check(
      gpu_->driver().memAddressReserve(&bases_[rank], kBytes, alignment, 0, 0),
      str("reserving ", kBytes, " addresses for the symmetric memory of rank ", rank));
}

Status MappedRanges::map(uint32_t rank, uint64_t memory, uint64_t offset, uint64_t bytes,
                         std::string_view what) {
  const Driver &driver = gpu_->driver();
  uint64_t address = bases_[rank] + offset;
  if (int code = driver.memMap(address, bytes, 0, memory, 0)) {
    driver.memRelease(memory);
    return driver.check(code, str("mapping ", what));
  }
  mappings_.push_back({address, bytes, memory});
  MemoryAccess access;
  access.device = gpu_->handle();
  return driver.check(driver.memSetAccess(address, bytes, &access, 1), what);
}

Status MappedRanges::import(uint32_t rank, const Fd &segment, uint64_t offset,
                            uint64_t bytes, std::string_view what) {
  const Driver &driver = gpu_->driver();
  if (!bases_[rank])
    MK_TRY(reserve(rank, 0));
  uint64_t memory = 0;
  MK_TRY(driver.check(
      driver.memImport(&memory, reinterpret_cast<void *>(uintptr_t(segment.get())),
                       kPosixDescriptor),
      str("importing ", what)));
  return map(rank, memory, offset, bytes, what);
}

void MappedRanges::unmap(uint32_t rank, uint64_t offset) {
  const Driver &driver = gpu_->driver();
  std::erase_if(mappings_, [&](const Mapping &mapping) {
    if (mapping.address != bases_[rank] + offset)
      return false;
    driver.memUnmap(mapping.address, mapping.bytes);
    driver.memRelease(mapping.memory);
    return true;
  });
}

uint64_t MappedRanges::memoryAt(uint32_t rank, uint64_t offset) const {
  for (const Mapping &mapping : mappings_)
    if (mapping.address == bases_[rank] + offset)
      return mapping.memory;
  return 0;
}

//===----------------------------------------------------------------------===//
// The heap
//===----------------------------------------------------------------------===//

GpuHeap::GpuHeap(std::shared_ptr<Gpu> gpu, HeapOptions options)
    : Heap(options, kBytes, /*dataOffset=*/0), gpu_(gpu),
      ranges_(std::move(gpu), options.world) {
  // Below 100 (the GPU itself) what a NIC wrote may be seen later than what the host says
  // of it.
  flushes_ = gpu_->attribute(kGpuDirectWritesOrdering) < 100 &&
             (gpu_->attribute(kGpuDirectFlushOptions) & 1);
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
  if (options.slots > MK_COMMAND_MAX_SLOTS)
    return error(StatusCode::InvalidArgument, "a heap with ", options.slots,
                 " signal slots: a command can name ", MK_COMMAND_MAX_SLOTS,
                 " (ContextOptions::slots)");
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

GpuHeap::~GpuHeap() = default;

Status GpuHeap::reserve(uint32_t rank) {
  MK_TRY(ranges_.reserve(rank, granularity_));
  setBase(rank, reinterpret_cast<std::byte *>(ranges_.base(rank)));
  return Status::success();
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
  MK_TRY(ranges_.map(rank(), memory, offset, bytes,
                     str("memory of ", gpu_->name(), " for itself")));
  // Peers may write as soon as they have mapped it.
  MK_TRY(clear(base() + offset, bytes));
  if (world() == 1)
    return Fd();
  return exportSegment(offset, bytes);
}

void GpuHeap::dropSegment(uint64_t offset, uint64_t) {
  Current current(*gpu_);
  ranges_.unmap(rank(), offset);
}

Result<Fd> GpuHeap::exportSegment(uint64_t offset, uint64_t) {
  const Driver &driver = gpu_->driver();
  Current current(*gpu_);
  int fd = -1;
  MK_TRY(driver.check(
      driver.memExport(&fd, ranges_.memoryAt(rank(), offset), kPosixDescriptor, 0),
      str("a descriptor of memory of ", gpu_->name(), " for its peers")));
  return Fd(fd);
}

Result<std::unique_ptr<HeapCopies>> GpuHeap::openCopies() {
  return GpuCopies::create(gpu_, *this);
}

// By PCIe, where the driver can say so (CUDA 12.8): else a NIC may be given addresses of
// another link, which only some reach.
Result<Fd> GpuHeap::dmaBuf(uint64_t offset, uint64_t bytes) {
  constexpr uint64_t kPage = 4096;
  if (gpu_->attribute(kDmaBuf) <= 0)
    return error(StatusCode::FailedPrecondition, gpu_->name(),
                 " gives its memory to no NIC by dma-buf: its driver needs the open kernel "
                 "modules, and Linux 5.12 or newer");
  uint64_t begin = reinterpret_cast<uint64_t>(base()) + offset;
  if (begin % kPage || bytes % kPage)
    return error(StatusCode::InvalidArgument, "a dma-buf of bytes ", offset, " to ",
                 offset + bytes, " of the heap: use multiples of ", kPage);
  const Driver &driver = gpu_->driver();
  Current current(*gpu_);
  int fd = -1, code = kSuccess;
  for (unsigned long long flags : {static_cast<unsigned long long>(kDmaBufPcie), 0ull}) {
    code = driver.memGetHandleForRange(&fd, begin, bytes, kDmaBufDescriptor, flags);
    if (code == kSuccess)
      return Fd(fd);
  }
  return driver.check(code, str("a dma-buf of memory of ", gpu_->name()));
}

Status GpuHeap::checkPeer(uint32_t peer, std::string_view device) const {
  if (device != this->device() || options().sharesGpu)
    return Status::success();
  return error(StatusCode::InvalidArgument, "ranks ", rank(), " and ", peer,
               " both use ", device,
               ": kernels of ranks wait for one another, so each rank needs a "
               "GPU of its own (ContextOptions::gpu, or CUDA_VISIBLE_DEVICES of "
               "each process); to try whether results are right, GPUs can be shared "
               "(ContextOptions::ranksPerGpu, mk-run --ranks-per-gpu)");
}

Status GpuHeap::flushRemoteWrites() {
  if (!flushes_)
    return Status::success();
  Current current(*gpu_);
  return gpu_->driver().check(
      gpu_->driver().flushRemoteWrites(kFlushCurrentContext, kFlushToOwner),
      "cuFlushGPUDirectRDMAWrites");
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
  MK_TRY(checkPeer(peer, device));
  Current current(*gpu_);
  if (!reachable(peer))
    MK_TRY(reserve(peer));
  std::string what = str("memory of rank ", peer, " on ", device);
  Status status = ranges_.import(peer, segment, offset, bytes, what);
  if (status.isOk())
    return status;
  return error(StatusCode::FailedPrecondition, this->device(), " of rank ",
               rank(), " does not reach ", what, " (", status.message(),
               "): ranks along a link axis need GPUs that are connected by NVLink, or "
               "by PCIe with peer access (nvidia-smi topo -p2p rw); put them "
               "along a net axis, or choose other GPUs");
}
