//===- FakeMemory.cpp - Memory of the fake driver -------------------------===//

#include "FakeCalls.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

namespace mk::rt::test::driver {
namespace {

/// Ranks of a test are threads of one process.
std::mutex guard;

uint64_t usedMemory() {
  uint64_t used = 0;
  for (auto &[at, size] : fake.blocks)
    used += size;
  for (auto &[handle, file] : fake.files)
    used += file.bytes;
  return used;
}
/// What there really is of reserved addresses, where there is no room for all: under the
/// thread sanitizer. Other memory may lie in the rest then.
constexpr size_t kFewAddresses = size_t(4) << 30;
std::map<uint64_t, size_t> ranges; // what is mapped

} // namespace

int memGetGranularity(size_t *bytes, const MemoryProperties *, int) {
  *bytes = size_t(2) << 20;
  return 0;
}

int memAddressReserve(uint64_t *address, size_t bytes, size_t, uint64_t,
                      unsigned long long) {
  ENTER("cuMemAddressReserve", true);
  auto reserve = [](size_t size) {
    return ::mmap(nullptr, size, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE,
                  -1, 0);
  };
  size_t mapped = bytes;
  void *range = reserve(mapped);
  if (range == MAP_FAILED && bytes > kFewAddresses)
    range = reserve(mapped = kFewAddresses);
  if (range == MAP_FAILED)
    return 2;
  std::lock_guard lock(guard);
  *address = reinterpret_cast<uint64_t>(range);
  fake.reserved[*address] = bytes;
  ranges[*address] = mapped;
  return 0;
}
int memAddressFree(uint64_t address, size_t bytes) {
  std::lock_guard lock(guard);
  auto it = fake.reserved.find(address);
  if (it == fake.reserved.end() || it->second != bytes)
    return 1;
  fake.reserved.erase(it);
  return ::munmap(reinterpret_cast<void *>(address), ranges.at(address)) ? 1 : 0;
}
int memCreate(uint64_t *memory, size_t bytes, const MemoryProperties *p,
              unsigned long long) {
  ENTER("cuMemCreate", true);
  std::lock_guard lock(guard);
  if (p->handles != kPosixDescriptor || bytes % (size_t(2) << 20))
    return 1;
  if (usedMemory() + bytes > fake.memoryBytes || p->device == fake.fullDevice)
    return 2;
  int fd = ::memfd_create("fake-gpu", MFD_CLOEXEC);
  // Whose it is travels with the file, as its first unused byte.
  if (fd < 0 || ::ftruncate(fd, off_t(bytes) + p->device) < 0)
    return 2;
  *memory = ++fake.lastFile;
  fake.rdmaSegments += p->gpuDirectRdma;
  fake.files[*memory] = {fd, p->device, bytes};
  return 0;
}
int memRelease(uint64_t memory) {
  std::lock_guard lock(guard);
  auto it = fake.files.find(memory);
  if (it == fake.files.end())
    return 1;
  ::close(it->second.fd);
  fake.files.erase(it);
  return 0;
}
int memMap(uint64_t address, size_t bytes, size_t offset, uint64_t memory,
           unsigned long long) {
  ENTER("cuMemMap", true);
  std::lock_guard lock(guard);
  auto it = fake.files.find(memory);
  if (it == fake.files.end() || it->second.bytes != bytes || offset)
    return 1;
  void *at = reinterpret_cast<void *>(address);
  if (::mmap(at, bytes, PROT_NONE, MAP_SHARED | MAP_FIXED, it->second.fd, 0) != at)
    return 2;
  fake.mapped[address] = bytes;
  fake.ownerOf[address] = it->second.device;
  return 0;
}
int memUnmap(uint64_t address, size_t bytes) {
  std::lock_guard lock(guard);
  if (fake.mapped.erase(address) != 1)
    return 1;
  fake.ownerOf.erase(address);
  ::mmap(reinterpret_cast<void *>(address), bytes, PROT_NONE,
         MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED, -1, 0);
  return 0;
}
int memSetAccess(uint64_t address, size_t bytes, const MemoryAccess *access,
                 size_t count) {
  ENTER("cuMemSetAccess", true);
  std::lock_guard lock(guard);
  auto it = fake.mapped.find(address);
  if (it == fake.mapped.end() || it->second != bytes || count != 1 ||
      access->flags != 3)
    return 1;
  if (!fake.peerAccess && fake.ownerOf[address] != access->device)
    return 217;
  return ::mprotect(reinterpret_cast<void *>(address), bytes,
                    PROT_READ | PROT_WRITE)
             ? 1
             : 0;
}
int memExport(void *to, uint64_t memory, int kind, unsigned long long) {
  ENTER("cuMemExportToShareableHandle", true);
  std::lock_guard lock(guard);
  auto it = fake.files.find(memory);
  if (it == fake.files.end() || kind != kPosixDescriptor)
    return 1;
  *static_cast<int *>(to) = ::fcntl(it->second.fd, F_DUPFD_CLOEXEC, 0);
  return 0;
}
int memImport(uint64_t *memory, void *descriptor, int kind) {
  ENTER("cuMemImportFromShareableHandle", true);
  std::lock_guard lock(guard);
  int fd = ::fcntl(int(reinterpret_cast<uintptr_t>(descriptor)),
                   F_DUPFD_CLOEXEC, 0);
  struct stat info {};
  if (fd < 0 || ::fstat(fd, &info) || kind != kPosixDescriptor)
    return 1;
  uint64_t bytes = uint64_t(info.st_size) >> 12 << 12;
  *memory = ++fake.lastFile;
  fake.files[*memory] = {fd, int(info.st_size - off_t(bytes)), bytes};
  return 0;
}
int memAlloc(uint64_t *address, size_t bytes) {
  ENTER("cuMemAlloc", true);
  std::lock_guard lock(guard);
  if (usedMemory() + bytes > fake.memoryBytes)
    return 2;
  *address = reinterpret_cast<uint64_t>(
      std::aligned_alloc(256, (bytes + 255) / 256 * 256));
  std::memset(reinterpret_cast<void *>(*address), 0xcd, bytes);
  fake.blocks[*address] = bytes;
  return 0;
}
int memFree(uint64_t address) {
  int code = enter("cuMemFree", true);
  std::lock_guard lock(guard);
  // The memory goes even after a failure, or leaks hide others.
  if (fake.blocks.erase(address) != 1)
    return 1;
  std::free(reinterpret_cast<void *>(address));
  return code;
}
int memHostAlloc(void **host, size_t bytes, unsigned) {
  ENTER("cuMemHostAlloc", true);
  std::lock_guard lock(guard);
  *host = std::aligned_alloc(256, (bytes + 255) / 256 * 256);
  fake.pinned[reinterpret_cast<uint64_t>(*host)] = bytes;
  return 0;
}
int memFreeHost(void *host) {
  int code = enter("cuMemFreeHost", true);
  std::lock_guard lock(guard);
  fake.pinned.erase(reinterpret_cast<uint64_t>(host));
  std::free(host);
  return code;
}
int memHostGetDevicePointer(uint64_t *address, void *host, unsigned) {
  *address = reinterpret_cast<uint64_t>(host);
  return 0;
}
static int copy(const char *name, void *to, const void *source, size_t bytes,
         StreamHandle stream) {
  ENTER(name, streamOf(stream).capturing);
  std::memcpy(to, source, bytes);
  std::lock_guard lock(guard);
  fake.copiedIn.push_back(stream);
  return 0;
}
int memcpyHtoDAsync(uint64_t to, const void *source, size_t bytes,
                    StreamHandle stream) {
  return copy("cuMemcpyHtoDAsync", reinterpret_cast<void *>(to), source, bytes,
              stream);
}
int memcpyDtoHAsync(void *to, uint64_t source, size_t bytes,
                    StreamHandle stream) {
  return copy("cuMemcpyDtoHAsync", to, reinterpret_cast<void *>(source), bytes,
              stream);
}
int memcpyDtoDAsync(uint64_t to, uint64_t source, size_t bytes, StreamHandle stream) {
  return copy("cuMemcpyDtoDAsync", reinterpret_cast<void *>(to),
              reinterpret_cast<void *>(source), bytes, stream);
}
int memcpy2DAsync(const Copy2D *rows, StreamHandle stream) {
  for (size_t row = 0; row < rows->height; ++row)
    if (int code = copy("cuMemcpy2DAsync",
                        reinterpret_cast<void *>(rows->dstDevice + row * rows->dstPitch),
                        reinterpret_cast<void *>(rows->srcDevice + row * rows->srcPitch),
                        rows->widthInBytes, stream))
      return code;
  return 0;
}
int memHostRegister(void *host, size_t bytes, unsigned) {
  ENTER("cuMemHostRegister", true);
  std::lock_guard lock(guard);
  return fake.registered.emplace(reinterpret_cast<uint64_t>(host), bytes).second ? 0 : 1;
}
int memHostUnregister(void *host) {
  ENTER("cuMemHostUnregister", true);
  std::lock_guard lock(guard);
  return fake.registered.erase(reinterpret_cast<uint64_t>(host)) ? 0 : 1;
}
int memGetHandleForRange(void *to, uint64_t address, size_t bytes, int kind,
                         unsigned long long flags) {
  ENTER(flags ? "cuMemGetHandleForAddressRange, PCIe" : "cuMemGetHandleForAddressRange");
  std::lock_guard lock(guard);
  if (kind != kDmaBufDescriptor || address % 4096 || bytes % 4096)
    return 1;
  if (flags && fake.dmaBufPcieCode)
    return fake.dmaBufPcieCode;
  for (auto &[at, size] : fake.mapped)
    if (address >= at && address + bytes <= at + size) {
      *static_cast<int *>(to) = ::memfd_create("fake-dma-buf", MFD_CLOEXEC);
      return 0;
    }
  return 1;
}
int flushRemoteWrites(int target, int scope) {
  ENTER("cuFlushGPUDirectRDMAWrites");
  return target == kFlushCurrentContext && scope == kFlushToOwner ? 0 : 1;
}
int memsetD8Async(uint64_t to, unsigned char value, size_t bytes,
                  StreamHandle) {
  ENTER("cuMemsetD8Async");
  std::memset(reinterpret_cast<void *>(to), value, bytes);
  return 0;
}
int memGetAddressRange(uint64_t *from, size_t *size, uint64_t address) {
  for (auto &[at, bytes] : fake.blocks)
    if (address >= at && address < at + bytes) {
      *from = at;
      *size = bytes;
      return 0;
    }
  return 1;
}
int pointerGetAttribute(void *value, int which, uint64_t address) {
  if (which != kPointerMemoryType)
    return 1;
  for (auto *known : {&fake.blocks, &fake.pinned})
    for (auto &[at, bytes] : *known)
      if (address >= at && address < at + bytes) {
        *static_cast<int *>(value) = known == &fake.blocks ? 2 : 1;
        return 0;
      }
  return 1;
}

} // namespace mk::rt::test::driver
