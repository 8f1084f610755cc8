//===- FakeCuda.cpp - A GPU driver for tests on any machine ---------------===//

#include "FakeCuda.h"
#include "FakeKernels.h"
#include "FakePtx.h"

#include <fcntl.h>
#include <map>
#include <memory>
#include <mutex>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

using namespace mk::rt::cuda;
using namespace mk::rt::test;

namespace {

FakeCuda fake;

struct FakeModule {
  FakeKernel kernel;
  std::unique_ptr<FakePtx> ptx; // of a kernel that is executed as it is written
};
struct FakeEvent {
  double ms = 0;
};
struct FakeGraph {
  FakeKernel kernel;
  std::vector<std::byte> params;
};
struct FakeStream {
  bool capturing = false, prioritized = false;
  FakeGraph graph;
};
FakeStream defaultStream;
thread_local int capturing = 0; // streams that do; ranks are threads here, and captures are theirs
int contextTag;    // its address is the context

template <typename T, typename H> T *from(H handle) {
  return reinterpret_cast<T *>(handle);
}
FakeStream &streamOf(StreamHandle stream) {
  return stream ? *from<FakeStream>(stream) : defaultStream;
}

std::mutex calls; // guards the lists of them and what is counted

/// Notes the call. Not 0: what it has to return at once.
int enter(const char *name, bool refusedInCapture = false) {
  std::lock_guard lock(calls);
  fake.calls.push_back(name);
  if (refusedInCapture && capturing)
    fake.unsafe.push_back(name);
  return fake.sticky;
}
#define ENTER(name, ...)                                                       \
  if (int code = enter(name __VA_OPT__(, ) __VA_ARGS__))                       \
  return code

int getErrorName(int code, const char **name) {
  switch (code) {
  case 1: *name = "CUDA_ERROR_INVALID_VALUE"; return 0;
  case 2: *name = "CUDA_ERROR_OUT_OF_MEMORY"; return 0;
  case 217: *name = "CUDA_ERROR_PEER_ACCESS_UNSUPPORTED"; return 0;
  case 100: *name = "CUDA_ERROR_NO_DEVICE"; return 0;
  case 218: *name = "CUDA_ERROR_INVALID_PTX"; return 0;
  case 700: *name = "CUDA_ERROR_ILLEGAL_ADDRESS"; return 0;
  case 719: *name = "CUDA_ERROR_LAUNCH_FAILED"; return 0;
  case 803: *name = "CUDA_ERROR_SYSTEM_DRIVER_MISMATCH"; return 0;
  default: return 1;
  }
}
int getErrorString(int, const char **text) {
  *text = "as the fake says";
  return 0;
}
int init(unsigned) { return fake.initCode; }
int driverGetVersion(int *version) {
  *version = fake.driverVersion;
  return 0;
}
int deviceGetCount(int *count) {
  *count = fake.gpus;
  return 0;
}
int deviceGet(int *device, int ordinal) {
  *device = 40 + ordinal; // handles are not numbers
  return ordinal < fake.gpus ? 0 : 101;
}
int deviceGetName(char *name, int bytes, int) {
  std::snprintf(name, size_t(bytes), "Fake H200");
  return 0;
}
int deviceGetAttribute(int *value, int which, int) {
  switch (which) {
  case kMultiprocessorCount: *value = fake.sms; return 0;
  case kCapabilityMajor: *value = fake.major; return 0;
  case kCapabilityMinor: *value = fake.minor; return 0;
  case kPageableMemoryAccess: *value = fake.pageable; return 0;
  case kMaxSharedPerBlock: *value = fake.maxShared; return 0;
  case kVirtualMemory:
  case kPosixDescriptors: *value = fake.virtualMemory; return 0;
  case kGpuDirectRdmaWithVmm: *value = fake.rdma; return 0;
  case kDmaBuf: *value = fake.dmaBuf; return 0;
  case kGpuDirectWritesOrdering: *value = fake.writesOrdering; return 0;
  case kGpuDirectFlushOptions: *value = fake.flushOptions; return 0;
  default: return 1;
  }
}
int deviceTotalMem(size_t *bytes, int) {
  *bytes = size_t(141) << 30;
  return 0;
}
int primaryCtxRetain(ContextHandle *context, int) {
  std::lock_guard lock(calls);
  ++fake.retained;
  *context = reinterpret_cast<ContextHandle>(&contextTag);
  return 0;
}
int primaryCtxRelease(int) {
  std::lock_guard lock(calls);
  --fake.retained;
  return 0;
}
int ctxGetCurrent(ContextHandle *context) {
  *context =
      fake.current ? reinterpret_cast<ContextHandle>(&contextTag) : nullptr;
  return 0;
}
int ctxGetDevice(int *device) {
  *device = 41;
  return 0;
}
int ctxSynchronize() { return enter("cuCtxSynchronize", true); }
int ctxPushCurrent(ContextHandle context) {
  std::lock_guard lock(calls);
  ++fake.pushed;
  return context == reinterpret_cast<ContextHandle>(&contextTag) ? 0 : 201;
}
int ctxPopCurrent(ContextHandle *) {
  std::lock_guard lock(calls);
  --fake.pushed;
  return 0;
}
int deviceGetUuid(Uuid *uuid, int device) {
  *uuid = {};
  uuid->bytes[0] = static_cast<unsigned char>(device);
  return 0;
}

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
int memGetGranularity(size_t *bytes, const MemoryProperties *, int) {
  *bytes = size_t(2) << 20;
  return 0;
}
/// What there really is of reserved addresses, where there is no room for all: under the
/// thread sanitizer. Other memory may lie in the rest then.
constexpr size_t kFewAddresses = size_t(4) << 30;
std::map<uint64_t, size_t> ranges; // what is mapped

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
int copy(const char *name, void *to, const void *source, size_t bytes,
         StreamHandle stream) {
  ENTER(name, streamOf(stream).capturing);
  std::memcpy(to, source, bytes);
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

void say(unsigned count, int *options, void **values, const char *text) {
  for (unsigned i = 0; i < count; ++i)
    if (options[i] == kErrorLog)
      std::strcpy(static_cast<char *>(values[i]), text);
}
int moduleLoadDataEx(ModuleHandle *module, const void *image, unsigned count,
                     int *options, void **values) {
  ENTER("cuModuleLoadDataEx", true);
  const char *text = static_cast<const char *>(image);
  auto loaded = std::make_unique<FakeModule>();
  if (fake.refusesCubins && text[0] == '\x7f') {
    say(count, options, values, "made by a newer ptxas\n");
    return 200;
  }
  bool known = FakeKernel::parse(text, loaded->kernel);
  if (!known && text[0] != '\x7f')
    loaded->ptx = FakePtx::parse(text);
  if (fake.loadCode || !(known || loaded->ptx)) {
    say(count, options, values, "ptxas line 3: it cannot be\n");
    return fake.loadCode ? fake.loadCode : 218;
  }
  *module = reinterpret_cast<ModuleHandle>(loaded.release());
  return 0;
}
int moduleUnload(ModuleHandle module) {
  delete from<FakeModule>(module);
  return enter("cuModuleUnload");
}
int moduleGetFunction(FunctionHandle *function, ModuleHandle module,
                      const char *name) {
  *function = reinterpret_cast<FunctionHandle>(module);
  const auto &ptx = from<FakeModule>(module)->ptx;
  return name == (ptx ? ptx->name : "mk_kernel") ? 0 : 500;
}
int funcLoad(FunctionHandle) { return enter("cuFuncLoad", true); }
int funcGetAttribute(int *value, int which, FunctionHandle) {
  *value = which == kLocalBytes ? fake.localBytes : 168;
  return 0;
}
int funcSetAttribute(FunctionHandle, int which, int value) {
  return which == kMaxDynamicShared && value <= fake.maxShared ? 0 : 1;
}
int funcGetParamInfo(FunctionHandle function, size_t index, size_t *offset,
                     size_t *bytes) {
  *offset = 0;
  *bytes = from<FakeModule>(function)->kernel.params;
  return index == 0 ? 0 : 1;
}
int occupancyBlocks(int *blocks, FunctionHandle, int, size_t) {
  *blocks = fake.blocksPerSm;
  return 0;
}

int launchKernelEx(const LaunchConfig *config, FunctionHandle function,
                   void **params, void **extra) {
  ENTER("cuLaunchKernelEx");
  FakeStream &stream = streamOf(config->stream);
  if (capturing && !config->stream)
    return 906; // the default stream takes part in every capture
  if (auto &ptx = from<FakeModule>(function)->ptx) {
    if (stream.capturing || extra)
      return 1;
    std::vector<std::byte> arguments(ptx->params);
    std::memcpy(arguments.data(), params[0], arguments.size());
    ptx->run(arguments.data(), config->grid[0], config->block[0]);
    return 0;
  }
  const FakeKernel &kernel = from<FakeModule>(function)->kernel;
  fake.last.config = *config;
  fake.last.cooperative =
      config->numAttributes == 1 &&
      config->attributes[0].id == LaunchAttribute::kCooperative &&
      config->attributes[0].value.cooperative == 1;
  fake.last.overlaps =
      config->numAttributes == 1 &&
      config->attributes[0].id == LaunchAttribute::kProgrammaticSerialization &&
      config->attributes[0].value.programmaticSerialization == 1;
  auto *block = static_cast<std::byte *>(params[0]);
  if (extra || reinterpret_cast<uintptr_t>(block) % 64)
    return 1;
  fake.last.params.assign(block, block + kernel.params);
  if (stream.capturing) {
    stream.graph = {kernel, fake.last.params};
    return 0;
  }
  return runFakeKernel(fake, kernel, fake.last.params);
}
int streamCreate(StreamHandle *stream, unsigned) {
  ENTER("cuStreamCreate");
  *stream = reinterpret_cast<StreamHandle>(new FakeStream);
  return 0;
}
int streamPriorities(int *lowest, int *highest) {
  *lowest = 0;
  *highest = -5;
  return 0;
}
int streamCreatePrioritized(StreamHandle *stream, unsigned flags, int priority) {
  ENTER("cuStreamCreateWithPriority");
  if (flags != kStreamNonBlocking || priority != -5)
    return 1;
  *stream = reinterpret_cast<StreamHandle>(new FakeStream{false, true, {}});
  std::lock_guard lock(calls);
  ++fake.streams;
  return 0;
}
int streamWriteValue32(StreamHandle stream, uint64_t address, uint32_t value, unsigned) {
  ENTER("cuStreamWriteValue32", streamOf(stream).capturing);
  __atomic_store_n(reinterpret_cast<uint32_t *>(address), value, __ATOMIC_RELEASE);
  return 0;
}
int streamDestroy(StreamHandle stream) {
  if (from<FakeStream>(stream)->prioritized) {
    std::lock_guard lock(calls);
    --fake.streams;
  }
  delete from<FakeStream>(stream);
  return enter("cuStreamDestroy");
}
int streamSynchronize(StreamHandle) {
  return enter("cuStreamSynchronize", true);
}
int eventCreate(EventHandle *event, unsigned) {
  ENTER("cuEventCreate");
  *event = reinterpret_cast<EventHandle>(new FakeEvent);
  std::lock_guard lock(calls);
  ++fake.events;
  return 0;
}
int eventDestroy(EventHandle event) {
  delete from<FakeEvent>(event);
  std::lock_guard lock(calls);
  --fake.events;
  return 0;
}
int eventRecord(EventHandle event, StreamHandle) {
  ENTER("cuEventRecord");
  from<FakeEvent>(event)->ms = 0.125 * fake.launched * (fake.launched + 1);
  return 0;
}
int eventQuery(EventHandle) {
  ENTER("cuEventQuery", true);
  std::lock_guard lock(calls);
  return fake.notReady > 0 ? (--fake.notReady, int(kNotReady)) : 0;
}
int eventElapsedTime(float *ms, EventHandle begin, EventHandle end) {
  ENTER("cuEventElapsedTime");
  *ms = float(from<FakeEvent>(end)->ms - from<FakeEvent>(begin)->ms);
  return 0;
}
int streamBeginCapture(StreamHandle stream, int) {
  ENTER("cuStreamBeginCapture");
  ++capturing;
  streamOf(stream).capturing = true;
  return stream ? 0 : 900;
}
int streamIsCapturing(StreamHandle stream, int *status) {
  if (!stream && capturing)
    return 906; // may not be asked
  *status = streamOf(stream).capturing;
  return 0;
}
int streamEndCapture(StreamHandle stream, GraphHandle *graph) {
  ENTER("cuStreamEndCapture");
  --capturing;
  streamOf(stream).capturing = false;
  *graph = reinterpret_cast<GraphHandle>(new FakeGraph(streamOf(stream).graph));
  return 0;
}
int graphInstantiate(GraphExecHandle *exec, GraphHandle graph,
                     unsigned long long) {
  ENTER("cuGraphInstantiate");
  *exec = reinterpret_cast<GraphExecHandle>(
      new FakeGraph(*from<FakeGraph>(graph)));
  return 0;
}
int graphLaunch(GraphExecHandle exec, StreamHandle) {
  ENTER("cuGraphLaunch");
  FakeGraph *graph = from<FakeGraph>(exec);
  return runFakeKernel(fake, graph->kernel, graph->params);
}
int graphDestroy(GraphHandle graph) {
  delete from<FakeGraph>(graph);
  return 0;
}
int graphExecDestroy(GraphExecHandle exec) {
  delete from<FakeGraph>(exec);
  return 0;
}

int tensorMapEncodeTiled(TensorMapBytes *map, TensorMapType type, uint32_t rank,
                         void *address, const uint64_t *extents,
                         const uint64_t *strides, const uint32_t *box,
                         const uint32_t *steps, int interleave,
                         TensorMapSwizzle swizzle, TensorMapL2, int) {
  constexpr uint64_t sizes[] = {1, 2, 4, 4, 8, 8, 2, 4, 8, 2};
  uint64_t size = sizes[int(type)], bytes = size * box[0];
  // The documented conditions.
  bool good = fake.encodeCode == 0 && rank >= 1 && rank <= 5 &&
              reinterpret_cast<uintptr_t>(map) % 64 == 0 &&
              reinterpret_cast<uintptr_t>(address) % 16 == 0 &&
              interleave == 0 && bytes % 16 == 0;
  constexpr uint64_t widths[] = {0, 32, 64, 128};
  uint64_t width = widths[int(swizzle)];
  good = good && (width == 0 || bytes <= width);
  for (uint32_t d = 0; good && d < rank; ++d) {
    good = extents[d] >= 1 && extents[d] <= uint64_t(1) << 32 && box[d] >= 1 &&
           box[d] <= 256 && steps[d] == 1;
    if (d + 1 < rank)
      good = good && strides[d] % 16 == 0 && strides[d] < uint64_t(1) << 40;
  }
  if (!good)
    return 1;
  std::lock_guard lock(calls);
  fake.maps.push_back({type, reinterpret_cast<uint64_t>(address),
                       {extents, extents + rank},
                       {strides, strides + rank - 1},
                       {box, box + rank},
                       swizzle});
  std::memset(map->bytes, 0x5a, sizeof(map->bytes));
  return 0;
}

} // namespace

extern "C" __attribute__((visibility("default"))) FakeCuda *fakeCuda() {
  return &fake;
}

extern "C" __attribute__((visibility("default"))) int
cuGetProcAddress_v2(const char *symbol, void **function, int version, uint64_t,
                    int *status) {
  *function = nullptr;
  *status = 1;
#define FIND(member, name, since, parameters)                                  \
  if (std::strcmp(symbol, #name) == 0 && version == since &&                   \
      fake.missing != #name) {                                                 \
    *function = reinterpret_cast<void *>(&member);                             \
    *status = 0;                                                               \
  }
  MK_CUDA_FUNCTIONS(FIND)
#undef FIND
  return *function ? 0 : 500;
}
