//===- Driver.cpp - libcuda.so.1 in front of the machine ------------------===//
//
// The runtime loads this by MK_CUDA_LIBRARY. A launch is handed over to the machine.
//
//===----------------------------------------------------------------------===//

#include "Driver.h"
#include "TensorMap.h"

#include <chrono>
#include <cstdio>
#include <cstring>

namespace mk::ptx::driver {
namespace {

int contextTag;
struct LoadedModule {
  uint64_t number = 0, paramBytes = 0;
};
Stream defaultStream;

// Launches are carried out when somebody waits: times are those of the host between calls.
struct Event {
  std::chrono::steady_clock::time_point at;
  Stream *on = nullptr; // recorded last
};

} // namespace

Stream &streamOf(StreamHandle stream) {
  return stream ? *from<Stream>(stream) : defaultStream;
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
  return connect() ? 0 : kNoDevice;
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
  case kL2CacheSize: // there is none: what clears it between measured launches stays short
    *value = 1 << 14;
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
  int file = memoryFile(text, request.b);
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
static int submit(const PendingLaunch &launch) {
  if (launch.request.kind == Request::Beside)
    return ask(launch.request);
  int file = memoryFile(launch.params.data(), launch.params.size());
  int code = ask(launch.request, file);
  ::close(file);
  return code;
}
int copyBeside(uint64_t to, uint64_t from, uint64_t bytes, StreamHandle stream) {
  // What a rank puts to itself is copied in the stream of the launch: also then, as well as at
  // any moment until it is waited for.
  Stream *origin = streamOf(stream).isProxys ? streamOf(stream).origin : &streamOf(stream);
  if (!origin)
    return kUnsupported;
  PendingLaunch copy;
  copy.request.kind = Request::Beside;
  copy.request.a = to;
  copy.request.b = from;
  copy.request.c = bytes;
  if (!origin->capturing)
    return submit(copy);
  origin->launches.push_back(std::move(copy));
  return 0;
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
int eventCreate(EventHandle *event, unsigned) {
  *event = reinterpret_cast<EventHandle>(new Event);
  return 0;
}
int eventDestroy(EventHandle event) {
  delete from<Event>(event);
  return 0;
}
int eventRecord(EventHandle event, StreamHandle stream) {
  from<Event>(event)->at = std::chrono::steady_clock::now();
  from<Event>(event)->on = &streamOf(stream);
  return 0;
}
// Streams run their work when it is enqueued.
int streamWaitEvent(StreamHandle stream, EventHandle event, unsigned) {
  Stream &waits = streamOf(stream), *on = from<Event>(event)->on;
  if (waits.isProxys && on && !on->isProxys)
    waits.origin = on;
  return 0;
}
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
  TensorMap map;
  map.magic = TensorMap::kMagic;
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

} // namespace mk::ptx::driver

extern "C" __attribute__((visibility("default"))) int
cuGetProcAddress_v2(const char *symbol, void **function, int version, uint64_t,
                    int *status) {
  *function = nullptr;
  *status = 1;
#define FIND(member, name, since, parameters)                                  \
  if (std::strcmp(symbol, #name) == 0 && version == since) {                   \
    *function = reinterpret_cast<void *>(&mk::ptx::driver::member);                             \
    *status = 0;                                                               \
  }
  MK_CUDA_FUNCTIONS(FIND)
#undef FIND
  return *function ? 0 : 500;
}
