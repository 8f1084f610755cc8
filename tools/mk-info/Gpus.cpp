//===- Gpus.cpp - GPUs, their driver and the links between them -----------===//

#include "Facts.h"
#include "mkernel/Runtime/Gpu.h"

#include <dlfcn.h>
#include <unistd.h>

using namespace mk;
using namespace mk::info;

namespace {

/// The few functions of NVIDIA's management library that are needed; 0 is
/// success.
struct Nvml {
  using Device = struct DeviceOpaque *;
  struct Pci { // nvmlPciInfo_t
    char legacy[16];
    unsigned domain, bus, device, pciId, subsystem;
    char id[32];
  };
  static constexpr unsigned kMostLinks = 18;
  static constexpr int kPeerRead = 0, kPeerWrite = 1;

  int (*init)() = nullptr;
  int (*shutdown)() = nullptr;
  const char *(*errorString)(int) = nullptr;
  int (*count)(unsigned *) = nullptr;
  int (*handle)(unsigned, Device *) = nullptr;
  int (*name)(Device, char *, unsigned) = nullptr;
  int (*pci)(Device, Pci *) = nullptr;
  int (*linkState)(Device, unsigned, int *) = nullptr;
  int (*migMode)(Device, unsigned *, unsigned *) = nullptr;
  int (*peerStatus)(Device, Device, int, int *) = nullptr;

  /// Empty, or why it cannot be used.
  std::string load() {
    void *library = dlopen("libnvidia-ml.so.1", RTLD_NOW | RTLD_LOCAL);
    if (!library)
      return dlerror();
    bool whole = true;
    auto find = [&](const char *symbol, auto &out) {
      out = reinterpret_cast<std::remove_reference_t<decltype(out)>>(
          dlsym(library, symbol));
      whole &= out != nullptr;
    };
    find("nvmlInit_v2", init);
    find("nvmlShutdown", shutdown);
    find("nvmlErrorString", errorString);
    find("nvmlDeviceGetCount_v2", count);
    find("nvmlDeviceGetHandleByIndex_v2", handle);
    find("nvmlDeviceGetName", name);
    find("nvmlDeviceGetPciInfo_v3", pci);
    find("nvmlDeviceGetNvLinkState", linkState);
    find("nvmlDeviceGetMigMode", migMode);
    find("nvmlDeviceGetP2PStatus", peerStatus);
    if (!whole)
      return "libnvidia-ml.so.1 lacks functions of driver 575";
    if (int code = init())
      return errorString(code);
    return {};
  }

  ManagedGpu describe(Device device) const {
    ManagedGpu gpu;
    char text[96] = {};
    if (name(device, text, sizeof(text)) == 0)
      gpu.name = text;
    Pci address{};
    if (pci(device, &address) == 0)
      gpu.bus = address.id;
    for (unsigned i = 0; i < kMostLinks; ++i) {
      int active = 0;
      gpu.nvlinks += linkState(device, i, &active) == 0 && active;
    }
    unsigned current = 0, pending = 0;
    gpu.mig = migMode(device, &current, &pending) == 0 && current;
    return gpu;
  }
};

void askNvml(Facts &facts) {
  Nvml nvml;
  facts.nvmlProblem = nvml.load();
  if (!facts.nvmlProblem.empty())
    return;
  unsigned count = 0;
  nvml.count(&count);
  std::vector<Nvml::Device> devices;
  for (unsigned i = 0; i < count; ++i) {
    Nvml::Device device;
    if (nvml.handle(i, &device) == 0) {
      devices.push_back(device);
      facts.gpus.push_back(nvml.describe(device));
    }
  }
  facts.peers = 0;
  for (size_t a = 0; a < devices.size(); ++a)
    for (size_t b = a + 1; b < devices.size(); ++b) {
      int read = 1, write = 1;
      facts.peers += nvml.peerStatus(devices[a], devices[b], Nvml::kPeerRead,
                                     &read) == 0 &&
                     nvml.peerStatus(devices[a], devices[b], Nvml::kPeerWrite,
                                     &write) == 0 &&
                     read == 0 && write == 0;
    }
  nvml.shutdown();
}

/// The word of a version, "575.57.08", in "NVRM version: NVIDIA UNIX Open
/// Kernel Module for x86_64  575.57.08  Release Build ...".
std::string driverVersion(const std::string &text) {
  size_t at = text.find("Kernel Module");
  while (at != std::string::npos && (at = text.find(' ', at)) != text.npos) {
    size_t end = text.find(' ', ++at);
    std::string word = text.substr(at, end - at);
    if (!word.empty() && word[0] >= '0' && word[0] <= '9')
      return word;
  }
  return {};
}

} // namespace

void info::collectGpus(const std::string &root, Facts &facts) {
  std::string module = readText(root + "/proc/driver/nvidia/version");
  facts.driver = driverVersion(module);
  facts.openModule = module.find("Open Kernel Module") != std::string::npos;
  facts.peermem =
      access((root + "/sys/module/nvidia_peermem").c_str(), F_OK) == 0;
  if (!root.empty()) {
    facts.cudaProblem = facts.nvmlProblem = "not asked: --root";
    return;
  }
  auto system = rt::queryGpus();
  if (system) {
    facts.cuda = system->cudaVersion;
    for (const rt::GpuInfo &gpu : system->gpus)
      facts.visible.push_back({gpu.name, rt::capabilityText(gpu), gpu.sms,
                               static_cast<int64_t>(gpu.memoryBytes)});
  } else {
    facts.cudaProblem = system.status().message();
  }
  askNvml(facts);
}
