//===- DriverMemory.cpp - Memory of the driver in front of the machine ----===//
//
// It is that of memory files, which the machine and the processes of other ranks map.
//
//===----------------------------------------------------------------------===//

#include "Driver.h"

#include <cinttypes>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fcntl.h>
#include <map>
#include <sys/stat.h>

namespace mk::ptx::driver {
namespace {

constexpr size_t kPage = 4096, kGranularity = size_t(2) << 20;

/// What is left of a GPU's memory, of which this process takes and gives back.
class Budget {
public:
  Budget() {
    if (const char *text = std::getenv(kMemory))
      std::sscanf(text, "%d:%" SCNu64, &gpu, &left);
  }
  bool take(int of, uint64_t bytes) {
    if (of != gpu)
      return true;
    if (bytes > left)
      return false;
    left -= bytes;
    return true;
  }
  void giveBack(int of, uint64_t bytes) { left += of == gpu ? bytes : 0; }

private:
  int gpu = -1;
  uint64_t left = 0;
} budget;

struct Memory {
  uint64_t bytes = 0;
  bool host = false;
};
std::map<uint64_t, Memory> blocks; // by address
struct File {
  int fd = -1, device = 0;
  uint64_t bytes = 0;
};
std::map<uint64_t, File> files; // by handle
uint64_t lastFile = 0;
std::map<uint64_t, uint64_t> mapped; // address, handle

int mapFile(int fd, uint64_t bytes, uint64_t at, uint64_t *address, bool host = false) {
  void *wanted = reinterpret_cast<void *>(at);
  void *memory = ::mmap(wanted, bytes, PROT_READ | PROT_WRITE,
                        MAP_SHARED | (at ? MAP_FIXED : 0), fd, 0);
  if (memory == MAP_FAILED)
    return kNoMemory;
  *address = reinterpret_cast<uint64_t>(memory);
  Request request;
  request.kind = Request::Map;
  request.a = *address;
  request.b = bytes;
  request.c = host;
  return ask(request, fd);
}
int allocate(uint64_t *address, size_t bytes, bool host) {
  std::lock_guard lock(guard);
  if (!host && !budget.take(device, bytes))
    return kNoMemory;
  int fd = memoryFile(nullptr, (bytes + kPage - 1) / kPage * kPage);
  if (fd < 0)
    return kNoMemory;
  // The machine may not go beyond what was asked for.
  int code = mapFile(fd, bytes, 0, address, host);
  ::close(fd);
  blocks[*address] = {bytes, host};
  if (!host) // what nobody has written is no number
    std::memset(reinterpret_cast<void *>(*address), 0xff, bytes);
  return code;
}
int release(uint64_t address) {
  std::lock_guard lock(guard);
  auto it = blocks.find(address);
  if (it == blocks.end())
    return kInvalid;
  ::munmap(reinterpret_cast<void *>(address), it->second.bytes);
  if (!it->second.host)
    budget.giveBack(device, it->second.bytes);
  blocks.erase(it);
  return ask(Request::Unmap, address, 0);
}

} // namespace

int memAlloc(uint64_t *address, size_t bytes) {
  return allocate(address, bytes, false);
}
int memFree(uint64_t address) { return release(address); }
int memHostAlloc(void **host, size_t bytes, unsigned) {
  uint64_t address = 0;
  int code = allocate(&address, bytes, true);
  *host = reinterpret_cast<void *>(address);
  return code;
}
int memFreeHost(void *host) {
  return release(reinterpret_cast<uint64_t>(host));
}
int memHostGetDevicePointer(uint64_t *address, void *host, unsigned) {
  *address = reinterpret_cast<uint64_t>(host);
  return 0;
}
int memGetGranularity(size_t *bytes, const MemoryProperties *, int) {
  *bytes = kGranularity;
  return 0;
}
int memAddressReserve(uint64_t *address, size_t bytes, size_t, uint64_t,
                      unsigned long long) {
  void *range = ::mmap(nullptr, bytes, PROT_NONE,
                       MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  *address = reinterpret_cast<uint64_t>(range);
  return range == MAP_FAILED ? kNoMemory : 0;
}
int memAddressFree(uint64_t address, size_t bytes) {
  return ::munmap(reinterpret_cast<void *>(address), bytes) ? kInvalid : 0;
}
int memCreate(uint64_t *memory, size_t bytes, const MemoryProperties *p,
              unsigned long long) {
  std::lock_guard lock(guard);
  if (!budget.take(p->device, bytes))
    return kNoMemory;
  int fd = memoryFile(nullptr, bytes);
  if (fd < 0)
    return kNoMemory;
  *memory = ++lastFile;
  files[*memory] = {fd, p->device, bytes};
  return 0;
}
int memRelease(uint64_t memory) {
  std::lock_guard lock(guard);
  auto it = files.find(memory);
  if (it == files.end())
    return kInvalid;
  ::close(it->second.fd);
  budget.giveBack(it->second.device, it->second.bytes);
  files.erase(it);
  return 0;
}
int memMap(uint64_t address, size_t bytes, size_t, uint64_t memory,
           unsigned long long) {
  std::lock_guard lock(guard);
  auto it = files.find(memory);
  if (it == files.end() || it->second.bytes < bytes)
    return kInvalid;
  mapped[address] = memory;
  return mapFile(it->second.fd, bytes, address, &address);
}
int memUnmap(uint64_t address, size_t bytes) {
  std::lock_guard lock(guard);
  if (!mapped.erase(address))
    return kInvalid;
  ::mmap(reinterpret_cast<void *>(address), bytes, PROT_NONE,
         MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED, -1, 0);
  return ask(Request::Unmap, address, 0);
}
int memSetAccess(uint64_t, size_t, const MemoryAccess *, size_t) { return 0; }
int memExport(void *to, uint64_t memory, int, unsigned long long) {
  std::lock_guard lock(guard);
  auto it = files.find(memory);
  if (it == files.end())
    return kInvalid;
  *static_cast<int *>(to) = ::fcntl(it->second.fd, F_DUPFD_CLOEXEC, 0);
  return 0;
}
int memImport(uint64_t *memory, void *descriptor, int) {
  std::lock_guard lock(guard);
  int fd =
      ::fcntl(int(reinterpret_cast<uintptr_t>(descriptor)), F_DUPFD_CLOEXEC, 0);
  struct stat info {};
  if (fd < 0 || ::fstat(fd, &info))
    return kInvalid;
  *memory = ++lastFile;
  files[*memory] = {fd, -2, uint64_t(info.st_size)}; // another process's
  return 0;
}
int memcpyHtoDAsync(uint64_t to, const void *source, size_t bytes,
                    StreamHandle stream) {
  if (streamOf(stream).isProxys)
    return askAsProxy(Request::Write, to, 0, bytes, source);
  std::lock_guard lock(guard);
  if (int code = waitForAll())
    return code;
  std::memcpy(reinterpret_cast<void *>(to), source, bytes);
  return ask(Request::Upload, to, bytes);
}
int memcpyDtoHAsync(void *to, uint64_t source, size_t bytes, StreamHandle stream) {
  if (streamOf(stream).isProxys)
    return askAsProxy(Request::Read, 0, source, bytes, nullptr, to);
  std::lock_guard lock(guard);
  if (int code = waitForAll())
    return code;
  std::memcpy(to, reinterpret_cast<void *>(source), bytes);
  return ask(Request::Download, source, bytes);
}
int memcpyDtoDAsync(uint64_t to, uint64_t source, size_t bytes, StreamHandle stream) {
  if (streamOf(stream).isProxys && !streamOf(stream).origin)
    return askAsProxy(Request::Copy, to, source, bytes);
  std::lock_guard lock(guard);
  return copyBeside(to, source, bytes, stream);
}
int memcpy2DAsync(const Copy2D *copy, StreamHandle stream) {
  std::lock_guard lock(guard);
  for (size_t row = 0; row < copy->height; ++row)
    if (int code = copyBeside(copy->dstDevice + row * copy->dstPitch,
                              copy->srcDevice + row * copy->srcPitch, copy->widthInBytes, stream))
      return code;
  return 0;
}
int memHostRegister(void *, size_t, unsigned) { return 0; }
int memHostUnregister(void *) { return 0; }
int memGetHandleForRange(void *, uint64_t, size_t, int, unsigned long long) {
  return kUnsupported;
}
int flushRemoteWrites(int, int) { return kUnsupported; }
int streamWriteValue32(StreamHandle, uint64_t address, uint32_t value, unsigned) {
  return askAsProxy(Request::Publish, address, 0, value);
}
int memsetD8Async(uint64_t to, unsigned char value, size_t bytes,
                  StreamHandle stream) {
  if (streamOf(stream).isProxys) {
    std::vector<unsigned char> data(bytes, value);
    return askAsProxy(Request::Write, to, 0, bytes, data.data());
  }
  std::lock_guard lock(guard);
  if (int code = waitForAll())
    return code;
  // A file that nobody has written is zero, and stays without pages.
  auto *memory = reinterpret_cast<unsigned char *>(to);
  bool fresh = value == 0 && mapped.count(to);
  if (!fresh)
    std::memset(memory, value, bytes);
  return ask(Request::Upload, to, bytes);
}
int memGetAddressRange(uint64_t *from, size_t *size, uint64_t address) {
  std::lock_guard lock(guard);
  for (auto &[at, block] : blocks)
    if (address >= at && address < at + block.bytes && !block.host) {
      *from = at;
      *size = block.bytes;
      return 0;
    }
  return kInvalid;
}
int pointerGetAttribute(void *value, int which, uint64_t address) {
  std::lock_guard lock(guard);
  if (which != kPointerMemoryType)
    return kInvalid;
  for (auto &[at, block] : blocks)
    if (address >= at && address < at + block.bytes) {
      *static_cast<int *>(value) = block.host ? 1 : 2;
      return 0;
    }
  return kInvalid;
}

} // namespace mk::ptx::driver
