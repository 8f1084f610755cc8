//===- LayoutTest.cpp - Our declarations against cuda.h -------------------===//
//
// Built only where cuda.h is found.
//
//===----------------------------------------------------------------------===//

#include "device/cuda/Driver.h"

#include <cuda.h>
#include <cudaTypedefs.h>
#include <gtest/gtest.h>

using namespace mk::rt;

#define SAME_FIELD(ours, field, theirs, other)                                 \
  static_assert(offsetof(ours, field) == offsetof(theirs, other))

static_assert(sizeof(cuda::LaunchConfig) == sizeof(CUlaunchConfig));
SAME_FIELD(cuda::LaunchConfig, grid, CUlaunchConfig, gridDimX);
SAME_FIELD(cuda::LaunchConfig, block, CUlaunchConfig, blockDimX);
SAME_FIELD(cuda::LaunchConfig, sharedBytes, CUlaunchConfig, sharedMemBytes);
SAME_FIELD(cuda::LaunchConfig, stream, CUlaunchConfig, hStream);
SAME_FIELD(cuda::LaunchConfig, attributes, CUlaunchConfig, attrs);
SAME_FIELD(cuda::LaunchConfig, numAttributes, CUlaunchConfig, numAttrs);
static_assert(sizeof(cuda::LaunchAttribute) == sizeof(CUlaunchAttribute));
SAME_FIELD(cuda::LaunchAttribute, id, CUlaunchAttribute, id);
SAME_FIELD(cuda::LaunchAttribute, value, CUlaunchAttribute, value);
SAME_FIELD(cuda::LaunchAttribute, value.cooperative, CUlaunchAttribute,
           value.cooperative);
SAME_FIELD(cuda::LaunchAttribute, value.programmaticSerialization,
           CUlaunchAttribute, value.programmaticStreamSerializationAllowed);
static_assert(sizeof(cuda::TensorMapBytes) == sizeof(CUtensorMap));
static_assert(sizeof(CUdeviceptr) == sizeof(uint64_t));
static_assert(sizeof(CUdevice) == sizeof(int) && sizeof(CUresult) == sizeof(int));

static_assert(sizeof(cuda::MemoryProperties) == sizeof(CUmemAllocationProp));
SAME_FIELD(cuda::MemoryProperties, handles, CUmemAllocationProp,
           requestedHandleTypes);
SAME_FIELD(cuda::MemoryProperties, locationType, CUmemAllocationProp,
           location.type);
SAME_FIELD(cuda::MemoryProperties, device, CUmemAllocationProp, location.id);
SAME_FIELD(cuda::MemoryProperties, gpuDirectRdma, CUmemAllocationProp,
           allocFlags.gpuDirectRDMACapable);
SAME_FIELD(cuda::MemoryProperties, usage, CUmemAllocationProp, allocFlags.usage);
static_assert(cuda::MemoryProperties().type == CU_MEM_ALLOCATION_TYPE_PINNED &&
              cuda::MemoryProperties().locationType == CU_MEM_LOCATION_TYPE_DEVICE);
static_assert(sizeof(cuda::MemoryAccess) == sizeof(CUmemAccessDesc));
SAME_FIELD(cuda::MemoryAccess, device, CUmemAccessDesc, location.id);
SAME_FIELD(cuda::MemoryAccess, flags, CUmemAccessDesc, flags);
static_assert(cuda::MemoryAccess().flags == CU_MEM_ACCESS_FLAGS_PROT_READWRITE);
static_assert(sizeof(cuda::Uuid) == sizeof(CUuuid));

#define SAME(ours, theirs) static_assert(int(cuda::ours) == int(theirs))
SAME(kSuccess, CUDA_SUCCESS);
SAME(kOutOfMemory, CUDA_ERROR_OUT_OF_MEMORY);
SAME(kNoDevice, CUDA_ERROR_NO_DEVICE);
SAME(kVirtualMemory, CU_DEVICE_ATTRIBUTE_VIRTUAL_MEMORY_MANAGEMENT_SUPPORTED);
SAME(kPosixDescriptors,
     CU_DEVICE_ATTRIBUTE_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR_SUPPORTED);
SAME(kGpuDirectRdmaWithVmm,
     CU_DEVICE_ATTRIBUTE_GPU_DIRECT_RDMA_WITH_CUDA_VMM_SUPPORTED);
SAME(kGpuDirectFlushOptions, CU_DEVICE_ATTRIBUTE_GPU_DIRECT_RDMA_FLUSH_WRITES_OPTIONS);
SAME(kGpuDirectWritesOrdering, CU_DEVICE_ATTRIBUTE_GPU_DIRECT_RDMA_WRITES_ORDERING);
static_assert(CU_GPU_DIRECT_RDMA_WRITES_ORDERING_OWNER == 100 &&
              CU_FLUSH_GPU_DIRECT_RDMA_WRITES_OPTION_HOST == 1);
