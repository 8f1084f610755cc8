//===- Driver.cpp - The CUDA driver API, loaded at run time ---------------===//

#include "device/cuda/Driver.h"

#include "mkernel/Runtime/Env.h"

#include <dlfcn.h>
#include <memory>
#include <mutex>

using namespace mk::rt;
using namespace mk::rt::cuda;

namespace {

constexpr const char *kInstead =
    ", or run on this machine's processor (--target=host)";

std::string versionText(int version) {
  return str(version / 1000, ".", version % 1000 / 10);
}

/// The driver's own look-up: gives the function of an API version, whatever its
/// symbol is called.
using GetProcAddress = int (*)(const char *, void **, int, uint64_t, int *);

template <typename Fn>
Status resolve(GetProcAddress find, const char *name, int version, Fn &out) {
  void *address = nullptr;
  int status = 0;
  if (find(name, &address, version, 0, &status) != kSuccess || !address)
    return error(StatusCode::Unavailable, "the NVIDIA driver lacks ", name,
                 " of CUDA ", versionText(version),
                 ": update it to 575 or newer", kInstead);
  out = reinterpret_cast<Fn>(address);
  return Status::success();
}

Status initialise(const Driver &driver) {
  int code = driver.init(0);
  if (code == kSuccess)
    return Status::success();
  if (code == kNoDevice)
    return error(StatusCode::Unavailable,
                 "the NVIDIA driver sees no GPU (CUDA_ERROR_NO_DEVICE): check "
                 "nvidia-smi and CUDA_VISIBLE_DEVICES",
                 kInstead);
  return error(StatusCode::Unavailable, "the NVIDIA driver does not start: ",
               driver.describe(code),
               ": check nvidia-smi and that the driver's library and kernel "
               "module are of one version",
               kInstead);
}

} // namespace

Result<Driver> Driver::load(const std::string &library) {
  void *handle = dlopen(library.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (!handle) {
    const char *why = dlerror();
    return error(StatusCode::Unavailable, "cannot load the NVIDIA driver: ",
                 why ? why : library,
                 ": install driver 575 or newer (in a container, give it the "
                 "GPUs), name the library with MK_CUDA_LIBRARY",
                 kInstead);
  }
  auto find = reinterpret_cast<GetProcAddress>(
      dlsym(handle, "cuGetProcAddress_v2"));
  if (!find)
    return error(StatusCode::Unavailable, "the NVIDIA driver '", library,
                 "' is older than CUDA 12.0; this needs ",
                 versionText(kOldestVersion), ": update it to 575 or newer",
                 kInstead);
  Driver driver;
  // First what tells how old it is, then what it may be too old for.
  MK_TRY(resolve(find, "cuDriverGetVersion", 2020, driver.driverGetVersion));
  if (driver.driverGetVersion(&driver.version_) != kSuccess ||
      driver.version_ < kOldestVersion)
    return error(StatusCode::Unavailable, "the NVIDIA driver supports CUDA ",
                 versionText(driver.version_), "; this needs ",
                 versionText(kOldestVersion), ": update it to 575 or newer",
                 kInstead);
#define MK_CUDA_RESOLVE(member, name, version, parameters)                     \
  MK_TRY(resolve(find, #name, version, driver.member));
  MK_CUDA_FUNCTIONS(MK_CUDA_RESOLVE)
#undef MK_CUDA_RESOLVE
  MK_TRY(initialise(driver));
  return driver;
}

Result<const Driver *> Driver::get() {
  static std::mutex mutex;
  static std::unique_ptr<const Driver> loaded;
  std::lock_guard lock(mutex);
  if (!loaded) {
    MK_ASSIGN(Driver driver,
              load(env::get("MK_CUDA_LIBRARY").value_or("libcuda.so.1")));
    loaded = std::make_unique<const Driver>(driver);
  }
  return loaded.get();
}

std::string Driver::describe(int code) const {
  const char *name = nullptr, *text = nullptr;
  if (getErrorName)
    getErrorName(code, &name);
  if (getErrorString)
    getErrorString(code, &text);
  if (!name)
    return str("CUDA error ", code);
  return text ? str(name, " (", text, ")") : std::string(name);
}

Status Driver::check(int code, std::string_view what) const {
  if (code == kSuccess)
    return Status::success();
  return error(code == kOutOfMemory ? StatusCode::ResourceExhausted
                                    : StatusCode::Unavailable,
               what, ": ", describe(code));
}

bool mk::rt::cuda::isFatal(int code) {
  switch (code) {
  case 214: // uncorrectable ECC error
  case 700: // illegal address
  case 702: // launch timeout
  case 709: // context is destroyed
  case 710: // assert
  case 714: // hardware stack error
  case 715: // illegal instruction
  case 716: // misaligned address
  case 717: // invalid address space
  case 718: // invalid program counter
  case 719: // launch failed
  case 999: // unknown
    return true;
  default:
    return false;
  }
}
