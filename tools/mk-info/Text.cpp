//===- Text.cpp - The report for people -----------------------------------===//

#include "Facts.h"

using namespace mk;
using namespace mk::info;

static std::string gib(int64_t bytes) {
  return rt::str((bytes + (int64_t(1) << 29)) >> 30, " GiB");
}

static std::string orNone(const std::string &text) {
  return text.empty() ? "none" : text;
}

static std::string describe(const Program &program) {
  return program.path.empty() ? "none"
                              : program.version + " (" + program.path + ")";
}

std::string info::toText(const Facts &f) {
  std::string out;
  auto line = [&](std::string key, const auto &...text) {
    key.resize(std::max<size_t>(key.size(), 14), ' ');
    out += rt::str(key, " ", text..., "\n");
  };
  line("mKernel", f.version, ", ABI ", f.abi);
  line("compiler", orNone(f.compiler));
  std::string vectors;
  for (const std::string &name : f.vectors)
    vectors += " " + name;
  line("CPU", orNone(f.cpu), ", ", f.machine, ", ", f.threads, " threads, ",
       f.numaNodes, f.numaNodes == 1 ? " NUMA node," : " NUMA nodes,", vectors);
  line("memory", gib(f.memoryBytes));
  line("system", "Linux ", f.kernel, ", glibc ", f.libc);
  line("driver", orNone(f.driver), f.openModule ? " (open kernel modules)" : "",
       f.cuda ? rt::str(", CUDA ", f.cuda / 1000, ".", f.cuda % 1000 / 10)
              : "");
  for (size_t i = 0; i < f.visible.size(); ++i)
    line(rt::str("GPU ", i), f.visible[i].name, ", compute capability ",
         f.visible[i].capability, ", ", f.visible[i].sms, " SMs, ",
         gib(f.visible[i].memoryBytes));
  if (f.visible.empty())
    line("GPUs", "none");
  for (const ManagedGpu &gpu : f.gpus)
    line("on the bus", gpu.bus, " ", gpu.name, ", ", gpu.nvlinks,
         gpu.nvlinks == 1 ? " NVLink" : " NVLinks", gpu.mig ? ", MIG" : "");
  if (f.gpus.size() > 1)
    line("peers", f.peers, " of ", f.gpus.size() * (f.gpus.size() - 1) / 2,
         " pairs reach each other's memory");
  line("ptxas", describe(f.ptxas));
  line("sanitizer", describe(f.sanitizer));
  for (const Nic &nic : f.nics)
    line("NIC", nic.name, ", ", orNone(nic.driver), ", ", nic.state,
         nic.link.empty() ? "" : ", " + nic.link,
         nic.rate.empty() ? "" : ", " + nic.rate,
         nic.numa < 0 ? "" : rt::str(", NUMA node ", nic.numa));
  if (f.nics.empty())
    line("NICs", "none that do RDMA");
  line("RDMA", "libibverbs ", f.verbs ? "yes" : "no", ", libefa ",
       f.efa ? "yes" : "no", ", nvidia_peermem ", f.peermem ? "yes" : "no");

  out += "\n";
  for (const Feature &feature : features(f)) {
    line(feature.name, feature.missing.empty() ? "yes  " : "no   ",
         feature.what,
         feature.missing.empty() && !feature.with.empty()
             ? " (" + feature.with + ")"
             : "");
    for (const Feature::Missing &missing : feature.missing)
      line("", "  missing: ", missing.what, "\n", std::string(15, ' '),
           "  remedy:  ", missing.remedy);
  }
  return out;
}