SAME(kDmaBuf, CU_DEVICE_ATTRIBUTE_DMA_BUF_SUPPORTED);
SAME(kDmaBufDescriptor, CU_MEM_RANGE_HANDLE_TYPE_DMA_BUF_FD);
#if CUDA_VERSION >= 12080
SAME(kDmaBufPcie, CU_MEM_RANGE_FLAG_DMA_BUF_MAPPING_TYPE_PCIE);
#endif
SAME(kFlushCurrentContext, CU_FLUSH_GPU_DIRECT_RDMA_WRITES_TARGET_CURRENT_CTX);
SAME(kFlushToOwner, CU_FLUSH_GPU_DIRECT_RDMA_WRITES_TO_OWNER);
SAME(kNotReady, CUDA_ERROR_NOT_READY);
SAME(kEventDisableTiming, CU_EVENT_DISABLE_TIMING);
SAME(kPosixDescriptor, CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR);
SAME(kRecommendedGranularity, CU_MEM_ALLOC_GRANULARITY_RECOMMENDED);
SAME(kMultiprocessorCount, CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT);
SAME(kCapabilityMajor, CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR);
SAME(kCapabilityMinor, CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR);
SAME(kPageableMemoryAccess, CU_DEVICE_ATTRIBUTE_PAGEABLE_MEMORY_ACCESS);
SAME(kMaxSharedPerBlock, CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK_OPTIN);
SAME(kLocalBytes, CU_FUNC_ATTRIBUTE_LOCAL_SIZE_BYTES);
SAME(kRegisters, CU_FUNC_ATTRIBUTE_NUM_REGS);
SAME(kMaxDynamicShared, CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES);
SAME(kInfoLog, CU_JIT_INFO_LOG_BUFFER);
SAME(kInfoLogBytes, CU_JIT_INFO_LOG_BUFFER_SIZE_BYTES);
SAME(kErrorLog, CU_JIT_ERROR_LOG_BUFFER);
SAME(kErrorLogBytes, CU_JIT_ERROR_LOG_BUFFER_SIZE_BYTES);
SAME(kPointerMemoryType, CU_POINTER_ATTRIBUTE_MEMORY_TYPE);
SAME(kHostAllocPortable, CU_MEMHOSTALLOC_PORTABLE);
SAME(kHostAllocDeviceMap, CU_MEMHOSTALLOC_DEVICEMAP);
SAME(kStreamNonBlocking, CU_STREAM_NON_BLOCKING);
SAME(kCaptureThreadLocal, CU_STREAM_CAPTURE_MODE_THREAD_LOCAL);
SAME(LaunchAttribute::kCooperative, CU_LAUNCH_ATTRIBUTE_COOPERATIVE);
SAME(LaunchAttribute::kProgrammaticSerialization,
     CU_LAUNCH_ATTRIBUTE_PROGRAMMATIC_STREAM_SERIALIZATION);
SAME(TensorMapType::U8, CU_TENSOR_MAP_DATA_TYPE_UINT8);
SAME(TensorMapType::U16, CU_TENSOR_MAP_DATA_TYPE_UINT16);
SAME(TensorMapType::I32, CU_TENSOR_MAP_DATA_TYPE_INT32);
SAME(TensorMapType::I64, CU_TENSOR_MAP_DATA_TYPE_INT64);
SAME(TensorMapType::F16, CU_TENSOR_MAP_DATA_TYPE_FLOAT16);
SAME(TensorMapType::F32, CU_TENSOR_MAP_DATA_TYPE_FLOAT32);
SAME(TensorMapType::F64, CU_TENSOR_MAP_DATA_TYPE_FLOAT64);
SAME(TensorMapType::BF16, CU_TENSOR_MAP_DATA_TYPE_BFLOAT16);
SAME(TensorMapSwizzle::None, CU_TENSOR_MAP_SWIZZLE_NONE);
SAME(TensorMapSwizzle::B32, CU_TENSOR_MAP_SWIZZLE_32B);
SAME(TensorMapSwizzle::B64, CU_TENSOR_MAP_SWIZZLE_64B);
SAME(TensorMapSwizzle::B128, CU_TENSOR_MAP_SWIZZLE_128B);
SAME(TensorMapL2::B256, CU_TENSOR_MAP_L2_PROMOTION_L2_256B);
static_assert(CU_TENSOR_MAP_INTERLEAVE_NONE == 0);
static_assert(CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE == 0);
static_assert(CU_GET_PROC_ADDRESS_DEFAULT == 0);

// Every function: the version that is asked for exists and takes parameters of
// these sizes.
template <typename Ours, typename Theirs> struct SameShape;
template <typename R, typename... A, typename S, typename... B>
struct SameShape<R (*)(A...), S (*)(B...)> {
  static constexpr bool value = [] {
    if constexpr (sizeof...(A) == sizeof...(B))
      return ((sizeof(A) == sizeof(B) &&
               std::is_pointer_v<A> == std::is_pointer_v<B>) &&
              ...);
    return false;
  }();
};
#define SAME_FUNCTION(member, name, version, parameters)                       \
  static_assert(SameShape<decltype(cuda::Driver::member),                      \
                          PFN_##name##_v##version>::value);
MK_CUDA_FUNCTIONS(SAME_FUNCTION)

TEST(CudaLayout, FatalCodesAreThoseOfTheDriver) {
  for (CUresult code :
       {CUDA_ERROR_ECC_UNCORRECTABLE, CUDA_ERROR_ILLEGAL_ADDRESS,
        CUDA_ERROR_LAUNCH_TIMEOUT, CUDA_ERROR_CONTEXT_IS_DESTROYED,
        CUDA_ERROR_ASSERT, CUDA_ERROR_HARDWARE_STACK_ERROR,
        CUDA_ERROR_ILLEGAL_INSTRUCTION, CUDA_ERROR_MISALIGNED_ADDRESS,
        CUDA_ERROR_INVALID_ADDRESS_SPACE, CUDA_ERROR_INVALID_PC,
        CUDA_ERROR_LAUNCH_FAILED, CUDA_ERROR_UNKNOWN})
    EXPECT_TRUE(cuda::isFatal(code)) << code;
  for (CUresult code :
       {CUDA_SUCCESS, CUDA_ERROR_INVALID_VALUE, CUDA_ERROR_OUT_OF_MEMORY,
        CUDA_ERROR_COOPERATIVE_LAUNCH_TOO_LARGE,
        CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED})
    EXPECT_FALSE(cuda::isFatal(code)) << code;
}
