//===- DriverTest.cpp - What is wrong with a machine ----------------------===//

#include "FakeGpu.h"
#include "device/cuda/Gpu.h"

namespace mk::rt::test {
namespace {

using cuda::Gpu;
using cuda::Driver;
struct CudaDriver : FakeGpu {};

TEST_F(CudaDriver, MissingAndOldDriversAreNamedWithTheRemedy) {
  EXPECT_ERROR(Driver::load("/nonexistent/libcuda.so.1").status(), Unavailable,
               "cannot load the NVIDIA driver");
  EXPECT_ERROR(Driver::load("/nonexistent/libcuda.so.1").status(), Unavailable,
               "install driver 575 or newer (in a container, give it the GPUs), "
               "name the library with MK_CUDA_LIBRARY, or run on this machine's "
               "processor (--target=host)");
  EXPECT_ERROR(Driver::load(MK_TEST_OLD_CUDA).status(), Unavailable,
               "is older than CUDA 12.0; this needs 12.9");
  fake->driverVersion = 12080;
  EXPECT_ERROR(Driver::load(MK_TEST_FAKE_CUDA).status(), Unavailable,
               "the NVIDIA driver supports CUDA 12.8; this needs 12.9: update "
               "it to 575 or newer");
  fake->driverVersion = 12090;
  EXPECT_OK(Driver::load(MK_TEST_FAKE_CUDA));
  fake->missing = "cuTensorMapEncodeTiled";
  EXPECT_ERROR(Driver::load(MK_TEST_FAKE_CUDA).status(), Unavailable,
               "lacks cuTensorMapEncodeTiled of CUDA 12.0");
}

TEST_F(CudaDriver, NoGpuIsNamed) {
  fake->initCode = 100;
  EXPECT_ERROR(Driver::load(MK_TEST_FAKE_CUDA).status(), Unavailable,
               "sees no GPU (CUDA_ERROR_NO_DEVICE): check nvidia-smi and "
               "CUDA_VISIBLE_DEVICES");
  fake->initCode = 803;
  EXPECT_ERROR(Driver::load(MK_TEST_FAKE_CUDA).status(), Unavailable,
               "does not start: CUDA_ERROR_SYSTEM_DRIVER_MISMATCH");
  fake->initCode = 0;
  fake->gpus = 0;
  EXPECT_ERROR(queryGpus().status(), Unavailable, "sees no GPU");
  EXPECT_ERROR(Gpu::open(-1).status(), Unavailable, "sees no GPU");
}

TEST_F(CudaDriver, GpusAreDescribed) {
  fake->gpus = 2;
  auto system = queryGpus();
  ASSERT_OK(system);
  EXPECT_EQ(system->cudaVersion, 13000);
  ASSERT_EQ(system->gpus.size(), 2u);
  EXPECT_EQ(system->gpus[1].name, "Fake H200");
  EXPECT_EQ(system->gpus[1].sms, 132u);
  EXPECT_EQ(capabilityText(system->gpus[1]), "9.0");
  EXPECT_EQ(fake->retained, 0); // asking uses none

  auto device = Gpu::open(1);
  ASSERT_OK(device);
  EXPECT_EQ((*device)->name(), "GPU 1 (Fake H200)");
  EXPECT_ERROR(Gpu::open(2).status(), InvalidArgument,
               "there is no GPU 2; the driver sees 2");
}

TEST_F(CudaDriver, TheCallersContextIsUsed) {
  fake->gpus = 2;
  fake->current = true;
  auto device = Gpu::open(-1);
  ASSERT_OK(device);
  EXPECT_EQ((*device)->ordinal(), 1);
  EXPECT_EQ(fake->retained, 0);
  // Not when a GPU is asked for by number.
  auto first = Gpu::open(0);
  ASSERT_OK(first);
  EXPECT_EQ((*first)->ordinal(), 0);
  EXPECT_EQ(fake->retained, 1);
}

TEST_F(CudaDriver, MemoryIsZeroedAndWhatDoesNotFitIsNamed) {
  auto device = Gpu::open(0);
  ASSERT_OK(device);
  {
    auto memory = cuda::DeviceMemory::allocate(*device, 1000, "argument 'a'");
    ASSERT_OK(memory);
    auto *bytes = reinterpret_cast<uint8_t *>(memory->address());
    for (int i = 0; i < 1000; ++i)
      ASSERT_EQ(bytes[i], 0);
    EXPECT_OK(cuda::DeviceMemory::allocate(*device, 0, "nothing"));
    EXPECT_EQ(fake->blocks.size(), 1u);
  }
  EXPECT_TRUE(fake->blocks.empty());
  fake->memoryBytes = 100;
  EXPECT_ERROR(
      cuda::DeviceMemory::allocate(*device, 101, "argument 'a'").status(),
      ResourceExhausted,
      "argument 'a' needs 101 bytes of the memory of GPU 0 (Fake H200), which "
      "has 151397597184: CUDA_ERROR_OUT_OF_MEMORY (as the fake says): use "
      "smaller sizes, or free memory");
}

} // namespace
} // namespace mk::rt::test
