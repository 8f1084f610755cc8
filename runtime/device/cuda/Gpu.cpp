//===- Gpu.cpp - A GPU and memory on it --------------------------------===//

#include "device/cuda/Gpu.h"

#include "mkernel/Runtime/Topology.h"

#include <algorithm>
#include <cstdio>
#include <cstring>
#include <utility>

using namespace mk::rt;
using namespace mk::rt::cuda;

namespace {

Result<GpuInfo> describeGpu(const Driver &driver, int handle) {
  GpuInfo info;
  char name[256] = {};
  size_t bytes = 0;
  int sms = 0;
  MK_TRY(driver.check(driver.deviceGetName(name, sizeof(name) - 1, handle),
                      "cuDeviceGetName"));
  MK_TRY(driver.check(driver.deviceTotalMem(&bytes, handle),
                      "cuDeviceTotalMem"));
  std::pair<int, int *> attributes[] = {{kCapabilityMajor, &info.major},
                                        {kCapabilityMinor, &info.minor},
                                        {kMultiprocessorCount, &sms}};
  for (auto [which, value] : attributes)
    MK_TRY(driver.check(driver.deviceGetAttribute(value, which, handle),
                        "cuDeviceGetAttribute"));
  int domain = 0, bus = 0, device = 0;
  if (driver.deviceGetAttribute(&domain, kPciDomain, handle) == kSuccess &&
      driver.deviceGetAttribute(&bus, kPciBus, handle) == kSuccess &&
      driver.deviceGetAttribute(&device, kPciDevice, handle) == kSuccess)
    info.pciAddress = PciAddress{static_cast<uint32_t>(domain), static_cast<uint8_t>(bus),
                                 static_cast<uint8_t>(device), 0}
                          .toString();
  Uuid uuid;
  MK_TRY(driver.check(driver.deviceGetUuid(&uuid, handle), "cuDeviceGetUuid"));
  info.uuid = "GPU";
  for (int i = 0; i < 16; ++i) {
    char digits[4];
    std::snprintf(digits, sizeof(digits), "%02x", uuid.bytes[i]);
    info.uuid += (i == 0 || i == 4 || i == 6 || i == 8 || i == 10 ? "-" : "");
    info.uuid += digits;
  }
  info.name = name;
  info.memoryBytes = bytes;
  info.sms = static_cast<uint32_t>(sms);
  return info;
}

Result<int> countGpus(const Driver &driver) {
  int count = 0;
  MK_TRY(driver.check(driver.deviceGetCount(&count), "cuDeviceGetCount"));
  if (count == 0)
    return error(StatusCode::Unavailable,
                 "the NVIDIA driver sees no GPU: check nvidia-smi and "
                 "CUDA_VISIBLE_DEVICES, or run on this machine's processor "
                 "(--target=host)");
  return count;
}

} // namespace

Result<GpuSystem> mk::rt::queryGpus() {
  MK_ASSIGN(const Driver *driver, Driver::get());
  MK_ASSIGN(int count, countGpus(*driver));
  GpuSystem system;
  system.cudaVersion = driver->version();
  for (int i = 0; i < count; ++i) {
    int handle = 0;
    MK_TRY(driver->check(driver->deviceGet(&handle, i), "cuDeviceGet"));
    MK_ASSIGN(GpuInfo info, describeGpu(*driver, handle));
    system.gpus.push_back(std::move(info));
  }
  return system;
}

Result<std::shared_ptr<Gpu>> Gpu::open(int ordinal) {
  MK_ASSIGN(const Driver *driver, Driver::get());
  MK_ASSIGN(int count, countGpus(*driver));
  std::shared_ptr<Gpu> device(new Gpu(*driver));
  ContextHandle current = nullptr;
  if (ordinal < 0 && driver->ctxGetCurrent(&current) == kSuccess && current) {
    int handle = 0;
    MK_TRY(driver->check(driver->ctxGetDevice(&handle), "cuCtxGetDevice"));
    device->handle_ = handle;
    for (int i = 0; i < count; ++i)
      if (int other; driver->deviceGet(&other, i) == kSuccess &&
                     other == handle)
        device->ordinal_ = i;
    device->context_ = current;
  } else {
    device->ordinal_ = std::max(ordinal, 0);
    if (device->ordinal_ >= count)
      return error(StatusCode::InvalidArgument, "there is no GPU ",
                   device->ordinal_, "; the driver sees ", count,
                   " (CUDA_VISIBLE_DEVICES may hide some)");
    MK_TRY(driver->check(driver->deviceGet(&device->handle_, device->ordinal_),
                         "cuDeviceGet"));
    Status status = driver->check(
        driver->primaryCtxRetain(&device->context_, device->handle_),
        "cuDevicePrimaryCtxRetain");
    if (!status.isOk())
      return status.withContext(str("GPU ", device->ordinal_,
                                    " cannot be used (is it in exclusive mode "
                                    "and taken, or out of memory?)"));
    device->retained_ = true;
  }
  MK_ASSIGN(device->info_, describeGpu(*driver, device->handle_));
  return device;
}

