//===- Topology.h - GPUs, NICs and who uses what, to look at ----*- C++ -*-===//
#ifndef MKERNEL_TOOLS_MKINFO_TOPOLOGY_H
#define MKERNEL_TOOLS_MKINFO_TOPOLOGY_H

#include "mkernel/Runtime/Rails.h"

namespace mk::info {

/// Tables: GPUs, NICs, distances, NICs of each GPU, rails.
std::string topologyText(const rt::Machine &machine,
                         const rt::NicAssignment &assignment);

/// The same as a picture: GPUs on the left, NICs on the right, in frames of
/// their NUMA nodes, host bridges and switches; a line for each share.
std::string topologySvg(const rt::Machine &machine,
                        const rt::NicAssignment &assignment);

/// "67 %"; "0.4 %".
std::string percentText(double fraction);

/// "50 Gbit/s"; "? Gbit/s" of a NIC whose speed is not known.
std::string speedText(const rt::Machine &machine, const rt::NicShare &share);

} // namespace mk::info

#endif // MKERNEL_TOOLS_MKINFO_TOPOLOGY_H
