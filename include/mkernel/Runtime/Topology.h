//===- Topology.h - GPUs and NICs of a machine, and their distances -*- C++
//-*-===//
//
// A machine is found out by hwloc where that is installed, else from sysfs;
// both see the same. A described machine is read from a file of hwloc's XML, so
// that whatever follows from a topology can be tried on any computer. Which NIC
// serves which GPU is said in Rails.h.
//
//===----------------------------------------------------------------------===//
#ifndef MKERNEL_RUNTIME_TOPOLOGY_H
#define MKERNEL_RUNTIME_TOPOLOGY_H

#include "mkernel/Runtime/Status.h"

#include <compare>
#include <cstdint>
#include <map>
#include <vector>

namespace mk::rt {

struct PciAddress {
  uint32_t domain = 0;
  uint8_t bus = 0, device = 0, function = 0;

  auto operator<=>(const PciAddress &) const = default;
  /// "0000:1b:00.0"
  std::string toString() const;
  /// With or without domain, in either case: sysfs, CUDA and NVML write the
  /// same address in different ways ("00000000:1B:00.0").
  static Result<PciAddress> parse(std::string_view text);
};

/// Where a device is in the tree of PCIe.
struct PciPlace {
  std::optional<PciAddress> address; // none: no PCI device, as soft-RoCE
  std::string root;                  // host bridge, domain and bus: "0000:16"
  std::vector<PciAddress> bridges;   // from the root to the device
  int numa = -1;                     // NUMA node; -1: unknown

  bool operator==(const PciPlace &) const = default;
};

struct MachineGpu {
  PciPlace place;
  std::string name; // from the list of PCI ids; "" if unknown

  bool operator==(const MachineGpu &) const = default;
};

/// What a transport has to speak: queue pairs of type RC, or EFA's SRD.
enum class NicKind { Verbs, Efa };

std::string_view toString(NicKind kind);

/// An RDMA device, as libibverbs lists them: a card of two ports is often two.
struct MachineNic {
  std::string name; // "mlx5_0"
  PciPlace place;
  uint16_t vendorId = 0, deviceId = 0; // 0: unknown
  NicKind kind = NicKind::Verbs;
  /// Of the first port that is active, else of the first.
  uint32_t port = 1;
  std::string state;  // "ACTIVE", "DOWN"; "" if unknown
  std::string link;   // "InfiniBand", "Ethernet", "Unspecified" (EFA); or ""
  uint64_t mbits = 0; // Mbit/s of the port; 0: unknown
  /// The port's speed is unknown: `mbits` is that of the PCIe link.
  bool pcieSpeed = false;

  /// "NVIDIA", "AWS", "Broadcom"; "0x1234" for others; "" if unknown.
  std::string vendor() const;
  /// The port is active, or nothing is known of it.
  bool usable() const { return state.empty() || state == "ACTIVE"; }

  bool operator==(const MachineNic &) const = default;
};

/// What lies between two devices, nearest first; the terms of nvidia-smi topo.
enum class Distance {
  Pix,  // at most one PCIe switch
  Pxb,  // several PCIe switches, no host bridge
  Phb,  // one host bridge
  Node, // several host bridges of one NUMA node
  Sys,  // the link between NUMA nodes
};

/// "PIX", "PXB", "PHB", "NODE", "SYS".
std::string_view toString(Distance distance);

struct MachineOptions {
  /// A described machine, in hwloc's XML (lstopo --of xml); read instead of
  /// this machine. By default, where `sysfs` is empty too, what MK_TOPOLOGY
  /// names.
  std::string xml = {};
  /// Where sysfs is. Another folder than /sys is another machine: hwloc, which
  /// would show this one, is not asked. Beside an XML it says speeds of ports.
  std::string sysfs = {};
};

/// GPUs and NICs, each in order of their bus addresses. That is the order of
/// nvidia-smi. CUDA's may differ: look a device up by its address.
struct Machine {
  std::vector<MachineGpu> gpus; // NVIDIA's
  std::vector<MachineNic> nics; // devices without address last, by name
  uint32_t numaNodes = 1;
  std::map<int, std::vector<uint32_t>> cpus; // of NUMA nodes, as the system counts them
  std::string source; // "hwloc", "sysfs", "hwloc, dgx-h100.xml"
  std::string note;   // why it was not hwloc; ""

  /// Unavailable: an XML is to be read and hwloc is not there. InvalidArgument:
  /// it cannot be read. A machine that has nothing of what is looked for is no
  /// error, nor is one without hwloc or PCI.
  static Result<Machine> discover(MachineOptions options = {});

  /// By common bridges first, then by NUMA node. Where a NUMA node is unknown,
  /// the devices are of one only if the machine has no other.
  Distance distance(const PciPlace &a, const PciPlace &b) const;
  Distance distance(uint32_t gpu, uint32_t nic) const {
    return distance(gpus[gpu].place, nics[nic].place);
  }

  /// Index of the GPU at an address, as cuDeviceGetPCIBusId and NVML write it.
  /// NotFound names those that are there.
  Result<uint32_t> gpuAt(std::string_view busId) const;
};

/// "400" or "2.5", in Gbit/s; "?" for 0.
std::string gbitsText(uint64_t mbits);

} // namespace mk::rt

#endif // MKERNEL_RUNTIME_TOPOLOGY_H
