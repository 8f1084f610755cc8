//===- Discover.h - The ways to a machine's topology ------------*- C++ -*-===//
#ifndef MKERNEL_RUNTIME_TOPOLOGY_DISCOVER_H
#define MKERNEL_RUNTIME_TOPOLOGY_DISCOVER_H

#include "mkernel/Runtime/Topology.h"

namespace mk::rt::topology {

/// Ids by which GPUs and EFA adapters are known.
bool isGpu(uint32_t pciClass, uint32_t vendor);
NicKind kindOf(uint32_t vendor, uint32_t device);

/// GPUs, NICs (not their ports' speeds, which hwloc does not know) and NUMA
/// nodes. `xml`: the file of a described machine; empty: this machine.
/// Unavailable: there is no hwloc, and the message says why.
Status readHwloc(const std::string &xml, Machine &machine);

/// The same from the folders of `sysfs`, which may have none of them.
void readSysfs(const std::string &sysfs, Machine &machine);

/// Adds RDMA devices below class/infiniband that are not among the NICs.
void addNics(const std::string &sysfs, Machine &machine);

/// State, link and speed of the ports of all NICs, as far as sysfs knows them.
void readPorts(const std::string &sysfs, Machine &machine);

/// "400 Gb/sec (4X NDR)" to Mbit/s; 0 if it is no speed.
uint64_t parseRate(std::string_view text);
/// "4: ACTIVE", or hwloc's "4", to "ACTIVE".
std::string parseState(std::string_view text);

} // namespace mk::rt::topology

#endif // MKERNEL_RUNTIME_TOPOLOGY_DISCOVER_H
