//===- Features.cpp - What works here, and what is missing ----------------===//

#include "Facts.h"
#include "mkernel/Runtime/Gpu.h"

#include <cstdio>

using namespace mk;
using namespace mk::info;

// What the runtime and the compiler ask for.
static constexpr int64_t kOldestCuda = 12090;
static constexpr int kOldestPtxasMajor = 12, kOldestPtxasMinor = 7;

static std::string cudaText(int64_t version) {
  return rt::str(version / 1000, ".", version % 1000 / 10);
}

static Feature host(const Facts &f) {
  Feature feature{"host", "kernels on this machine's processor", f.cpu, {}};
  if (f.compiler.empty())
    feature.missing.push_back(
        {"the compiler, libmkernel_jit.so",
         "build it (MKERNEL_BUILD_COMPILER=ON), unpack a bundle, or name it in "
         "MK_JIT_LIBRARY; packages run without it"});
  return feature;
}

static Feature compileFor(const rt::GpuTarget &target, const Facts &f) {
  Feature feature{rt::str(target.name, "-compile"),
                  rt::str("kernels compiled for ", target.products), f.compiler, {}};
  feature.missing = host(f).missing;
  return feature;
}

static void needDriver(const Facts &f, Feature &feature) {
  if (!f.cudaProblem.empty())
    feature.missing.push_back({f.driver.empty() ? "an NVIDIA driver and GPU"
                                                : "a working NVIDIA driver",
                               f.cudaProblem});
  else if (f.cuda < kOldestCuda)
    feature.missing.push_back(
        {rt::str("a driver for CUDA ", cudaText(kOldestCuda),
                 " (this one: ", cudaText(f.cuda), ")"),
         "update the NVIDIA driver to 575 or newer"});
}

static const VisibleGpu *findGpu(const rt::GpuTarget &target, const Facts &f) {
  for (const VisibleGpu &gpu : f.visible)
    if (gpu.capability == target.capability)
      return &gpu;
  return nullptr;
}

static Feature runFor(const rt::GpuTarget &target, const Facts &f) {
  Feature feature{rt::str(target.name, "-run"), "kernels on one GPU", "", {}};
  needDriver(f, feature);
  const VisibleGpu *gpu = findGpu(target, f);
  if (gpu)
    feature.with = rt::str(gpu->name, ", CUDA ", cudaText(f.cuda));
  else if (f.cudaProblem.empty())
    feature.missing.push_back(
        {rt::str("a GPU of compute capability ", target.capability),
         f.visible.empty()
             ? "make one visible: check CUDA_VISIBLE_DEVICES"
             : rt::str("run on ", target.products, "; CUDA gives ", f.visible[0].name,
                       " (", f.visible[0].capability, ")")});
  for (const ManagedGpu &managed : f.gpus)
    if (managed.mig) {
      feature.missing.push_back(
          {rt::str("whole GPUs: ", managed.bus, " is divided (MIG)"),
           "as root: nvidia-smi -mig 0, or use another machine"});
      break;
    }
  return feature;
}

static Feature assemble(const Facts &f) {
  Feature feature{
      "ptxas",
      "spills and stalls found when tests compile",
      f.ptxas.path.empty() ? "" : rt::str(f.ptxas.path, " ", f.ptxas.version),
      {}};
  int major = 0, minor = 0;
  std::sscanf(f.ptxas.version.c_str(), "%d.%d", &major, &minor);
  std::string wanted = rt::str(kOldestPtxasMajor, ".", kOldestPtxasMinor);
  if (f.ptxas.path.empty())
    feature.missing.push_back(
        {"ptxas", "install the CUDA toolkit, " + wanted +
                      " or newer, and put it on PATH or in CUDA_HOME"});
  else if (std::pair(major, minor) <
           std::pair(kOldestPtxasMajor, kOldestPtxasMinor))
    feature.missing.push_back(
        {"ptxas " + wanted + " (PTX ISA 8.6); this one is " + f.ptxas.version,
         "install a newer CUDA toolkit"});
  return feature;
}

