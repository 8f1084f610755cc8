//===- FakeCuda.cpp - A GPU driver for tests on any machine ---------------===//

#include "FakeCalls.h"
#include "FakePtx.h"

#include <atomic>
#include <memory>

namespace mk::rt::test::driver {

FakeCuda fake;
std::mutex calls;

namespace {

std::mutex launches; // of `fake.last`

struct FakeModule {
  FakeKernel kernel;
  std::unique_ptr<FakePtx> ptx; // of a kernel that is executed as it is written
};
struct FakeEvent {
  double ms = 0;
};
FakeStream defaultStream;
// Streams that capture; ranks are threads here, and captures are theirs. The leak sanitizer cannot
// follow what a library that is loaded later keeps for a thread, unless it lies beside the
// program's.
[[gnu::tls_model("initial-exec")]] thread_local int capturing = 0;
int contextTag;    // its address is the context

} // namespace

FakeStream &streamOf(StreamHandle stream) {
  return stream ? *from<FakeStream>(stream) : defaultStream;
}

int enter(const char *name, bool refusedInCapture) {
  std::lock_guard lock(calls);
  fake.calls.push_back(name);
  if (refusedInCapture && capturing)
    fake.unsafe.push_back(name);
  return fake.sticky;
}

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
int deviceGetAttribute(int *value, int which, int device) {
  switch (which) {
  case kPciBus: *value = 0x18 + device; return 0;
  case kPciDevice: *value = 3; return 0;
  case kPciDomain: *value = 1; return 0;
  case kMultiprocessorCount: *value = fake.sms; return 0;
  case kL2CacheSize:
    *value = 5000;
    return 0;
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

static void say(unsigned count, int *options, void **values, const char *text) {
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
    if (extra)
      return 1;
    std::vector<std::byte> arguments(ptx->params);
    std::memcpy(arguments.data(), params[0], arguments.size());
    auto run = [&ptx = *ptx, arguments, ctas = config->grid[0], threads = config->block[0]] {
      ptx.run(arguments.data(), ctas, threads);
    };
    if (stream.capturing)
      stream.graph.before.push_back(run);
    else
      run();
    return 0;
  }
  const FakeKernel &kernel = from<FakeModule>(function)->kernel;
  auto *block = static_cast<std::byte *>(params[0]);
  if (extra || reinterpret_cast<uintptr_t>(block) % 64)
    return 1;
  std::vector<std::byte> arguments(block, block + kernel.params);
  // Ranks, which are threads, may launch side by side.
  std::unique_lock lock(launches);
  fake.last.config = *config;
  fake.last.cooperative =
      config->numAttributes == 1 &&
      config->attributes[0].id == LaunchAttribute::kCooperative &&
      config->attributes[0].value.cooperative == 1;
  fake.last.overlaps =
      config->numAttributes == 1 &&
      config->attributes[0].id == LaunchAttribute::kProgrammaticSerialization &&
      config->attributes[0].value.programmaticSerialization == 1;
  fake.last.params = arguments;
  lock.unlock();
  if (stream.capturing) {
    stream.graph.kernel = kernel;
    stream.graph.params = std::move(arguments);
    return 0;
  }
  return runFakeKernel(fake, kernel, arguments);
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
int streamWaitEvent(StreamHandle, EventHandle event, unsigned) {
  ENTER("cuStreamWaitEvent");
  return event ? 0 : 1;
}
int eventQuery(EventHandle) {
  ENTER("cuEventQuery", true);
  std::lock_guard lock(calls);
  std::atomic_ref left(fake.notReady); // tests change it meanwhile
  return left > 0 ? (--left, int(kNotReady)) : 0;
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
  for (const auto &run : graph->before)
    run();
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
                         TensorMapSwizzle swizzle, TensorMapL2 l2, int) {
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
                       swizzle, l2});
  std::memset(map->bytes, 0x5a, sizeof(map->bytes));
  return 0;
}

} // namespace mk::rt::test::driver

using namespace mk::rt::test;

extern "C" __attribute__((visibility("default"))) FakeCuda *fakeCuda() {
  return &driver::fake;
}

extern "C" __attribute__((visibility("default"))) int
cuGetProcAddress_v2(const char *symbol, void **function, int version, uint64_t,
                    int *status) {
  *function = nullptr;
  *status = 1;
#define FIND(member, name, since, parameters)                                  \
  if (std::strcmp(symbol, #name) == 0 && version == since &&                   \
      driver::fake.missing != #name) {                                         \
    *function = reinterpret_cast<void *>(&driver::member);                     \
    *status = 0;                                                               \
  }
  MK_CUDA_FUNCTIONS(FIND)
#undef FIND
  return *function ? 0 : 500;
}
