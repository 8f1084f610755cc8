//===- Driver.cpp - libcuda.so.1 in front of the machine ------------------===//
//
// The runtime loads this by MK_CUDA_LIBRARY. Memory is that of memory files, so
// that the machine and the processes of other ranks can map it; a launch is
// handed over to the machine.
//
//===----------------------------------------------------------------------===//

#include "Protocol.h"
#include "TensorMap.h"

#include "device/cuda/Driver.h"

#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <fcntl.h>
#include <map>
#include <memory>
#include <mutex>
#include <sys/stat.h>
#include <sys/un.h>
#include <vector>

using namespace mk::rt::cuda;
using mk::ptx::Answer;
using mk::ptx::Request;

namespace {

constexpr int kInvalid = 1, kNoMemory = 2, kUnsupported = 801, kLost = 719;
constexpr size_t kPage = 4096, kGranularity = size_t(2) << 20;

std::mutex guard; // one call at a time
int machine = -1; // the socket
// What is in streams of a priority is the proxy's: it has a socket of its own, since others
// wait for launches that wait for the proxy.
std::mutex proxyGuard;
int proxySocket = -1;
int gpus = 1, device = 0;
int contextTag;

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

struct LoadedModule {
  uint64_t number = 0, paramBytes = 0;
};
struct PendingLaunch {
  Request request;
  std::vector<char> params;
};
struct Stream {
  bool capturing = false;
  std::vector<PendingLaunch> launches;
  bool isProxys = false;
};
Stream defaultStream;

template <typename T, typename H> T *from(H handle) {
  return reinterpret_cast<T *>(handle);
}
Stream &streamOf(StreamHandle stream) {
  return stream ? *from<Stream>(stream) : defaultStream;
}

/// Asks the machine; kLost if it is gone.
int ask(const Request &request, int file = -1, Answer *out = nullptr) {
  Answer answer;
  int none = -1;
  if (machine < 0 || !mk::ptx::sendMessage(machine, request, file) ||
      !mk::ptx::receiveMessage(machine, answer, none))
    return kLost;
  if (out)
    *out = answer;
  return answer.code;
}
int ask(Request::Kind kind, uint64_t a, uint64_t b, int file = -1) {
  Request request;
  request.kind = kind;
  request.a = a;
  request.b = b;
  return ask(request, file);
}

bool connect(int &to) {
  const char *path = std::getenv(mk::ptx::kSocket);
  const char *count = std::getenv(mk::ptx::kGpus);
  if (!path)
    return false;
  gpus = count ? std::atoi(count) : 1;
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  std::snprintf(address.sun_path, sizeof(address.sun_path), "%s", path);
  to = ::socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0);
  return ::connect(to, reinterpret_cast<sockaddr *>(&address), sizeof(address)) == 0;
}

/// What a proxy asks for; done when this returns. `data`, `bytes`: of the file that goes
/// along.
int askAsProxy(Request::Kind kind, uint64_t a, uint64_t b, uint64_t c,
               const void *data = nullptr, void *result = nullptr) {
  std::lock_guard lock(proxyGuard);
  Answer answer;
  int none = -1;
  auto exchange = [&](const Request &request, int file) {
    return mk::ptx::sendMessage(proxySocket, request, file) &&
                   mk::ptx::receiveMessage(proxySocket, answer, none)
               ? answer.code
               : kLost;
  };
  if (proxySocket < 0) {
    if (!connect(proxySocket))
      return kLost;
    Request hello;
    hello.a = uint64_t(device);
    hello.b = 1;
    if (int code = exchange(hello, -1))
      return code;
  }
  Request request;
  request.kind = kind;
  request.a = a;
  request.b = b;
  request.c = c;
  int file = data || result ? mk::ptx::memoryFile(data, c) : -1;
  int code = exchange(request, file);
  if (result && !code && ::pread(file, result, c, 0) != ssize_t(c))
    code = kLost;
  if (file >= 0)
    ::close(file);
  return code;
}

//===--- Devices ----------------------------------------------------------===//

