//===- CpuBinding.h - On which CPUs a thread runs ---------------*- C++ -*-===//
//
// A thread that drives a NIC runs on the NUMA node that the NIC is at: on all of its CPUs that
// the process may use, so that the system places the threads of several ranks. A process that
// is bound elsewhere stays there.
//
//===----------------------------------------------------------------------===//
#ifndef MKERNEL_RUNTIME_CPUBINDING_H
#define MKERNEL_RUNTIME_CPUBINDING_H

#include "mkernel/Runtime/Topology.h"

#include <span>

namespace mk::rt {

/// "0-3,8" as the kernel writes it; InvalidArgument for anything else.
Result<std::vector<uint32_t>> parseCpus(std::string_view text);
/// The same the other way; "none".
std::string cpusText(std::span<const uint32_t> cpus);

/// Those that the calling thread may run on, in order.
std::vector<uint32_t> allowedCpus();

struct CpuBinding {
  std::vector<uint32_t> cpus; // empty: wherever the process may
  std::string why;            // "NUMA node 1, near mlx5_3"; or why there is none
};

/// Of the thread of a rank that uses `nics` (names; the first of them counts that the machine
/// knows) and the GPU at a PCI address (which counts without such a NIC; "": none). Never
/// outside `allowed`, and none at all where that would change nothing. MK_PROXY_CPUS says
/// it otherwise: off, or a list. InvalidArgument: it is neither, or lies outside `allowed`.
Result<CpuBinding> chooseCpus(const Machine &machine, std::span<const std::string> nics,
                              std::string_view gpu, std::span<const uint32_t> allowed);

/// Binds the calling thread; an empty list changes nothing.
Status bindThread(std::span<const uint32_t> cpus);

} // namespace mk::rt

#endif // MKERNEL_RUNTIME_CPUBINDING_H