static Feature memcheck(const Facts &f) {
  Feature feature{
      "memcheck", "GPU kernels checked for bad accesses", f.sanitizer.path, {}};
  if (f.sanitizer.path.empty())
    feature.missing.push_back(
        {"compute-sanitizer", "install it with the CUDA toolkit, and put it on "
                              "PATH or in CUDA_HOME"});
  return feature;
}

static Feature severalGpus(const Facts &f) {
  Feature feature{"gpus", "kernels on several GPUs of one machine", "", {}};
  needDriver(f, feature);
  int64_t n = f.visible.size(), pairs = n * (n - 1) / 2;
  if (f.cudaProblem.empty() && n < 2)
    feature.missing.push_back({rt::str("a second GPU (CUDA gives ", n, ")"),
                               "run on a machine with several, and check "
                               "CUDA_VISIBLE_DEVICES"});
  else if (n >= 2 && f.peers >= 0 && f.peers < pairs)
    feature.missing.push_back(
        {rt::str("memory of all peers in reach (", f.peers, " of ", pairs,
                 " pairs)"),
         "nvidia-smi topo -p2p rw says which; switch off ACS and the IOMMU, "
         "and "
         "start nvidia-fabricmanager where there is an NVSwitch"});
  return feature;
}

static Feature network(const Facts &f, bool efa) {
  Feature feature{efa ? "efa" : "verbs",
                  efa ? "several machines over AWS EFA, untested on hardware"
                      : "several machines over InfiniBand or RoCE, untested on hardware",
                  "",
                  {}};
  int64_t active = 0, all = 0;
  for (const Nic &nic : f.nics) {
    if ((nic.driver == "efa") != efa)
      continue;
    ++all;
    if (nic.state != "ACTIVE")
      continue;
    ++active;
    feature.with += (feature.with.empty() ? "" : ", ") + nic.name;
  }
  if (!all)
    feature.missing.push_back(
        {efa ? "an EFA adapter" : "an RDMA adapter (ConnectX or the like)",
         efa ? "start an instance with EFA interfaces, and load the module efa"
             : "install one and load its module; in a container, pass "
               "/dev/infiniband through"});
  else if (!active)
    feature.missing.push_back({"a port that is active",
                               "check cables and switch: ibstat, rdma link"});
#ifdef MKERNEL_WITHOUT_VERBS
  feature.missing.push_back(
      {"a build with transports over NICs",
       "install libibverbs-dev (elsewhere: rdma-core-devel) and build again"});
#endif
  if (!f.verbs)
    feature.missing.push_back(
        {"libibverbs.so.1", "apt-get install libibverbs1 ibverbs-providers"});
  if (efa && !f.efa)
    feature.missing.push_back(
        {"libefa.so.1",
         "apt-get install ibverbs-providers, or the EFA installer"});
  if (f.lockedBytes >= 0 && f.lockedBytes < (int64_t(1) << 30))
    feature.missing.push_back(
        {rt::str("locked memory (the limit is ", f.lockedBytes >> 10, " KiB)"),
         "ulimit -l unlimited; for good in /etc/security/limits.conf"});
  if (!f.driver.empty() && !f.peermem && !f.openModule)
    feature.missing.push_back(
        {"GPU memory for the adapter", "modprobe nvidia_peermem, or install "
                                       "the driver's open kernel modules"});
  return feature;
}

std::vector<Feature> info::features(const Facts &f) {
  std::vector<Feature> all{host(f)};
  for (const rt::GpuTarget &target : rt::gpuTargets()) {
    all.push_back(compileFor(target, f));
    all.push_back(runFor(target, f));
  }
  for (Feature feature : {assemble(f), memcheck(f), severalGpus(f), network(f, false), network(f, true)})
    all.push_back(std::move(feature));
  return all;
}
