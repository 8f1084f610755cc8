//===- Driver.h - The CUDA driver API, loaded at run time -------*- C++ -*-===//
//
// Nothing here is linked against CUDA or includes its headers, so that one
// binary runs with and without a GPU. The declarations are the driver's own for
// the API versions named in the table; a unit test compares the structures with
// cuda.h where there is one.
//
//===----------------------------------------------------------------------===//
#ifndef MKERNEL_RUNTIME_DEVICE_CUDA_DRIVER_H
#define MKERNEL_RUNTIME_DEVICE_CUDA_DRIVER_H

#include "mkernel/Runtime/Status.h"

#include <cstddef>
#include <cstdint>

namespace mk::rt::cuda {

/// Handles of the driver.
using ContextHandle = struct ContextOpaque *;
using ModuleHandle = struct ModuleOpaque *;
using FunctionHandle = struct FunctionOpaque *;
using StreamHandle = struct StreamOpaque *;
using GraphHandle = struct GraphOpaque *;
using GraphExecHandle = struct GraphExecOpaque *;
using EventHandle = struct EventOpaque *;

/// Results that are told apart here.
enum : int {
  kSuccess = 0,
  kOutOfMemory = 2,
  kNoDevice = 100,
  kNotReady = 600,
  kCooperativeLaunchTooLarge = 720,
};

enum : int { // device attributes
  kMultiprocessorCount = 16,
  kL2CacheSize = 38,
  kPciBus = 33,
  kPciDevice = 34,
  kPciDomain = 50,
  kCapabilityMajor = 75,
  kCapabilityMinor = 76,
  kPageableMemoryAccess = 88,
  kCooperativeLaunch = 95,
  kMaxSharedPerBlock = 97, // bytes, when asked for
  kVirtualMemory = 102,
  kPosixDescriptors = 103, // for that memory
  kGpuDirectRdmaWithVmm = 110,
  kGpuDirectFlushOptions = 117,   // bit 0: by the host
  kGpuDirectWritesOrdering = 118, // 0: none, 100: for the GPU, 200: for all
  kDmaBuf = 124,
};
enum : int { // function attributes
  kLocalBytes = 3,
  kRegisters = 4,
  kMaxDynamicShared = 8,
};
enum : int { // options of the compiler
  kInfoLog = 3,
  kInfoLogBytes = 4,
  kErrorLog = 5,
  kErrorLogBytes = 6,
};
enum : int { kPointerMemoryType = 2 };
enum : int { kPosixDescriptor = 1 };        // kinds of shared handles
enum : int { kRecommendedGranularity = 1 }; // of memory that is mapped
enum : unsigned { kHostAllocPortable = 1, kHostAllocDeviceMap = 2 };
enum : unsigned { kStreamNonBlocking = 1 };
enum : unsigned { kEventDisableTiming = 2 };
enum : int { kDmaBufDescriptor = 1 };          // kinds of handles of address ranges
enum : unsigned long long { kDmaBufPcie = 1 }; // mapped for PCIe
enum : int { kFlushCurrentContext = 0, kFlushToOwner = 100 };
enum : int { kCaptureThreadLocal = 1 };
enum : uintptr_t { kLegacyStream = 1 }; // CU_STREAM_LEGACY; 0: the default stream

struct LaunchAttribute {
  static constexpr uint32_t kCooperative = 2;
  static constexpr uint32_t kProgrammaticSerialization = 6;
  uint32_t id = 0;
  char pad[4] = {};
  union {
    char bytes[64] = {};
    int cooperative;
    int programmaticSerialization;
  } value;
};

/// CUmemAllocationProp: memory of a GPU that other processes can map.
struct MemoryProperties {
  int type = 1; // pinned
  int handles = kPosixDescriptor;
  int locationType = 1; // a device
  int device = 0;
  void *windows = nullptr;
  unsigned char compression = 0, gpuDirectRdma = 0;
  unsigned short usage = 0;
  unsigned char reserved[4] = {};
};

/// CUmemAccessDesc: a device may read and write.
struct MemoryAccess {
  int locationType = 1;
  int device = 0;
  int flags = 3;
};

/// CUDA_MEMCPY2D: rows from one place of a device's memory, or a peer's, to another.
struct Copy2D {
  static constexpr int kDevice = 2;
  size_t srcX = 0, srcY = 0;
  int srcType = kDevice;
  const void *srcHost = nullptr;
  uint64_t srcDevice = 0;
  void *srcArray = nullptr;
  size_t srcPitch = 0;
  size_t dstX = 0, dstY = 0;
  int dstType = kDevice;
  void *dstHost = nullptr;
  uint64_t dstDevice = 0;
  void *dstArray = nullptr;
  size_t dstPitch = 0;
  size_t widthInBytes = 0, height = 0;
};

struct Uuid {
  unsigned char bytes[16] = {};
};

struct LaunchConfig {
  uint32_t grid[3] = {1, 1, 1};  // CTAs
  uint32_t block[3] = {1, 1, 1}; // threads
  uint32_t sharedBytes = 0;
  StreamHandle stream = nullptr;
  LaunchAttribute *attributes = nullptr;
  uint32_t numAttributes = 0;
};

/// CUtensorMap; the driver wants it aligned to 64.
struct alignas(64) TensorMapBytes {
  uint8_t bytes[128] = {};
};

enum class TensorMapType : int {
  U8, U16, U32, I32, U64, I64, F16, F32, F64, BF16
};
enum class TensorMapSwizzle : int { None, B32, B64, B128 };
enum class TensorMapL2 : int { None, B64, B128, B256 };

// X(member, driver's name, version of its API, parameters). All return a
// CUresult.
#define MK_CUDA_FUNCTIONS(X)                                                   \
  X(getErrorName, cuGetErrorName, 6000, (int, const char **))                  \
  X(getErrorString, cuGetErrorString, 6000, (int, const char **))              \
  X(init, cuInit, 2000, (unsigned))                                            \
  X(driverGetVersion, cuDriverGetVersion, 2020, (int *))                       \
  X(deviceGetCount, cuDeviceGetCount, 2000, (int *))                           \
  X(deviceGet, cuDeviceGet, 2000, (int *, int))                                \
  X(deviceGetName, cuDeviceGetName, 2000, (char *, int, int))                  \
  X(deviceGetAttribute, cuDeviceGetAttribute, 2000, (int *, int, int))         \
  X(deviceTotalMem, cuDeviceTotalMem, 3020, (size_t *, int))                   \
  X(primaryCtxRetain, cuDevicePrimaryCtxRetain, 7000, (ContextHandle *, int))  \
  X(primaryCtxRelease, cuDevicePrimaryCtxRelease, 11000, (int))                \
  X(ctxGetCurrent, cuCtxGetCurrent, 4000, (ContextHandle *))                   \
  X(ctxGetDevice, cuCtxGetDevice, 2000, (int *))                               \
  X(ctxSynchronize, cuCtxSynchronize, 2000, ())                                \
  X(ctxPushCurrent, cuCtxPushCurrent, 4000, (ContextHandle))                   \
  X(ctxPopCurrent, cuCtxPopCurrent, 4000, (ContextHandle *))                   \
  X(memAlloc, cuMemAlloc, 3020, (uint64_t *, size_t))                          \
  X(memFree, cuMemFree, 3020, (uint64_t))                                      \
  X(memHostAlloc, cuMemHostAlloc, 2020, (void **, size_t, unsigned))           \
  X(memFreeHost, cuMemFreeHost, 2000, (void *))                                \
  X(memHostGetDevicePointer, cuMemHostGetDevicePointer, 3020,                  \
    (uint64_t *, void *, unsigned))                                            \
  X(memcpyHtoDAsync, cuMemcpyHtoDAsync, 3020,                                  \
    (uint64_t, const void *, size_t, StreamHandle))                            \
  X(memcpyDtoHAsync, cuMemcpyDtoHAsync, 3020,                                  \
    (void *, uint64_t, size_t, StreamHandle))                                  \
  X(memcpyDtoDAsync, cuMemcpyDtoDAsync, 3020,                                  \
    (uint64_t, uint64_t, size_t, StreamHandle))                                \
  X(memcpy2DAsync, cuMemcpy2DAsync, 3020, (const Copy2D *, StreamHandle))      \
  X(memHostRegister, cuMemHostRegister, 6050, (void *, size_t, unsigned))      \
  X(memHostUnregister, cuMemHostUnregister, 4000, (void *))                    \
  X(memGetHandleForRange, cuMemGetHandleForAddressRange, 11070,                \
    (void *, uint64_t, size_t, int, unsigned long long))                       \
  X(flushRemoteWrites, cuFlushGPUDirectRDMAWrites, 11030, (int, int))          \
  X(memsetD8Async, cuMemsetD8Async, 3020,                                      \
    (uint64_t, unsigned char, size_t, StreamHandle))                           \
  X(deviceGetUuid, cuDeviceGetUuid, 11040, (Uuid *, int))                      \
  X(memGetGranularity, cuMemGetAllocationGranularity, 10020,                   \
    (size_t *, const MemoryProperties *, int))                                 \
  X(memAddressReserve, cuMemAddressReserve, 10020,                             \
    (uint64_t *, size_t, size_t, uint64_t, unsigned long long))                \
  X(memAddressFree, cuMemAddressFree, 10020, (uint64_t, size_t))               \
  X(memCreate, cuMemCreate, 10020,                                             \
    (uint64_t *, size_t, const MemoryProperties *, unsigned long long))        \
  X(memRelease, cuMemRelease, 10020, (uint64_t))                               \
  X(memMap, cuMemMap, 10020,                                                   \
    (uint64_t, size_t, size_t, uint64_t, unsigned long long))                  \
  X(memUnmap, cuMemUnmap, 10020, (uint64_t, size_t))                           \
  X(memSetAccess, cuMemSetAccess, 10020,                                       \
    (uint64_t, size_t, const MemoryAccess *, size_t))                          \
  X(memExport, cuMemExportToShareableHandle, 10020,                            \
    (void *, uint64_t, int, unsigned long long))                               \
  X(memImport, cuMemImportFromShareableHandle, 10020, (uint64_t *, void *, int)) \
  X(memGetAddressRange, cuMemGetAddressRange, 3020,                            \
    (uint64_t *, size_t *, uint64_t))                                          \
  X(pointerGetAttribute, cuPointerGetAttribute, 4000, (void *, int, uint64_t)) \
  X(moduleLoadDataEx, cuModuleLoadDataEx, 2010,                                \
    (ModuleHandle *, const void *, unsigned, int *, void **))                  \
  X(moduleUnload, cuModuleUnload, 2000, (ModuleHandle))                        \
  X(moduleGetFunction, cuModuleGetFunction, 2000,                              \
    (FunctionHandle *, ModuleHandle, const char *))                            \
  X(funcLoad, cuFuncLoad, 12040, (FunctionHandle))                             \
  X(funcGetAttribute, cuFuncGetAttribute, 2020, (int *, int, FunctionHandle))  \
  X(funcSetAttribute, cuFuncSetAttribute, 9000, (FunctionHandle, int, int))    \
  X(funcGetParamInfo, cuFuncGetParamInfo, 12040,                               \
    (FunctionHandle, size_t, size_t *, size_t *))                              \
  X(occupancyBlocks, cuOccupancyMaxActiveBlocksPerMultiprocessor, 6050,        \
    (int *, FunctionHandle, int, size_t))                                      \
  X(launchKernelEx, cuLaunchKernelEx, 11060,                                   \
    (const LaunchConfig *, FunctionHandle, void **, void **))                  \
  X(streamCreate, cuStreamCreate, 2000, (StreamHandle *, unsigned))            \
  X(streamCreatePrioritized, cuStreamCreateWithPriority, 5050,                 \
    (StreamHandle *, unsigned, int))                                           \
  X(streamIsCapturing, cuStreamIsCapturing, 10000, (StreamHandle, int *))      \
  X(streamPriorities, cuCtxGetStreamPriorityRange, 5050, (int *, int *))       \
  X(streamWriteValue32, cuStreamWriteValue32, 11070,                           \
    (StreamHandle, uint64_t, uint32_t, unsigned))                              \
  X(streamDestroy, cuStreamDestroy, 4000, (StreamHandle))                      \
  X(streamSynchronize, cuStreamSynchronize, 2000, (StreamHandle))              \
  X(eventCreate, cuEventCreate, 2000, (EventHandle *, unsigned))               \
  X(eventDestroy, cuEventDestroy, 4000, (EventHandle))                         \
  X(eventRecord, cuEventRecord, 2000, (EventHandle, StreamHandle))             \
  X(streamWaitEvent, cuStreamWaitEvent, 3020,                                  \
    (StreamHandle, EventHandle, unsigned))                                     \
  X(eventQuery, cuEventQuery, 2000, (EventHandle))                             \
  X(eventElapsedTime, cuEventElapsedTime, 2000,                                \
    (float *, EventHandle, EventHandle))                                       \
  X(streamBeginCapture, cuStreamBeginCapture, 10010, (StreamHandle, int))      \
  X(streamEndCapture, cuStreamEndCapture, 10000,                               \
    (StreamHandle, GraphHandle *))                                             \
  X(graphInstantiate, cuGraphInstantiateWithFlags, 11040,                      \
    (GraphExecHandle *, GraphHandle, unsigned long long))                      \
  X(graphLaunch, cuGraphLaunch, 10000, (GraphExecHandle, StreamHandle))        \
  X(graphDestroy, cuGraphDestroy, 10000, (GraphHandle))                        \
  X(graphExecDestroy, cuGraphExecDestroy, 10000, (GraphExecHandle))            \
  X(tensorMapEncodeTiled, cuTensorMapEncodeTiled, 12000,                       \
    (TensorMapBytes *, TensorMapType, uint32_t, void *, const uint64_t *,      \
     const uint64_t *, const uint32_t *, const uint32_t *, int,                \
     TensorMapSwizzle, TensorMapL2, int))

class Driver {
public:
  /// CUDA 12.9: the first whose compiler takes all PTX that is written here.
  static constexpr int kOldestVersion = 12090;

  /// The driver of this process (MK_CUDA_LIBRARY or libcuda.so.1), loaded on
  /// the first call. Never unloaded. A failure is tried again next time.
  static Result<const Driver *> get();
  /// Loads `library`, initialises it and checks its version. Errors say what is
  /// missing and how to get it.
  static Result<Driver> load(const std::string &library);

  int version() const { return version_; } // 12090 for 12.9

  /// Ok, or an error as "cuMemAlloc, 16 bytes: CUDA_ERROR_OUT_OF_MEMORY (out of
  /// memory)"; `what` is what comes before the colon.
  Status check(int code, std::string_view what) const;
  /// "CUDA_ERROR_LAUNCH_FAILED (unspecified launch failure)".
  std::string describe(int code) const;

#define MK_CUDA_MEMBER(member, name, version, parameters)                      \
  int(*member) parameters = nullptr;
  MK_CUDA_FUNCTIONS(MK_CUDA_MEMBER)
#undef MK_CUDA_MEMBER

private:
  int version_ = 0;
};

/// Whether the context that a call returned this in is lost to the process.
bool isFatal(int code);

} // namespace mk::rt::cuda

#endif // MKERNEL_RUNTIME_DEVICE_CUDA_DRIVER_H