int getErrorName(int code, const char **name) {
  switch (code) {
  case kInvalid:
    *name = "CUDA_ERROR_INVALID_VALUE";
    return 0;
  case kNoMemory:
    *name = "CUDA_ERROR_OUT_OF_MEMORY";
    return 0;
  case 100:
    *name = "CUDA_ERROR_NO_DEVICE";
    return 0;
  case 218:
    *name = "CUDA_ERROR_INVALID_PTX";
    return 0;
  case kLost:
    *name = "CUDA_ERROR_LAUNCH_FAILED";
    return 0;
  default:
    return 1;
  }
}
int getErrorString(int, const char **text) {
  *text = "as ptx-run says";
  return 0;
}
int init(unsigned) {
  std::lock_guard lock(guard);
  return machine >= 0 || connect(machine) ? 0 : kNoDevice;
}
int driverGetVersion(int *version) {
  *version = 13000;
  return 0;
}
int deviceGetCount(int *count) {
  *count = gpus;
  return 0;
}
int deviceGet(int *handle, int ordinal) {
  *handle = ordinal;
  return ordinal < gpus ? 0 : 101;
}
int deviceGetName(char *name, int bytes, int) {
  std::snprintf(name, size_t(bytes), "PTX machine");
  return 0;
}
int deviceGetAttribute(int *value, int which, int) {
  switch (which) {
  case kMultiprocessorCount:
    *value = 8;
    return 0;
  case kCapabilityMajor:
    *value = 9;
    return 0;
  case kCapabilityMinor:
    *value = 0;
    return 0;
  case kCooperativeLaunch:
    *value = 1;
    return 0;
  case kMaxSharedPerBlock:
    *value = 232448;
    return 0;
  case kVirtualMemory:
  case kPosixDescriptors:
    *value = 1;
    return 0;
  default:
    *value = 0;
    return 0;
  }
}
int deviceTotalMem(size_t *bytes, int) {
  *bytes = size_t(4) << 30;
  return 0;
}
int primaryCtxRetain(ContextHandle *context, int handle) {
  std::lock_guard lock(guard);
  device = handle;
  *context = reinterpret_cast<ContextHandle>(&contextTag);
  return ask(Request::Hello, uint64_t(handle), 0);
}
int primaryCtxRelease(int) { return 0; }
int ctxGetCurrent(ContextHandle *context) {
  *context = nullptr;
  return 0;
}
int ctxGetDevice(int *handle) {
  *handle = device;
  return 0;
}
int ctxPushCurrent(ContextHandle) { return 0; }
int ctxPopCurrent(ContextHandle *) { return 0; }
int deviceGetUuid(Uuid *uuid, int handle) {
  *uuid = {};
  uuid->bytes[0] = static_cast<unsigned char>(handle + 1);
  return 0;
}

//===--- Memory -----------------------------------------------------------===//

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
  int fd = mk::ptx::memoryFile(nullptr, (bytes + kPage - 1) / kPage * kPage);
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
  blocks.erase(it);
  return ask(Request::Unmap, address, 0);
}
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
  int fd = mk::ptx::memoryFile(nullptr, bytes);
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
  files[*memory] = {fd, 0, uint64_t(info.st_size)};
  return 0;
}
int waitForAll() { return ask(Request::Wait, 0, 0); }
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
  return streamOf(stream).isProxys ? askAsProxy(Request::Copy, to, source, bytes)
                                   : kUnsupported;
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

//===--- Modules and launches ---------------------------------------------===//

