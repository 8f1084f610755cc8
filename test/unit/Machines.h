//===- Machines.h - Described machines, as XML and as sysfs -----*- C++ -*-===//
#ifndef MKERNEL_TEST_UNIT_MACHINES_H
#define MKERNEL_TEST_UNIT_MACHINES_H

#include "Support.h"

#include "mkernel/Runtime/CpuBinding.h"
#include "mkernel/Runtime/Rails.h"

#include <filesystem>
#include <fstream>

namespace mk::rt::test {

namespace fs = std::filesystem;

/// "dgx-h100": the file of test/Topology/Inputs.
inline std::string machineFile(const std::string &name) {
  return std::string(MK_TOPOLOGY_INPUTS) + "/" + name + ".xml";
}

inline Machine described(const std::string &name) {
  auto machine = Machine::discover({.xml = machineFile(name)});
  EXPECT_OK(machine);
  return machine ? *machine : Machine();
}

/// Writes the folders that a kernel on the machine would show.
class SysfsTree {
public:
  explicit SysfsTree(const Machine &machine) {
    char pattern[] = "/tmp/mk-sysfs-XXXXXX";
    root = mkdtemp(pattern);
    for (uint32_t i = 0; i < machine.numaNodes; ++i) {
      fs::path node = root / "devices/system/node" / str("node", i);
      fs::create_directories(node);
      auto cpus = machine.cpus.find(int(i));
      write(node / "cpulist", cpus == machine.cpus.end() ? "" : cpusText(cpus->second));
    }
    for (const MachineGpu &gpu : machine.gpus)
      device(gpu.place, 0x10de, 0x2330, 0x030200);
    for (const MachineNic &nic : machine.nics) {
      fs::path folder = device(nic.place, nic.vendorId, nic.deviceId, 0x020700);
      fs::path rdma = folder / "infiniband" / nic.name;
      fs::path port = rdma / "ports" / std::to_string(nic.port);
      fs::create_directories(port);
      fs::create_directory_symlink("../..", rdma / "device");
      write(port / "state", nic.state == "ACTIVE" ? "4: ACTIVE" : "1: DOWN");
      write(port / "link_layer", nic.link);
      write(port / "rate", gbitsText(nic.mbits) + " Gb/sec (4X NDR)");
      link(rdma, root / "class/infiniband" / nic.name);
    }
  }
  ~SysfsTree() { fs::remove_all(root); }

  std::string path() const { return root.string(); }

  static void write(const fs::path &path, const std::string &line) {
    std::ofstream(path) << line << "\n";
  }

private:
  fs::path device(const PciPlace &place, uint32_t vendor, uint32_t id,
                  uint32_t pciClass) {
    fs::path folder = root / "devices" / ("pci" + place.root);
    for (const PciAddress &bridge : place.bridges)
      folder /= bridge.toString();
    folder /= place.address->toString();
    fs::create_directories(folder);
    write(folder / "vendor", hex(vendor));
    write(folder / "device", hex(id));
    write(folder / "class", hex(pciClass));
    write(folder / "numa_node", std::to_string(place.numa));
    link(folder, root / "bus/pci/devices" / place.address->toString());
    return folder;
  }

  static std::string hex(uint32_t value) {
    char text[16];
    std::snprintf(text, sizeof(text), "0x%04x", value);
    return text;
  }
  static void link(const fs::path &target, const fs::path &at) {
    fs::create_directories(at.parent_path());
    fs::create_directory_symlink(target, at);
  }

  fs::path root;
};

} // namespace mk::rt::test

#endif // MKERNEL_TEST_UNIT_MACHINES_H
