//===- Facts.h - What mk-info finds on a machine ----------------*- C++ -*-===//
#ifndef MKERNEL_TOOLS_MKINFO_FACTS_H
#define MKERNEL_TOOLS_MKINFO_FACTS_H

#include "mkernel/Runtime/Status.h"

#include <nlohmann/json.hpp>

namespace mk::info {

using Json = nlohmann::ordered_json;

/// A GPU as the driver's management library counts them: all of the machine, in
/// order of their bus addresses.
struct ManagedGpu {
  std::string name, bus; // "00000000:1B:00.0"
  int64_t nvlinks = 0;   // active ones
  bool mig = false;      // divided into instances
};

/// A GPU that CUDA gives to programs.
struct VisibleGpu {
  std::string name, capability; // "9.0"
  int64_t sms = 0, memoryBytes = 0;
};

struct Nic {
  std::string name, driver; // "mlx5_0", "mlx5_core"; "rdmap0s6", "efa"
  std::string state, link,
      rate; // "ACTIVE", "InfiniBand", "400 Gb/sec (4X NDR)"
  int64_t numa = -1;
};

struct Program {
  std::string path, version; // both empty: not found
};

struct Facts {
  std::string version, abi, compiler; // of mKernel; path of the compiler, or ""

  std::string cpu, machine, kernel, libc; // "Intel(R) Xeon(R) ...", "x86_64"
  int64_t threads = 0, numaNodes = 0, memoryBytes = 0;
  std::vector<std::string> vectors; // "avx2", "avx512f", "amx_bf16"

  std::string driver;      // "575.57.08", as the kernel module says; "" if none
  bool openModule = false; // of the driver, which dma-buf needs
  int64_t cuda = 0;        // CUDA version the driver supports, 12090 for 12.9
  std::string cudaProblem; // why CUDA cannot be used; "" if it can
  std::vector<VisibleGpu> visible;
  std::string nvmlProblem;
  std::vector<ManagedGpu> gpus;
  int64_t peers =
      -1; // pairs of GPUs that reach each other's memory; -1: unknown

  Program ptxas, sanitizer;

  std::vector<Nic> nics;
  bool verbs = false, efa = false; // libibverbs.so.1, libefa.so.1
  bool peermem = false;            // the module nvidia_peermem is loaded
  int64_t lockedBytes = -1;        // limit of locked memory; -1: none
};

/// Asks this machine. `root` stands in front of /sys and /proc; with one that
/// is not empty, libraries are looked for as files in `root`/lib instead of
/// loaded.
Facts collect(const std::string &root);
void collectCpu(const std::string &root, Facts &facts);
void collectGpus(const std::string &root, Facts &facts);
void collectNics(const std::string &root, Facts &facts);
void collectTools(Facts &facts);

Json toJson(const Facts &facts);
/// The inverse; an error names the key that does not fit.
rt::Result<Facts> fromJson(const Json &json);

/// Whole text, without a newline at its end; empty if it cannot be read.
std::string readText(const std::string &path);

/// Something mKernel can do, and what of it this machine lacks.
struct Feature {
  struct Missing {
    std::string what, remedy;
  };
  std::string name, what; // "verbs", "several machines over InfiniBand or RoCE"
  std::string with;       // what makes it work: "NVIDIA H200, CUDA 12.9"
  std::vector<Missing> missing;
};
std::vector<Feature> features(const Facts &facts);

std::string toText(const Facts &facts);

} // namespace mk::info

#endif // MKERNEL_TOOLS_MKINFO_FACTS_H