int moduleLoadDataEx(ModuleHandle *module, const void *image, unsigned count,
                     int *options, void **values) {
  std::lock_guard lock(guard);
  const char *text = static_cast<const char *>(image);
  // Random values are the host's business here, and there is no clock to compare: this is no
  // code of the compiler's.
  if (std::strstr(text, ".entry mk_random(") || std::strstr(text, ".entry mk_clock("))
    return kUnsupported;
  Request request;
  request.kind = Request::Load;
  request.b = std::strlen(text);
  int file = mk::ptx::memoryFile(text, request.b);
  Answer answer;
  int code = ask(request, file, &answer);
  ::close(file);
  for (unsigned i = 0; code && i < count; ++i)
    if (options[i] == kErrorLog)
      std::strcpy(static_cast<char *>(values[i]), answer.text);
  if (code)
    return code;
  *module =
      reinterpret_cast<ModuleHandle>(new LoadedModule{answer.a, answer.b});
  return 0;
}
int moduleUnload(ModuleHandle module) {
  delete from<LoadedModule>(module);
  return 0;
}
int moduleGetFunction(FunctionHandle *function, ModuleHandle module,
                      const char *) {
  *function = reinterpret_cast<FunctionHandle>(module);
  return 0;
}
int funcLoad(FunctionHandle) { return 0; }
int funcGetAttribute(int *value, int, FunctionHandle) {
  *value = 0;
  return 0;
}
int funcSetAttribute(FunctionHandle, int, int) { return 0; }
int funcGetParamInfo(FunctionHandle function, size_t index, size_t *offset,
                     size_t *bytes) {
  *offset = 0;
  *bytes = from<LoadedModule>(function)->paramBytes;
  return index == 0 ? 0 : kInvalid;
}
int occupancyBlocks(int *blocks, FunctionHandle, int, size_t) {
  *blocks = 1;
  return 0;
}
int submit(const PendingLaunch &launch) {
  int file = mk::ptx::memoryFile(launch.params.data(), launch.params.size());
  int code = ask(launch.request, file);
  ::close(file);
  return code;
}
int launchKernelEx(const LaunchConfig *config, FunctionHandle function,
                   void **params, void **extra) {
  std::lock_guard lock(guard);
  auto *module = from<LoadedModule>(function);
  if (extra || config->grid[1] != 1 || config->grid[2] != 1)
    return kInvalid;
  PendingLaunch launch;
  auto *data = static_cast<const char *>(params[0]);
  launch.params.assign(data, data + module->paramBytes);
  launch.request.kind = Request::Launch;
  launch.request.a = module->number;
  launch.request.b = module->paramBytes;
  launch.request.ctas = config->grid[0];
  launch.request.threads = config->block[0];
  launch.request.shared = config->sharedBytes;
  if (Stream &stream = streamOf(config->stream); stream.capturing) {
    stream.launches.push_back(std::move(launch));
    return 0;
  }
  return submit(launch);
}
int streamCreate(StreamHandle *stream, unsigned) {
  *stream = reinterpret_cast<StreamHandle>(new Stream);
  return 0;
}
int streamIsCapturing(StreamHandle stream, int *capturing) {
  *capturing = streamOf(stream).capturing;
  return 0;
}
int streamPriorities(int *lowest, int *highest) {
  *lowest = 0;
  *highest = -5;
  return 0;
}
int streamCreatePrioritized(StreamHandle *stream, unsigned, int) {
  auto *made = new Stream;
  made->isProxys = true;
  *stream = reinterpret_cast<StreamHandle>(made);
  return 0;
}
int streamDestroy(StreamHandle stream) {
  delete from<Stream>(stream);
  return 0;
}
int streamSynchronize(StreamHandle stream) {
  if (streamOf(stream).isProxys)
    return 0; // each call has ended
  std::lock_guard lock(guard);
  return waitForAll();
}
int ctxSynchronize() { return streamSynchronize(nullptr); }
// Launches are carried out when somebody waits: times are those of the host between calls.
struct Event {
  std::chrono::steady_clock::time_point at;
};
int eventCreate(EventHandle *event, unsigned) {
  *event = reinterpret_cast<EventHandle>(new Event);
  return 0;
}
int eventDestroy(EventHandle event) {
  delete from<Event>(event);
  return 0;
}
int eventRecord(EventHandle event, StreamHandle) {
  from<Event>(event)->at = std::chrono::steady_clock::now();
  return 0;
}
// Streams run their work when it is enqueued.
int streamWaitEvent(StreamHandle, EventHandle, unsigned) { return 0; }
int eventQuery(EventHandle) { return 0; }
int eventElapsedTime(float *ms, EventHandle begin, EventHandle end) {
  *ms = std::chrono::duration<float, std::milli>(from<Event>(end)->at - from<Event>(begin)->at)
            .count();
  return 0;
}
int streamBeginCapture(StreamHandle stream, int) {
  streamOf(stream).capturing = true;
  return 0;
}
int streamEndCapture(StreamHandle stream, GraphHandle *graph) {
  Stream &s = streamOf(stream);
  s.capturing = false;
  *graph = reinterpret_cast<GraphHandle>(
      new std::vector<PendingLaunch>(std::move(s.launches)));
  return 0;
}
int graphInstantiate(GraphExecHandle *exec, GraphHandle graph,
                     unsigned long long) {
  *exec = reinterpret_cast<GraphExecHandle>(
      new std::vector<PendingLaunch>(*from<std::vector<PendingLaunch>>(graph)));
  return 0;
}
int graphLaunch(GraphExecHandle exec, StreamHandle) {
  std::lock_guard lock(guard);
  for (const PendingLaunch &launch : *from<std::vector<PendingLaunch>>(exec))
    if (int code = submit(launch))
      return code;
  return 0;
}
int graphDestroy(GraphHandle graph) {
  delete from<std::vector<PendingLaunch>>(graph);
  return 0;
}
int graphExecDestroy(GraphExecHandle exec) {
  delete from<std::vector<PendingLaunch>>(exec);
  return 0;
}

int tensorMapEncodeTiled(TensorMapBytes *out, TensorMapType type, uint32_t rank,
                         void *address, const uint64_t *extents,
                         const uint64_t *strides, const uint32_t *box,
                         const uint32_t *, int, TensorMapSwizzle swizzle,
                         TensorMapL2, int) {
  constexpr uint8_t sizes[] = {1, 2, 4, 4, 8, 8, 2, 4, 8, 2};
  mk::ptx::TensorMap map;
  map.magic = mk::ptx::TensorMap::kMagic;
  map.type = uint8_t(type);
  map.bytes = sizes[int(type)];
  map.rank = uint8_t(rank);
  map.swizzle = uint8_t(swizzle);
  map.address = reinterpret_cast<uint64_t>(address);
  for (uint32_t d = 0; d < rank; ++d) {
    map.extents[d] = extents[d];
    map.box[d] = uint16_t(box[d]);
    if (d + 1 < rank)
      map.strides[d] = strides[d];
  }
  std::memset(out->bytes, 0, sizeof(out->bytes));
  std::memcpy(out->bytes, &map, sizeof(map));
  return 0;
}

} // namespace

extern "C" __attribute__((visibility("default"))) int
cuGetProcAddress_v2(const char *symbol, void **function, int version, uint64_t,
                    int *status) {
  *function = nullptr;
  *status = 1;
#define FIND(member, name, since, parameters)                                  \
  if (std::strcmp(symbol, #name) == 0 && version == since) {                   \
    *function = reinterpret_cast<void *>(&member);                             \
    *status = 0;                                                               \
  }
  MK_CUDA_FUNCTIONS(FIND)
#undef FIND
  return *function ? 0 : 500;
}
