//===- Cpu.cpp - Whether this CPU can run a package's code ----------------===//

#include "package/Cpu.h"

#include "mkernel/ABI/Package.h"

#include <fstream>

using namespace mk::rt;

namespace {

/// Whether this CPU has a feature, as far as it is known by this name.
bool hasFeature(std::string_view wanted) {
#if defined(__x86_64__)
#define MK_TEST_FEATURE(name)                                                  \
  if (wanted == name)                                                          \
    return __builtin_cpu_supports(name);
  MK_CPU_FEATURES(MK_TEST_FEATURE)
#undef MK_TEST_FEATURE
#endif
  return false;
}

std::string cpuName() {
  std::ifstream file("/proc/cpuinfo");
  for (std::string line; std::getline(file, line);)
    if (size_t at = line.find(": ");
        at != std::string::npos && line.starts_with("model name"))
      return line.substr(at + 2);
  return "unknown";
}

} // namespace

Status mk::rt::checkCpu(const Metadata &metadata) {
  std::string lacks;
  for (const std::string &feature : metadata.cpuFeatures)
    if (!hasFeature(feature))
      lacks += (lacks.empty() ? "" : ", ") + feature;
  if (lacks.empty())
    return Status::success();
  return error(StatusCode::FailedPrecondition, "kernel '", metadata.kernel,
               "' is compiled for the CPU '", metadata.cpu,
               "', and this machine's, '", cpuName(), "', lacks ", lacks,
               ": compile it for this one (--cpu native), or for one that all "
               "machines cover (--cpu x86-64-v2)");
}