Gpu::~Gpu() {
  if (retained_)
    driver_.primaryCtxRelease(handle_);
}

int Gpu::attribute(int which) const {
  int value = 0;
  driver_.deviceGetAttribute(&value, which, handle_);
  return value;
}

Result<DeviceMemory> DeviceMemory::allocate(std::shared_ptr<Gpu> device,
                                            uint64_t bytes,
                                            std::string_view what) {
  const Driver &driver = device->driver();
  Current current(*device);
  bytes = std::max<uint64_t>(bytes, 1);
  DeviceMemory memory;
  int code = driver.memAlloc(&memory.address_, bytes);
  if (code != kSuccess) {
    memory.address_ = 0;
    Status status =
        driver.check(code, str(what, " needs ", bytes, " bytes of the memory of ",
                               device->name(), ", which has ",
                               device->info().memoryBytes));
    return code == kOutOfMemory
               ? error(status.code(), status.message(),
                       ": use smaller sizes, or free memory that others hold")
               : status;
  }
  memory.device_ = std::move(device);
  MK_TRY(driver.check(driver.memsetD8Async(memory.address_, 0, bytes, nullptr),
                      "cuMemsetD8Async"));
  // Streams that do not wait for the default one must see the zeroes, too.
  MK_TRY(driver.check(driver.streamSynchronize(nullptr),
                      "cuStreamSynchronize"));
  return memory;
}

DeviceMemory &DeviceMemory::operator=(DeviceMemory &&other) noexcept {
  std::swap(device_, other.device_);
  std::swap(address_, other.address_);
  return *this;
}

void DeviceMemory::reset() {
  if (address_) {
    Current current(*device_);
    device_->driver().memFree(address_);
  }
  address_ = 0;
  device_.reset();
}

Result<PinnedMemory> PinnedMemory::allocate(std::shared_ptr<Gpu> device,
                                            uint64_t bytes) {
  const Driver &driver = device->driver();
  Current current(*device);
  PinnedMemory memory;
  void *host = nullptr;
  MK_TRY(driver.check(
      driver.memHostAlloc(&host, bytes,
                          kHostAllocPortable | kHostAllocDeviceMap),
      str("cuMemHostAlloc of ", bytes,
          " bytes (is the limit of locked memory, ulimit -l, too low?)")));
  memory.host_ = static_cast<std::byte *>(host);
  memory.device_ = std::move(device);
  std::memset(host, 0, bytes);
  MK_TRY(driver.check(driver.memHostGetDevicePointer(&memory.address_, host, 0),
                      "cuMemHostGetDevicePointer"));
  return memory;
}

PinnedMemory &PinnedMemory::operator=(PinnedMemory &&other) noexcept {
  std::swap(device_, other.device_);
  std::swap(host_, other.host_);
  std::swap(address_, other.address_);
  return *this;
}

void PinnedMemory::reset() {
  if (host_) {
    Current current(*device_);
    device_->driver().memFreeHost(host_);
  }
  host_ = nullptr;
  device_.reset();
}

Result<Stopwatch> Stopwatch::create(std::shared_ptr<Gpu> device) {
  const Driver &driver = device->driver();
  Current current(*device);
  Stopwatch watch;
  watch.device_ = std::move(device);
  for (EventHandle *event : {&watch.begin_, &watch.end_})
    MK_TRY(driver.check(driver.eventCreate(event, 0), "cuEventCreate"));
  return watch;
}

Stopwatch &Stopwatch::operator=(Stopwatch &&other) noexcept {
  std::swap(device_, other.device_);
  std::swap(begin_, other.begin_);
  std::swap(end_, other.end_);
  return *this;
}

Stopwatch::~Stopwatch() {
  if (!device_)
    return;
  Current current(*device_);
  for (EventHandle event : {begin_, end_})
    if (event)
      device_->driver().eventDestroy(event);
}

int Stopwatch::begin(StreamHandle stream) {
  return device_->driver().eventRecord(begin_, stream);
}

int Stopwatch::end(StreamHandle stream) {
  return device_->driver().eventRecord(end_, stream);
}

int Stopwatch::elapsed(double &ms) const {
  float value = 0;
  int code = device_->driver().eventElapsedTime(&value, begin_, end_);
  ms = value;
  return code;
}
